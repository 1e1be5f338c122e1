#include "partition/memory/snapshot.h"

#include "base/mix.h"

#include <stdlib.h>
#include <string.h>

static int compare_times(const void *one, const void *other) {
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

/** The times of last uses, in order, each once; how many. */
static int64_t sort_times(const pti_residency *residency, int64_t *times) {
    size_t n = 0;
    int64_t n_kept = 0;
    for (int a = 0; a < residency->instance.n_operands; a++)
        for (const pti_resident_image *image = residency->state[a].images; image;
             image = image->next)
            times[n++] = image->last_use;
    qsort(times, n, sizeof *times, compare_times);
    for (size_t k = 0; k < n; k++)
        if (k == 0 || times[k] != times[k - 1])
            times[n_kept++] = times[k];
    return n_kept;
}

void pti_snapshot_normalise(pti_residency *residency) {
    int64_t *times = malloc(((size_t)pti_images_count(residency) + 1) * sizeof *times);
    if (times == NULL)
        return;
    int64_t n_times = sort_times(residency, times);
    for (int a = 0; a < residency->instance.n_operands; a++) {
        pti_resident_image *image = residency->state[a].images;
        for (; image != NULL; image = image->next) {
            const int64_t *found =
                bsearch(&image->last_use, times, (size_t)n_times, sizeof *times, compare_times);
            image->last_use = found - times;
        }
    }
    free(times);
    residency->time = n_times + PTI_RESIDENT_PAUSE;
    pti_segments_reset(&residency->segments);
}

static int64_t bytes_of_boxes(const pti_boxes *set) {
    return set->capacity * (int64_t)sizeof *set->box;
}

/** Add an image to a snapshot's hash and size. */
static void add_image(pti_snapshot *snapshot, const pti_resident_image *image) {
    uint64_t hash = pti_mix(snapshot->hash, image->array);
    for (int d = 0; d < image->layout.hull.n_dims; d++)
        hash = pti_mix(hash, image->layout.hull.range[d].lo);
    snapshot->hash = pti_mix(pti_mix(pti_mix(hash, image->last_use), image->valid.n_boxes),
                             image->dirty.n_boxes);
    snapshot->bytes +=
        (int64_t)sizeof *image + bytes_of_boxes(&image->valid) + bytes_of_boxes(&image->dirty);
}

static void add_state(pti_snapshot *snapshot, const pti_resident_state *state) {
    snapshot->hash = pti_mix(snapshot->hash, state->unwritten.n_boxes);
    snapshot->bytes += (int64_t)sizeof *state + bytes_of_boxes(&state->unwritten) +
                       bytes_of_boxes(&state->on_host) + bytes_of_boxes(&state->initialised) +
                       bytes_of_boxes(&state->downloaded) + bytes_of_boxes(&state->uploaded);
    for (const pti_resident_image *image = state->images; image != NULL; image = image->next)
        add_image(snapshot, image);
}

pti_snapshot *pti_snapshot_of(const pti_residency *residency) {
    pti_snapshot *snapshot = malloc(sizeof *snapshot);
    if (snapshot == NULL)
        return NULL;
    *snapshot = (pti_snapshot){
        .time = residency->time, .state = residency->state, .segments = residency->segments};
    snapshot->bytes = (int64_t)sizeof *snapshot +
                      residency->segments.capacity * (int64_t)sizeof(pti_arena_segment);
    for (int a = 0; a < residency->instance.n_operands; a++)
        add_state(snapshot, &residency->state[a]);
    return snapshot;
}

static pti_arena_segment *segment_in_snapshot(const pti_snapshot *snapshot,
                                              const pti_resident_image *image) {
    return pti_segments_at(&snapshot->segments, image->offset_bytes);
}

static bool same_image(const pti_resident_image *one, const pti_resident_image *other) {
    return one->last_use == other->last_use &&
           pti_box_compare(&one->layout.hull, &other->layout.hull) == 0 &&
           pti_boxes_are_alike(&one->valid, &other->valid) &&
           pti_boxes_are_alike(&one->dirty, &other->dirty);
}

/** Return whether two snapshots have the same images of an array, in the same order, which searches
 * follow. */
static bool same_images(const pti_snapshot *known, const pti_snapshot *other, int array,
                        int64_t *place) {
    const pti_resident_image *one = known->state[array].images, *two = other->state[array].images;
    for (; one != NULL && two != NULL; one = one->next, two = two->next) {
        const pti_arena_segment *memory = segment_in_snapshot(known, one);
        if (!same_image(one, two) ||
            memory->size_bytes != segment_in_snapshot(other, two)->size_bytes)
            return false;
        place[memory - known->segments.memory] = two->offset_bytes;
    }
    return one == NULL && two == NULL;
}

static bool same_state(const pti_resident_state *one, const pti_resident_state *other) {
    return one->is_internal == other->is_internal && one->whole_bytes == other->whole_bytes &&
           pti_boxes_are_alike(&one->unwritten, &other->unwritten) &&
           pti_boxes_are_alike(&one->on_host, &other->on_host);
}

static bool is_in(const int64_t *list, int n, int64_t number) {
    int k = 0;
    while (k < n && list[k] != number)
        k++;
    return k < n;
}

/** Place a free segment of a snapshot in one of the same size of another, which no earlier one
 * has. */
static bool place_free(const pti_snapshot *known, const pti_snapshot *other, int k,
                       int64_t *place) {
    for (int o = 0; o < other->segments.n_segments; o++) {
        const pti_arena_segment *memory = &other->segments.memory[o];
        if (memory->image != NULL || memory->size_bytes != known->segments.memory[k].size_bytes ||
            is_in(place, k, memory->offset_bytes))
            continue;
        place[k] = memory->offset_bytes;
        return true;
    }
    return false;
}

bool pti_snapshot_is_like(const pti_residency *residency, const pti_snapshot *known,
                          const pti_snapshot *other, int64_t *place) {
    int n_segments = known->segments.n_segments;
    bool same = known->hash == other->hash && known->time == other->time &&
                n_segments == other->segments.n_segments;
    for (int a = 0; a < residency->instance.n_operands && same; a++)
        same =
            same_state(&known->state[a], &other->state[a]) && same_images(known, other, a, place);
    for (int k = 0; k < n_segments && same; k++)
        same = known->segments.memory[k].image != NULL || place_free(known, other, k, place);
    return same;
}

void pti_snapshot_enter(const pti_snapshot *snapshot, pti_residency *residency) {
    residency->time = snapshot->time;
    residency->state = snapshot->state;
    residency->segments = snapshot->segments;
}

static void discard_state(pti_residency *residency, pti_resident_state *state) {
    while (state->images != NULL) {
        pti_resident_image *image = state->images;
        state->images = image->next;
        pti_image_spare(residency, image);
    }
    pti_boxes_free(&state->unwritten);
    pti_boxes_free(&state->on_host);
    pti_boxes_free(&state->initialised);
    pti_boxes_free(&state->downloaded);
    pti_boxes_free(&state->uploaded);
}

static void discard_states(pti_residency *residency, pti_resident_state *state,
                           pti_segments *segments) {
    for (int a = 0; state != NULL && a < residency->instance.n_operands; a++)
        discard_state(residency, &state[a]);
    free(state);
    pti_segments_free(segments);
}

void pti_snapshot_free(pti_residency *residency, pti_snapshot *snapshot) {
    discard_states(residency, snapshot->state, &snapshot->segments);
    free(snapshot);
}

static pti_resident_image *copy_image(pti_residency *residency, const pti_resident_image *image) {
    pti_resident_image *made = pti_image_new(residency);
    if (made == NULL)
        return NULL;
    pti_boxes valid = made->valid, dirty = made->dirty;
    *made = *image;
    made->next = NULL;
    made->valid = valid;
    made->dirty = dirty;
    pti_boxes_copy(&made->valid, &image->valid);
    pti_boxes_copy(&made->dirty, &image->dirty);
    return made;
}

/** Copy an array's state, whose images have their places in segments that are a copy already. */
static bool copy_state(pti_residency *residency, const pti_resident_state *from,
                       pti_resident_state *to, const pti_segments *segments) {
    pti_resident_image **end = &to->images;
    to->is_internal = from->is_internal;
    to->whole_bytes = from->whole_bytes;
    pti_boxes_copy(&to->unwritten, &from->unwritten);
    pti_boxes_copy(&to->on_host, &from->on_host);
    for (const pti_resident_image *image = from->images; image != NULL; image = image->next) {
        pti_resident_image *made = copy_image(residency, image);
        if (made == NULL)
            return false;
        pti_segments_at(segments, made->offset_bytes)->image = made;
        *end = made;
        end = &made->next;
        if (made->valid.failed || made->dirty.failed)
            return false;
    }
    return !to->unwritten.failed && !to->on_host.failed;
}

bool pti_snapshot_unshare(pti_residency *residency) {
    pti_segments segments;
    pti_resident_state *state = calloc((size_t)residency->capacity + 1, sizeof *state);
    bool is_copied = pti_segments_copy(&residency->segments, &segments) && state != NULL;
    for (int a = 0; a < residency->instance.n_operands && is_copied; a++)
        is_copied = copy_state(residency, &residency->state[a], &state[a], &segments);
    if (!is_copied) {
        discard_states(residency, state, &segments);
        return false;
    }
    residency->state = state;
    residency->segments = segments;
    return true;
}

static int compare_offsets(const void *one, const void *other) {
    int64_t a = ((const pti_arena_segment *)one)->offset_bytes;
    int64_t b = ((const pti_arena_segment *)other)->offset_bytes;
    return (a > b) - (a < b);
}

void pti_snapshot_place(pti_residency *residency, const int64_t *place) {
    pti_segments *segments = &residency->segments;
    for (int k = 0; k < segments->n_segments; k++) {
        pti_arena_segment *memory = &segments->memory[k];
        memory->offset_bytes = place[k];
        if (memory->image != NULL)
            memory->image->offset_bytes = place[k];
    }
    qsort(segments->memory, (size_t)segments->n_segments, sizeof *segments->memory,
          compare_offsets);
}
