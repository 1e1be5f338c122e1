#include "partition/resident_plan.h"

#include "access/footprint.h"
#include "base/checked.h"
#include "partition/predict.h"

/** Transfers a piece: a few, that take a little too much, beat many. */
enum { MAX_READ_BOXES = 16 };

/** How many superblocks ahead memory is found. */
enum { LOOK_AHEAD = 2 };

/** What a superblock may have to give up its place for others. */
typedef enum reluctance {
    NOT_BUSY,     /* only what neither the next superblocks nor the last ones use */
    NOT_RESERVED, /* what the next superblocks do not use */
    NOT_CURRENT,  /* what this one does not use */
    N_RELUCTANCES
} reluctance;

typedef struct run {
    pti_resident_emit *emit;
    pti_residency *of;
    pti_future *future;
    const polytile_link *link;
    int64_t now; /* time of the next superblock to run */
    reluctance reluctance;
    pti_resident_image *image[PTI_MAX_OPERANDS]; /* of each piece of the superblock at hand */
} run;

static pti_loss loss_of(const void *of, pti_resident_image *image) {
    const run *at = of;
    bool is_current = image->is_current;
    bool is_reserved = is_current || image->reserved_for >= at->now;
    bool is_busy = is_reserved || image->last_use >= at->now - LOOK_AHEAD;
    const bool never[N_RELUCTANCES] = {is_busy, is_reserved, is_current};
    if (never[at->reluctance])
        return (pti_loss){.never = true};
    int64_t next_use = pti_future_next_use(at->future, image, at->now);
    return (pti_loss){.next_use = next_use,
                      .last_use = image->last_use,
                      .is_dirty = image->dirty.n_boxes > 0 && next_use < PTI_USE_NEVER};
}

/** Bring what is newest in a stretch of the arena back to the host, if it is needed, and take it off
 * the device. */
static void clear_stretch(run *at, pti_stretch stretch) {
    for (int k = 0; k < stretch.n_segments; k++) {
        pti_resident_image *image = at->of->segments.memory[stretch.first + k].image;
        if (image == NULL)
            continue;
        pti_future_discard(at->future, image, at->now);
        pti_image_evict(at->emit, image);
    }
}

/** A new image of a box, of at most some reluctance to take memory; NULL if there is no room or
 * memory runs out. */
static pti_resident_image *make_image(run *at, int array, const polytile_domain *hull,
                                      int64_t bytes, reluctance most) {
    for (int r = 0; r <= (int)most; r++) {
        at->reluctance = (reluctance)r;
        pti_stretch stretch = pti_segments_find(&at->of->segments, bytes, loss_of, at);
        if (stretch.n_segments == 0)
            continue;
        clear_stretch(at, stretch);
        return pti_image_make(at->emit, stretch, bytes, array, hull);
    }
    return NULL;
}

static bool holds_whole_arrays(const pti_residency *of, int array) {
    enum { SMALL_PART = 64 };
    return pti_residency_all_fit(of) ||
           of->state[array].whole_bytes <= of->arena_bytes / SMALL_PART;
}

static int64_t n_valid(const pti_resident_image *image, const polytile_domain *hull) {
    polytile_domain common;
    int64_t n = 0;
    for (int k = 0; k < image->valid.n_boxes; k++)
        if (pti_box_intersect(&image->valid.box[k], hull, &common))
            n += pti_box_count(&common);
    return n;
}

/** Of most images the ends of the first dimension tell that they do not contain a box. */
static bool contains(const pti_resident_image *image, const polytile_domain *box) {
    const polytile_domain *hull = &image->layout.hull;
    return hull->range[0].lo <= box->range[0].lo && hull->range[0].hi >= box->range[0].hi &&
           pti_box_contains(hull, box);
}

/** The image that contains a box and holds most of it; NULL: there is none. */
static pti_resident_image *find_image(const pti_residency *of, int array,
                                      const polytile_domain *hull) {
    pti_resident_image *best = NULL;
    for (pti_resident_image *image = of->state[array].images; image != NULL; image = image->next)
        if (contains(image, hull) && (best == NULL || n_valid(image, hull) > n_valid(best, hull)))
            best = image;
    return best;
}

/** Pieces with and without a stencil's rim differ little: all take as much, so that each fits where
 * another was. */
