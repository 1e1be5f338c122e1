#include "message/random_messages.h"

#include <polytile/message.h>

#include <algorithm>
#include <map>
#include <set>

namespace {

int draw(std::mt19937_64 &random, int n) {
    return static_cast<int>(random() % static_cast<uint64_t>(n));
}

/* Short messages are kept, long ones wait for their receive, some are copied without the mutex. */
int draw_bytes(std::mt19937_64 &random, bool is_short) {
    const int most[] = {5, 26, 34, 400, PT_EAGER_BYTES + 1, 4500, 12000, 48000};
    const int edges[] = {0, 24, 25, 32, 33, 4095, PT_EAGER_BYTES, 4097, 8192, 32768, 32769};
    if (draw(random, 6) == 0)
        return edges[draw(random, is_short ? 7 : 11)];
    return draw(random, most[draw(random, is_short ? 5 : 8)]);
}

constexpr int n_tags = 3;
constexpr int tags[n_tags] = {0, 1, INT32_MAX};
constexpr int exchange_tag = 5;
/* Of messages that no other receive matches; each is drawn once. */
constexpr int first_own_tag = 1000;
/* A call may take two more. */
constexpr size_t most_open = PT_MAX_REQUESTS - 2;
constexpr int n_shared_signals = 2;
constexpr int most_slots_with_puts = PT_MAX_SIGNALS - n_shared_signals;

/* Adds events, each with all of its calls, to the slots that take part. Calls that wait only wait
 * for those of events before, so that each program ends. */
class Drawing {
  public:
    Drawing(std::mt19937_64 &random, int n_slots, const MessageDraws &draws)
        : random_(random), draws_(draws), n_ranks_(n_slots + draws.has_program) {
        program_.n_slots = n_slots;
        program_.has_program = draws.has_program;
        program_.n_messages = 0;
        program_.steps.resize(n_ranks_);
        used_.resize(n_ranks_);
        open_.resize(n_ranks_);
        for (int s = 0; s < n_ranks_; s++)
            takes_any_.push_back(draws.has_any && one_in(4));
    }

    MessageProgram finish() {
        for (int s = 0; s < n_ranks_; s++)
            wait_all(s);
        program_.has_any |= std::count(takes_any_.begin(), takes_any_.end(), true) > 0;
        program_.row_words = 4 + *std::max_element(used_.begin(), used_.end()) / 16 * 4 + 4;
        program_.n_steps = 0;
        for (const auto &steps : program_.steps)
            program_.n_steps = std::max(program_.n_steps, static_cast<int>(steps.size()) + 1);
        return program_;
    }

    void add_event() {
        using Event = void (Drawing::*)();
        static const struct {
            Event add;
            int weight;
        } events[] = {
            {&Drawing::add_message, 20},  {&Drawing::add_rotation, 2}, {&Drawing::add_exchange, 2},
            {&Drawing::add_signal, 2},    {&Drawing::add_put, 3},      {&Drawing::add_burst, 3},
            {&Drawing::add_relay, 2},     {&Drawing::add_lost, 1},     {&Drawing::add_look, 3},
            {&Drawing::add_idle_wait, 1}, {&Drawing::add_barrier, 1},  {&Drawing::add_broadcast, 1},
            {&Drawing::add_reduction, 1}, {&Drawing::add_parts, 2}};
        int total = 0;
        for (const auto &event : events)
            total += event.weight;
        int rest = draw(random_, total);
        const auto *event = events;
        while (rest >= event->weight)
            rest -= event++->weight;
        (this->*event->add)();
    }

  private:
    bool one_in(int n) { return draw(random_, n) == 0; }
    int any_slot() { return draw(random_, program_.n_slots); }
    int any_rank() { return draw(random_, n_ranks_); }
    bool is_program(int rank) const { return rank == program_.n_slots; }
    int step(int rank) const { return static_cast<int>(program_.steps[rank].size()); }
    int flag(int value, int n) { return one_in(n) ? value : 0; }

    /* A place of its own in a row, which may begin at any byte; some bytes between are nobody's. */
    int place(int rank, int n_bytes, bool is_aligned) {
        const int first =
            (used_[rank] + 15) / 8 * 8 + (is_aligned || !one_in(3) ? 0 : 1 + draw(random_, 7));
        used_[rank] = first + n_bytes;
        return first;
    }

    Step &add(int rank, const Step &step) {
        program_.steps[rank].push_back(step);
        return program_.steps[rank].back();
    }

