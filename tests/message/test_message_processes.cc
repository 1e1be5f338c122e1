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

pti_server *make_server(OtherProcess *other) {
    const int32_t part_of[] = {0, -2};
    const pti_carrier carrier = {other, carry};
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
    pti_server *server = make_server(&other);
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

} // namespace
