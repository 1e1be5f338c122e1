#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <string>
#include <vector>

extern "C" {
#include "message/match.h"
}
#include <polytile/message.h>

/* Which receive gets which message, compared with lists that are searched by hand. */

namespace {

constexpr int n_slots = 3, program = n_slots;
constexpr int64_t small = 24, large = 100000; /* larger ones are copied without the mutex */

struct Envelope {
    int owner;
    int peer;
    int tag;
    bool is_collective;
    int64_t n_bytes;
};

/** A server that nobody runs, and the data of all sends and receives. */
class Matching {
  public:
    Matching() {
        const pti_server_request request = {"match", n_slots, {1, {{0, n_slots - 1, 1}}}, 60, true};
        server_ = pti_server_create(&request);
        pthread_mutex_lock(&server_->mutex);
    }
    ~Matching() {
        pthread_mutex_unlock(&server_->mutex);
        pti_server_release(server_);
    }
    Matching(const Matching &) = delete;
    Matching &operator=(const Matching &) = delete;

    /** Send a message whose bytes are all its number, from 1 on. Returns that. */
    int send(const Envelope &of, bool is_kept) {
        data_.emplace_back(size_t(of.n_bytes), char(++n_sent_));
        pti_match_send(server_, post(of, true), is_kept);
        if (is_kept)
            std::fill(data_.back().begin(), data_.back().end(), '\0');
        return n_sent_;
    }
    /** Returns the number of the receive. */
    size_t receive(const Envelope &of) {
        data_.emplace_back(size_t(of.n_bytes));
        pti_match_receive(server_, post(of, false));
        return data_.size() - 1;
    }
    const pti_post *peek(const Envelope &of) {
        const pti_post as = make(of, false);
        return pti_match_peek(server_, &as);
    }
    void copy_all() {
        while (pti_match_copy(server_, nullptr))
            ;
    }
    void forget_all() { pti_match_forget_all(server_); }

    /** Which message a receive has: its first byte if the next ones of the message's are the same;
     * 0: none; -1: parts of several. */
    int got(size_t receive, int64_t n_bytes) const {
        const std::vector<char> &data = data_[receive];
        bool are_same = true;
        for (size_t k = 0; k < size_t(n_bytes); k++)
            are_same = are_same && data[k] == data[0];
        return are_same ? data[0] : -1;
    }
    bool is_ended() const { return server_->is_ending; }
    std::string text() const { return server_->text; }

  private:
    /** Nobody waits for the request, as if its owner had been told. */
    pti_post make(const Envelope &of, bool is_send) {
        pti_post made = {};
        made.owner = of.owner;
        made.request = PT_NO_REQUEST;
        made.peer = of.peer;
        made.tag = of.tag;
        made.is_send = is_send;
        made.is_collective = of.is_collective;
        made.n_bytes = of.n_bytes;
        return made;
    }
    pti_post *post(const Envelope &of, bool is_send) {
        pti_post as = make(of, is_send);
        as.data = data_.back().data();
        return pti_post_make(server_, &as);
    }

    pti_server *server_;
    int n_sent_ = 0;
    std::deque<std::vector<char>> data_;
};

/** The same by lists, for all receivers together, in the order of the calls. */
class Lists {
  public:
    struct Sent {
        Envelope of;
        int number;
    };
    struct Received {
        Envelope of;
        size_t number;
        int got;
        int64_t n_bytes;
    };

    void send(const Envelope &of, int number) {
        for (Received &receive : receives)
            if (receive.got == 0 && match(of, receive.of)) {
                receive.got = number;
                receive.n_bytes = of.n_bytes;
                return;
            }
        messages.push_back({of, number});
    }
    void receive(const Envelope &of, size_t number) {
        receives.push_back({of, number, 0, of.n_bytes});
        const size_t at = find(of);
        if (at == messages.size())
            return;
        receives.back().got = messages[at].number;
        receives.back().n_bytes = messages[at].of.n_bytes;
        messages.erase(messages.begin() + static_cast<ptrdiff_t>(at));
    }
    /** The first message of a receive; as many as there are: none. */
    size_t find(const Envelope &receive) const {
        size_t at = 0;
        while (at < messages.size() && !match(messages[at].of, receive))
            at++;
        return at;
    }

    std::vector<Sent> messages;
    std::vector<Received> receives;

