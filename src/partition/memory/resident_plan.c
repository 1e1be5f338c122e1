
#include "access/footprint/footprint.h"
#include "partition/memory/resident_window.h"

static bool launch_stores(const pti_step *step, const pti_piece *piece) {
    bool found = false;
    for (int o = 0; o < step->call.instance->n_operands; o++)
        found |= pti_piece_has(piece, o) && pti_operand_stores(&step->call.instance->operand[o]);
    return found;
}

/** Return a piece of a superblock, by its number. */
static const pti_piece *piece_of_superblock(const pti_resident_window *at,
                                            const pti_superblock_run *run, int p) {
    return &at->future->piece[run->first_piece + p];
}

/** Kernels that only read wait for writers; others wait for all users of the memory. None waits for
 * superblocks of its launch in other lanes, unless these used the memory before its image. */
static pti_last launch_waits(const pti_resident_window *at, const pti_superblock_run *run,
                             const pti_step *step) {
    const pti_schedule *schedule = at->emit->builder.schedule;
    pti_last waits = pti_last_none();
    for (int p = 0; p < run->n_pieces; p++) {
        const pti_resident_image *image = at->image[p];
        pti_beside_join(&at->emit->beside, schedule, &waits, &image->writers);
        if (!launch_stores(step, piece_of_superblock(at, run, p)))
            continue;
        pti_last_join(&waits, &image->before);
        pti_beside_join(&at->emit->beside, schedule, &waits,
                        &pti_segments_at(&at->of->segments, image->offset_bytes)->users);
    }
    return waits;
}

/** Let a launch's operands of a piece use its image. */
static void place_operands(pti_resident_window *at, const pti_superblock_run *run, int p,
                           const pti_step *step) {
    int64_t *placement =
        pti_schedule_placements(at->emit->builder.schedule, run->launch, at->emit->superblock);
    for (int o = 0; o < step->call.instance->n_operands; o++)
        if (pti_piece_has(piece_of_superblock(at, run, p), o))
            placement[o] = at->image[p]->placement;
}

static void note_writes(pti_resident_window *at, pti_resident_image *image, const pti_piece *piece,
                        const pti_step *step, const polytile_domain *threads, int64_t op) {
    pti_boxes *written = &at->of->needed;
    for (int o = 0; o < step->call.instance->n_operands; o++) {
        if (!pti_piece_has(piece, o) || !step->call.instance->operand[o].writes)
            continue;
        pti_last_note_on(&image->writers, pti_op_stream(&at->emit->builder.schedule->op[op]), op);
        pti_footprint_boxes(step->call.instance, o, PTI_WRITES, threads, PTI_MAX_WRITE_BOXES,
                            written);
        for (int k = 0; k < written->n_boxes; k++)
            pti_image_mark_written(at->of, image, &written->box[k]);
    }
}

/** Add the launch of a superblock on the images that it has. */
static void add_resident_launch_op(pti_resident_window *at, const pti_superblock_run *run,
                                   const pti_step *step) {
    pti_resident_emit *emit = at->emit;
    pti_schedule *schedule = emit->builder.schedule;
    pti_beside_see(&emit->beside, schedule);
    pti_last waits = launch_waits(at, run, step);
    pti_op op = {
        .kind = PTI_LAUNCH,
        .lane = pti_beside_lane(&emit->beside,
                                emit->superblock - schedule->launch[run->launch].first_superblock),
        .launch = run->launch,
        .superblock = emit->superblock,
        .placement = -1,
        .source_placement = -1,
        .box = *run->threads};
    int64_t added = pti_builder_add(&emit->builder, &op, &waits);
    schedule->superblock[emit->superblock] = *run->threads;
    if (added < 0)
        return;
    for (int p = 0; p < run->n_pieces; p++) {
        pti_resident_image *image = at->image[p];
        place_operands(at, run, p, step);
        pti_last_note_on(&pti_segments_at(&at->of->segments, image->offset_bytes)->users,
                         pti_op_stream(&op), added);
        note_writes(at, image, piece_of_superblock(at, run, p), step, run->threads, added);
        image->last_use = at->now;
        image->is_current = false;
    }
}

/** Images that are made from now on need not look at what is past. */
static void pass_former_pieces(pti_resident_window *at, const pti_superblock_run *run) {
    for (int64_t p = run->first_piece + run->n_pieces - 1; p >= run->first_piece; p--)
        at->of->state[at->future->piece[p].array].first_piece = p;
}

/** Download what the host gets anyway as soon as its last launch wrote it: the link is idle now,
 * and all at once at the end would be waited for. */
static void download_finished(pti_resident_window *at, const pti_superblock_run *run,
                              const pti_step *step) {
    for (int p = 0; p < run->n_pieces; p++) {
        pti_resident_image *image = at->image[p];
        if (at->of->state[image->array].last_writer != step || image->dirty.n_boxes == 0 ||
            pti_future_next_use(at->future, image, at->now + 1) != PTI_USE_NEVER)
            continue;
        pti_future_discard(at->future, image, at->now + 1);
        pti_image_download(at->emit, image);
    }
}

/** Return the images and boxes that placing and bringing a superblock's pieces goes through. Images
 * with gaps lie between each other's elements, so that their ends rule none out. */
static int64_t count_looks_of_superblock(const pti_resident_window *at,
                                         const pti_superblock_run *run) {
    int64_t n_looks = 0;
    for (int p = 0; p < run->n_pieces; p++) {
        const pti_resident_image *image = at->image[p];
        const int64_t n_boxes = (int64_t)image->valid.n_boxes + image->dirty.n_boxes +
                                at->of->state[image->array].initialised.n_boxes;
        const int an_image = pti_box_has_gaps(&image->layout.hull) ? PTI_LOOKS_A_BOX : 1;
        n_looks += an_image * (int64_t)at->of->segments.n_segments + PTI_LOOKS_A_BOX * n_boxes;
    }
    return n_looks;
}

