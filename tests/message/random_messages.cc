#include "message/random_messages.h"

#include "message/interpret_kernel.h"

#include <polytile/polytile.h>

#include <algorithm>
#include <map>

namespace {

/* What a message holds at a place: its number first. */
int32_t word_of(int message, int place) {
    return place == 0 ? message : message * 7919 + place;
}

int draw(std::mt19937_64 &random, int n) {
    return static_cast<int>(random() % static_cast<uint64_t>(n));
}

/* Short messages are kept, long ones wait for their receive, some are copied without the mutex. */
int draw_words(std::mt19937_64 &random, bool is_short) {
    const int most[] = {2, 30, 1000, 1100, 3000, 12000};
    return 1 + draw(random, most[draw(random, is_short ? 3 : 6)]);
}

class Drawing {
  public:
    Drawing(std::mt19937_64 &random, int n_slots) : random_(random), used_(n_slots) {
        program_.n_slots = n_slots;
        program_.n_messages = 0;
        program_.steps.resize(n_slots);
        open_.resize(n_slots);
        for (int s = 0; s < n_slots; s++)
            program_.takes_any.push_back(draw(random, 4) == 0);
    }

    MessageProgram finish() {
        for (int s = 0; s < program_.n_slots; s++)
            while (!open_[s].empty())
                wait(s);
        program_.row_words = 1 + *std::max_element(used_.begin(), used_.end());
        program_.n_steps = 0;
        for (const auto &steps : program_.steps)
            program_.n_steps = std::max(program_.n_steps, static_cast<int>(steps.size()) + 1);
        return program_;
    }

    void add_event() {
        const int what = draw(random_, 20);
        if (what < 14)
            add_message();
        else if (what < 16)
            add_rotation();
        else if (what < 18)
            add_signal();
        else
            add_collective(what == 18);
    }

  private:
    void add(int slot, int call, int partner, int tag, int n_words, int message) {
        program_.steps[slot].push_back({call, partner, tag, n_words, used_[slot], message});
        used_[slot] += n_words;
    }

    /* A request has the number of its step, modulo 8: the oldest ones end in time. */
    void begin(int slot, int call, int partner, int tag, int n_words, int message) {
        while (!open_[slot].empty() && step(slot) - open_[slot].front() >= 6)
            wait(slot);
        const int at = step(slot);
        add(slot, call, partner, tag, n_words, message);
        open_[slot].push_back(at);
    }

    void wait(int slot) {
        const int at = open_[slot].front();
        open_[slot].erase(open_[slot].begin());
        program_.steps[slot].push_back({WAIT, at % 8, draw(random_, 4) == 0, 0, 0, at});
    }

    /* All of a slot's requests, before a call that others may wait for. */
    void wait_all(int slot) {
        while (!open_[slot].empty())
            wait(slot);
    }

    int step(int slot) const { return static_cast<int>(program_.steps[slot].size()); }

    void add_message() {
        const int from = draw(random_, program_.n_slots), to = draw(random_, program_.n_slots);
        const bool is_any = program_.takes_any[to];
        const int n_words = draw_words(random_, is_any || from == to);
        const int tag = draw(random_, 3), message = program_.n_messages++;
        if (from == to)
            wait_all(from);
        if (draw(random_, 3) == 0)
            begin(from, ISEND, to, tag, n_words, message);
        else
            wait_all(from), add(from, SEND, to, tag, n_words, message);
        const int most = is_any ? 1000 : n_words + draw(random_, 3);
        const int source = is_any ? PT_ANY : from, wanted = is_any ? PT_ANY : tag;
        if (!is_any && draw(random_, 3) == 0)
            begin(to, IRECV, source, wanted, most, message);
        else
            wait_all(to), add(to, RECV, source, wanted, most, is_any ? -1 : message);
    }

    void add_rotation() {
        const int n = program_.n_slots, n_words = draw_words(random_, false), by = draw(random_, n);
        for (int s = 0; s < n; s++)
            if (program_.takes_any[s])
                return;
        for (int s = 0; s < n; s++) {
            wait_all(s);
            add(s, EXCHANGE, (s + by) % n, 5, n_words, (s - by + n) % n);
        }
    }

    void add_signal() {
        const int from = draw(random_, program_.n_slots), to = draw(random_, program_.n_slots);
        const int signal = draw(random_, 2);
        wait_all(from);
        wait_all(to);
        add(from, SIGNAL, to, signal, 0, 0);
        add(to, WAIT_SIGNAL, ++given_[{to, signal}], signal, 0, 0);
    }

