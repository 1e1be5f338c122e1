#ifndef POLYTILE_TESTS_MESSAGE_INTERPRET_KERNEL_H
#define POLYTILE_TESTS_MESSAGE_INTERPRET_KERNEL_H

/* The kernel that carries out random programs; each file that includes it compiles it for a device.
 */
#include "message/element_kinds.h"
#include "message/message_content.h"
#include "message/random_messages.h"

#include <polytile/message.h>

/* A step's fields, by all lanes. */
PT_FUNCTION Step step_at(const int32_t *fields) {
    return {fields[0], fields[1], fields[2], fields[3], fields[4],
            fields[5], fields[6], fields[7], fields[8]};
}

PT_FUNCTION void fill_buffer(int lane, int n_lanes, uint8_t *buffer, const Step &step) {
    for (int32_t k = lane; k < step.n_bytes; k += n_lanes)
        buffer[k] = content_of(step.message, k);
}

PT_FUNCTION void scribble(int lane, int n_lanes, uint8_t *buffer, const Step &step) {
    for (int32_t k = lane; k < step.n_bytes; k += n_lanes)
        buffer[k] = SCRIBBLE;
}

/* What a collective is to send is written just before. */
PT_FUNCTION void copy_parts(int lane, int n_lanes, uint8_t *row, int n_ranks, const Step &step) {
    const int32_t n_parts = step.call == SCATTER || step.call == ALLTOALL ? n_ranks : 1;
    for (int32_t b = lane; b < n_parts * step.n_bytes; b += n_lanes)
        row[step.first_byte + b] = row[step.received + b];
}

PT_FUNCTION int reduce_step(pt_slot *PT_TEAM, const Step &step, const void *from, void *to) {
    const polytile_role roles[] = {POLYTILE_SUM, POLYTILE_PROD, POLYTILE_MIN, POLYTILE_MAX};
    const polytile_role role = roles[step.tag % 4];
    switch (step.tag / 4) {
#define REDUCE_CASE(number, type)                                                                  \
    case number:                                                                                   \
        return pt_reduce((const type *)from, (type *)to, step.n_bytes / (int32_t)sizeof(type),     \
                         role, step.partner);
        ELEMENT_KINDS(REDUCE_CASE)
#undef REDUCE_CASE
    default:
        return 1;
    }
}

PT_FUNCTION int collect(pt_slot *PT_TEAM, const Step &step, uint8_t *from, uint8_t *to) {
    switch (step.call) {
    case BARRIER:
        return pt_barrier();
    case BCAST:
        return pt_bcast(from, step.n_bytes, step.partner);
    case REDUCE:
        return reduce_step(PT_TEAM, step, from, to);
    case GATHER:
        return pt_gather(from, step.n_bytes, to, step.partner);
    case SCATTER:
        return pt_scatter(from, step.n_bytes, to, step.partner);
    default:
        return pt_alltoall(from, step.n_bytes, to);
    }
}

PT_FUNCTION int wait_for(pt_slot *PT_TEAM, const Step &step, pt_request *request,
                         pt_status *status) {
    int is_done = 0, ends = 0;
    if ((step.flags & POLLS) == 0)
        return pt_wait(request, status);
    while (!is_done && !ends)
        ends = pt_test(request, &is_done, status);
    return ends;
}

/* P: the steps of each slot; B: its buffers; R: the status of each of its receives and requests, at
 * the step that began. */
POLYTILE_TEAM_KERNEL(interpret, (s), (const int32_t, P, 3), (int32_t, B, 2), (int32_t, R, 3)) {
    pt_request request[16];
    uint8_t *const row = (uint8_t *)&PT_AT(B, s, 0);
    for (int r = 0; r < 16; r++)
        request[r] = PT_NO_REQUEST;
    for (int k = 0; k < PT_EXTENT(P, 1) && PT_AT(P, s, k, 0) != NOTHING; k++) {
        const Step step = step_at(&PT_AT(P, s, k, 0));
        const int partner = step.partner == pt_ranks() ? PT_PROGRAM : step.partner;
        uint8_t *const buffer = row + step.first_byte;
        pt_status status = {0, 0, 0}, *const told = step.flags & HAS_NO_STATUS ? NULL : &status;
        int ends = 0, is_done = 0, of = k;
        if (step.call > BARRIER && step.received >= 0)
            copy_parts(PT_LANE, PT_LANES, row, pt_ranks(), step);
        if (step.flags & FILLS)
            fill_buffer(PT_LANE, PT_LANES, buffer, step);
        switch (step.call) {
        case SEND:
            ends = pt_send(buffer, step.n_bytes, partner, step.tag);
            break;
        case RECV:
            ends = pt_recv(buffer, step.n_bytes, partner, step.tag, told);
            break;
        case ISEND:
            ends = pt_isend(buffer, step.n_bytes, partner, step.tag, &request[step.other]);
            of = -1;
            break;
        case IRECV:
            ends = pt_irecv(buffer, step.n_bytes, partner, step.tag, &request[step.other]);
            of = -1;
            break;
        case WAIT:
            of = request[step.other] == PT_NO_REQUEST ? k : step.message;
            ends = wait_for(PT_TEAM, step, &request[step.other], told);
            break;
        case LOOK:
            of = request[step.other] == PT_NO_REQUEST ? k : step.message;
            ends = pt_test(&request[step.other], &is_done, told);
            of = is_done ? of : -1;
            break;
        case EXCHANGE:
            ends = pt_sendrecv_replace(buffer, step.n_bytes, partner,
                                       step.other == pt_ranks() ? PT_PROGRAM : step.other, step.tag,
                                       told);
            break;
        case SIGNAL:
            ends = pt_signal(partner, step.tag);
            break;
        case WAIT_SIGNAL:
            ends = pt_wait_signal(step.tag, step.partner);
            break;
        case PUT:
            ends = pt_put(partner, B, (partner, step.other / 4), buffer, step.n_bytes);
            break;
        case COPY:
            for (int32_t b = PT_LANE; b < step.n_bytes; b += PT_LANES)
                row[step.other + b] = buffer[b];
            break;
        default:
            ends = collect(PT_TEAM, step, buffer, row + step.other);
        }
        if (ends)
            return;
        if (step.flags & SCRIBBLES)
            scribble(PT_LANE, PT_LANES, buffer, step);
        if (PT_LANE != 0 || of < 0)
            continue;
        PT_AT(R, s, of, 0) = status.source;
        PT_AT(R, s, of, 1) = status.tag;
        PT_AT(R, s, of, 2) = (int32_t)status.n_bytes;
    }
}

#endif
