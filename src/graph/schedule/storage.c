#include "graph/schedule/storage.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/** Return whether the one that begins first is of the later turn, or none does. */
static bool are_turns_reversed(const pti_stored *x, const pti_stored *y) {
    return x->turn != y->turn &&
           (x->begin == y->begin || (x->begin < y->begin) != (x->turn < y->turn));
}

bool pti_lives_overlap(const void *of, int a, int b) {
    const pti_lives *lives = of;
    const pti_stored *x = &lives->stored[a], *y = &lives->stored[b];
    if (x->ticks >= lives->period || y->ticks >= lives->period ||
        pti_max(x->begin, y->begin) - pti_min(x->begin, y->begin) >= lives->period ||
        are_turns_reversed(x, y))
        return true;
    const int64_t apart = pti_floor_mod(y->begin - x->begin, lives->period);
    return apart < x->ticks || apart + y->ticks > lives->period;
}

/** One order in which buffers are given the first colour that is free. */
typedef struct colouring {
    int n;
    const pti_stored *stored;
    pti_stored_conflict *conflict;
    const void *of;
    int *order;  /* owned */
    int *member; /* buffers of the current memory, in the order; owned */
    int n_members;
    int *colour;         /* of each buffer; owned */
    int64_t *most_bytes; /* of each colour of the current memory; owned */
    bool *is_taken;      /* of each colour, while a buffer gets one; owned */
    int n_colours;
} colouring;

/** Find the first colour that no conflicting buffer of the memory has, of those before it in the
 * order. */
static int find_colour(const colouring *work, int buffer, int n_done) {
    int colour = 0;
    memset(work->is_taken, 0, (size_t)work->n_colours * sizeof *work->is_taken);
    for (int k = 0; k < n_done; k++) {
        const int other = work->member[k];
        if (!work->is_taken[work->colour[other]])
            work->is_taken[work->colour[other]] = work->conflict(work->of, other, buffer);
    }
    while (colour < work->n_colours && work->is_taken[colour])
        colour++;
    return colour;
}

static void list_members(colouring *work, int memory) {
    work->n_members = 0;
    for (int k = 0; k < work->n; k++)
        if (work->stored[work->order[k]].memory == memory)
            work->member[work->n_members++] = work->order[k];
}

/** Colour the buffers of one memory; returns their bytes. */
static int64_t colour_memory(colouring *work, int memory) {
    int64_t n_bytes = 0;
    list_members(work, memory);
    work->n_colours = 0;
    for (int k = 0; k < work->n_members; k++) {
        const int buffer = work->member[k];
        const int colour = find_colour(work, buffer, k);
        if (colour == work->n_colours)
            work->most_bytes[work->n_colours++] = 0;
        work->colour[buffer] = colour;
        work->most_bytes[colour] = pti_max(work->most_bytes[colour], work->stored[buffer].n_bytes);
    }
    for (int c = 0; c < work->n_colours; c++)
        n_bytes = pti_add_saturated(
            n_bytes,
            pti_mul_saturated(pti_ceil_div(work->most_bytes[c], PTI_STORED_ALIGNMENT_BYTES),
                              PTI_STORED_ALIGNMENT_BYTES));
    return n_bytes;
}

/** Take the colours of the current memory over. offset: one a colour. */
static void keep_colours(const colouring *work, int64_t *offset, pti_stored *stored) {
    int64_t end = 0;
    for (int c = 0; c < work->n_colours; c++) {
        offset[c] = end;
        end = pti_add_saturated(
            end, pti_mul_saturated(pti_ceil_div(work->most_bytes[c], PTI_STORED_ALIGNMENT_BYTES),
                                   PTI_STORED_ALIGNMENT_BYTES));
    }
    for (int k = 0; k < work->n_members; k++) {
        stored[work->member[k]].colour = work->colour[work->member[k]];
        stored[work->member[k]].offset_bytes = offset[work->colour[work->member[k]]];
    }
}

/** A buffer with the two numbers by which it is put in order. */
typedef struct ranked {
    int64_t first;
    int64_t second;
    int buffer;
} ranked;

static int compare_ranked(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->second != y->second)
        return x->second < y->second ? -1 : 1;
    return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

/** Orders that are tried: the largest first, the longest first, by the begin. */
enum { N_ORDERS = 3 };

static void rank_buffers(const colouring *work, int way, ranked *list) {
    for (int b = 0; b < work->n; b++) {
        const pti_stored *stored = &work->stored[b];
        const int64_t keys[N_ORDERS][2] = {{-stored->n_bytes, -stored->ticks},
                                           {-stored->ticks, -stored->n_bytes},
                                           {stored->begin, -stored->n_bytes}};
        list[b] = (ranked){keys[way][0], keys[way][1], b};
    }
    qsort(list, (size_t)work->n, sizeof *list, compare_ranked);
    for (int b = 0; b < work->n; b++)
        work->order[b] = list[b].buffer;
}

bool pti_stored_colour(int n, pti_stored *stored, pti_stored_conflict *conflict, const void *of,
                       int n_memories, int64_t *memory_bytes) {
    const size_t room = (size_t)n + 1;
    colouring work = {.n = n,
                      .stored = stored,
                      .conflict = conflict,
                      .of = of,
                      .order = calloc(room, sizeof *work.order),
                      .member = calloc(room, sizeof *work.member),
                      .colour = calloc(room, sizeof *work.colour),
                      .most_bytes = calloc(room, sizeof *work.most_bytes),
                      .is_taken = calloc(room, sizeof *work.is_taken)};
    ranked *list = calloc(room, sizeof *list);
    int64_t *offset = calloc(room, sizeof *offset);
    const bool has_memory = offset != NULL && work.order != NULL && work.member != NULL &&
                            work.colour != NULL && work.most_bytes != NULL &&
                            work.is_taken != NULL && list != NULL;
    for (int m = 0; has_memory && m < n_memories; m++)
        memory_bytes[m] = INT64_MAX;
    for (int way = 0; has_memory && way < N_ORDERS; way++) {
        rank_buffers(&work, way, list);
        for (int m = 0; m < n_memories; m++) {
            const int64_t n_bytes = colour_memory(&work, m);
            if (n_bytes >= memory_bytes[m] && way > 0)
                continue;
            memory_bytes[m] = n_bytes;
            keep_colours(&work, offset, stored);
        }
    }
    free(work.order);
    free(work.member);
    free(offset);
    free(work.colour);
    free(work.most_bytes);
    free(work.is_taken);
    free(list);
    return has_memory;
}
