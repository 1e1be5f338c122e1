#ifndef POLYTILE_MESSAGE_COLLECTIVE_H
#define POLYTILE_MESSAGE_COLLECTIVE_H

/*
 * Calls of all slots of a launch together, made of sends and receives that match their like alone;
 * message.h includes this. Trees are binomial, over ranks that are counted from the root.
 */
#include <polytile/declaration.h>

#include <string.h>

typedef enum pt_collective {
    PT_BCAST_TAG,
    PT_REDUCE_TAG,
    PT_GATHER_TAG,
    PT_SCATTER_TAG,
    PT_ALLTOALL_TAG,
} pt_collective;

PT_MESSAGE_FUNCTION int pt_send_like(pt_slot *team, const void *data, int64_t n_bytes, int to,
                                     pt_collective what) {
    return pt_send_now(team, data, n_bytes, to, (int)what, PT_COLLECTIVE);
}

PT_MESSAGE_FUNCTION int pt_recv_like(pt_slot *team, void *data, int64_t n_bytes, int from,
                                     pt_collective what) {
    return pt_recv_now(team, data, n_bytes, from, (int)what, PT_COLLECTIVE, 0);
}

/** A barrier is passed when all slots have arrived as often as this one. */
PT_MESSAGE_FUNCTION int pt_meet(pt_slot *team) {
    const pt_ring *ring = team->ring;
    const int64_t arrivals = ring->n_ranks * PT_MAX_SIGNALS;
    PT_TEAM_SYNC;
    const uint64_t n_meetings = team->n_barriers + 1;
    pt_count_up(team, arrivals, 0, ring->n_parts - 1, PT_ARRIVE_ENTRY, team->rank, 0);
    if (PT_LANE == 0)
        team->n_barriers = n_meetings;
    return pt_await_all(team, &ring->count[arrivals], n_meetings * (uint64_t)ring->n_ranks);
}

/** Return the rank that is so far from the root. */
PT_MESSAGE_FUNCTION int pt_rank_from(const pt_slot *team, int root, int distance) {
    const int rank = root + distance;
    return rank < team->ring->n_ranks ? rank : rank - team->ring->n_ranks;
}

PT_MESSAGE_FUNCTION int pt_distance_from(const pt_slot *team, int root) {
    const int distance = team->rank - root;
    return distance >= 0 ? distance : distance + team->ring->n_ranks;
}

/** A root that is no rank is refused as the peer of a message. */
PT_MESSAGE_FUNCTION int pt_is_rank(const pt_slot *team, int rank) {
    return rank >= 0 && rank < team->ring->n_ranks;
}

PT_MESSAGE_FUNCTION int pt_broadcast(pt_slot *team, void *data, int64_t n_bytes, int root) {
    if (!pt_is_rank(team, root) || n_bytes < 0)
        return pt_send_like(team, data, n_bytes, root, PT_BCAST_TAG);
    const int distance = pt_distance_from(team, root);
    int step = 1;
    while (step < team->ring->n_ranks && (distance & step) == 0)
        step *= 2;
    if (distance > 0 &&
        pt_recv_like(team, data, n_bytes, pt_rank_from(team, root, distance - step), PT_BCAST_TAG))
        return 1;
    for (step /= 2; step > 0; step /= 2)
        if (distance + step < team->ring->n_ranks &&
            pt_send_like(team, data, n_bytes, pt_rank_from(team, root, distance + step),
                         PT_BCAST_TAG))
            return 1;
    return pt_is_ending(team);
}

PT_MESSAGE_FUNCTION int pt_gather_parts(pt_slot *team, const void *from, int64_t n_bytes, void *to,
                                        int root) {
    if (team->rank != root)
        return pt_send_like(team, from, n_bytes, root, PT_GATHER_TAG);
    for (int rank = 0; rank < team->ring->n_ranks; rank++) {
        char *part = (char *)to + rank * n_bytes;
        if (rank == root ? pt_copy_own(team, part, from, n_bytes, PT_GATHER_TAG)
                         : pt_recv_like(team, part, n_bytes, rank, PT_GATHER_TAG))
            return 1;
    }
    return pt_is_ending(team);
}

PT_MESSAGE_FUNCTION int pt_scatter_parts(pt_slot *team, const void *from, int64_t n_bytes, void *to,
                                         int root) {
    if (team->rank != root)
        return pt_recv_like(team, to, n_bytes, root, PT_SCATTER_TAG);
    for (int rank = 0; rank < team->ring->n_ranks; rank++) {
        const char *part = (const char *)from + rank * n_bytes;
        if (rank == root ? pt_copy_own(team, to, part, n_bytes, PT_SCATTER_TAG)
                         : pt_send_like(team, part, n_bytes, rank, PT_SCATTER_TAG))
            return 1;
    }
    return pt_is_ending(team);
}

/** In step k each slot sends to the one k ranks behind, and receives from the one k before. */
PT_MESSAGE_FUNCTION int pt_exchange_parts(pt_slot *team, const void *from, int64_t n_bytes,
                                          void *to) {
    const int n_ranks = team->ring->n_ranks;
    if (pt_copy_own(team, (char *)to + team->rank * n_bytes,
                    (const char *)from + team->rank * n_bytes, n_bytes, PT_ALLTOALL_TAG))
        return 1;
    for (int step = 1; step < n_ranks; step++) {
        const int behind = (team->rank + step) % n_ranks;
        const int before = (team->rank - step + n_ranks) % n_ranks;
        pt_request request;
        if (pt_begin_send(team, (const char *)from + behind * n_bytes, n_bytes, behind,
                          PT_ALLTOALL_TAG, PT_COLLECTIVE, &request) ||
            pt_recv_like(team, (char *)to + before * n_bytes, n_bytes, before, PT_ALLTOALL_TAG) ||
            pt_finish(team, &request, 0))
            return 1;
    }
    return pt_is_ending(team);
}