    void add_send(int from, int to, int tag, int n_bytes, int message, bool may_begin = true) {
        const bool begins = may_begin && !is_program(from) && one_in(3);
        const int fills = is_program(from) ? 0 : flag(FILLS, 2);
        Step step = {SEND, to, tag, n_bytes, place(from, n_bytes, false), message, 0, fills};
        if (begins)
            begin(from, ISEND, step);
        else {
            step.flags |= is_program(from) ? 0 : flag(SCRIBBLES, 2);
            add(from, step);
        }
    }

    void add_recv(int to, int from, int tag, int most, int message, bool may_begin = true) {
        const int quiet = message >= 0 ? flag(HAS_NO_STATUS, 4) : 0;
        const Step step = {RECV, from, tag, most, place(to, most, false), message, 0, quiet};
        if (may_begin && !is_program(to) && one_in(2))
            begin(to, IRECV, step);
        else
            add(to, step);
    }

    void begin(int rank, int call, Step step) {
        while (open_[rank].size() >= most_open)
            wait(rank);
        step.call = call;
        step.other = 0;
        for (const auto &[at, request] : open_[rank])
            taken_.insert(request);
        while (taken_.count(step.other) > 0)
            step.other++;
        taken_.clear();
        open_[rank].push_back({this->step(rank), step.other});
        add(rank, step);
    }

    void wait(int rank) {
        const int which = draw(random_, static_cast<int>(open_[rank].size()));
        const auto [at, request] = open_[rank][which];
        const Step begun = program_.steps[rank][at];
        open_[rank].erase(open_[rank].begin() + which);
        Step step = {WAIT, 0, 0, begun.n_bytes, begun.first_byte, at, request, flag(POLLS, 4)};
        step.flags |= begun.flags & HAS_NO_STATUS;
        if (begun.call == ISEND)
            step.flags |= flag(SCRIBBLES, 2);
        add(rank, step);
    }

    void wait_all(int rank) {
        while (!open_[rank].empty())
            wait(rank);
    }

    void wait_some(int rank) {
        if (one_in(4))
            wait_all(rank);
        else if (!open_[rank].empty() && one_in(2))
            wait(rank);
    }

    /* Of messages from one rank to another that are received with any tag. */
    bool is_tagless(int from, int to) {
        const auto found = tagless_.emplace(std::make_pair(from, to), false);
        if (found.second)
            found.first->second = one_in(4);
        return found.first->second;
    }

    void add_message() {
        const int from = any_rank(), to = any_rank();
        if (is_program(from) && is_program(to))
            return;
        const bool is_any = takes_any_[to], receives_first = from == to && !is_any && one_in(2);
        int n_bytes = draw_bytes(random_, is_any || (from == to && !receives_first));
        const int tag = tags[draw(random_, n_tags)], message = program_.n_messages++;
        const int wanted = is_any || is_tagless(from, to) ? PT_ANY : tag;
        if (is_any)
            n_bytes = std::max(n_bytes, 4);
        const int most = is_any ? PT_EAGER_BYTES : n_bytes + draw(random_, 9);
        wait_some(from);
        wait_some(to);
        if (receives_first)
            begin(to, IRECV, {IRECV, from, wanted, most, place(to, most, false), message, 0, 0});
        add_send(from, to, tag, n_bytes, message);
        if (!receives_first)
            add_recv(to, is_any ? PT_ANY : from, wanted, most, is_any ? -1 : message);
    }

    /* Several messages that the same receives match, whoever sends them. */
    void add_burst() {
        const int to = any_rank(), tag = INT32_MAX - 1 - n_bursts_++;
        const int n = 1 + draw(random_, 5), most = std::max(4, draw_bytes(random_, false));
        if (takes_any_[to] || !draws_.has_any)
            return;
        program_.has_any = true;
        for (int k = 0; k < n; k++) {
            const int from = any_slot();
            const int n_bytes = one_in(2) ? most : 4 + draw(random_, most - 3);
            if (from == to)
                continue;
            add_send(from, to, tag, n_bytes, program_.n_messages++);
            burst_.push_back(from);
        }
        for (size_t k = 0; k < burst_.size(); k++)
            add_recv(to, PT_ANY, tag, most, -1);
        burst_.clear();
    }

    /* What was received goes on from where it lies. */
    void add_relay() {
        const int from = any_slot(), by = any_slot(), to = any_slot();
        if (takes_any_[by] || takes_any_[to] || from == by || by == to || is_tagless(from, by) ||
            is_tagless(by, to))
            return;
        const int n_bytes = draw_bytes(random_, false), message = program_.n_messages++;
        add_send(from, by, tags[0], n_bytes, message);
        const int at = place(by, n_bytes, false);
        add(by, {RECV, from, tags[0], n_bytes, at, message, 0, 0});
        add(by, {SEND, to, tags[1], n_bytes, at, message, 0, RELAYS});
        add_recv(to, by, tags[1], n_bytes, message);
    }