  private:
    static bool match(const Envelope &sent, const Envelope &receive) {
        return sent.peer == receive.owner && sent.is_collective == receive.is_collective &&
               (receive.peer == PT_ANY || receive.peer == sent.owner) &&
               (receive.tag == PT_ANY || receive.tag == sent.tag);
    }
};

TEST(Match, AReceiveTakesTheFirstMessageAndAMessageTheFirstReceive) {
    Random random(test_seed("Match.AReceiveTakesTheFirstMessageAndAMessageTheFirstReceive"));
    for (int64_t round = 0; round < scaled(300); round++) {
        Matching matching;
        Lists lists;
        for (int64_t n = random.number(2, 60); n > 0; n--) {
            Envelope of = {int(random.number(0, n_slots)), int(random.number(0, n_slots)),
                           int(random.number(0, 2)), random.chance(20), large};
            if (random.chance(50)) {
                of.n_bytes = random.one_of({1, small, small, PTI_SMALL_BYTES + 1, large});
                const bool is_kept = of.n_bytes < large && random.chance(30);
                lists.send(of, matching.send(of, is_kept));
            } else {
                of.peer = random.chance(40) ? PT_ANY : of.peer;
                of.tag = random.chance(40) ? PT_ANY : of.tag;
                const pti_post *first = matching.peek(of);
                const size_t at = lists.find(of);
                ASSERT_EQ(first == nullptr, at == lists.messages.size());
                if (first != nullptr) {
                    EXPECT_EQ(first->owner, lists.messages[at].of.owner);
                    EXPECT_EQ(first->tag, lists.messages[at].of.tag);
                    EXPECT_EQ(first->n_bytes, lists.messages[at].of.n_bytes);
                }
                lists.receive(of, matching.receive(of));
            }
            if (random.chance(10))
                matching.copy_all();
        }
        matching.copy_all();
        for (const Lists::Received &receive : lists.receives)
            ASSERT_EQ(matching.got(receive.number, receive.n_bytes), receive.got);
        EXPECT_FALSE(matching.is_ended()) << matching.text();
    }
}

TEST(Match, LongDataMoveWhenAThreadCopies) {
    Matching matching;
    const size_t receive = matching.receive({0, 1, 7, false, large});
    matching.send({1, 0, 7, false, large}, false);
    EXPECT_EQ(matching.got(receive, large), 0);
    matching.copy_all();
    EXPECT_EQ(matching.got(receive, large), 1);
}

TEST(Match, ASlotsReceiveThatIsTooShortEndsTheLaunch) {
    Matching matching;
    matching.receive({0, PT_ANY, PT_ANY, false, small - 1});
    matching.send({2, 0, 5, false, small}, false);
    EXPECT_TRUE(matching.is_ended());
    EXPECT_EQ(matching.text(), "match: slot 0 receives into 23 bytes a message of 24 bytes from "
                               "slot 2, tag 5; give a receive as much as its sender sends");
}

TEST(Match, TheProgramsReceiveThatIsTooShortLeavesTheMessage) {
    Matching matching;
    matching.send({2, program, 5, false, small}, true);
    matching.receive({program, 2, 5, false, small - 1});
    EXPECT_FALSE(matching.is_ended());
    ASSERT_NE(matching.peek({program, 2, 5, false, 0}), nullptr);
    EXPECT_EQ(matching.got(matching.receive({program, 2, 5, false, small}), small), 1);
}

TEST(Match, AfterALaunchOnlyKeptMessagesToTheProgramStay) {
    Matching matching;
    matching.send({0, program, 1, false, small}, true);
    matching.send({0, program, 2, false, small}, false);
    matching.send({0, 1, 3, false, small}, true);
    matching.receive({2, 0, 4, false, small});
    matching.forget_all();
    EXPECT_NE(matching.peek({program, PT_ANY, 1, false, 0}), nullptr);
    EXPECT_EQ(matching.peek({program, PT_ANY, 2, false, 0}), nullptr);
    EXPECT_EQ(matching.peek({1, PT_ANY, 3, false, 0}), nullptr);
    matching.send({0, 2, 4, false, small}, false);
    EXPECT_NE(matching.peek({2, 0, 4, false, 0}), nullptr) << "no receive is left to take it";
}

} // namespace
