#include "launch/access_check/trial.h"

#include "access/declare/kernel.h"
#include "access/footprint/footprint.h"
#include "access/footprint/indirection.h"
#include "access/touched.h"
#include "base/checked.h"
#include "launch/execute/run_place.h"

#include <stdlib.h>

/** Elements around the copied box along each dimension, by the array's number of dimensions:
 * indices that are slightly wrong stay there. */
static const int64_t margins[POLYTILE_MAX_DIMS + 1] = {0, 64, 8, 4, 2, 1, 1, 1, 1};

/** Launches that write fewer bytes run with all patterns, since few bits may agree by chance;
 * others without the last. The most elements of an operand that are counted for that. */
enum { FEW_BYTES = 16, ELEMENTS_COUNTED = 64 };

/** Choose the device. On the host one thread runs kernels: reductions keep their order, and writes
 * beside a declaration meet no other thread's. */
static polytile_status choose_device(polytile_device *device, bool is_host, pti_trial *trial) {
    polytile_status status;
    polytile_device *own;
    trial->device = device;
    PTI_TRY(polytile_device_open(device->object.context, "host(threads=1)", &own));
    if (is_host || own->functions == device->functions)
        trial->own = trial->device = own;
    else
        polytile_device_close(own);
done:
    return status;
}

void pti_trial_close_device(pti_trial *trial) {
    polytile_device_close(trial->own);
    trial->own = trial->device = NULL;
}

polytile_status pti_trial_open_device(pti_trial *trial) {
    polytile_status status =
        polytile_device_open(trial->kernel->object.context, "host(threads=1)", &trial->own);
    trial->device = trial->own;
    return status;
}

bool pti_trial_repeats(const pti_trial *trial) {
    return trial->own != NULL && !trial->varies;
}

static polytile_status make_copy(pti_trial *trial, const polytile_array *array, int operand) {
    const pti_inspection *inspection = trial->instance->inspection;
    pti_shadow_copy *shadow = &trial->shadow[operand];
    const polytile_status status =
        pti_shadow_copy_make(array, &trial->instance->operand[operand], operand, shadow);
    shadow->holds_indices = inspection != NULL && operand < inspection->n_operands &&
                            inspection->array[operand] != NULL;
    return status;
}

polytile_status pti_trial_open(polytile_device *device, const polytile_kernel *kernel,
                               const pti_instance *instance, polytile_array *const *arrays,
                               const pti_launch_config *config, pti_trial *trial) {
    polytile_status status = POLYTILE_OK;
    *trial = (pti_trial){.kernel = kernel, .instance = instance, .config = *config};
    trial->shadow = calloc((size_t)instance->n_operands, sizeof *trial->shadow);
    if (trial->shadow == NULL)
        return pti_fail_memory(device->object.context, instance->kernel_name,
                               (double)instance->n_operands * (double)sizeof *trial->shadow);
    status = pti_arrays_refuse_gpu(instance->n_operands, arrays, "a check that runs the kernel");
    for (int o = 0; status == POLYTILE_OK && o < instance->n_operands; o++)
        status = make_copy(trial, arrays[o], o);
    return status == POLYTILE_OK ? choose_device(device, false, trial) : status;
}

polytile_status pti_trial_survive(pti_trial *trial) {
    const polytile_implementation *original = trial->config.implementation;
    polytile_status status = POLYTILE_OK;
    if (original->host == NULL)
        return POLYTILE_OK;
    if (trial->own == NULL)
        PTI_TRY(choose_device(trial->device, true, trial));
    pti_survivor_open(original, &trial->survivor);
done:
    return status;
}

void pti_trial_close(pti_trial *trial) {
    pti_survivor_close(&trial->survivor);
    for (int o = 0; trial->shadow != NULL && o < trial->instance->n_operands; o++)
        pti_shadow_copy_free(&trial->shadow[o]);
    free(trial->shadow);
    polytile_device_close(trial->own);
    *trial = (pti_trial){0};
}

/** Return the box to copy of an operand: its array or the threads' footprint, with a margin. */
static polytile_domain box_of(const pti_trial *trial, int operand, const polytile_domain *threads) {
    const polytile_array *array = trial->shadow[operand].array;
    polytile_domain box = array->domain;
    int64_t margin = margins[box.n_dims];
    if (!trial->is_whole)
        box = pti_footprint_hull(trial->instance, operand, PTI_TOUCHES, threads);
    for (int d = 0; d < box.n_dims; d++) {
        const polytile_range *whole = &array->domain.range[d];
        bool is_empty = box.range[d].hi < box.range[d].lo;
        int64_t lo = is_empty ? whole->lo : box.range[d].lo;
        int64_t hi = is_empty ? whole->lo : box.range[d].hi;
        box.range[d] = (polytile_range){lo - margin, hi + margin, 1};
    }
    return box;
}

int64_t pti_trial_bytes(const pti_trial *trial, const polytile_domain *threads) {
    int64_t n_bytes = 0;
    for (int o = 0; o < trial->instance->n_operands; o++) {
        polytile_domain box = box_of(trial, o, threads);
        pti_memory_layout layout =
            pti_memory_layout_of(&box, trial->instance->operand[o].element_bytes);
        if (layout.size_bytes == INT64_MAX ||
            pti_add_overflows(n_bytes, pti_sub_kernel_bytes(&layout), &n_bytes))
            return INT64_MAX;
    }
    return n_bytes;
}

