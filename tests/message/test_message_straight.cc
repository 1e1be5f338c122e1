#include "message/other_process.h"

#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

/* Long messages between the hosts of two processes, whose data no packet has; and who looks for
 * packets. The other process is the test's. */

namespace {

using other_process::deliver;

enum { OWN_SLOT, OTHER_SLOT, TAG = 6, N_BYTES = 100000, FIRST = 48, PAGE_BYTES = 4096 };

int64_t find_page_offset(const void *address) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(address) % PAGE_BYTES);
}

pti_packet_head head_of(pti_packet_kind kind) {
    pti_packet_head head = {};
    head.kind = kind;
    head.from = OTHER_SLOT;
    head.to = OWN_SLOT;
    head.tag = TAG;
    head.offer = 1;
    head.n_bytes = N_BYTES;
    return head;
}

/* The other process, by what it does with each packet, and at each look. */
struct Other {
    std::function<void(pti_server *, pti_packet *)> take; /* the packet stays the caller's */
    std::function<void(pti_server *)> look = [](pti_server *) {};
    bool has_begun = false, is_last = false, has_ended = false;
};

void end_other(Other *other, pti_server *server) {
    if (other->is_last && !other->has_ended) {
        deliver(server, head_of(PTI_RETURNED_PACKET));
        deliver(server, pti_packet_head{.kind = PTI_END_PACKET}, 1);
    }
    other->has_ended |= other->is_last;
}

pti_carrying carry(void *carrier, pti_server *server) {
    auto *other = static_cast<Other *>(carrier);
    pti_carrying carried = {};
    carried.is_idle = true;
    if (!other->has_begun)
        deliver(server, head_of(PTI_BEGUN_PACKET));
    other->has_begun = true;
    for (pti_packet *packet; (packet = pti_processes_take(server)) != nullptr;
         pti_spare_release(packet)) {
        other->take(server, packet);
        carried.has_moved = true;
    }
    other->look(server);
    end_other(other, server);
    return carried;
}

/* One slot for each function, all of the own process, whose arrays are `memory`. Returns what ended
 * the launch. */
polytile_status run_slots(Other *other, std::vector<char> *memory, bool by_any_thread,
                          const std::vector<std::function<void(pt_slot *)>> &slots) {
    const pt_memory of = {memory->data(), memory->data() + memory->size(), 1};
    std::vector<int32_t> part_of(slots.size(), 0);
    part_of.push_back(-2);
    polytile_context *ctx = nullptr;
    polytile_context_create(&ctx);
    pti_server *server = other_process::make_server(part_of, {other, carry, by_any_thread});
    pti_server_part *part = pti_server_get_part(server, 0);
    std::thread launched([&] {
        polytile_context *own = nullptr;
        polytile_context_create(&own);
        EXPECT_EQ(pti_server_begin(part, own, &of, nullptr, 1, nullptr), POLYTILE_OK);
        EXPECT_EQ(pti_server_meet(part, own), POLYTILE_OK);
        std::vector<std::thread> threads;
        for (size_t s = 0; s < slots.size(); s++)
            threads.emplace_back([&, s] {
                slots[s](pti_server_get_slot(part, static_cast<int>(s)));
                pti_server_end_slot(part, static_cast<int>(s));
            });
        pti_server_wait(part);
        memory->assign(memory->size(), 'z');
        for (std::thread &thread : threads)
            thread.join();
        pti_server_finish(part, own);
        polytile_context_destroy(own);
    });
    bool is_of_peer = false;
    const polytile_status status = pti_server_carry(server, ctx, &is_of_peer);
    launched.join();
    pti_server_release(server);
    polytile_context_destroy(ctx);
    return status;
}

/* Who asks for the data of each offer, whose place lies `shift` bytes further on in its page. */
struct Asking {
    Other other;
    std::vector<char> memory = std::vector<char>(FIRST + N_BYTES, 'a');
    std::vector<char> got = std::vector<char>(N_BYTES, 0);
    bool is_straight = false;

