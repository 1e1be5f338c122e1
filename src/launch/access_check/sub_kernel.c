#include "launch/access_check/trial.h"

#include "base/checked.h"
#include "launch/execute/execute.h"

#include <stdlib.h>

/** The alignment of copies in device memory; a multiple of every type's size. */
enum { ALIGNMENT_BYTES = 256 };

/** A schedule of one launch, and what it refers to; owns all its arrays. */
typedef struct sub_kernel {
    pti_schedule schedule;
    pti_schedule_launch launch;
    pti_instance arrays; /* of no kernel: the copies */
    pti_operand *operand;
    polytile_array *copy;
    polytile_array **copies;
    bool *has_begun;
    int *position;
} sub_kernel;

int64_t pti_sub_kernel_bytes(const pti_memory_layout *layout) {
    return pti_ceil_div(layout->size_bytes, ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
}

static void free_sub_kernel(sub_kernel *of) {
    free(of->operand);
    free(of->copy);
    free(of->copies);
    free(of->has_begun);
    free(of->position);
    free(of->schedule.placement);
    free(of->schedule.launch_placement);
    free(of->schedule.op);
    free(of->schedule.wait);
}

static bool allocate_schedule(size_t n, sub_kernel *of) {
    of->operand = calloc(n, sizeof *of->operand);
    of->copy = calloc(n, sizeof *of->copy);
    of->copies = calloc(n, sizeof *of->copies);
    of->has_begun = calloc(n, sizeof *of->has_begun);
    of->position = calloc(n, sizeof *of->position);
    of->schedule.placement = calloc(n, sizeof *of->schedule.placement);
    of->schedule.launch_placement = calloc(n, sizeof *of->schedule.launch_placement);
    of->schedule.op = calloc(2 * n + 1, sizeof *of->schedule.op);
    of->schedule.wait = calloc(2 * n, sizeof *of->schedule.wait);
    return of->operand != NULL && of->copy != NULL && of->copies != NULL && of->has_begun != NULL &&
           of->position != NULL && of->schedule.placement != NULL &&
           of->schedule.launch_placement != NULL && of->schedule.op != NULL &&
           of->schedule.wait != NULL;
}

/** Add a copy, which stands for the array over its box. */
static void add_copy(sub_kernel *of, polytile_context *ctx, int o, const pti_operand *operand,
                     const pti_shadow_copy *shadow) {
    of->operand[o] = *operand;
    of->operand[o].domain = shadow->layout.hull;
    of->operand[o].n_sections = 0;
    of->copy[o] = (polytile_array){.name = operand->name,
                                   .type = operand->type,
                                   .element_bytes = operand->element_bytes,
                                   .domain = shadow->layout.hull,
                                   .data = shadow->memory.bytes,
                                   .layout = shadow->layout,
                                   .n_bytes = shadow->layout.size_bytes,
                                   .state = PTI_ARRAY_COMPLETE};
    of->copy[o].object.context = ctx;
    of->copies[o] = &of->copy[o];
    of->position[o] = o;
    of->schedule.placement[o] = (pti_placement){
        .operand = o, .offset_bytes = of->schedule.arena_bytes, .layout = shadow->layout};
    of->schedule.launch_placement[o] = o;
    of->schedule.arena_bytes += pti_sub_kernel_bytes(&shadow->layout);
}

static void add_move(sub_kernel *of, pti_op_kind kind, int o) {
    const pti_placement *placement = &of->schedule.placement[o];
    of->schedule.op[of->schedule.n_ops++] = (pti_op){.kind = kind,
                                                     .placement = o,
                                                     .source_placement = -1,
                                                     .first_wait = of->schedule.n_waits,
                                                     .bytes = placement->layout.size_bytes,
                                                     .box = placement->layout.hull};
}

/** Let the newest operation wait for an earlier one, too. */
static void wait_for_earlier(sub_kernel *of, int64_t earlier) {
    of->schedule.wait[of->schedule.n_waits++] = earlier;
    of->schedule.op[of->schedule.n_ops - 1].n_waits++;
}

static void add_sub_kernel(sub_kernel *of, const polytile_domain *threads) {
    of->schedule.op[of->schedule.n_ops++] = (pti_op){.kind = PTI_LAUNCH,
                                                     .placement = -1,
                                                     .source_placement = -1,
                                                     .first_wait = of->schedule.n_waits,
                                                     .box = *threads};
}

static void add_operations(sub_kernel *of, const polytile_domain *threads) {
    int n = of->schedule.in_place ? 0 : of->arrays.n_operands;
    for (int o = 0; o < n; o++)
        add_move(of, PTI_UPLOAD, o);
    add_sub_kernel(of, threads);
    for (int o = 0; o < n; o++)
        wait_for_earlier(of, o);
    for (int o = 0; o < n; o++) {
        add_move(of, PTI_DOWNLOAD, o);
        wait_for_earlier(of, n);
    }
}

static void build_schedule(sub_kernel *of, const polytile_device *device,
                           const pti_instance *instance, const polytile_domain *threads,
                           const pti_shadow_copy *shadow) {
    for (int o = 0; o < instance->n_operands; o++)
        add_copy(of, device->object.context, o, &instance->operand[o], &shadow[o]);
    of->arrays = (pti_instance){.kernel_name = instance->kernel_name,
                                .n_operands = instance->n_operands,
                                .operand = of->operand};
    of->launch = (pti_schedule_launch){.call = {instance, of->position}, .n_superblocks = 1};
    of->schedule.n_launch_placements = instance->n_operands;
    of->schedule.instance = &of->arrays;
    of->schedule.n_launches = 1;
    of->schedule.launch = &of->launch;
    of->schedule.in_place = device->reaches_host;
    of->schedule.n_superblocks = 1;
    of->schedule.superblock = (polytile_domain *)(uintptr_t)threads;
    of->schedule.n_placements = instance->n_operands;
    add_operations(of, threads);
}

polytile_status pti_sub_kernel_run(polytile_device *device, const pti_instance *instance,
                                   const polytile_domain *threads, const pti_launch_config *config,
                                   const pti_shadow_copy *shadow) {
    sub_kernel of = {0};
    polytile_report report = {0};
    polytile_status status = POLYTILE_OK;
    if (!allocate_schedule((size_t)instance->n_operands, &of)) {
        free_sub_kernel(&of);
        return pti_fail_memory(device->object.context, instance->kernel_name,
                               (double)instance->n_operands * (double)sizeof(polytile_array));
    }
    pti_launch_config watched = *config;
    watched.is_watched = true;
    build_schedule(&of, device, instance, threads, shadow);
    bool was_running = device->is_running;
    device->is_running = true;
    status = pti_execute_copies(device, &of.schedule, &watched, of.copies, of.has_begun, &report);
    device->is_running = was_running;
    free_sub_kernel(&of);
    return status;
}
