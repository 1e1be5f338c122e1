#include "access/kernel.h"
#include "partition/window/plan_chain.h"

#include "partition/choose/grain.h"
#include "partition/schedule/builder.h"
#include <polytile/size.h>

#include <stdlib.h>
#include <string.h>

/* Launches that are not interleaved: in place, or with what is resident kept between them. */

bool pti_launches_fit(const pti_launches *launches, int64_t limit_bytes) {
    int64_t free_bytes = limit_bytes;
    for (int a = 0; a < launches->arrays->n_operands; a++) {
        const pti_operand *is = &launches->arrays->operand[a];
        pti_memory_layout layout = pti_memory_layout_of(&is->domain, is->element_bytes);
        if (layout.size_bytes > free_bytes)
            return false;
        free_bytes -= pti_resident_padded(layout.size_bytes);
    }
    return free_bytes >= 0;
}

static bool have_common_array(const pti_launch_kind *one, const pti_launch_kind *other) {
    for (int a = 0; a < one->instance->n_operands; a++)
        for (int b = 0; b < other->instance->n_operands; b++)
            if (one->array[a] == other->array[b])
                return true;
    return false;
}

/** The partition of the newest kind before this one over some of its data; NULL: there is none. */
static const pti_partition *find_former(const pti_launches *launches, int kind) {
    for (int k = kind - 1; k >= 0; k--)
        if (have_common_array(&launches->of_kind[k], &launches->of_kind[kind]))
            return &launches->of_kind[k].partition;
    return NULL;
}

/** The kernel of the first launch of a kind. */
static const polytile_kernel *find_kernel(const pti_chain_request *request,
                                          const pti_launches *launches, int kind) {
    int l = 0;
    while (launches->kind[l] != kind)
        l++;
    return request->launch[l].kernel;
}

polytile_status pti_plan_cut_kinds(const pti_chain_request *request, pti_launches *launches) {
    int64_t limit_bytes = request->options->limit_bytes;
    bool all_fit = pti_launches_fit(launches, limit_bytes);
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < launches->n_kinds; k++) {
        pti_launch_kind *kind = &launches->of_kind[k];
        polytile_plan_options options = *request->options;
        if (!pti_runs_in_lanes(&find_kernel(request, launches, k)->implementation))
            options.n_streams = 1;
        pti_grain_request grain = {.ways = &kind->ways,
                                   .options = &options,
                                   .arena_bytes = limit_bytes,
                                   .all_fit = all_fit,
                                   .former = find_former(launches, k)};
        PTI_TRY(pti_grain_choose(request->ctx, &grain, &kind->partition, &kind->way));
    }
done:
    return status;
}

pti_residency *pti_plan_make_residency(const pti_launches *launches, int64_t limit_bytes) {
    pti_residency *residency = pti_residency_create(limit_bytes);
    bool is_made = residency != NULL;
    for (int a = 0; a < launches->arrays->n_operands && is_made; a++) {
        const pti_operand *is = &launches->arrays->operand[a];
        pti_resident_array array = {.name = is->name,
                                    .type = is->type,
                                    .element_bytes = is->element_bytes,
                                    .domain = is->domain,
                                    .is_internal = launches->is_scratch[a]};
        is_made = pti_residency_add(residency, &array) == a;
    }
    if (is_made)
        return residency;
    pti_residency_free(residency);
    return NULL;
}

pti_step *pti_plan_make_steps(const pti_launches *launches, int *n_steps) {
    int n_arrays = launches->arrays->n_operands;
    pti_step *step = calloc((size_t)launches->n_launches + (size_t)n_arrays + 1, sizeof *step);
    *n_steps = launches->n_launches + n_arrays;
    for (int l = 0; l < launches->n_launches && step != NULL; l++)
        step[l] = (pti_step){.kind = PTI_STEP_LAUNCH,
                             .call = launches->cut[l].call,
                             .partition = &launches->of_kind[launches->kind[l]].partition,
                             .serial = launches->kind[l] + 1};
    for (int a = 0; a < n_arrays && step != NULL; a++)
        step[launches->n_launches + a] = (pti_step){
            .kind = launches->is_scratch[a] ? PTI_STEP_DROP : PTI_STEP_FLUSH, .position = a};
    return step;
}

bool pti_plan_is_same_step(const pti_step *one, const pti_step *other) {
    return one->kind == other->kind &&
           (one->kind == PTI_STEP_LAUNCH ? one->serial == other->serial
                                         : one->position == other->position);
}

