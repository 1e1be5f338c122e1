#include "partition/segments/segments.h"

#include "base/checked.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

static bool grow_segments(pti_segments *segments, int n_segments) {
    if (n_segments <= segments->capacity)
        return true;
    int capacity = 2 * n_segments + 30;
    if (!PTI_RESIZE(segments->memory, capacity))
        return false;
    segments->capacity = capacity;
    return true;
}

bool pti_segments_begin(pti_segments *segments, int64_t arena_bytes) {
    if (!grow_segments(segments, 1))
        return false;
    segments->n_segments = 1;
    segments->memory[0] = (pti_arena_segment){.size_bytes = arena_bytes, .users = pti_last_none()};
    return true;
}

void pti_segments_free(pti_segments *segments) {
    free(segments->memory);
    *segments = (pti_segments){0};
}

bool pti_segments_copy(const pti_segments *from, pti_segments *to) {
    *to = (pti_segments){0};
    if (!grow_segments(to, from->n_segments))
        return false;
    memcpy(to->memory, from->memory, (size_t)from->n_segments * sizeof *to->memory);
    to->n_segments = from->n_segments;
    return true;
}

void pti_segments_join(pti_segments *segments) {
    int n_kept = 0;
    for (int k = 0; k < segments->n_segments; k++) {
        pti_arena_segment *memory = &segments->memory[k];
        pti_arena_segment *before = n_kept > 0 ? &segments->memory[n_kept - 1] : NULL;
        if (before != NULL && before->image == NULL && memory->image == NULL) {
            before->size_bytes += memory->size_bytes;
            pti_last_join(&before->users, &memory->users);
        } else {
            segments->memory[n_kept++] = *memory;
        }
    }
    segments->n_segments = n_kept;
}

void pti_segments_reset(pti_segments *segments) {
    for (int k = 0; k < segments->n_segments; k++)
        segments->memory[k].users = pti_last_none();
    pti_segments_join(segments);
}

pti_arena_segment *pti_segments_at(const pti_segments *segments, int64_t offset_bytes) {
    int lo = 0, hi = segments->n_segments - 1;
    while (lo < hi) {
        int middle = lo + (hi - lo + 1) / 2;
        if (segments->memory[middle].offset_bytes <= offset_bytes)
            lo = middle;
        else
            hi = middle - 1;
    }
    return &segments->memory[lo];
}

/** Neighbours that could be taken, and what would be lost. */
typedef struct offer {
    pti_segment_run neighbours;
    pti_eviction_cost loss;
    int64_t size_bytes;
} offer;

static const pti_eviction_cost no_loss = {.next_use = INT64_MAX, .last_use = INT64_MIN};

static void add_loss(pti_eviction_cost *sum, const pti_eviction_cost *part) {
    sum->never = sum->never || part->never;
    sum->is_dirty = sum->is_dirty || part->is_dirty;
    sum->next_use = pti_min(sum->next_use, part->next_use);
    sum->last_use = pti_max(sum->last_use, part->last_use);
}

static bool is_better(const offer *a, const offer *b) {
    if (a->loss.next_use != b->loss.next_use)
        return a->loss.next_use > b->loss.next_use;
    if (a->loss.is_dirty != b->loss.is_dirty)
        return b->loss.is_dirty;
    if (a->loss.last_use != b->loss.last_use)
        return a->loss.last_use < b->loss.last_use;
    return a->size_bytes < b->size_bytes;
}

/** Images that were used later than this are in no run that loses less than an offer: INT64_MAX as
 * long as it loses more than when they were used. */
static int64_t latest_use_that_helps(const offer *best) {
    const bool loses_little = best->neighbours.n_segments > 0 && !best->loss.is_dirty &&
                              best->loss.next_use == no_loss.next_use;
    return loses_little ? best->loss.last_use : INT64_MAX;
}

/** Find the shortest run with room from a segment on; false if there is none, or none that is
 * better than the best so far. */
static bool find_run(const pti_segments *segments, int first, int64_t size_bytes, const offer *best,
                     const pti_eviction_costs *costs, offer *made) {
    const bool has_best = best->neighbours.n_segments > 0;
    *made = (offer){.neighbours = {first, 0}, .loss = no_loss};
    for (int k = first; k < segments->n_segments && made->size_bytes < size_bytes; k++) {
        const pti_arena_segment *memory = &segments->memory[k];
        pti_eviction_cost part =
            memory->image == NULL ? no_loss : costs->loss(costs->of, memory->image);
        add_loss(&made->loss, &part);
        made->size_bytes += memory->size_bytes;
        made->neighbours.n_segments++;
        if (made->loss.never || (has_best && is_better(best, made)))
            return false;
    }
    return made->size_bytes >= size_bytes && (!has_best || is_better(made, best));
}

pti_segment_run pti_segments_find(const pti_segments *segments, int64_t size_bytes,
                                  const pti_eviction_costs *costs) {
    offer best = {.neighbours = {0, 0}}, made;
    int64_t latest_use = INT64_MAX;
    for (int first = 0; first < segments->n_segments; first++) {
        const pti_resident_image *image = segments->memory[first].image;
        if (image != NULL && costs->last_use(image) > latest_use)
            continue;
        if (find_run(segments, first, size_bytes, &best, costs, &made)) {
            best = made;
            latest_use = latest_use_that_helps(&best);
        }
    }
    return best.neighbours;
}

/** Put `count` segments in place of some neighbours; the caller fills them in. */
static void replace_segments(pti_segments *segments, pti_segment_run neighbours, int count) {
    pti_arena_segment *later = &segments->memory[neighbours.first + neighbours.n_segments];
    int n_later = segments->n_segments - neighbours.first - neighbours.n_segments;
    memmove(&segments->memory[neighbours.first + count], later, (size_t)n_later * sizeof *later);
    segments->n_segments += count - neighbours.n_segments;
}

pti_segment_run pti_segments_leave_front(pti_segments *segments, pti_segment_run neighbours,
                                         int64_t front_bytes) {
    if (!grow_segments(segments, segments->n_segments + 1))
        return neighbours;
    pti_arena_segment front = segments->memory[neighbours.first], rest = front;
    front.size_bytes = front_bytes;
    rest.offset_bytes += front_bytes;
    rest.size_bytes -= front_bytes;
    replace_segments(segments, neighbours, 2);
    segments->memory[neighbours.first] = front;
    segments->memory[neighbours.first + 1] = rest;
    return (pti_segment_run){neighbours.first + 1, 1};
}

pti_arena_segment *pti_segments_take(pti_segments *segments, pti_segment_run neighbours,
                                     int64_t size_bytes, pti_resident_image *image) {
    if (!grow_segments(segments, segments->n_segments + 1))
        return NULL;
    pti_arena_segment taken = segments->memory[neighbours.first];
    pti_arena_segment last = segments->memory[neighbours.first + neighbours.n_segments - 1];
    int64_t end_bytes = last.offset_bytes + last.size_bytes;
    for (int k = 1; k < neighbours.n_segments; k++)
        pti_last_join(&taken.users, &segments->memory[neighbours.first + k].users);
    taken.size_bytes = size_bytes;
    taken.image = image;
    last.offset_bytes = taken.offset_bytes + size_bytes;
    last.size_bytes = end_bytes - last.offset_bytes;
    last.image = NULL;
    replace_segments(segments, neighbours, last.size_bytes > 0 ? 2 : 1);
    segments->memory[neighbours.first] = taken;
    if (last.size_bytes > 0)
        segments->memory[neighbours.first + 1] = last;
    return &segments->memory[neighbours.first];
}
