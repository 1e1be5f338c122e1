#include "graph/prove/prove.h"

#include "base/checked.h"

/** A proof while it is made. */
typedef struct prover {
    const pti_stream_claim *claim;
    pti_distances distances; /* owned */
    pti_stream_fault *fault;
} prover;

static const pti_frame_buffer *buffer_of(const prover *of, int buffer) {
    return &of->claim->tasks->buffer[buffer];
}

static bool is_right(const prover *of) {
    return of->fault->kind == PTI_STREAM_RIGHT;
}

static int64_t position_in_buffer(const pti_frame_place *place, int64_t frame) {
    return pti_floor_mod(frame, place->capacity);
}

/* Places and waits by themselves. */

static bool lies_in_memory(const pti_stream_claim *claim, const pti_frame_place *place) {
    return place->memory >= 0 && place->memory < claim->n_memories && place->capacity >= 1 &&
           place->offset_bytes >= 0 && place->frame_bytes >= 0 &&
           pti_add_saturated(place->offset_bytes,
                             pti_mul_saturated(place->capacity, place->frame_bytes)) <=
               claim->memory_bytes[place->memory];
}

static void prove_places(prover *of) {
    for (int b = 0; b < of->claim->tasks->n_buffers; b++)
        if (!lies_in_memory(of->claim, &of->claim->place[b]))
            *of->fault = (pti_stream_fault){.kind = PTI_STREAM_OUTSIDE, .used = {.buffer = b}};
}

static void prove_backward(prover *of) {
    const pti_firing_order *order = of->claim->order;
    for (int t = 0; t < order->n_tasks; t++)
        for (int w = order->first[t]; w < order->first[t + 1]; w++)
            if (pti_frames_waited(of->claim->tasks, t, &order->wait[w]) < 0)
                *of->fault = (pti_stream_fault){.kind = PTI_STREAM_LATER, .task = t};
}

/** A circle without tokens never goes on. */
static void prove_progress(prover *of) {
    const pti_firing_order *order = of->claim->order;
    for (int t = 0; t < order->n_tasks; t++)
        for (int w = order->first[t]; w < order->first[t + 1]; w++) {
            const pti_firing_wait *wait = &order->wait[w];
            const bool is_back = wait->on == t || pti_distance(&of->distances, wait->on, t) == 0;
            if (wait->tokens == 0 && is_back)
                *of->fault = (pti_stream_fault){.kind = PTI_STREAM_CIRCLE, .task = t};
        }
}

/* Readers come after producers. */

static void prove_reader(prover *of, int buffer, const pti_buffer_reader *reader) {
    const int producer = buffer_of(of, buffer)->producer;
    if (pti_distance(&of->distances, reader->task, producer) <= reader->delay)
        return;
    *of->fault = (pti_stream_fault){
        .kind = PTI_STREAM_EARLY,
        .used = {.buffer = buffer, .user = reader->task, .user_frame = reader->delay},
        .other = {.buffer = buffer, .user = producer}};
}

static void prove_readers(prover *of) {
    for (int b = 0; b < of->claim->tasks->n_buffers; b++) {
        const pti_frame_buffer *held = buffer_of(of, b);
        for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++)
            prove_reader(of, b, &of->claim->tasks->reader[r]);
    }
}

/* Frames that have bytes in common come one after the other. */

/** How many frames after a buffer's frame another buffer's frame must come, so that its producer
 * begins it only after all uses of the first one; and the user that asks for the most. */
typedef struct gap {
    int64_t frames;
    int user;
    int64_t user_delay;
} gap;

static void widen_gap(const prover *of, gap *found, int user, int64_t delay, int producer) {
    const int64_t distance = pti_distance(&of->distances, producer, user);
    const int64_t frames = distance == PTI_NEVER_AFTER ? INT64_MAX : distance + delay;
    if (frames > found->frames)
        *found = (gap){frames, user, delay};
}

/** least_delay: of the users that are asked; 0: all, the producer of the frame among them. */
static gap find_gap(const prover *of, int buffer, int other, int64_t least_delay) {
    const pti_frame_buffer *held = buffer_of(of, buffer);
    const pti_frame_place *place = &of->claim->place[buffer];
    const int producer = buffer_of(of, other)->producer;
    gap found = {INT64_MIN, -1, 0};
    if (least_delay == 0)
        widen_gap(of, &found, held->producer, 0, producer);
    if (least_delay <= 1 && place->is_restored && place->capacity > 1)
        widen_gap(of, &found, held->producer, 1, producer);
    for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++) {
        const pti_buffer_reader *reader = &of->claim->tasks->reader[r];
        if (reader->delay >= least_delay)
            widen_gap(of, &found, reader->task, reader->delay, producer);
    }
    return found;
}

static bool positions_overlap(const pti_frame_place *a, int64_t position_a,
                              const pti_frame_place *b, int64_t position_b) {
    const int64_t from_a = a->offset_bytes + position_a * a->frame_bytes;
    const int64_t from_b = b->offset_bytes + position_b * b->frame_bytes;
    return from_a < from_b + b->frame_bytes && from_b < from_a + a->frame_bytes;
}

static bool places_overlap(const pti_frame_place *a, const pti_frame_place *b) {
    return a->memory == b->memory && a->frame_bytes > 0 && b->frame_bytes > 0 &&
           a->offset_bytes < b->offset_bytes + b->capacity * b->frame_bytes &&
           b->offset_bytes < a->offset_bytes + a->capacity * a->frame_bytes;
}

