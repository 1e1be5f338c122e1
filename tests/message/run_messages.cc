#include "message/interpret_kernel.h"
#include "message/random_messages.h"

#include <polytile/polytile.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

namespace {

using Bytes = std::vector<uint8_t>;

/* Small, so that sums and products of floating-point numbers are exact. */
int element_of(int32_t message, int slot, int k) {
    return (message * 7 + slot * 3 + k) % 4;
}

template <typename T> T combined(int role, T a, T b) {
    const T results[] = {static_cast<T>(a + b), static_cast<T>(a * b), std::min(a, b),
                         std::max(a, b)};
    return results[role];
}

/* The elements of one slot, or those of all slots combined. */
template <typename T>
void write_elements(const Step &step, int first_slot, int last_slot, uint8_t *to) {
    for (int k = 0; k < step.n_bytes / static_cast<int>(sizeof(T)); k++) {
        T value = static_cast<T>(element_of(step.message, first_slot, k));
        for (int s = first_slot + 1; s <= last_slot; s++)
            value =
                combined<T>(step.tag % 4, value, static_cast<T>(element_of(step.message, s, k)));
        std::memcpy(to + sizeof(T) * static_cast<size_t>(k), &value, sizeof(T));
    }
}

void write_elements_of(const Step &step, int first_slot, int last_slot, uint8_t *to) {
    switch (step.tag / 4) {
#define WRITE_CASE(number, type)                                                                   \
    case number:                                                                                   \
        write_elements<type>(step, first_slot, last_slot, to);                                     \
        break;
        ELEMENT_KINDS(WRITE_CASE)
#undef WRITE_CASE
    default:
        break;
    }
}

/* What the rows of all ranks are to hold. */
class Rows {
  public:
    explicit Rows(const MessageProgram &program) : program_(program) {
        rows_.resize(program.steps.size(),
                     Bytes(4 * static_cast<size_t>(program.row_words), BLANK));
        for (size_t r = 0; r < program.steps.size(); r++)
            for (const Step &step : program.steps[r])
                if ((step.call == SEND || step.call == ISEND || step.call == EXCHANGE) &&
                    !(step.flags & RELAYS))
                    sent_.insert({step.message, {static_cast<int>(r), step}});
    }

    const Bytes &row(int rank) const { return rows_[rank]; }

    /* Who sends a message, and how; nullptr if nobody does. */
    const std::pair<int, Step> *sender_of(int message) const {
        const auto found = sent_.find(message);
        return found == sent_.end() ? nullptr : &found->second;
    }

    void begin_with(int rank, const Step &step) {
        if (step.flags & (FILLS | RELAYS))
            return;
        if (step.call == SEND || step.call == ISEND || step.call == EXCHANGE || step.call == PUT)
            write(rank, step.first_byte, step.message, step.n_bytes);
        else if (step.call > BARRIER)
            write_parts(rank, step, step.received < 0 ? step.first_byte : step.received);
    }

    /* After the run, when a receive has got that message. */
    void end_with(int rank, const Step &step, int received) {
        if (step.flags & FILLS)
            write(rank, step.first_byte, step.message, step.n_bytes);
        if ((step.call == RECV || step.call == IRECV) && sender_of(received) != nullptr)
            write(rank, step.first_byte, received, sender_of(received)->second.n_bytes);
        else if (step.call == EXCHANGE)
            write(rank, step.first_byte, step.received, step.n_bytes);
        else if (step.call == COPY)
            write(rank, step.other, step.message, step.n_bytes);
        else if (step.call == PUT)
            write(step.partner, step.other, step.message, step.n_bytes);
        else if (step.call > BARRIER)
            end_collective(rank, step);
        if (step.flags & SCRIBBLES)
            std::fill_n(&rows_[rank][step.first_byte], step.n_bytes, uint8_t{SCRIBBLE});
    }

  private:
    void write(int rank, int first_byte, int message, int n_bytes) {
        for (int k = 0; k < n_bytes; k++)
            rows_[rank][first_byte + k] = content_of(message, k);
    }

    /* What a slot sends, at a place in its row. */
    void write_parts(int s, const Step &step, int at) {
        const bool is_root = s == step.partner;
        if (step.call == BCAST && is_root)
            write(s, at, step.message, step.n_bytes);
        if (step.call == REDUCE)
            write_elements_of(step, s, s, &rows_[s][at]);
        if (step.call == GATHER)
            write(s, at, part(step, s, 0), step.n_bytes);
        for (int to = 0; to < program_.n_slots; to++)
            if (step.call == ALLTOALL || (step.call == SCATTER && is_root))
                write(s, at + to * step.n_bytes, part(step, s, to), step.n_bytes);
    }