polytile_status pti_plan_explain(const pti_chain_request *request, const pti_launches *launches,
                                 polytile_status status) {
    const char *name = launches->arrays->kernel_name;
    char limit[32];
    if (status == POLYTILE_NO_MEMORY)
        return pti_fail(request->ctx, status,
                        "%s: host memory ran out while %d launches were planned together; plan "
                        "fewer, or give a larger limit or block",
                        name, request->n_launches);
    if (status == POLYTILE_UNSUPPORTED)
        return pti_fail(request->ctx, status,
                        "%s: the transfers of one of %d launches within %s are " PTI_FULL
                        "; raise the limit, or declare what sections touch far apart in one array "
                        "as two arrays",
                        name, request->n_launches,
                        polytile_size_format(request->options->limit_bytes, limit),
                        PTI_FULL_NUMBERS);
    return status;
}

/* In place. */

static void place_whole(pti_builder *builder, int array) {
    pti_schedule *schedule = builder->schedule;
    const pti_operand *is = &schedule->instance->operand[array];
    pti_placement placement = {.operand = array,
                               .layout = pti_memory_layout_of(&is->domain, is->element_bytes)};
    pti_builder_place(builder, &placement);
}

/** Fill what a launch starts from the identity, after the launches before. */
static void fill_fresh(pti_builder *builder, const pti_launches *launches, int l, pti_last *last) {
    const pti_cut_launch *cut = &launches->cut[l];
    pti_boxes boxes = {0};
    for (int o = 0; o < cut->call.instance->n_operands; o++) {
        if (!cut->call.instance->operand[o].fresh)
            continue;
        pti_boxes_clear(&boxes);
        pti_footprint_boxes(cut->call.instance, o, PTI_WRITES, &cut->call.instance->threads,
                            PTI_MAX_WRITE_BOXES, &boxes);
        for (int b = 0; b < boxes.n_boxes; b++) {
            pti_op op = {.kind = PTI_FILL,
                         .launch = l,
                         .superblock = l,
                         .placement = cut->call.array[o],
                         .source_placement = -1,
                         .bytes = pti_box_count(&boxes.box[b]) *
                                  cut->call.instance->operand[o].element_bytes,
                         .box = boxes.box[b]};
            pti_last_note(last, PTI_FILL, pti_builder_add(builder, &op, last));
        }
    }
    builder->failed |= boxes.failed;
    pti_boxes_free(&boxes);
}

/** Add all of a launch as one superblock, with the fills it needs. */
static void add_whole_launch(pti_builder *builder, const pti_launches *launches, int l,
                             pti_last *last) {
    const pti_cut_launch *cut = &launches->cut[l];
    pti_schedule *schedule = builder->schedule;
    int64_t *placement = pti_schedule_placements(schedule, l, l);
    pti_op op = {.kind = PTI_LAUNCH,
                 .launch = l,
                 .superblock = l,
                 .placement = -1,
                 .source_placement = -1,
                 .box = cut->call.instance->threads};
    for (int o = 0; o < cut->call.instance->n_operands; o++)
        placement[o] = cut->call.array[o];
    fill_fresh(builder, launches, l, last);
    schedule->superblock[l] = op.box;
    pti_last_note(last, PTI_LAUNCH, pti_builder_add(builder, &op, last));
}

/** Begin a schedule in which each launch is one superblock. */
static pti_schedule *begin_whole(const pti_launches *launches, pti_builder *builder) {
    pti_schedule_launch *whole = calloc((size_t)launches->n_launches + 1, sizeof *whole);
    *builder = (pti_builder){0};
    if (whole == NULL)
        return NULL;
    for (int l = 0; l < launches->n_launches; l++)
        whole[l] = (pti_schedule_launch){.call = launches->cut[l].call, .n_superblocks = 1};
    pti_builder_begin(builder, launches->arrays, launches->n_launches, whole);
    free(whole);
    return builder->schedule;
}

pti_schedule *pti_plan_in_place(const pti_launches *launches) {
    pti_builder builder;
    pti_last last = pti_last_none();
    pti_schedule *schedule = begin_whole(launches, &builder);
    if (schedule == NULL)
        return NULL;
    schedule->in_place = true;
    for (int a = 0; a < launches->arrays->n_operands; a++)
        place_whole(&builder, a);
    for (int l = 0; l < launches->n_launches && !builder.failed; l++)
        add_whole_launch(&builder, launches, l, &last);
    if (!builder.failed)
        return schedule;
    pti_schedule_free(schedule);
    return NULL;
}