static pti_used_frame describe_use(const pti_frame_place *place, int buffer, int64_t frame,
                                   const gap *of) {
    return (pti_used_frame){buffer, frame, position_in_buffer(place, frame), of->user,
                            frame + of->user_delay};
}

/** Two buffers, which may be one, and how far their frames have to be apart either way. */
typedef struct rivals {
    int a, b;
    gap to_b, to_a;
} rivals;

/** Find by how much the frame of b may be later than that of a with neither before the other, for
 * frames in two positions; false: they are always ordered. */
static bool find_unordered(const prover *of, const rivals *pair, int64_t position_a,
                           int64_t position_b, int64_t *later) {
    const int64_t n_a = of->claim->place[pair->a].capacity,
                  n_b = of->claim->place[pair->b].capacity;
    const int64_t step = pti_gcd(n_a, n_b), apart = pti_floor_mod(position_b - position_a, step);
    if (pair->a == pair->b) {
        *later = n_a;
        return n_a < pair->to_b.frames;
    }
    if (pair->to_a.frames == INT64_MAX && pair->to_b.frames == INT64_MAX)
        *later = apart;
    else if (pair->to_a.frames == INT64_MAX)
        *later = pair->to_b.frames - 1 - pti_floor_mod(pair->to_b.frames - 1 - apart, step);
    else
        *later = 1 - pair->to_a.frames + pti_floor_mod(apart - 1 + pair->to_a.frames, step);
    return *later < pair->to_b.frames;
}

/** Find frames in two positions that are so far apart; there are such, by the theorem of
 * remainders. */
static int64_t find_frame(const prover *of, const rivals *pair, int64_t position_a,
                          int64_t position_b, int64_t later) {
    int64_t frame = position_a;
    while (frame + later < 0 ||
           position_in_buffer(&of->claim->place[pair->b], frame + later) != position_b)
        frame += of->claim->place[pair->a].capacity;
    return frame;
}

static void prove_positions(prover *of, const rivals *pair, int64_t position_a,
                            int64_t position_b) {
    int64_t later;
    if (!is_right(of) || !find_unordered(of, pair, position_a, position_b, &later))
        return;
    const int64_t frame = find_frame(of, pair, position_a, position_b, later);
    *of->fault = (pti_stream_fault){
        .kind = PTI_STREAM_OVERWRITE,
        .used = describe_use(&of->claim->place[pair->a], pair->a, frame, &pair->to_b),
        .other = describe_use(&of->claim->place[pair->b], pair->b, frame + later, &pair->to_a)};
}

static void prove_pair(prover *of, int a, int b) {
    const pti_frame_place *at_a = &of->claim->place[a], *at_b = &of->claim->place[b];
    if (!places_overlap(at_a, at_b))
        return;
    const rivals pair = {a, b, find_gap(of, a, b, 0), find_gap(of, b, a, 0)};
    for (int64_t s = 0; s < at_a->capacity; s++)
        for (int64_t t = a == b ? s : 0; t < (a == b ? s + 1 : at_b->capacity); t++)
            if (positions_overlap(at_a, s, at_b, t))
                prove_positions(of, &pair, s, t);
}

/** The zeros of frames before the first one stay until the last of their readers has ended. */
static void prove_zeros(prover *of, int buffer, int other, int64_t frame) {
    const pti_frame_place *place = &of->claim->place[buffer], *by = &of->claim->place[other];
    const gap needed = find_gap(of, buffer, other, -frame), none = {0, -1, 0};
    for (int64_t s = 0; s < by->capacity; s++)
        if (positions_overlap(place, position_in_buffer(place, frame), by, s) &&
            s - frame < needed.frames)
            *of->fault = (pti_stream_fault){.kind = PTI_STREAM_OVERWRITE,
                                            .used = describe_use(place, buffer, frame, &needed),
                                            .other = describe_use(by, other, s, &none)};
}

static int64_t longest_delay(const prover *of, int buffer) {
    const pti_frame_buffer *held = buffer_of(of, buffer);
    int64_t longest = of->claim->place[buffer].is_restored;
    for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++)
        longest = pti_max(longest, of->claim->tasks->reader[r].delay);
    return longest;
}

static void prove_lives(prover *of, int buffer) {
    const int64_t n_before = longest_delay(of, buffer);
    for (int b = buffer; b < of->claim->tasks->n_buffers && is_right(of); b++)
        prove_pair(of, buffer, b);
    for (int b = 0; b < of->claim->tasks->n_buffers && is_right(of); b++)
        for (int64_t f = 1; f <= n_before; f++)
            if (places_overlap(&of->claim->place[buffer], &of->claim->place[b]))
                prove_zeros(of, buffer, b, -f);
}

bool pti_stream_prove(const pti_stream_claim *claim, pti_stream_fault *fault) {
    prover of = {.claim = claim, .fault = fault};
    *fault = (pti_stream_fault){PTI_STREAM_RIGHT, 0, {0}, {0}};
    prove_places(&of);
    prove_backward(&of);
    if (!is_right(&of))
        return true;
    if (!pti_distances_find(claim->order, &of.distances))
        return false;
    prove_progress(&of);
    if (is_right(&of))
        prove_readers(&of);
    for (int b = 0; b < claim->tasks->n_buffers && is_right(&of); b++)
        prove_lives(&of, b);
    pti_distances_free(&of.distances);
    return true;
}