    void end_collective(int s, const Step &step) {
        const bool is_root = s == step.partner;
        write_parts(s, step, step.first_byte);
        if (step.call == BCAST)
            write(s, step.first_byte, step.message, step.n_bytes);
        if (step.call == REDUCE && is_root)
            write_elements_of(step, 0, program_.n_slots - 1, &rows_[s][step.other]);
        if (step.call == SCATTER)
            write(s, step.other, part(step, step.partner, s), step.n_bytes);
        for (int from = 0; from < program_.n_slots; from++)
            if (step.call == ALLTOALL || (step.call == GATHER && is_root))
                write(s, step.other + from * step.n_bytes,
                      part(step, from, step.call == GATHER ? 0 : s), step.n_bytes);
    }

    int part(const Step &step, int from, int to) const {
        return step.message + from * program_.n_slots + to;
    }

    const MessageProgram &program_;
    std::vector<Bytes> rows_;
    std::map<int, std::pair<int, Step>> sent_;
};

/* The arrays of a run; those of the program come after those of slots. */
struct Arrays {
    std::vector<int32_t> steps, words, statuses;
    const int n_slots, n_steps, row_words;

    Arrays(const MessageProgram &program, const Rows &rows)
        : n_slots(program.n_slots), n_steps(program.n_steps), row_words(program.row_words) {
        const size_t n_ranks = program.steps.size();
        steps.resize(n_ranks * n_steps * N_FIELDS);
        statuses.resize(n_ranks * n_steps * 3);
        words.resize(n_ranks * row_words);
        for (size_t r = 0; r < n_ranks; r++) {
            std::memcpy(row(r), rows.row(static_cast<int>(r)).data(), 4 * size_t(row_words));
            for (size_t k = 0; k < program.steps[r].size(); k++)
                std::memcpy(&steps[(r * n_steps + k) * N_FIELDS], &program.steps[r][k],
                            sizeof(Step));
        }
    }

    int32_t *row(size_t rank) { return &words[rank * row_words]; }
    uint8_t *bytes(int rank) { return reinterpret_cast<uint8_t *>(row(rank)); }
    int32_t *status(int rank, size_t k) { return &statuses[(rank * n_steps + k) * 3]; }
};
static_assert(sizeof(Step) == N_FIELDS * sizeof(int32_t), "a step is its fields");

/* What ranks have, against what they were to get. */
class Comparison {
  public:
    Comparison(const MessageProgram &program, Rows &rows, Arrays &arrays, int n_ranks)
        : program_(program), rows_(rows), arrays_(arrays), n_ranks_(n_ranks) {}

    std::string find_fault() {
        for (int r = 0; r < n_ranks_; r++)
            for (size_t k = 0; k < program_.steps[r].size(); k++)
                if (!is_right(r, k))
                    return "rank " + std::to_string(r) + ", step " + std::to_string(k);
        for (int r = 0; r < n_ranks_; r++)
            for (const Step &step : program_.steps[r])
                rows_.end_with(r, step, received_[&step]);
        for (int r = 0; r < n_ranks_; r++)
            for (int b = 0; b < static_cast<int>(rows_.row(r).size()); b++)
                if (rows_.row(r)[b] != arrays_.bytes(r)[b])
                    return "rank " + std::to_string(r) + ", byte " + std::to_string(b) + " is " +
                           std::to_string(arrays_.bytes(r)[b]) + ", not " +
                           std::to_string(rows_.row(r)[b]) + find_buffer(r, b);
        return "";
    }

  private:
    /* The last buffers before a byte of a row. */
    std::string find_buffer(int r, int byte) const {
        const Step *step = nullptr;
        int first = -1;
        for (const Step &of : program_.steps[r])
            for (const int at : {of.first_byte, of.call < PUT ? -1 : of.other})
                if (at > first && at <= byte) {
                    first = at;
                    step = &of;
                }
        return step == nullptr
                   ? ""
                   : "; byte " + std::to_string(byte - first) + " of call " +
                         std::to_string(step->call) + ", " + std::to_string(step->n_bytes) +
                         " bytes, flags " + std::to_string(step->flags);
    }

    bool is_right(int r, size_t k) {
        const Step &step = program_.steps[r][k];
        const int32_t *status = arrays_.status(r, k);
        if (step.call == RECV || step.call == IRECV)
            return is_received(r, step, status);
        if (step.call == WAIT && step.message < 0)
            return status[0] == PT_ANY && status[2] == 0;
        if (step.flags & HAS_NO_STATUS)
            return true;
        if (step.call == ISEND)
            return status[2] == step.n_bytes;
        return step.call != EXCHANGE || is_status(status, step.other, step.tag, step.n_bytes);
    }

