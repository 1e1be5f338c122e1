#ifndef POLYTILE_OTHER_PROCESS_H
#define POLYTILE_OTHER_PROCESS_H

#include <gtest/gtest.h>
#include <polytile/message.h>
#include <polytile/polytile.h>

#include <cstring>
#include <vector>

extern "C" {
#include "message/deliver.h"
#include "message/processes.h"
#include "message/program.h"
#include "message/spare.h"
#include "message/wait.h"
}

/* The server of the first of two processes, and packets of the other one that a test makes. */

namespace other_process {

inline void deliver(pti_server *server, pti_packet_head head, int64_t data_bytes = 0) {
    const size_t n_bytes = sizeof head + static_cast<size_t>(data_bytes);
    char *bytes = static_cast<char *>(pti_spare_allocate(static_cast<int64_t>(n_bytes) + 1));
    memset(bytes, 'x', n_bytes + 1);
    memcpy(bytes, &head, sizeof head);
    pti_deliver_packet(server, 1, bytes, static_cast<int64_t>(n_bytes));
}

/* part_of: of each slot, as pti_server_deal() has it; -2: of the other process. */
inline pti_server *make_server(const std::vector<int32_t> &part_of, const pti_carrier &carrier) {
    const auto n_slots = static_cast<int64_t>(part_of.size());
    pti_server_request request = {};
    request.kernel_name = "last";
    request.n_slots = n_slots;
    request.threads = *POLYTILE_EXTENTS(n_slots);
    request.timeout_s = 10;
    request.has_program = true;
    pti_server *server = pti_server_create(&request);
    EXPECT_TRUE(pti_server_join(server, 2, 0, &carrier) &&
                pti_server_deal(server, 1, part_of.data()));
    pti_server_open(server, 1);
    return server;
}

} // namespace other_process

#endif