static int64_t even_bytes(const pti_residency *of, int64_t bytes) {
    bool is_near = bytes >= of->largest_bytes - of->largest_bytes / 8;
    return is_near ? of->largest_bytes : bytes;
}

/** Find or make an image for a piece, and keep it until the piece's superblock has run; NULL if
 * there is no room. */
static pti_resident_image *reserve(run *at, const pti_piece *piece, reluctance most) {
    pti_residency *of = at->of;
    pti_resident_image *image = find_image(of, piece->array, &piece->hull);
    if (image == NULL && holds_whole_arrays(of, piece->array))
        image = make_image(at, piece->array, &of->instance.operand[piece->array].domain,
                           of->state[piece->array].whole_bytes, most);
    if (image == NULL) {
        int64_t bytes = even_bytes(of, piece->bytes);
        image =
            make_image(at, piece->array, pti_future_widest(at->future, piece, bytes), bytes, most);
    }
    if (image != NULL)
        image->reserved_for = pti_max(image->reserved_for, piece->time);
    return image;
}

/** Memory for superblocks that run later, as far as there is any to spare. */
static void look_ahead(run *at) {
    int64_t next = at->emit->superblock + 1;
    int64_t end = pti_min(next + LOOK_AHEAD, at->future->n_turns);
    for (int64_t k = next; k < end; k++) {
        const pti_turn *turn = &at->future->turn[k];
        for (int p = 0; p < turn->n_pieces; p++)
            if (reserve(at, &at->future->piece[turn->first_piece + p], NOT_RESERVED) == NULL)
                return;
    }
}

static void evict_everything(run *at) {
    clear_stretch(at, (pti_stretch){0, at->of->segments.n_segments});
    pti_segments_join(&at->of->segments);
}

static bool reserve_current(run *at, const pti_turn *turn) {
    for (int p = 0; p < turn->n_pieces; p++) {
        at->image[p] = reserve(at, &at->future->piece[turn->first_piece + p], NOT_CURRENT);
        if (at->image[p] == NULL)
            return false;
        at->image[p]->is_current = true;
    }
    return true;
}

/** Images for one superblock alone, one behind the other from the arena's beginning. */
static bool reserve_alone(run *at, const pti_turn *turn) {
    evict_everything(at);
    for (int p = 0; p < turn->n_pieces; p++) {
        const pti_piece *piece = &at->future->piece[turn->first_piece + p];
        at->image[p] = make_image(at, piece->array, &piece->hull, piece->bytes, NOT_CURRENT);
        if (at->image[p] == NULL)
            return false;
        at->image[p]->is_current = true;
    }
    return true;
}

static void gather_boxes(pti_boxes *set, pti_boxes *boxes) {
    for (int k = 0; k < boxes->n_boxes; k++)
        pti_resident_include(set, &boxes->box[k]);
    set->failed |= boxes->failed;
}

/** Elements that combine from an identity get it, unless they have more by now; those that have are
 * needed as if read. */
static void begin_reduction(run *at, pti_resident_image *image, const pti_instance *instance,
                            int operand, const polytile_domain *threads) {
    pti_residency *of = at->of;
    pti_resident_state *state = &of->state[image->array];
    pti_footprint_boxes(instance, operand, PTI_WRITES, threads, PTI_MAX_WRITE_BOXES, &of->shared);
    pti_boxes_copy(&of->rest, &of->shared);
    pti_boxes_subtract_all(&of->shared, &state->initialised);
    pti_boxes_subtract_all(&of->rest, &of->shared);
    gather_boxes(&of->needed, &of->rest);
    gather_boxes(&state->initialised, &of->shared);
    pti_image_fill(at->emit, image, &of->shared);
}

static void read_operand(run *at, pti_resident_image *image, const pti_instance *instance,
                         int operand, const polytile_domain *threads) {
    polytile_domain hull;
    bool reads = pti_footprint_find_hull(instance, operand, PTI_READS, threads, &hull);
    if (!reads || pti_boxes_cover(&image->valid, &hull))
        return;
    pti_footprint_boxes(instance, operand, PTI_READS, threads, MAX_READ_BOXES, &at->of->rest);
    gather_boxes(&at->of->needed, &at->of->rest);
}