    bool is_status(const int32_t *status, int source, int tag, int n_bytes) const {
        const int from = source == program_.n_slots ? PT_PROGRAM : source;
        return status[0] == from && status[1] == tag && status[2] == n_bytes;
    }

    /* From anyone: each message once, and those of one sender in order. */
    bool is_received(int r, const Step &step, const int32_t *status) {
        int32_t message = step.message;
        if (message < 0)
            std::memcpy(&message, arrays_.bytes(r) + step.first_byte, 4);
        const auto *sender = rows_.sender_of(message);
        received_[&step] = message;
        if (sender == nullptr || (step.message < 0 && sender->second.partner != r))
            return false;
        int &last = last_[{sender->first, r, step.tag}];
        const bool is_next = step.message >= 0 || message >= last;
        last = step.message >= 0 ? last : message + 1;
        if (!is_next || (step.flags & HAS_NO_STATUS))
            return is_next;
        return is_status(status, step.partner == PT_ANY ? sender->first : step.partner,
                         step.tag == PT_ANY ? sender->second.tag : step.tag,
                         sender->second.n_bytes);
    }

    const MessageProgram &program_;
    Rows &rows_;
    Arrays &arrays_;
    int n_ranks_; /* whose rows are here */
    std::map<const Step *, int> received_;
    std::map<std::tuple<int, int, int>, int> last_; /* by sender, receiver and tag */
};

/* The operands and the kernel of a run. */
struct Operands {
    polytile_array *arrays[3] = {};
    polytile_kernel *kernel = nullptr;

