#include "partition/memory/resident_plan.h"

#include "access/footprint/footprint.h"
#include "partition/memory/resident_window.h"

static bool writes(const pti_step *step, int array) {
    bool found = false;
    for (int o = 0; o < step->instance->n_operands; o++)
        found |= step->array[o] == array && step->instance->operand[o].writes;
    return found;
}

/** Kernels that only read wait for who wrote; others for everyone who uses the memory. */
static pti_last launch_waits(const pti_resident_window *at, const pti_turn *turn,
                             const pti_step *step) {
    pti_last waits = pti_last_none();
    for (int p = 0; p < turn->n_pieces; p++) {
        const pti_resident_image *image = at->image[p];
        pti_last_join(&waits, &image->writers);
        if (writes(step, image->array))
            pti_last_join(&waits, &pti_segments_at(&at->of->segments, image->offset_bytes)->users);
    }
    return waits;
}

static void note_writes(pti_resident_window *at, pti_resident_image *image, const pti_step *step,
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

static void add_resident_launch_op(pti_resident_window *at, const pti_turn *turn,
                                   const pti_step *step) {
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
static void pass_former_pieces(pti_resident_window *at, const pti_turn *turn) {
    for (int64_t p = turn->first_piece; p < turn->first_piece + turn->n_pieces; p++)
        at->of->state[at->future->piece[p].array].first_piece = p;
}

/** What goes to the host anyway goes as soon as it is written, if nothing needs it until then: the
 * link is idle that way, and later all at once would be waited for. */
static void bring_home(pti_resident_window *at, const pti_turn *turn, const pti_step *step) {
    for (int p = 0; p < turn->n_pieces; p++) {
        pti_resident_image *image = at->image[p];
        if (at->of->state[image->array].last_writer != step || image->dirty.n_boxes == 0 ||
            pti_future_next_use(at->future, image, at->now + 1) != PTI_USE_NEVER)
            continue;
        pti_future_discard(at->future, image, at->now + 1);
        pti_image_download(at->emit, image);
    }
}

/** The images and boxes that placing and bringing a superblock's pieces goes through. */
static int64_t count_looks(const pti_resident_window *at, const pti_turn *turn) {
    int64_t n_looks = (int64_t)turn->n_pieces * at->of->segments.n_segments;
    for (int p = 0; p < turn->n_pieces; p++) {
        const pti_resident_image *image = at->image[p];
        n_looks += PTI_LOOKS_A_BOX * ((int64_t)image->valid.n_boxes + image->dirty.n_boxes +
                                      at->of->state[image->array].initialised.n_boxes);
    }
    return n_looks;
}

static void run_superblock(pti_resident_window *at, const pti_step *step) {
    pti_resident_emit *emit = at->emit;
    const pti_turn *turn = &at->future->turn[emit->superblock];
    at->now = at->of->time + emit->superblock;
    emit->launch = turn->launch;
    pass_former_pieces(at, turn);
    if (!pti_resident_window_place(at, turn)) {
        emit->builder.failed = true;
        return;
    }
    for (int p = 0; p < turn->n_pieces; p++)
        pti_resident_window_bring(at, at->image[p], step, turn->threads);
    pti_resident_window_look_ahead(at);
    pti_builder_look(&emit->builder, count_looks(at, turn));
    add_resident_launch_op(at, turn, step);
    emit->former_launch = turn->launch;
    emit->superblock++;
    bring_home(at, turn, step);
}

static void run_launch(pti_resident_window *at, const pti_step *step) {
    for (int a = 0; a < at->of->instance.n_operands; a++)
        pti_boxes_clear(&at->of->state[a].initialised);
    for (int64_t k = 0; k < step->partition->n_superblocks && !at->emit->builder.failed; k++)
        run_superblock(at, step);
}

static void flush(pti_resident_window *at, const pti_step *step) {
    pti_resident_image **images = &at->of->state[step->position].images;
    while (*images != NULL)
        pti_image_evict(at->emit, *images);
}

static void drop(pti_resident_window *at, const pti_step *step) {
    pti_resident_forget(at->of, step->position);
}

static void fetch(pti_resident_window *at, const pti_step *step) {
    pti_resident_image *image = at->of->state[step->position].images;
    for (; image != NULL; image = image->next)
        pti_image_fetch(at->emit, image, step->boxes);
}

static void renew(pti_resident_window *at, const pti_step *step) {
    pti_resident_renew(at->of, step->position, step->boxes);
    pti_builder_renew(&at->emit->builder, step->position, step->boxes);
}

/** Find the last launch that writes each array which is flushed behind it. */
static void find_last_writers(pti_residency *of, int n_steps, const pti_step *steps) {
    for (int a = 0; a < of->instance.n_operands; a++)
        of->state[a].last_writer = NULL;
    for (int s = 0; s < n_steps; s++) {
        const pti_instance *instance = steps[s].instance;
        for (int o = 0; steps[s].kind == PTI_STEP_LAUNCH && o < instance->n_operands; o++) {
            if (instance->operand[o].writes)
                of->state[steps[s].array[o]].last_writer = &steps[s];
        }
    }
    for (int a = 0; a < of->instance.n_operands; a++) {
        bool is_flushed = false;
        for (int s = n_steps - 1; s >= 0 && steps[s].kind != PTI_STEP_LAUNCH; s--)
            is_flushed |= steps[s].kind == PTI_STEP_FLUSH && steps[s].position == a;
        if (!is_flushed)
            of->state[a].last_writer = NULL;
    }
}

void pti_resident_run(pti_resident_emit *emit, pti_future *future, int n_steps,
                      const pti_step *steps, const polytile_link *link) {
    static void (*const act[])(pti_resident_window *,
                               const pti_step *) = {[PTI_STEP_LAUNCH] = run_launch,
                                                    [PTI_STEP_FLUSH] = flush,
                                                    [PTI_STEP_DROP] = drop,
                                                    [PTI_STEP_FETCH] = fetch,
                                                    [PTI_STEP_RENEW] = renew};
    pti_resident_window at = {
        .emit = emit, .of = emit->of, .future = future, .link = link, .now = emit->of->time};
    find_last_writers(emit->of, n_steps, steps);
    for (int s = 0; s < n_steps && !emit->builder.failed; s++)
        act[steps[s].kind](&at, &steps[s]);
    emit->builder.failed |= future->left.failed;
}