/** What a superblock must find in an image and does not yet, into `needed`. */
static void find_needed(run *at, pti_resident_image *image, const pti_step *step,
                        const polytile_domain *threads) {
    pti_boxes_clear(&at->of->needed);
    for (int o = 0; o < step->instance->n_operands; o++) {
        if (step->array[o] != image->array)
            continue;
        if (step->instance->operand[o].fresh)
            begin_reduction(at, image, step->instance, o, threads);
        else if (step->instance->operand[o].reads)
            read_operand(at, image, step->instance, o, threads);
    }
    pti_boxes_subtract_all(&at->of->needed, &image->valid);
}

/** What lies in another image anyway, and inside this one, comes along: then the other can go. */
static void need_inner_images(run *at, const pti_resident_image *image) {
    const pti_resident_image *other = at->of->state[image->array].images;
    for (; other != NULL; other = other->next)
        if (other != image && contains(image, &other->layout.hull))
            for (int k = 0; k < other->valid.n_boxes; k++)
                pti_resident_include(&at->of->needed, &other->valid.box[k]);
}

/** The part of `needed` that lies in a set, into `shared`. */
static void find_shared(pti_residency *of, const pti_boxes *set) {
    polytile_domain common;
    pti_boxes_clear(&of->shared);
    for (int k = 0; k < of->needed.n_boxes; k++)
        for (int v = 0; v < set->n_boxes; v++)
            if (pti_box_intersect(&of->needed.box[k], &set->box[v], &common))
                pti_boxes_append(&of->shared, &common);
    pti_boxes_merge(&of->shared);
    pti_boxes_subtract_all(&of->needed, &of->shared);
}

static double upload_seconds(const run *at, int array, const polytile_domain *box) {
    const pti_operand *is = &at->of->instance.operand[array];
    pti_runs runs = pti_runs_of(&is->domain, box, is->element_bytes);
    return at->link->transfer_latency_s + (double)(pti_box_count(box) * is->element_bytes) *
                                              pti_run_cost(at->link, runs) /
                                              at->link->duplex_bytes_per_s;
}

/** Whether the host has every element of a box in its newest version. */
static bool host_has(const pti_resident_state *state, const polytile_domain *box) {
    for (const pti_resident_image *image = state->images; image != NULL; image = image->next)
        if (pti_boxes_meet(&image->dirty, box))
            return false;
    return !pti_boxes_meet(&state->unwritten, box);
}

/** Upload one box around all that is needed where that is faster and right. */
static void join_uploads(run *at, int array) {
    pti_boxes *needed = &at->of->needed;
    if (at->link == NULL || needed->n_boxes < 2)
        return;
    polytile_domain around = needed->box[0];
    double seconds = 0;
    for (int k = 0; k < needed->n_boxes; k++) {
        around = pti_box_coarse_union(&around, &needed->box[k]);
        seconds += upload_seconds(at, array, &needed->box[k]);
    }
    if (upload_seconds(at, array, &around) >= seconds || !host_has(&at->of->state[array], &around))
        return;
    pti_boxes_clear(needed);
    pti_boxes_append(needed, &around);
}

/** Bring into an image what a superblock needs of it. */
static void bring(run *at, pti_resident_image *image, const pti_step *step,
                  const polytile_domain *threads) {
    pti_residency *of = at->of;
    bool is_new = image->valid.n_boxes == 0;
    find_needed(at, image, step, threads);
    if (is_new)
        need_inner_images(at, image);
    pti_boxes_subtract_all(&of->needed, &image->valid);
    pti_resident_image *other = of->state[image->array].images;
    for (; other != NULL && of->needed.n_boxes > 0; other = other->next) {
        if (other == image || !pti_boxes_meet(&of->needed, &other->layout.hull))
            continue;
        find_shared(of, &other->valid);
        pti_image_copy(at->emit, image, other, &of->shared);
    }
    find_shared(of, &of->state[image->array].unwritten);
    pti_image_fill(at->emit, image, &of->shared);
    pti_boxes_merge(&of->needed);
    join_uploads(at, image->array);
    pti_image_upload(at->emit, image, &of->needed);
    if (is_new)
        pti_image_absorb(of, image);
}

static bool writes(const pti_step *step, int array) {
    bool found = false;
    for (int o = 0; o < step->instance->n_operands; o++)
        found |= step->array[o] == array && step->instance->operand[o].writes;
    return found;
}