    Operands(polytile_context *ctx, Arrays &of, const polytile_implementation *implementation) {
        const char *declaration = "interpret[s]: in P[s, :, :]; inout B[s, :]; out R[s, :, :]";
        const int64_t n_slots = of.n_slots;
        const int64_t steps[] = {n_slots, of.n_steps, N_FIELDS}, words[] = {n_slots, of.row_words};
        const int64_t statuses[] = {n_slots, of.n_steps, 3};
        polytile_array_wrap(ctx, "P", POLYTILE_I32, 3, steps, of.steps.data(), &arrays[0]);
        polytile_array_wrap(ctx, "B", POLYTILE_I32, 2, words, of.words.data(), &arrays[1]);
        polytile_array_wrap(ctx, "R", POLYTILE_I32, 3, statuses, of.statuses.data(), &arrays[2]);
        polytile_kernel_create(ctx, declaration, implementation, &kernel);
    }
};

/* Carry out the program's own steps. */
polytile_status speak(polytile_queue *queue, const MessageProgram &program, Arrays *of) {
    const int me = program.n_slots;
    polytile_status result = POLYTILE_OK;
    for (size_t k = 0; k < program.steps[me].size() && result == POLYTILE_OK; k++) {
        const Step &step = program.steps[me][k];
        uint8_t *const buffer = of->bytes(me) + step.first_byte;
        pt_status status = {0, 0, 0};
        result = step.call == SEND
                     ? polytile_message_send(queue, buffer, step.n_bytes, step.partner, step.tag)
                     : polytile_message_recv(queue, buffer, step.n_bytes, step.partner, step.tag,
                                             step.flags & HAS_NO_STATUS ? nullptr : &status);
        const int32_t told[] = {status.source, status.tag, static_cast<int32_t>(status.n_bytes)};
        std::copy_n(told, 3, of->status(me, k));
    }
    return result;
}

polytile_status run_on_queue(polytile_queue *queue, const Operands &operands,
                             const MessageProgram &program, Arrays *of, bool speaks) {
    polytile_status spoken = POLYTILE_OK;
    polytile_status status = polytile_queue_attach(queue, 3, operands.arrays);
    if (status == POLYTILE_OK)
        status = polytile_queue_launch(queue, operands.kernel, POLYTILE_EXTENTS(program.n_slots), 3,
                                       operands.arrays, nullptr);
    if (status == POLYTILE_OK && program.has_program && speaks)
        spoken = speak(queue, program, of);
    if (status == POLYTILE_OK)
        status = polytile_queue_detach(queue, 3, operands.arrays);
    return spoken != POLYTILE_OK ? spoken : status;
}

polytile_status open_queue(polytile_context *ctx, const std::string &device_text,
                           const char *layout, polytile_queue **queue) {
    polytile_share_options share = {};
    const auto n_devices = 1 + std::count(device_text.begin(), device_text.end(), ',');
    const std::string rows = std::to_string(n_devices) + "x1";
    share.layout = layout;
    /* Columns in turn would be tens of thousands of boxes. */
    if (layout != nullptr && std::string(layout).rfind("cyclic", 0) == 0)
        share.grid = rows.c_str();
    if (n_devices > 1)
        return polytile_queue_create_shared(ctx, device_text.c_str(), &share, queue);
    return polytile_queue_create(ctx, device_text.c_str(), queue);
}

polytile_status run_alone(polytile_context *ctx, const Operands &operands, int64_t n_slots,
                          const std::string &device_text) {
    polytile_device *device = nullptr;
    const polytile_status status = polytile_device_open(ctx, device_text.c_str(), &device);
    return status == POLYTILE_OK ? polytile_run(device, operands.kernel, POLYTILE_EXTENTS(n_slots),
                                                3, operands.arrays, nullptr)
                                 : status;
}

/* Run a program, and compare the rows of some of its ranks. */
std::string run_by(polytile_context *ctx, const MessageProgram &program, polytile_status expected,
                   int n_ranks, const polytile_implementation *implementation,
                   const std::function<polytile_status(const Operands &, Arrays *)> &run) {
    Rows rows(program);
    for (size_t r = 0; r < program.steps.size(); r++)
        for (const Step &step : program.steps[r])
            rows.begin_with(static_cast<int>(r), step);
    Arrays arrays(program, rows);
    const Operands operands(ctx, arrays, implementation);
    const polytile_status status = run(operands, &arrays);
    const std::string error = polytile_last_error(ctx);
    for (polytile_array *array : operands.arrays)
        polytile_array_destroy(array);
    if (status != expected)
        return std::string(polytile_status_text(status)) + " in place of " +
               polytile_status_text(expected) + ": " + error;
    return status == POLYTILE_OK ? Comparison(program, rows, arrays, n_ranks).find_fault() : "";
}

/* Call what runs programs in a context of its own. */
std::string in_context(const std::function<std::string(polytile_context *)> &call) {
    polytile_context *ctx = nullptr;
    if (polytile_context_create(&ctx) != POLYTILE_OK)
        return "no context";
    const std::string fault = call(ctx);
    polytile_context_destroy(ctx);
    return fault;
}

std::string run_turn(polytile_queue *queue, polytile_context *ctx, const MessageTurn &turn,
                     const polytile_implementation *implementation, bool speaks) {
    const MessageProgram &program = turn.program;
    return run_by(ctx, program, turn.expected, speaks ? program.n_ranks() : program.n_slots,
                  implementation, [&](const Operands &operands, Arrays *arrays) {
                      return run_on_queue(queue, operands, program, arrays, speaks);
                  });
}

} // namespace

const polytile_implementation &near_interpret = interpret_kernel;

std::string run_messages(const MessageProgram &program, const std::string &device_text,
                         polytile_status expected, const polytile_implementation *implementation,
                         const char *layout) {
    if (program.has_program || device_text.find(',') != std::string::npos)
        return run_messages_in_turn({{program, expected}}, device_text, implementation, layout);
    return in_context([&](polytile_context *ctx) {
        return run_by(ctx, program, expected, program.n_ranks(), implementation,
                      [&](const Operands &operands, Arrays *) {
                          return run_alone(ctx, operands, program.n_slots, device_text);
                      });
    });
}

std::string run_messages_in_turn(const std::vector<MessageTurn> &turns,
                                 const std::string &device_text,
                                 const polytile_implementation *implementation,
                                 const char *layout) {
    return in_context([&](polytile_context *ctx) -> std::string {
        polytile_queue *queue = nullptr;
        if (open_queue(ctx, device_text, layout, &queue) != POLYTILE_OK)
            return polytile_last_error(ctx);
        for (const MessageTurn &turn : turns) {
            const std::string fault = run_turn(queue, ctx, turn, implementation, true);
            if (!fault.empty())
                return fault;
        }
        return "";
    });
}

std::string
run_messages_on(const MessageProgram &program,
                const std::function<polytile_status(polytile_context *, polytile_queue **)> &open,
                polytile_status expected, const polytile_implementation *implementation,
                bool speaks) {
    return in_context([&](polytile_context *ctx) -> std::string {
        polytile_queue *queue = nullptr;
        if (open(ctx, &queue) != POLYTILE_OK)
            return polytile_last_error(ctx);
        return run_turn(queue, ctx, {program, expected}, implementation, speaks);
    });
}