void pti_trial_copy_whole(pti_trial *trial, int64_t most_bytes) {
    int64_t limit_bytes = trial->device->reaches_host ? 0 : trial->device->limit_bytes;
    trial->is_whole = true;
    int64_t n_bytes = pti_trial_bytes(trial, &trial->instance->threads);
    trial->is_whole = n_bytes <= most_bytes && (limit_bytes == 0 || n_bytes <= limit_bytes);
}

/** Marks for elements of an operand. */
typedef struct marking {
    pti_shadow_copy *shadow;
    int marks;
} marking;

static void mark_box(const polytile_domain *box, void *user) {
    const marking *of = user;
    pti_shadow_copy_mark(of->shadow, box, of->marks);
}

/** Mark the elements of an operand. What may be written, but perhaps is not, counts as read,
 * too. */
static polytile_status mark_operand(pti_trial *trial, int operand, pti_touch touch, int marks) {
    marking of = {&trial->shadow[operand], marks};
    polytile_context *ctx = trial->kernel->object.context;
    bool is_exact;
    polytile_status status = pti_touched_each(trial->kernel, trial->instance, operand, touch,
                                              &trial->threads, mark_box, &of, &is_exact);
    if (status == POLYTILE_OK && !is_exact && touch == PTI_WRITES)
        for (int64_t k = 0; k < of.shadow->n_marked; k++)
            of.shadow->mark[of.shadow->marked[k].place] |= PTI_MARK_READ;
    if (status == POLYTILE_OK && of.shadow->has_failed)
        status = pti_fail_memory(ctx, trial->instance->kernel_name, PTI_UNKNOWN_BYTES);
    return status;
}

/** Return the written bytes of all operands, if they are few. */
static int64_t written_bytes(const pti_trial *trial, const polytile_domain *threads) {
    int64_t n_bytes = 0;
    for (int o = 0; o < trial->instance->n_operands; o++) {
        polytile_domain hull = pti_footprint_hull(trial->instance, o, PTI_WRITES, threads);
        n_bytes += pti_min(pti_box_count(&hull), ELEMENTS_COUNTED) *
                   trial->instance->operand[o].element_bytes;
    }
    return n_bytes;
}

polytile_status pti_trial_aim(pti_trial *trial, const polytile_domain *threads) {
    polytile_context *ctx = trial->kernel->object.context;
    bool is_little = written_bytes(trial, threads) < FEW_BYTES;
    int n_patterns = is_little ? PTI_N_PATTERNS : PTI_PATTERN_FRACTIONS;
    polytile_status status = POLYTILE_OK;
    trial->threads = *threads;
    trial->n_patterns = n_patterns;
    for (int o = 0; o < trial->instance->n_operands; o++) {
        polytile_domain box = box_of(trial, o, threads);
        PTI_TRY(pti_shadow_copy_place(ctx, &trial->shadow[o], &box, n_patterns));
        PTI_TRY(mark_operand(trial, o, PTI_WRITES, PTI_MARK_WRITTEN));
        PTI_TRY(mark_operand(trial, o, PTI_READS, PTI_MARK_READ));
        if (trial->instance->operand[o].is_scratch)
            PTI_TRY(mark_operand(trial, o, PTI_TOUCHES, PTI_MARK_SCRATCH));
    }
done:
    return status;
}

polytile_status pti_trial_run(pti_trial *trial) {
    pti_launch_config config = trial->config;
    if (trial->survivor.original != NULL)
        config.implementation = &trial->survivor.implementation;
    trial->n_runs++;
    return pti_sub_kernel_run(trial->device, trial->instance, &trial->threads, &config,
                              trial->shadow);
}

bool pti_trial_may_be_strange(const pti_trial *trial) {
    bool may_be = true;
    for (int o = 0; o < trial->instance->n_operands; o++) {
        const pti_operand *operand = &trial->instance->operand[o];
        may_be = may_be && (!operand->reads || pti_poison_has_fractions(operand->type));
    }
    return may_be || trial->survivor.original != NULL;
}

polytile_status pti_trial_run_strange(pti_trial *trial) {
    trial->survivor.is_strange = true;
    trial->survivor.has_ended = false;
    const polytile_status status = pti_trial_run(trial);
    trial->survivor.is_strange = false;
    return status;
}

bool pti_trial_has_ended(const pti_trial *trial) {
    return trial->survivor.has_ended;
}

polytile_status pti_trial_run_pattern(pti_trial *trial, int pattern) {
    return pti_trial_run_mixed(trial, pattern, INT64_MAX, pattern);
}

polytile_status pti_trial_run_mixed(pti_trial *trial, int first_pattern, int64_t n_first,
                                    int then_pattern) {
    for (int o = 0; o < trial->instance->n_operands; o++) {
        pti_shadow_copy_begin(&trial->shadow[o], first_pattern, n_first, then_pattern);
        n_first -= pti_min(n_first, trial->shadow[o].n_elements);
    }
    return pti_trial_run(trial);
}
