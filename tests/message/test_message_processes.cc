#include "message/other_process.h"

#include <unistd.h>

#include <atomic>
#include <thread>

/* The server of one process, and packets of another one that the test makes. */

namespace {

enum { OWN_SLOT, OTHER_SLOT, PROGRAM, N_BYTES = 65536, LAST_TAG = 6 };

/* The other process, whose slot sends the program a long message last of all. */
struct OtherProcess {
    int n_carried = 0;
    bool is_asked = false, has_sent_data = false, has_sent_end = false;
};

using other_process::deliver;

pti_packet_head head_of(pti_packet_kind kind) {
    pti_packet_head head = {};
    head.kind = kind;
    head.from = OTHER_SLOT;
    head.to = PROGRAM;
    head.tag = LAST_TAG;
    head.offer = 1;
    head.n_bytes = N_BYTES;
    return head;
}

bool take_asks(pti_server *server) {
    bool is_asked = false;
    for (pti_packet *packet; (packet = pti_processes_take(server)) != nullptr;
         pti_spare_release(packet))
        is_asked |= packet->head.kind == PTI_ASK_PACKET;
    return is_asked;
}

/* When the own slot has returned, the data come together with the word that the other one has; the
 * program's thread is slow to go on. */
void deliver_last(pti_server *server) {
    usleep(50000);
    deliver(server, head_of(PTI_DATA_PACKET), N_BYTES);
    deliver(server, head_of(PTI_RETURNED_PACKET));
    usleep(50000);
}

pti_carrying carry(void *carrier, pti_server *server) {
    auto *other = static_cast<OtherProcess *>(carrier);
    pti_carrying carried = {};
    carried.is_idle = true;
    if (other->n_carried++ == 0) {
        deliver(server, head_of(PTI_BEGUN_PACKET));
        deliver(server, head_of(PTI_OFFER_PACKET));
    }
    other->is_asked |= take_asks(server);
    if (other->is_asked && !other->has_sent_data)
        deliver_last(server);
    else if (other->has_sent_data && !other->has_sent_end)
        deliver(server, pti_packet_head{.kind = PTI_END_PACKET}, 1);
    other->has_sent_end |= other->has_sent_data;
    other->has_sent_data |= other->is_asked;
    return carried;
}

/* Serve the slot that this process has, which returns at once. */
void run_part(pti_server_part *part) {
    polytile_context *ctx = nullptr;
    polytile_context_create(&ctx);
    EXPECT_EQ(pti_server_begin(part, ctx, nullptr, nullptr, 0, nullptr), POLYTILE_OK);
    EXPECT_EQ(pti_server_meet(part, ctx), POLYTILE_OK);
    pti_server_end_slot(part, OWN_SLOT);
    pti_server_wait(part);
    EXPECT_EQ(pti_server_finish(part, ctx), POLYTILE_OK);
    polytile_context_destroy(ctx);
}

pti_server *make_server(void *other, pti_carrying (*carry_it)(void *, pti_server *),
                        bool by_any_thread = false) {
    return other_process::make_server({0, -2}, {other, carry_it, by_any_thread});
}

TEST(MessageProcesses, WhatComesWithTheLastReturnIsStillCopied) {
    OtherProcess other;
    polytile_context *ctx = nullptr;
    polytile_context_create(&ctx);
    pti_server *server = make_server(&other, carry);
    std::thread part(run_part, pti_server_get_part(server, 0));
    std::vector<char> data(N_BYTES);
    bool is_of_peer = false;
    EXPECT_EQ(pti_program_recv(server, ctx, data.data(), N_BYTES, OTHER_SLOT, LAST_TAG, nullptr),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(data, std::vector<char>(N_BYTES, 'x'));
    EXPECT_EQ(pti_server_carry(server, ctx, &is_of_peer), POLYTILE_OK) << polytile_last_error(ctx);
    part.join();
    pti_server_release(server);
    polytile_context_destroy(ctx);
}

enum { MANY_BYTES = 2 << 20 };

/* Another process, whose slot receives a long message of the program. */
struct SlowProcess {
    bool has_begun = false, has_ended = false;
    int64_t n_bytes = 0;
    int n_most = 0; /* pieces that waited at once */
};

int count_waiting(pti_server *server) {
    int n = 0;
    pthread_mutex_lock(&server->mutex);
    for (const pti_packet *at = server->processes->first; at != nullptr; at = at->next)
        n += at->head.kind == PTI_DATA_PACKET;
    pthread_mutex_unlock(&server->mutex);
    return n;
}

/* Take a packet at a time. */
pti_carrying carry_slowly(void *carrier, pti_server *server) {
    auto *other = static_cast<SlowProcess *>(carrier);
    pti_carrying carried = {};
    if (!other->has_begun)
        deliver(server, head_of(PTI_BEGUN_PACKET));
    other->has_begun = true;
    other->n_most = std::max(other->n_most, count_waiting(server));
    pti_packet *packet = pti_processes_take(server);
    carried.has_moved = packet != nullptr;
    carried.is_idle = packet == nullptr;
    if (packet != nullptr && packet->head.kind == PTI_OFFER_PACKET)
        deliver(server, pti_packet_head{.kind = PTI_ASK_PACKET, .offer = packet->head.offer});
    if (packet != nullptr && packet->head.kind == PTI_DATA_PACKET)
        other->n_bytes += packet->n_bytes - static_cast<int64_t>(sizeof packet->head);
    pti_spare_release(packet);
    if (other->n_bytes == MANY_BYTES && !other->has_ended) {
        deliver(server, head_of(PTI_RETURNED_PACKET));
        deliver(server, pti_packet_head{.kind = PTI_END_PACKET}, 1);
        other->has_ended = true;
    }
    return carried;
}

TEST(MessageProcesses, FewPiecesWaitForTheCarrier) {
    SlowProcess other;
    polytile_context *ctx = nullptr;
    polytile_context_create(&ctx);
    pti_server *server = make_server(&other, carry_slowly);
    std::thread part(run_part, pti_server_get_part(server, 0));
    const std::vector<char> data(MANY_BYTES, 'x');
    bool is_of_peer = false;
    EXPECT_EQ(pti_program_send(server, ctx, data.data(), MANY_BYTES, OTHER_SLOT, LAST_TAG),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(pti_server_carry(server, ctx, &is_of_peer), POLYTILE_OK) << polytile_last_error(ctx);
    part.join();
    EXPECT_EQ(other.n_bytes, MANY_BYTES);
    EXPECT_GE(other.n_most, 1);
    EXPECT_LE(other.n_most, 3) << "two, and one that another thread copies meanwhile";
    pti_server_release(server);
    polytile_context_destroy(ctx);
}

/* Another process, whose slot answers each message of the own one; who asks for that. */
struct Answering {
    std::thread::id program = std::this_thread::get_id();
    bool only_to_slots = false; /* it answers only if a slot's thread carries */
    std::atomic<int> n_carrying = 0, n_at_once = 0, n_of_slots = 0;
    std::atomic<bool> is_program_busy = false;
    std::atomic<int> n_while_busy =
        0; /* times that a slot carried while the program did not wait */
    bool has_begun = false, has_ended = false;
    int n_to_answer = 0, n_left = 0;
    int n_on_their_way = 3; /* looks at the end that find something under way */
    bool was_idle = false;
};

enum { N_ANSWERS = 200 };

/** Answer what was sent so far, and end when that was all. */
void answer(Answering *other, pti_server *server, pti_carrying *carried) {
    pti_packet_head head = head_of(PTI_MESSAGE_PACKET);
    head.to = OWN_SLOT;
    head.n_bytes = 0;
    for (; other->n_to_answer > 0; other->n_to_answer--, other->n_left--) {
        deliver(server, head);
        carried->has_moved = true;
    }
    if (other->n_left == 0 && !other->has_ended) {
        deliver(server, head_of(PTI_RETURNED_PACKET));
        deliver(server, pti_packet_head{.kind = PTI_END_PACKET}, 1);
        other->has_ended = true;
    }
}

pti_carrying carry_answers(void *carrier, pti_server *server) {
    auto *other = static_cast<Answering *>(carrier);
    const bool is_slot = std::this_thread::get_id() != other->program;
    pti_carrying carried = {};
    carried.is_idle = true;
    other->n_at_once += ++other->n_carrying > 1;
    other->n_of_slots += is_slot;
    other->n_while_busy += is_slot && other->is_program_busy;
    if (!other->has_begun) {
        other->has_begun = true;
        other->n_left = N_ANSWERS;
        deliver(server, head_of(PTI_BEGUN_PACKET));
    }
    for (pti_packet *packet; (packet = pti_processes_take(server)) != nullptr;
         pti_spare_release(packet))
        other->n_to_answer += packet->head.kind == PTI_MESSAGE_PACKET;
    if (is_slot || !other->only_to_slots)
        answer(other, server, &carried);
    carried.is_idle = !other->has_ended || --other->n_on_their_way < 0;
    other->was_idle = carried.is_idle;
    --other->n_carrying;
    return carried;
}

/* The own slot sends, and waits for the answer, again and again. */
void run_asking_part(pti_server_part *part) {
    polytile_context *ctx = nullptr;
    polytile_context_create(&ctx);
    EXPECT_EQ(pti_server_begin(part, ctx, nullptr, nullptr, 0, nullptr), POLYTILE_OK);
    EXPECT_EQ(pti_server_meet(part, ctx), POLYTILE_OK);
    std::thread slot([part] {
        pt_slot *own = pti_server_get_slot(part, 0);
        int has_ended = 0;
        for (int k = 0; k < N_ANSWERS && !has_ended; k++)
            has_ended = pt_send_now(own, nullptr, 0, OTHER_SLOT, LAST_TAG, 0) ||
                        pt_recv_now(own, nullptr, 0, OTHER_SLOT, LAST_TAG, 0, nullptr);
        EXPECT_EQ(has_ended, 0);
        pti_server_end_slot(part, OWN_SLOT);
    });
    pti_server_wait(part);
    slot.join();
    EXPECT_EQ(pti_server_finish(part, ctx), POLYTILE_OK) << polytile_last_error(ctx);
    polytile_context_destroy(ctx);
}

void ask_and_answer(Answering *other, bool by_any_thread) {
    polytile_context *ctx = nullptr;
    polytile_context_create(&ctx);
    pti_server *server = make_server(other, carry_answers, by_any_thread);
    other->is_program_busy = true;
    std::thread part(run_asking_part, pti_server_get_part(server, 0));
    usleep(2000);
    other->is_program_busy = false;
    bool is_of_peer = false;
    EXPECT_EQ(pti_server_carry(server, ctx, &is_of_peer), POLYTILE_OK) << polytile_last_error(ctx);
    other->is_program_busy = true;
    EXPECT_TRUE(other->was_idle) << "whoever carried last";
    part.join();
    pti_server_release(server);
    polytile_context_destroy(ctx);
    EXPECT_EQ(other->n_at_once, 0);
    EXPECT_EQ(other->n_while_busy, 0);
}

/* Answers come only to slots that carry: so these do. */
TEST(MessageProcesses, SlotsCarryWhileTheProgramWaits) {
    Answering other;
    other.only_to_slots = true;
    ask_and_answer(&other, true);
    EXPECT_GE(other.n_of_slots, 1);
}

TEST(MessageProcesses, TheProgramAloneCarriesWhereMpiAsksForThat) {
    Answering other;
    ask_and_answer(&other, false);
    EXPECT_EQ(other.n_of_slots, 0);
}

/* A carrier that fails brings packets of no kind: they say nothing. */
TEST(MessageProcesses, APacketOfNoKindIsNoAnswer) {
    SlowProcess other;
    pti_server *server = make_server(&other, carry_slowly);
    deliver(server, pti_packet_head{});
    EXPECT_EQ(server->processes->n_answers, -1);
    EXPECT_EQ(server->processes->state[1].waits, nullptr);
    pti_server_release(server);
}

} // namespace