    void add_collective(bool is_barrier) {
        const int root = draw(random_, program_.n_slots), n_words = draw_words(random_, false);
        const int message = program_.n_messages++;
        for (int s = 0; s < program_.n_slots; s++) {
            wait_all(s);
            if (is_barrier)
                add(s, BARRIER, 0, 0, 0, 0);
            else
                add(s, BCAST, root, 0, n_words, message);
        }
    }

    std::mt19937_64 &random_;
    MessageProgram program_;
    std::vector<int> used_;
    std::vector<std::vector<int>> open_;
    std::map<std::pair<int, int>, int> given_;
};

} // namespace

MessageProgram draw_messages(std::mt19937_64 &random, int n_slots, int n_events) {
    Drawing drawing(random, n_slots);
    for (int k = 0; k < n_events; k++)
        drawing.add_event();
    return drawing.finish();
}

MessageProgram spoil_messages(std::mt19937_64 &random, const MessageProgram &right) {
    MessageProgram spoiled = right;
    for (auto &steps : spoiled.steps)
        for (Step &step : steps)
            step.tag = step.call == WAIT ? 0 : step.tag;
    for (int k = draw(random, 3); k >= 0; k--) {
        auto &steps = spoiled.steps[draw(random, spoiled.n_slots)];
        const size_t at = steps.empty() ? 0 : draw(random, static_cast<int>(steps.size()));
        if (!steps.empty() && steps[at].call != BCAST && steps[at].call != ISEND &&
            steps[at].call != IRECV && steps[at].call != WAIT)
            steps[at] = {SIGNAL, 0, 7, 0, 0, 0};
    }
    return spoiled;
}

namespace {

constexpr int bcast_tag = 1000;

/* Carries out a program slot by slot as far as each goes, until nobody goes on. */
class Interpreter {
  public:
    explicit Interpreter(const MessageProgram &program)
        : n_slots_(program.n_slots), slots_(program.n_slots) {
        for (int s = 0; s < n_slots_; s++)
            for (const Step &step : program.steps[s])
                expand(s, step);
    }

    polytile_status run() {
        bool goes_on = true;
        while (goes_on) {
            goes_on = false;
            for (int s = 0; s < n_slots_; s++)
                while (!is_too_small_ && advance(s))
                    goes_on = true;
        }
        if (is_too_small_)
            return POLYTILE_INVALID;
        for (const Slot &slot : slots_)
            if (slot.at < slot.steps.size())
                return POLYTILE_DEADLOCK;
        return POLYTILE_OK;
    }

  private:
    struct Post {
        int partner, tag, n_words;
        bool is_done;
    };
    struct Slot {
        std::vector<Step> steps;
        std::vector<int> original; /* of each step: its number in the program */
        size_t at = 0;
        bool is_posted = false;
        std::vector<size_t> messages, receives; /* posts that are not matched */
        std::map<int, size_t> requests;         /* posts, by the number of their step */
        std::map<int, int> signals;
        int n_barriers = 0;
    };

    /* A broadcast is sends and receives along a binomial tree. */
    void expand(int s, const Step &step) {
        std::vector<Step> made;
        if (step.call == EXCHANGE) {
            made = {{SEND, step.partner, step.tag, step.n_words, 0, 1},
                    {RECV, step.message, step.tag, step.n_words, 0, 0}};
        } else if (step.call == BCAST) {
            const int distance = (s - step.partner + n_slots_) % n_slots_;
            int by = 1;
            while (by < n_slots_ && (distance & by) == 0)
                by *= 2;
            if (distance > 0)
                made.push_back(
                    {RECV, (s - by + n_slots_) % n_slots_, bcast_tag, step.n_words, 0, 0});
            for (by /= 2; by > 0; by /= 2)
                if (distance + by < n_slots_)
                    made.push_back({SEND, (s + by) % n_slots_, bcast_tag, step.n_words, 0, 0});
        } else {
            made = {step};
        }
        for (Step &one : made) {
            one.message = step.call == WAIT ? step.message : step.call == EXCHANGE;
            slots_[s].steps.push_back(one);
            slots_[s].original.push_back(n_expanded_[s]);
        }
        n_expanded_[s]++;
    }

    /* Match messages to a slot with its receives, in their order. */
    void match(Slot &receiver) {
        for (size_t r = 0; r < receiver.receives.size();) {
            Post &receive = posts_[receiver.receives[r]];
            size_t m = 0;
            while (m < receiver.messages.size() &&
                   (posts_[receiver.messages[m]].partner != receive.partner ||
                    posts_[receiver.messages[m]].tag != receive.tag))
                m++;
            if (m == receiver.messages.size()) {
                r++;
                continue;
            }
            is_too_small_ |= posts_[receiver.messages[m]].n_words > receive.n_words;
            posts_[receiver.messages[m]].is_done = receive.is_done = true;
            receiver.messages.erase(receiver.messages.begin() + static_cast<long>(m));
            receiver.receives.erase(receiver.receives.begin() + static_cast<long>(r));
        }
    }