/** Return whether a step is a launch of one superblock, in no lane. */
static bool is_simple_launch(const pti_resident_window *at, const pti_step *step) {
    return step < at->end && step->kind == PTI_STEP_LAUNCH && step->partition->n_superblocks == 1 &&
           step->partition->n_lanes <= 1;
}

/** Bring what the next launch would wait for, into images that this one writes. */
static void bring_ahead(pti_resident_window *at, const pti_superblock_run *run,
                        const pti_step *step) {
    if (!is_simple_launch(at, step) || !is_simple_launch(at, step + 1))
        return;
    for (int p = 0; p < run->n_pieces; p++)
        if (launch_stores(step, piece_of_superblock(at, run, p)))
            pti_resident_window_bring_ahead(at, at->image[p], run, step);
}

/** Add all that the next superblock takes: places, what is brought there, and its launch. */
static void add_superblock(pti_resident_window *at, const pti_step *step) {
    pti_resident_emit *emit = at->emit;
    const pti_superblock_run *run = &at->future->run[emit->superblock];
    at->now = at->of->time + emit->superblock;
    emit->launch = run->launch;
    pass_former_pieces(at, run);
    if (!pti_resident_window_place(at, run)) {
        emit->builder.failed = true;
        return;
    }
    for (int p = 0; p < run->n_pieces; p++)
        pti_resident_window_bring(at, at->image[p], piece_of_superblock(at, run, p), step,
                                  run->threads);
    bring_ahead(at, run, step);
    pti_resident_window_look_ahead(at);
    pti_builder_look(&emit->builder, count_looks_of_superblock(at, run));
    add_resident_launch_op(at, run, step);
    emit->former_launch = run->launch;
    emit->superblock++;
    download_finished(at, run, step);
}

static void add_launch(pti_resident_window *at, const pti_step *step) {
    if (step->partition->n_superblocks > 0)
        at->emit->beside = pti_beside_begin(&at->emit->builder, step->partition->n_lanes,
                                            at->future->run[at->emit->superblock].launch);
    for (int a = 0; a < at->of->instance.n_operands; a++)
        pti_boxes_clear(&at->of->state[a].initialised);
    for (int64_t k = 0; k < step->partition->n_superblocks && !at->emit->builder.failed; k++)
        add_superblock(at, step);
}

static void flush_array(pti_resident_window *at, const pti_step *step) {
    pti_resident_image **images = &at->of->state[step->position].images;
    while (*images != NULL)
        pti_image_evict(at->emit, *images);
}

static void drop_array(pti_resident_window *at, const pti_step *step) {
    pti_resident_forget(at->of, step->position);
}

static void fetch_elements(pti_resident_window *at, const pti_step *step) {
    pti_resident_image *image = at->of->state[step->position].images;
    for (; image != NULL; image = image->next)
        pti_image_fetch(at->emit, image, step->boxes);
}

static void invalidate_elements(pti_resident_window *at, const pti_step *step) {
    pti_resident_invalidate(at->of, step->position, step->boxes);
    pti_builder_invalidate(&at->emit->builder, step->position, step->boxes);
}

/** Memory for what is brought comes without a launch, whose superblock might evict it. */
static void bring_elements(pti_resident_window *at, const pti_step *step) {
    for (int b = 0; b < step->boxes->n_boxes && !at->emit->builder.failed; b++)
        pti_resident_window_bring_box(at, step->position, &step->boxes->box[b]);
}

/** Find the last launch that writes each array which is flushed after it. */
static void find_last_writers(pti_residency *residency, int n_steps, const pti_step *steps) {
    for (int a = 0; a < residency->instance.n_operands; a++)
        residency->state[a].last_writer = NULL;
    for (int s = 0; s < n_steps; s++) {
        const pti_instance *instance = steps[s].call.instance;
        for (int o = 0; steps[s].kind == PTI_STEP_LAUNCH && o < instance->n_operands; o++) {
            if (instance->operand[o].writes)
                residency->state[steps[s].call.array[o]].last_writer = &steps[s];
        }
    }
    for (int a = 0; a < residency->instance.n_operands; a++) {
        bool is_flushed = false;
        for (int s = n_steps - 1; s >= 0 && steps[s].kind != PTI_STEP_LAUNCH; s--)
            is_flushed |= steps[s].kind == PTI_STEP_FLUSH && steps[s].position == a;
        if (!is_flushed)
            residency->state[a].last_writer = NULL;
    }
}

void pti_resident_add_steps(pti_resident_emit *emit, pti_future *future, int n_steps,
                            const pti_step *steps, const polytile_link *link) {
    static void (*const act[])(pti_resident_window *,
                               const pti_step *) = {[PTI_STEP_LAUNCH] = add_launch,
                                                    [PTI_STEP_FLUSH] = flush_array,
                                                    [PTI_STEP_DROP] = drop_array,
                                                    [PTI_STEP_FETCH] = fetch_elements,
                                                    [PTI_STEP_INVALIDATE] = invalidate_elements,
                                                    [PTI_STEP_BRING] = bring_elements};
    pti_resident_window at = {.emit = emit,
                              .of = emit->of,
                              .future = future,
                              .link = link,
                              .end = steps + n_steps,
                              .now = emit->of->time};
    find_last_writers(emit->of, n_steps, steps);
    for (int s = 0; s < n_steps && !emit->builder.failed; s++)
        act[steps[s].kind](&at, &steps[s]);
    emit->builder.failed |= future->left.failed;
}