/* Element-wise combinations, a function a type. Elements are read as bytes: a type may have several
 * names. */
#define PT_COMBINE_FUNCTION(T, name)                                                               \
    PT_MESSAGE_FUNCTION void pt_combine_##name(char *into, const char *from, int64_t n,            \
                                               int role) {                                         \
        for (int64_t k = PT_LANE; k < n; k += PT_LANES) {                                          \
            T a, b;                                                                                \
            memcpy(&a, into + k * (int64_t)sizeof a, sizeof a);                                    \
            memcpy(&b, from + k * (int64_t)sizeof b, sizeof b);                                    \
            const int takes_b = role == POLYTILE_MIN ? b < a : b > a;                              \
            if (role == POLYTILE_SUM || role == POLYTILE_PROD)                                     \
                a = role == POLYTILE_SUM ? (T)(a + b) : (T)(a * b);                                \
            else if (takes_b)                                                                      \
                a = b;                                                                             \
            memcpy(into + k * (int64_t)sizeof a, &a, sizeof a);                                    \
        }                                                                                          \
    }
PT_COMBINE_FUNCTION(int8_t, i8)
PT_COMBINE_FUNCTION(int16_t, i16)
PT_COMBINE_FUNCTION(int32_t, i32)
PT_COMBINE_FUNCTION(int64_t, i64)
PT_COMBINE_FUNCTION(uint8_t, u8)
PT_COMBINE_FUNCTION(uint16_t, u16)
PT_COMBINE_FUNCTION(uint32_t, u32)
PT_COMBINE_FUNCTION(uint64_t, u64)
PT_COMBINE_FUNCTION(float, f32)
PT_COMBINE_FUNCTION(double, f64)

/** What is combined: the bytes of an element and its kind, which a call's macro finds. */
typedef struct pt_combined {
    int64_t n;
    int32_t element_bytes;
    polytile_number number;
    int role;
} pt_combined;

#define PT_COMBINE_CASE(n_bytes, kind, name)                                                       \
    if (what->element_bytes == (n_bytes) && what->number == (kind))                                \
    pt_combine_##name((char *)into, (const char *)from, n, what->role)

PT_MESSAGE_FUNCTION void pt_combine_elements(void *into, const void *from, int64_t n,
                                             const pt_combined *what) {
    PT_COMBINE_CASE(1, POLYTILE_SIGNED_NUMBER, i8);
    PT_COMBINE_CASE(2, POLYTILE_SIGNED_NUMBER, i16);
    PT_COMBINE_CASE(4, POLYTILE_SIGNED_NUMBER, i32);
    PT_COMBINE_CASE(8, POLYTILE_SIGNED_NUMBER, i64);
    PT_COMBINE_CASE(1, POLYTILE_UNSIGNED_NUMBER, u8);
    PT_COMBINE_CASE(2, POLYTILE_UNSIGNED_NUMBER, u16);
    PT_COMBINE_CASE(4, POLYTILE_UNSIGNED_NUMBER, u32);
    PT_COMBINE_CASE(8, POLYTILE_UNSIGNED_NUMBER, u64);
    PT_COMBINE_CASE(4, POLYTILE_FLOAT_NUMBER, f32);
    PT_COMBINE_CASE(8, POLYTILE_FLOAT_NUMBER, f64);
}

PT_MESSAGE_FUNCTION pt_combined pt_combined_of(int64_t n, int32_t element_bytes,
                                               polytile_number number, int role) {
    const pt_combined what = {n, element_bytes, number, role};
    return what;
}

/** Combine some elements up the tree: each slot has those of the slots below it in `into`, which it
 * sends up. The order is that of the tree, the same on every run. */
PT_MESSAGE_FUNCTION int pt_reduce_stage(pt_slot *team, void *into, int64_t n,
                                        const pt_combined *what, int root) {
    const int distance = pt_distance_from(team, root);
    const int64_t n_bytes = n * what->element_bytes;
    for (int step = 1; step < team->ring->n_ranks; step *= 2) {
        if ((distance & step) != 0)
            return pt_send_like(team, into, n_bytes, pt_rank_from(team, root, distance - step),
                                PT_REDUCE_TAG);
        if (distance + step >= team->ring->n_ranks)
            continue;
        void *theirs = team->stage + PT_STAGE_BYTES;
        if (pt_recv_like(team, theirs, n_bytes, pt_rank_from(team, root, distance + step),
                         PT_REDUCE_TAG))
            return 1;
        pt_combine_elements(into, theirs, n, what);
    }
    return pt_is_ending(team);
}

PT_MESSAGE_FUNCTION int pt_reduce_elements(pt_slot *team, const void *from, void *to, int root,
                                           pt_combined what) {
    const int64_t n_at_once = PT_STAGE_BYTES / what.element_bytes;
    if (!pt_is_rank(team, root) || what.n < 0)
        return pt_send_like(team, from, what.n, root, PT_REDUCE_TAG);
    PT_TEAM_SYNC;
    for (int64_t first = 0; first < what.n; first += n_at_once) {
        const int64_t n = what.n - first < n_at_once ? what.n - first : n_at_once;
        const int64_t offset_bytes = first * what.element_bytes;
        void *into = team->rank == root ? (char *)to + offset_bytes : team->stage;
        pt_copy(into, (const char *)from + offset_bytes, n * what.element_bytes);
        if (pt_reduce_stage(team, into, n, &what, root))
            return 1;
    }
    return pt_is_ending(team);
}

#endif