    explicit Asking(int64_t shift) {
        other.take = [this, shift](pti_server *server, pti_packet *packet) {
            const pti_packet_head &head = packet->head;
            const char *data =
                packet->straight == nullptr ? packet->data : packet->straight->data + head.at;
            const int64_t n_bytes =
                packet->straight == nullptr
                    ? packet->n_bytes - static_cast<int64_t>(sizeof packet->head)
                    : head.n_bytes;
            if (head.kind == PTI_OFFER_PACKET)
                ask(server, head.offer, shift);
            if (head.kind != PTI_DATA_PACKET && head.kind != PTI_STRAIGHT_PACKET)
                return;
            is_straight |= head.kind == PTI_STRAIGHT_PACKET;
            memcpy(got.data() + head.at, data, static_cast<size_t>(n_bytes));
            pti_deliver_sent(server, packet);
            other.is_last = head.at + n_bytes == N_BYTES;
        };
    }

    void ask(pti_server *server, int64_t offer, int64_t shift) {
        pti_packet_head head = head_of(PTI_ASK_PACKET);
        head.offer = offer;
        head.is_such = 1;
        head.at = (find_page_offset(memory.data() + FIRST) + shift) % PAGE_BYTES;
        deliver(server, head);
    }

    void run() {
        const auto send = [this](pt_slot *slot) {
            EXPECT_EQ(pt_send_now(slot, memory.data() + FIRST, N_BYTES, OTHER_SLOT, TAG, 0), 0);
        };
        EXPECT_EQ(run_slots(&other, &memory, false, {send}), POLYTILE_OK);
        EXPECT_EQ(got, std::vector<char>(N_BYTES, 'a'));
    }
};

TEST(MessageStraight, DataLeaveFromWhereTheyAreIfTheirPlaceIsNotAFewBytesFurtherOnInItsPage) {
    const struct {
        int64_t shift;
        bool is_straight;
    } cases[] = {{0, true},   {1, false}, {8, false},  {16, true},
                 {63, false}, {64, true}, {100, true}, {PAGE_BYTES - 1, true}};
    for (const auto &c : cases) {
        Asking asking(c.shift);
        asking.run();
        EXPECT_EQ(asking.is_straight, c.is_straight) << c.shift;
    }
}

TEST(MessageStraight, PiecesLeaveStraightToo) {
    pti_processes_set_piece(3000);
    Asking asking(0);
    asking.run();
    EXPECT_TRUE(asking.is_straight);
    pti_processes_set_piece(0);
}

/* The other process sends a message of N_BYTES, of whose data it tells when it is asked. */
struct Sending {
    Other other;
    std::vector<char> memory = std::vector<char>(FIRST + N_BYTES, 'a');
    bool is_asked = false, has_offered = false;
    char *place = nullptr;

    Sending() {
        other.take = [this](pti_server *, pti_packet *packet) {
            if (packet->head.kind != PTI_ASK_PACKET)
                return;
            is_asked = true;
            EXPECT_TRUE(packet->head.is_such);
            EXPECT_EQ(packet->head.at, find_page_offset(memory.data() + FIRST));
        };
    }

    void offer(pti_server *server) {
        if (!has_offered)
            deliver(server, head_of(PTI_OFFER_PACKET));
        has_offered = true;
    }

    int receive(pt_slot *slot) {
        return pt_recv_now(slot, memory.data() + FIRST, N_BYTES, OTHER_SLOT, TAG, 0, nullptr);
    }
};