    size_t post(int s, const Step &step) {
        const bool is_send = step.call == SEND || step.call == ISEND;
        const bool is_kept = 4 * step.n_words <= PT_EAGER_BYTES || step.message == 1;
        const size_t made = posts_.size();
        posts_.push_back({is_send ? s : step.partner, step.tag, step.n_words, is_send && is_kept});
        Slot &at = slots_[is_send ? step.partner : s];
        (is_send ? at.messages : at.receives).push_back(made);
        match(at);
        return made;
    }

    bool passes_barrier(Slot &slot) {
        if (!slot.is_posted)
            slot.n_barriers++;
        slot.is_posted = true;
        for (const Slot &other : slots_)
            if (other.n_barriers < slot.n_barriers)
                return false;
        return true;
    }

    bool passes(int s, Slot &slot, const Step &step) {
        const int number = slot.original[slot.at];
        switch (step.call) {
        case ISEND:
        case IRECV:
            slot.requests[number] = post(s, step);
            return true;
        case WAIT:
            return posts_[slot.requests[step.message]].is_done;
        case SIGNAL:
            slots_[step.partner].signals[step.tag]++;
            return true;
        case WAIT_SIGNAL:
            return slot.signals[step.tag] >= step.partner;
        case BARRIER:
            return passes_barrier(slot);
        default:
            if (!slot.is_posted)
                slot.requests[-1] = post(s, step);
            slot.is_posted = true;
            return posts_[slot.requests[-1]].is_done;
        }
    }

    bool advance(int s) {
        Slot &slot = slots_[s];
        if (slot.at == slot.steps.size() || !passes(s, slot, slot.steps[slot.at]))
            return false;
        slot.at++;
        slot.is_posted = false;
        return true;
    }

    int n_slots_;
    std::vector<Slot> slots_;
    std::map<int, int> n_expanded_;
    std::vector<Post> posts_;
    bool is_too_small_ = false;
};

/* The arrays of a run. */
struct Arrays {
    std::vector<int32_t> steps, words, statuses;
    int n_slots, n_steps, row_words;

    explicit Arrays(const MessageProgram &program)
        : n_slots(program.n_slots), n_steps(program.n_steps), row_words(program.row_words) {
        steps.resize(static_cast<size_t>(n_slots) * n_steps * N_FIELDS);
        statuses.resize(static_cast<size_t>(n_slots) * n_steps * 3);
        words.resize(static_cast<size_t>(n_slots) * row_words, -1);
        for (int s = 0; s < n_slots; s++)
            for (size_t k = 0; k < program.steps[s].size(); k++)
                fill(s, k, program.steps[s][k]);
    }

    void fill(int s, size_t k, const Step &step) {
        const int32_t fields[N_FIELDS] = {step.call,    step.partner,    step.tag,
                                          step.n_words, step.first_word, step.message};
        std::copy_n(fields, static_cast<int>(N_FIELDS), &steps[(s * n_steps + k) * N_FIELDS]);
        const bool sends =
            step.call == SEND || step.call == ISEND || (step.call == BCAST && step.partner == s);
        for (int w = 0; w < step.n_words && (sends || step.call == EXCHANGE); w++)
            row(s)[step.first_word + w] = word_of(sends ? step.message : s, w);
    }

    int32_t *row(int s) { return &words[static_cast<size_t>(s) * row_words]; }
    const int32_t *status(int s, size_t k) const { return &statuses[(s * n_steps + k) * 3]; }
};

/* What a slot has, against what it was to get. */
class Comparison {
  public:
    Comparison(const MessageProgram &program, Arrays &arrays) : program_(program), arrays_(arrays) {
        for (int s = 0; s < program.n_slots; s++)
            for (const Step &step : program.steps[s])
                if (step.call == SEND || step.call == ISEND)
                    sent_[step.message] = {s, step};
    }

    std::string find_fault() {
        for (int s = 0; s < program_.n_slots; s++)
            for (size_t k = 0; k < program_.steps[s].size(); k++)
                if (!is_right(s, k))
                    return "slot " + std::to_string(s) + ", step " + std::to_string(k);
        return "";
    }

  private:
    bool has(int s, const Step &step, int message, int n_words) {
        for (int w = 0; w < n_words; w++)
            if (arrays_.row(s)[step.first_word + w] != word_of(message, w))
                return false;
        return true;
    }

    bool is_right(int s, size_t k) {
        const Step &step = program_.steps[s][k];
        if (step.call == BCAST || step.call == EXCHANGE)
            return has(s, step, step.message, step.n_words);
        if (step.call == RECV)
            return is_received(s, step, arrays_.status(s, k));
        if (step.call == WAIT && program_.steps[s][step.message].call == IRECV)
            return is_received(s, program_.steps[s][step.message], arrays_.status(s, k));
        return true;
    }