    /* Nobody receives it. */
    void add_lost() {
        const int from = any_slot(), to = any_rank();
        if (takes_any_[to] || is_tagless(from, to))
            return;
        add_send(from, to, own_tag(), draw_bytes(random_, true), program_.n_messages++, false);
    }

    int own_tag() { return first_own_tag + n_own_tags_++; }

    void add_look() {
        const int rank = any_slot();
        if (open_[rank].empty())
            return;
        const auto [at, request] = open_[rank][draw(random_, static_cast<int>(open_[rank].size()))];
        add(rank, {LOOK, 0, 0, 0, 0, at, request, program_.steps[rank][at].flags & HAS_NO_STATUS});
    }

    /* For no request. */
    void add_idle_wait() {
        const int rank = any_slot();
        add(rank, {WAIT, 0, 0, 0, 0, -1, PT_MAX_REQUESTS - 1, flag(POLLS, 2)});
    }

    bool takes_any_slot_any() const {
        return std::count(takes_any_.begin(), takes_any_.begin() + program_.n_slots, true) > 0;
    }

    void add_rotation() {
        const int n = program_.n_slots, n_bytes = draw_bytes(random_, false);
        const int by = draw(random_, n), first = program_.n_messages;
        if (takes_any_slot_any())
            return;
        program_.n_messages += n;
        for (int s = 0; s < n; s++) {
            wait_some(s);
            add(s, {EXCHANGE, (s + by) % n, exchange_tag, n_bytes, place(s, n_bytes, false),
                    first + s, (s - by + n) % n, flag(FILLS, 2) | flag(HAS_NO_STATUS, 4),
                    first + (s - by + n) % n});
        }
    }

    /* Two slots, or a slot and the program. */
    void add_exchange() {
        const int a = any_slot(), b = any_rank(), n_bytes = draw_bytes(random_, false);
        const int first = program_.n_messages;
        if (a == b || takes_any_[a] || takes_any_[b])
            return;
        program_.n_messages += 2;
        add(a, {EXCHANGE, b, exchange_tag, n_bytes, place(a, n_bytes, false), first, b,
                flag(FILLS, 2), first + 1});
        if (!is_program(b)) {
            add(b, {EXCHANGE, a, exchange_tag, n_bytes, place(b, n_bytes, false), first + 1, a, 0,
                    first});
            return;
        }
        const bool sends_first = one_in(2);
        if (sends_first)
            add_send(b, a, exchange_tag, n_bytes, first + 1);
        add_recv(b, a, is_tagless(a, b) ? PT_ANY : exchange_tag, n_bytes, first);
        if (!sends_first)
            add_send(b, a, exchange_tag, n_bytes, first + 1);
    }

    void add_signal() {
        const int from = any_slot(), to = any_slot(), signal = draw(random_, n_shared_signals);
        add(from, {SIGNAL, to, signal, 0, 0, 0, 0, 0});
        add(to, {WAIT_SIGNAL, ++given_[{to, signal}], signal, 0, 0, 0, 0, 0});
    }

    /* The signal has the number of its sender, whose other puts are older. */
    void add_put() {
        const int from = any_slot(), to = any_slot(), n_bytes = draw_bytes(random_, false);
        const int signal = n_shared_signals + from, message = program_.n_messages++;
        if (!draws_.has_puts || program_.n_slots > most_slots_with_puts)
            return;
        const int own = place(from, n_bytes, false), there = place(to, n_bytes, true);
        add(from, {PUT, to, 0, n_bytes, own, message, there, flag(FILLS, 2) | flag(SCRIBBLES, 2)});
        add(from, {SIGNAL, to, signal, 0, 0, 0, 0, 0});
        add(to, {WAIT_SIGNAL, ++given_[{to, signal}], signal, 0, 0, 0, 0, 0});
        add(to, {COPY, 0, 0, n_bytes, there, message, place(to, n_bytes, false), 0});
    }

    void add_barrier() {
        for (int s = 0; s < program_.n_slots; s++)
            add(s, {BARRIER, 0, 0, 0, 0, 0, 0, 0});
    }

    void add_broadcast() {
        const int root = any_slot(), n_bytes = draw_bytes(random_, false);
        const int message = program_.n_messages++;
        for (int s = 0; s < program_.n_slots; s++) {
            wait_some(s);
            const int fills = s == root ? flag(FILLS, 2) : 0;
            add(s, {BCAST, root, 0, n_bytes, place(s, n_bytes, false), message, 0, fills});
        }
    }

