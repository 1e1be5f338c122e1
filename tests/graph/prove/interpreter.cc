#include "graph/prove/interpreter.h"

StreamInterpreter::StreamInterpreter(const pti_stream_claim &claim, Random *random,
                                     int64_t n_frames)
    : claim_(claim), random_(random), n_frames_(n_frames),
      memory_(static_cast<size_t>(claim.n_memories)),
      done_(static_cast<size_t>(claim.tasks->n_tasks)),
      is_running_(static_cast<size_t>(claim.tasks->n_tasks)) {
    for (int m = 0; m < claim.n_memories; m++)
        memory_[static_cast<size_t>(m)].resize(static_cast<size_t>(claim.memory_bytes[m]));
}

bool StreamInterpreter::has_begun(const Event &event) const {
    const auto task = static_cast<size_t>(event.task);
    return event.task < 0 || done_[task] + is_running_[task] > event.frame;
}

bool StreamInterpreter::is_held(int task, bool begins, const Hold &hold) const {
    const Event &held = begins ? hold.begin : hold.end;
    return task == held.task && done_[static_cast<size_t>(task)] >= held.frame &&
           !has_begun(begins ? hold.until_begun : hold.until_other_begun);
}

bool StreamInterpreter::may_begin(int task) const {
    const int64_t frame = done_[static_cast<size_t>(task)];
    if (frame >= n_frames_)
        return false;
    for (int w = claim_.order->first[task]; w < claim_.order->first[task + 1]; w++) {
        const pti_firing_wait &wait = claim_.order->wait[w];
        if (done_[static_cast<size_t>(wait.on)] <= frame - wait.tokens)
            return false;
    }
    return true;
}

bool StreamInterpreter::each_byte(int buffer, int64_t frame,
                                  bool (*is_right)(const Byte &, const Byte &),
                                  const Byte &expected) const {
    const pti_frame_place &place = claim_.place[buffer];
    const int64_t position = (frame % place.capacity + place.capacity) % place.capacity;
    const std::vector<Byte> &memory = memory_[static_cast<size_t>(place.memory)];
    for (int64_t k = 0; k < place.frame_bytes; k++)
        if (!is_right(
                memory[static_cast<size_t>(place.offset_bytes + position * place.frame_bytes + k)],
                expected))
            return false;
    return true;
}

static const auto is_same = [](const auto &is, const auto &expected) {
    return is.buffer == expected.buffer && is.is_whole == expected.is_whole &&
           (is.buffer < 0 || is.frame == expected.frame);
};

bool StreamInterpreter::reads_right(int task) const {
    const int64_t frame = done_[static_cast<size_t>(task)];
    for (int b = 0; b < claim_.tasks->n_buffers; b++) {
        const pti_frame_buffer &held = claim_.tasks->buffer[b];
        for (int r = held.first_reader; r < held.first_reader + held.n_readers; r++) {
            const pti_buffer_reader &reader = claim_.tasks->reader[r];
            const int64_t read = frame - reader.delay;
            const Byte expected = {read < 0 ? -1 : b, read, true};
            if (reader.task == task && !each_byte(b, read, is_same, expected))
                return false;
        }
        const Byte before = {frame == 0 ? -1 : b, frame - 1, true};
        if (held.producer == task && claim_.place[b].is_restored && claim_.place[b].capacity > 1 &&
            !each_byte(b, frame - 1, is_same, before))
            return false;
    }
    return true;
}

bool StreamInterpreter::writes_right(int task) const {
    const int64_t frame = done_[static_cast<size_t>(task)];
    for (int b = 0; b < claim_.tasks->n_buffers; b++)
        if (claim_.tasks->buffer[b].producer == task &&
            !each_byte(b, frame, is_same, {b, frame, false}))
            return false;
    return true;
}

void StreamInterpreter::write(int task, bool is_whole) {
    const int64_t frame = done_[static_cast<size_t>(task)];
    for (int b = 0; b < claim_.tasks->n_buffers; b++) {
        const pti_frame_place &place = claim_.place[b];
        std::vector<Byte> &memory = memory_[static_cast<size_t>(place.memory)];
        const int64_t first = place.offset_bytes + frame % place.capacity * place.frame_bytes;
        for (int64_t k = 0; k < place.frame_bytes && claim_.tasks->buffer[b].producer == task; k++)
            memory[static_cast<size_t>(first + k)] = {b, frame, is_whole};
    }
}

/** Begin a task, or end it; returns whether it finds all as it has to be. */
bool StreamInterpreter::step(int task) {
    const auto at = static_cast<size_t>(task);
    const bool ends = is_running_[at];
    if (!reads_right(task) || (ends && !writes_right(task)))
        return false;
    write(task, ends);
    is_running_[at] = !ends;
    done_[at] += ends;
    return !ends ? writes_right(task) : true;
}

bool StreamInterpreter::run(const Hold &hold) {
    const int n_tasks = claim_.tasks->n_tasks;
    Hold held = hold;
    int64_t n_left = 0;
    for (const int64_t done : done_)
        n_left += n_frames_ - done;
    while (n_left > 0) {
        std::vector<int> ready;
        for (int t = 0; t < n_tasks; t++) {
            const bool ends = is_running_[static_cast<size_t>(t)];
            if ((ends || may_begin(t)) && !is_held(t, !ends, held))
                ready.push_back(t);
        }
        if (ready.empty() && held.begin.task >= 0)
            held.begin.task = -1;
        else if (ready.empty() && held.end.task >= 0)
            held.end.task = -1;
        else if (ready.empty())
            return false;
        if (ready.empty())
            continue;
        const int task =
            ready[static_cast<size_t>(random_->number(0, static_cast<int64_t>(ready.size()) - 1))];
        const bool ends = is_running_[static_cast<size_t>(task)];
        if (!step(task))
            return false;
        n_left -= ends;
    }
    return true;
}