/** Kernels that only read wait for who wrote; others for everyone who uses the memory. */
static pti_last launch_waits(const run *at, const pti_turn *turn, const pti_step *step) {
    pti_last waits = pti_last_none();
    for (int p = 0; p < turn->n_pieces; p++) {
        const pti_resident_image *image = at->image[p];
        pti_last_join(&waits, &image->writers);
        if (writes(step, image->array))
            pti_last_join(&waits, &pti_segments_at(&at->of->segments, image->offset_bytes)->users);
    }
    return waits;
}

static void note_writes(run *at, pti_resident_image *image, const pti_step *step,
                        const polytile_domain *threads, int64_t op) {
    pti_boxes *written = &at->of->needed;
    for (int o = 0; o < step->instance->n_operands; o++) {
        if (step->array[o] != image->array || !step->instance->operand[o].writes)
            continue;
        pti_last_note(&image->writers, PTI_LAUNCH, op);
        pti_footprint_boxes(step->instance, o, PTI_WRITES, threads, PTI_MAX_WRITE_BOXES, written);
        for (int k = 0; k < written->n_boxes; k++)
            pti_image_renew(at->of, image, &written->box[k]);
    }
}

static void launch(run *at, const pti_turn *turn, const pti_step *step) {
    pti_resident_emit *emit = at->emit;
    pti_schedule *schedule = emit->builder.schedule;
    pti_last waits = launch_waits(at, turn, step);
    pti_op op = {.kind = PTI_LAUNCH,
                 .launch = turn->launch,
                 .superblock = emit->superblock,
                 .placement = -1,
                 .source_placement = -1,
                 .box = *turn->threads};
    int64_t added = pti_builder_add(&emit->builder, &op, &waits);
    schedule->superblock[emit->superblock] = *turn->threads;
    for (int p = 0; p < turn->n_pieces; p++) {
        pti_resident_image *image = at->image[p];
        int64_t at_array = emit->superblock * at->of->instance.n_operands + image->array;
        schedule->launch_placement[at_array] = image->placement;
        pti_last_note(&pti_segments_at(&at->of->segments, image->offset_bytes)->users, PTI_LAUNCH,
                      added);
        note_writes(at, image, step, turn->threads, added);
        image->last_use = at->now;
        image->is_current = false;
    }
}

/** Images that are made from now on need not look at what is past. */
static void pass_former_pieces(run *at, const pti_turn *turn) {
    for (int64_t p = turn->first_piece; p < turn->first_piece + turn->n_pieces; p++)
        at->of->state[at->future->piece[p].array].first_piece = p;
}

static void run_superblock(run *at, const pti_step *step) {
    pti_resident_emit *emit = at->emit;
    const pti_turn *turn = &at->future->turn[emit->superblock];
    at->now = at->of->time + emit->superblock;
    emit->launch = turn->launch;
    pass_former_pieces(at, turn);
    if (!reserve_current(at, turn) && !reserve_alone(at, turn)) {
        emit->builder.failed = true;
        return;
    }
    for (int p = 0; p < turn->n_pieces; p++)
        bring(at, at->image[p], step, turn->threads);
    look_ahead(at);
    launch(at, turn, step);
    emit->former_launch = turn->launch;
    emit->superblock++;
}

static void run_launch(run *at, const pti_step *step) {
    for (int a = 0; a < at->of->instance.n_operands; a++)
        pti_boxes_clear(&at->of->state[a].initialised);
    for (int64_t k = 0; k < step->partition->n_superblocks && !at->emit->builder.failed; k++)
        run_superblock(at, step);
}

static void flush(run *at, const pti_step *step) {
    pti_resident_image **images = &at->of->state[step->dropped].images;
    while (*images != NULL)
        pti_image_evict(at->emit, *images);
}

static void drop(run *at, const pti_step *step) {
    pti_resident_forget(at->of, step->dropped);
}

void pti_resident_run(pti_resident_emit *emit, pti_future *future, int n_steps,
                      const pti_step *steps, const polytile_link *link) {
    static void (*const act[])(run *, const pti_step *) = {
        [PTI_STEP_LAUNCH] = run_launch, [PTI_STEP_FLUSH] = flush, [PTI_STEP_DROP] = drop};
    run at = {.emit = emit, .of = emit->of, .future = future, .link = link, .now = emit->of->time};
    for (int s = 0; s < n_steps && !emit->builder.failed; s++)
        act[steps[s].kind](&at, &steps[s]);
}
