#include "message/random_messages.h"

#include <polytile/message.h>

#include <map>

namespace {

bool matches(int wanted, int given) {
    return wanted == PT_ANY || wanted == given;
}

/* Carries out a program slot by slot as far as each goes, until nobody goes on. */
class Interpreter {
  public:
    Interpreter(const MessageProgram &program, bool is_strict)
        : program_(program), is_strict_(is_strict), ranks_(program.steps.size()) {}

    /* A receive of the program's that is too small does not end the launch: what comes of it
     * depends on what the program does then. */
    polytile_status run() {
        bool goes_on = true;
        while (goes_on) {
            goes_on = false;
            for (int r = 0; r < program_.n_ranks(); r++)
                while (!is_too_small_ && advance(r))
                    goes_on = true;
        }
        if (is_too_small_)
            return has_program_failed_ ? POLYTILE_INTERNAL : POLYTILE_INVALID;
        for (int s = 0; s < program_.n_slots; s++)
            if (!has_returned(s))
                return POLYTILE_DEADLOCK;
        return program_.has_program && !has_returned(program_.n_slots) ? POLYTILE_INTERNAL
                                                                       : POLYTILE_OK;
    }

  private:
    struct Post {
        int partner, tag, n_bytes;
        bool is_done;
    };
    struct Rank {
        size_t at = 0;
        bool has_begun = false;                 /* the step at which it is */
        std::vector<size_t> messages, receives; /* posts that are not matched */
        std::map<int, size_t> requests;         /* posts, by the number of their step */
        std::map<int, int> signals;
        int n_barriers = 0, n_collectives = 0; /* at which it is, or was */
    };

    bool has_returned(int r) const { return ranks_[r].at == program_.steps[r].size(); }

    /* Match messages to a rank with its receives, in their order. */
    void match(Rank *receiver) {
        for (size_t r = 0; r < receiver->receives.size();) {
            Post &receive = posts_[receiver->receives[r]];
            size_t m = 0;
            while (m < receiver->messages.size() && !fits(receive, posts_[receiver->messages[m]]))
                m++;
            if (m == receiver->messages.size()) {
                r++;
                continue;
            }
            const bool is_small = posts_[receiver->messages[m]].n_bytes > receive.n_bytes;
            is_too_small_ |= is_small;
            has_program_failed_ |= is_small && receiver == ranks_.data() + program_.n_slots;
            posts_[receiver->messages[m]].is_done = receive.is_done = true;
            receiver->messages.erase(receiver->messages.begin() + static_cast<long>(m));
            receiver->receives.erase(receiver->receives.begin() + static_cast<long>(r));
        }
    }

    static bool fits(const Post &receive, const Post &message) {
        return matches(receive.partner, message.partner) && matches(receive.tag, message.tag);
    }

    size_t post_send(int from, int to, int tag, int n_bytes, bool is_kept) {
        posts_.push_back({from, tag, n_bytes, is_kept || n_bytes <= PT_EAGER_BYTES});
        const size_t made = posts_.size() - 1;
        ranks_[to].messages.push_back(made);
        match(&ranks_[to]);
        return made;
    }

    size_t post_receive(int to, int from, int tag, int n_bytes) {
        posts_.push_back({from, tag, n_bytes, false});
        const size_t made = posts_.size() - 1;
        ranks_[to].receives.push_back(made);
        match(&ranks_[to]);
        return made;
    }

    size_t post(int r, const Step &step) {
        if (step.call == SEND || step.call == ISEND)
            return post_send(r, step.partner, step.tag, step.n_bytes, false);
        if (step.call == EXCHANGE)
            post_send(r, step.partner, step.tag, step.n_bytes, true);
        return post_receive(r, step.call == EXCHANGE ? step.other : step.partner, step.tag,
                            step.n_bytes);
    }

    bool have_arrived(int Rank::*count, int number) const {
        for (int s = 0; s < program_.n_slots; s++)
            if (ranks_[s].*count < number)
                return false;
        return true;
    }

    /* Whom a collective has to wait for. */
    bool passes_collective(int s, const Step &step) const {
        const int number = ranks_[s].n_collectives;
        const bool collects = step.call == REDUCE || step.call == GATHER;
        const bool needs_all = step.call == ALLTOALL || (collects && step.partner == s);
        if (is_strict_ || (step.n_bytes > 0 && needs_all))
            return have_arrived(&Rank::n_collectives, number);
        return collects || step.n_bytes == 0 || ranks_[step.partner].n_collectives >= number;
    }

    /* What a step does when it begins. */
    void begin(int r, Rank *rank, const Step &step) {
        const int number = static_cast<int>(rank->at);
        switch (step.call) {
        case SEND:
        case RECV:
        case ISEND:
        case IRECV:
        case EXCHANGE:
            rank->requests[number] = post(r, step);
            return;
        case SIGNAL:
            ranks_[step.partner].signals[step.tag]++;
            return;
        case BARRIER:
            rank->n_barriers++;
            return;
        default:
            rank->n_collectives += step.call > BARRIER;
        }
    }

    bool passes(int r, Rank &rank, const Step &step) {
        switch (step.call) {
        case SEND:
        case RECV:
        case EXCHANGE:
            return posts_[rank.requests[static_cast<int>(rank.at)]].is_done;
        case WAIT:
            return rank.requests.count(step.message) == 0 ||
                   posts_[rank.requests[step.message]].is_done;
        case WAIT_SIGNAL:
            return rank.signals[step.tag] >= step.partner;
        case BARRIER:
            return have_arrived(&Rank::n_barriers, rank.n_barriers);
        default:
            return step.call <= BARRIER || passes_collective(r, step);
        }
    }

    bool advance(int r) {
        Rank &rank = ranks_[r];
        if (has_returned(r))
            return false;
        const Step &step = program_.steps[r][rank.at];
        if (!rank.has_begun)
            begin(r, &rank, step);
        rank.has_begun = true;
        if (is_too_small_ || !passes(r, rank, step))
            return false;
        rank.at++;
        rank.has_begun = false;
        return true;
    }

    const MessageProgram &program_;
    bool is_strict_;
    std::vector<Rank> ranks_;
    std::vector<Post> posts_;
    bool is_too_small_ = false;
    bool has_program_failed_ = false;
};

} // namespace

polytile_status interpret_messages(const MessageProgram &program, bool is_strict) {
    return Interpreter(program, is_strict).run();
}