    /* From anyone: each message once, and those of one sender in order. */
    bool is_received(int s, const Step &step, const int32_t *status) {
        const int message = step.message < 0 ? arrays_.row(s)[step.first_word] : step.message;
        const auto found = sent_.find(message);
        if (found == sent_.end() || found->second.second.partner != s)
            return false;
        const auto &[from, send] = found->second;
        const int before = step.message < 0 ? last_[{from, s}] : -1;
        last_[{from, s}] = message + 1;
        return message + 1 > before && status[0] == from && status[1] == send.tag &&
               status[2] == 4 * send.n_words && has(s, step, message, send.n_words);
    }

    const MessageProgram &program_;
    Arrays &arrays_;
    std::map<int, std::pair<int, Step>> sent_;
    std::map<std::pair<int, int>, int> last_;
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

polytile_status run_on_queue(polytile_queue *queue, const Operands &of, int64_t n_slots) {
    polytile_status status = polytile_queue_attach(queue, 3, of.arrays);
    if (status == POLYTILE_OK)
        status = polytile_queue_launch(queue, of.kernel, POLYTILE_EXTENTS(n_slots), 3, of.arrays,
                                       nullptr);
    return status == POLYTILE_OK ? polytile_queue_detach(queue, 3, of.arrays) : status;
}

polytile_status run_on_list(polytile_context *ctx, const Operands &of, int64_t n_slots,
                            const std::string &device_text, const char *layout) {
    polytile_share_options share = {};
    polytile_queue *queue = nullptr;
    share.layout = layout;
    const auto n_devices = 1 + std::count(device_text.begin(), device_text.end(), ',');
    const std::string rows = std::to_string(n_devices) + "x1";
    /* Columns in turn would be tens of thousands of boxes. */
    if (layout != nullptr && std::string(layout).rfind("cyclic", 0) == 0)
        share.grid = rows.c_str();
    const polytile_status status =
        polytile_queue_create_shared(ctx, device_text.c_str(), &share, &queue);
    return status == POLYTILE_OK ? run_on_queue(queue, of, n_slots) : status;
}

polytile_status run_on(polytile_context *ctx, Arrays &of, const std::string &device_text,
                       const polytile_implementation *implementation, const char *layout) {
    const Operands operands(ctx, of, implementation);
    polytile_device *device = nullptr;
    if (operands.kernel == nullptr)
        return POLYTILE_INTERNAL;
    if (device_text.find(',') != std::string::npos)
        return run_on_list(ctx, operands, of.n_slots, device_text, layout);
    if (polytile_device_open(ctx, device_text.c_str(), &device) != POLYTILE_OK)
        return POLYTILE_INTERNAL;
    return polytile_run(device, operands.kernel, POLYTILE_EXTENTS(of.n_slots), 3, operands.arrays,
                        nullptr);
}

/* Run a program, and compare. */
std::string run_by(const MessageProgram &program, polytile_status expected,
                   const std::function<polytile_status(polytile_context *, Arrays &)> &run) {
    Arrays arrays(program);
    polytile_context *ctx = nullptr;
    if (polytile_context_create(&ctx) != POLYTILE_OK)
        return "no context";
    const polytile_status status = run(ctx, arrays);
    const std::string error = polytile_last_error(ctx);
    polytile_context_destroy(ctx);
    if (status != expected)
        return std::string(polytile_status_text(status)) + " in place of " +
               polytile_status_text(expected) + ": " + error;
    return status == POLYTILE_OK ? Comparison(program, arrays).find_fault() : "";
}

} // namespace

polytile_status interpret_messages(const MessageProgram &program) {
    return Interpreter(program).run();
}

const polytile_implementation &near_interpret = interpret_kernel;

std::string run_messages(const MessageProgram &program, const std::string &device_text,
                         polytile_status expected, const polytile_implementation *implementation,
                         const char *layout) {
    return run_by(program, expected, [&](polytile_context *ctx, Arrays &arrays) {
        return run_on(ctx, arrays, device_text, implementation, layout);
    });
}

std::string
run_messages_on(const MessageProgram &program,
                const std::function<polytile_status(polytile_context *, polytile_queue **)> &open,
                polytile_status expected, const polytile_implementation *implementation) {
    return run_by(program, expected, [&](polytile_context *ctx, Arrays &arrays) {
        const Operands operands(ctx, arrays, implementation);
        polytile_queue *queue = nullptr;
        const polytile_status status = open(ctx, &queue);
        return status == POLYTILE_OK ? run_on_queue(queue, operands, arrays.n_slots) : status;
    });
}