    /* A collective of a slot with two buffers, where these take so many parts. What it sends may be
     * written just before, and over just after. */
    void add_collective(int s, Step step, int n_sent, int n_received, bool is_aligned) {
        step.first_byte = place(s, step.n_bytes * n_sent, is_aligned);
        step.other = place(s, step.n_bytes * n_received, is_aligned);
        if (one_in(2))
            step.received = place(s, step.n_bytes * n_sent, is_aligned);
        step.flags |= flag(SCRIBBLES, 2);
        add(s, step);
    }

    void add_reduction() {
        const int root = any_slot(), kind = draw(random_, 6), role = draw(random_, 4);
        const int n_bytes = draw_bytes(random_, false) / 8 * 8, message = program_.n_messages++;
        for (int s = 0; s < program_.n_slots; s++)
            add_collective(s, {REDUCE, root, 4 * kind + role, n_bytes, 0, message, 0, 0}, 1, 1,
                           true);
    }

    /* A gather, a scatter, or of each to each. */
    void add_parts() {
        const int call = GATHER + draw(random_, 3), root = any_slot(), n = program_.n_slots;
        const int n_bytes = draw_bytes(random_, false) / (call == ALLTOALL ? n : 1);
        const int message = program_.n_messages;
        program_.n_messages += n * n;
        for (int s = 0; s < n; s++)
            add_collective(s, {call, root, 0, n_bytes, 0, message, 0, 0}, call == GATHER ? 1 : n,
                           call == SCATTER ? 1 : n, false);
    }

    std::mt19937_64 &random_;
    MessageDraws draws_;
    int n_ranks_;
    MessageProgram program_ = {};
    std::vector<bool> takes_any_;
    std::vector<int> used_;
    std::vector<std::vector<std::pair<int, int>>> open_; /* steps that began, and their requests */
    std::set<int> taken_;
    std::vector<int> burst_;
    std::map<std::pair<int, int>, bool> tagless_;
    std::map<std::pair<int, int>, int> given_;
    int n_bursts_ = 0, n_own_tags_ = 0;
};

} // namespace

MessageProgram draw_messages(std::mt19937_64 &random, int n_slots, int n_events,
                             const MessageDraws &draws) {
    Drawing drawing(random, n_slots, draws);
    for (int k = 0; k < n_events; k++)
        drawing.add_event();
    return drawing.finish();
}

namespace {

bool is_receive(const Step &step) {
    return step.call == RECV || step.call == IRECV;
}

bool is_send(const Step &step) {
    return step.call == SEND || step.call == ISEND;
}

/* Leave out a call that nothing refers to. A step of a program does not become nothing, which
 * would be its end. */
void leave_out(Step *step, bool is_slot) {
    const int calls[] = {SEND, RECV, EXCHANGE, SIGNAL, WAIT_SIGNAL, BARRIER};
    if (is_slot && std::count(std::begin(calls), std::end(calls), step->call) > 0)
        *step = {SIGNAL, 0, 15, 0, 0, 0, 0, 0};
}

void cut_short(std::mt19937_64 &random, Step *step) {
    if (is_receive(*step))
        step->n_bytes = draw(random, step->n_bytes + 1);
}

void turn_away(std::mt19937_64 &random, const MessageProgram &program, Step *step, bool is_slot) {
    if (is_slot && (is_receive(*step) || is_send(*step)))
        step->partner = draw(random, program.n_slots);
    else if (is_receive(*step))
        step->tag = 77;
}

void spoil(std::mt19937_64 &random, MessageProgram *program) {
    for (auto &steps : program->steps)
        for (Step &step : steps)
            step.flags &= ~POLLS;
    for (int k = draw(random, 5); k >= 0; k--) {
        const int rank = draw(random, program->n_ranks());
        const bool is_slot = rank < program->n_slots;
        auto &steps = program->steps[rank];
        if (steps.empty())
            continue;
        const int at = draw(random, static_cast<int>(steps.size())), how = draw(random, 8);
        if (how == 0)
            steps.resize(at);
        else if (how == 1)
            cut_short(random, &steps[at]);
        else if (how == 2)
            turn_away(random, *program, &steps[at], is_slot);
        else
            leave_out(&steps[at], is_slot);
    }
}

} // namespace

MessageProgram draw_spoiled(std::mt19937_64 &random, int n_slots, int n_events,
                            MessageDraws draws) {
    draws.has_any = false;
    for (;;) {
        MessageProgram program = draw_messages(random, n_slots, n_events, draws);
        spoil(random, &program);
        const polytile_status end = interpret_messages(program);
        if (end != POLYTILE_INTERNAL && end == interpret_messages(program, false))
            return program;
    }
}