TEST(MessageStraight, DataComeToWhereTheyBelong) {
    Sending sending;
    const pti_packet_head head = head_of(PTI_STRAIGHT_PACKET);
    sending.other.look = [&](pti_server *server) {
        sending.offer(server);
        if (!sending.is_asked || sending.other.is_last)
            return;
        char *place = pti_deliver_find_place(server, 1, &head);
        EXPECT_EQ(place, sending.memory.data() + FIRST);
        memset(place, 'b', N_BYTES);
        pti_deliver_straight(server, 1, &head);
        sending.other.is_last = true;
    };
    const auto receive = [&](pt_slot *slot) {
        EXPECT_EQ(sending.receive(slot), 0);
        EXPECT_EQ(std::vector<char>(sending.memory.begin() + FIRST, sending.memory.end()),
                  std::vector<char>(N_BYTES, 'b'));
    };
    EXPECT_EQ(run_slots(&sending.other, &sending.memory, false, {receive}), POLYTILE_OK);
}

/* What run_slots() does with the memory comes after what MPI does. */
TEST(MessageStraight, ALaunchThatEndsWaitsForDataThatCome) {
    Sending sending;
    const pti_packet_head head = head_of(PTI_STRAIGHT_PACKET);
    int n_looks = 0;
    sending.other.look = [&](pti_server *server) {
        sending.offer(server);
        if (sending.place == nullptr && sending.is_asked) {
            sending.place = pti_deliver_find_place(server, 1, &head);
            pti_server_fail(server, POLYTILE_CANCELLED, "enough");
        }
        if (sending.place == nullptr || sending.other.is_last || ++n_looks < 20)
            return;
        EXPECT_EQ(sending.memory[FIRST], 'a') << "the part has gone on";
        memset(sending.place, 'b', N_BYTES);
        pti_deliver_straight(server, 1, &head);
        EXPECT_EQ(pti_deliver_find_place(server, 1, &head), nullptr) << "the launch ends";
        sending.other.is_last = true;
    };
    const auto receive = [&](pt_slot *slot) { EXPECT_NE(sending.receive(slot), 0); };
    EXPECT_EQ(run_slots(&sending.other, &sending.memory, false, {receive}), POLYTILE_CANCELLED);
    EXPECT_EQ(sending.memory[FIRST], 'z');
}

/* Answers come only to the thread that has asked, and not at once: so it looks itself, though
 * another slot waits since long. */
TEST(MessageStraight, TheSlotThatBeganToWaitLastLooksForPackets) {
    enum { SLEEPER, ASKER, ELSEWHERE, N_QUESTIONS = 20 };
    Other other;
    std::vector<char> memory(8);
    std::atomic<std::thread::id> asker;
    int n_asked = 0, n_answered = 0, n_looks = 0;
    const auto answer = [&](pti_server *server, int to) {
        pti_packet_head head = head_of(PTI_MESSAGE_PACKET);
        head.from = ELSEWHERE;
        head.to = to;
        head.n_bytes = 0;
        deliver(server, head);
    };
    other.take = [&](pti_server *, pti_packet *packet) {
        n_asked += packet->head.kind == PTI_MESSAGE_PACKET;
        n_looks = 0;
    };
    other.look = [&](pti_server *server) {
        n_looks += std::this_thread::get_id() == asker.load();
        if (n_answered == n_asked || n_looks < 3)
            return;
        answer(server, ASKER);
        if (++n_answered == N_QUESTIONS)
            answer(server, SLEEPER);
        other.is_last = n_answered == N_QUESTIONS;
    };
    const auto sleep = [](pt_slot *slot) {
        EXPECT_EQ(pt_recv_now(slot, nullptr, 0, ELSEWHERE, TAG, 0, nullptr), 0);
    };
    const auto ask = [&](pt_slot *slot) {
        asker = std::this_thread::get_id();
        for (int k = 0; k < N_QUESTIONS; k++) {
            usleep(2000);
            EXPECT_EQ(pt_send_now(slot, nullptr, 0, ELSEWHERE, TAG, 0), 0);
            EXPECT_EQ(pt_recv_now(slot, nullptr, 0, ELSEWHERE, TAG, 0, nullptr), 0);
        }
    };
    EXPECT_EQ(run_slots(&other, &memory, true, {sleep, ask}), POLYTILE_OK);
    EXPECT_EQ(n_answered, N_QUESTIONS);
}

} // namespace
