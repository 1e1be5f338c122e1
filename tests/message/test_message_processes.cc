#include <gtest/gtest.h>
#include <polytile/message.h>
#include <polytile/polytile.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

extern "C" {
#include "message/deliver.h"
#include "message/processes.h"
#include "message/program.h"
#include "message/spare.h"
#include "message/wait.h"
}

/* The server of one process, and packets of another one that the test makes. */

namespace {

enum { OWN_SLOT, OTHER_SLOT, PROGRAM, N_BYTES = 65536, LAST_TAG = 6 };

/* The other process, whose slot sends the program a long message last of all. */
struct OtherProcess {
    int n_carried = 0;
    bool is_asked = false, has_sent_data = false, has_sent_end = false;
};

void deliver(pti_server *server, pti_packet_head head, int64_t data_bytes = 0) {
    const size_t n_bytes = sizeof head + static_cast<size_t>(data_bytes);
    char *bytes = static_cast<char *>(pti_spare_allocate(static_cast<int64_t>(n_bytes) + 1));
    memset(bytes, 'x', n_bytes + 1);
    memcpy(bytes, &head, sizeof head);
    pti_deliver_packet(server, 1, bytes, static_cast<int64_t>(n_bytes));
}

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

pti_server *make_server(void *other, pti_carrying (*carry_it)(void *, pti_server *)) {
    const int32_t part_of[] = {0, -2};
    const pti_carrier carrier = {other, carry_it};
    pti_server_request request = {};
    request.kernel_name = "last";
    request.n_slots = PROGRAM;
    request.threads = *POLYTILE_EXTENTS(PROGRAM);
    request.timeout_s = 10;
    request.has_program = true;
    pti_server *server = pti_server_create(&request);
    EXPECT_TRUE(pti_server_join(server, 2, 0, &carrier) && pti_server_deal(server, 1, part_of));
    pti_server_open(server, 1);
    return server;
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
