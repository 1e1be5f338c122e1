#include "launch/host/accumulate.h"

#include "access/pieces/split.h"
#include "base/checked.h"
#include "launch/device/reduction.h"
#include "launch/device/view.h"

#include <stdlib.h>
#include <string.h>

/* The alignment of copies: chunks share no cache line. */
enum { LINE_BYTES = 64 };

/** The bytes that copies may take in any case, and the part of what is touched. */
enum { LEAST_PRIVATE_BYTES = 1024 * 1024, PRIVATE_PART = 16 };

/** Fewer bytes of copies are combined by one thread. */
enum { LEAST_SHARED_BYTES = 64 * 1024 };

int64_t pti_accumulators_touched_bytes(const pti_sub_kernel *sub_kernel) {
    const pti_instance *instance = sub_kernel->instance;
    int64_t n_bytes = 0;
    for (int o = 0; o < instance->n_operands; o++) {
        if (instance->operand[o].reduces)
            continue;
        polytile_domain hull = pti_footprint_hull(instance, o, PTI_TOUCHES, sub_kernel->threads);
        pti_memory_layout layout = pti_memory_layout_of(&hull, instance->operand[o].element_bytes);
        if (pti_add_overflows(n_bytes, layout.size_bytes, &n_bytes))
            return INT64_MAX;
    }
    return pti_max(n_bytes, 1);
}

int64_t pti_accumulators_most_bytes(const pti_sub_kernel *sub_kernel) {
    return pti_max(pti_accumulators_touched_bytes(sub_kernel) / PRIVATE_PART, LEAST_PRIVATE_BYTES);
}

static int count_private(const pti_sub_kernel *sub_kernel, const bool *is_private) {
    int n_private = 0;
    for (int a = 0; a < sub_kernel->instance->n_operands; a++)
        n_private += is_private[a];
    return n_private;
}

bool pti_accumulators_may_copy(const pti_sub_kernel *sub_kernel, int operand) {
    const pti_operand *of = &sub_kernel->instance->operand[operand];
    const int array = pti_operand_array(sub_kernel->instance, operand);
    return pti_reduction_is_known(of->reduction, of->type) &&
           pti_instance_count_pieces(sub_kernel->instance, array) == 1;
}

/** Find the operands that need copies; false if one of them cannot have any. */
static bool mark_private(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *grid,
                         bool *is_private) {
    for (int a = 0; a < sub_kernel->instance->n_operands; a++) {
        const pti_operand *operand = &sub_kernel->instance->operand[a];
        is_private[a] = operand->reduces && !pti_chunk_grid_separates(sub_kernel->instance, a,
                                                                      sub_kernel->threads, grid);
        if (is_private[a] && !pti_accumulators_may_copy(sub_kernel, a))
            return false;
    }
    return true;
}

/** Lay out all copies one after another; returns their bytes, INT64_MAX if they are too many. */
static int64_t lay_out_copies(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *grid,
                              const bool *is_private, pti_accumulators *made) {
    const int64_t most_bytes = pti_accumulators_most_bytes(sub_kernel);
    int64_t n_bytes = 0;
    pti_accumulator *next = made->accumulator;
    for (int64_t chunk = 0; chunk < grid->n_chunks; chunk++) {
        polytile_domain threads = pti_chunk_grid_get(sub_kernel->threads, grid, chunk);
        for (int a = 0; a < sub_kernel->instance->n_operands; a++) {
            if (!is_private[a])
                continue;
            polytile_domain hull =
                pti_footprint_hull(sub_kernel->instance, a, PTI_WRITES, &threads);
            pti_memory_layout layout =
                pti_memory_layout_of(&hull, sub_kernel->instance->operand[a].element_bytes);
            if (layout.size_bytes > most_bytes - n_bytes)
                return INT64_MAX;
            *next++ = (pti_accumulator){a, layout, n_bytes};
            n_bytes += pti_ceil_div(layout.size_bytes, LINE_BYTES) * LINE_BYTES;
        }
    }
    return n_bytes;
}

/** Elements lie at multiples of their size, which is a power of two: what is filled is doubled. */
static void fill_accumulator(const pti_operand *operand, const pti_accumulator *accumulator,
                             char *memory) {
    unsigned char identity[PTI_MAX_SCALAR_BYTES];
    char *to = memory + accumulator->offset_bytes;
    const int64_t n_bytes = accumulator->layout.size_bytes;
    int64_t filled_bytes = pti_min(n_bytes, operand->element_bytes);
    pti_reduction_identity(operand->reduction, operand->type, identity);
    memcpy(to, identity, (size_t)filled_bytes);
    for (int64_t more_bytes; filled_bytes < n_bytes; filled_bytes += more_bytes) {
        more_bytes = pti_min(filled_bytes, n_bytes - filled_bytes);
        memcpy(to + filled_bytes, to, (size_t)more_bytes);
    }
}

void pti_mark_alone(const pti_sub_kernel *sub_kernel, int operand, polytile_view *view) {
    if (sub_kernel->instance->operand[operand].reduces && !sub_kernel->config.is_watched &&
        view->n_pieces == 0 && pti_box_count(&view->resident) == 1)
        view->first_piece |= POLYTILE_ALONE;
}

/** Give each chunk the launch's views, with its own copies of what it reduces into. */
static void view_copies(const pti_sub_kernel *sub_kernel, pti_accumulators *made) {
    const int n_views = pti_sub_kernel_n_views(sub_kernel);
    for (int64_t chunk = 0; chunk < made->n_chunks; chunk++) {
        polytile_view *views = made->views + chunk * n_views;
        memcpy(views, sub_kernel->views, (size_t)n_views * sizeof *views);
        for (int k = 0; k < made->n_private; k++) {
            const pti_accumulator *accumulator = &made->accumulator[chunk * made->n_private + k];
            int a = accumulator->operand;
            const int32_t flags = views[a].first_piece;
            views[a] = pti_view_of(made->memory + accumulator->offset_bytes, &accumulator->layout,
                                   &sub_kernel->instance->operand[a].whole);
            views[a].first_piece = flags;
            pti_mark_alone(sub_kernel, a, &views[a]);
        }
    }
}

bool pti_accumulators_create(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *grid,
                             pti_accumulators *accumulators) {
    size_t n_operands = (size_t)sub_kernel->instance->n_operands;
    size_t n_chunks = (size_t)grid->n_chunks;
    pti_accumulators made = {.n_chunks = grid->n_chunks};
    int64_t n_bytes = INT64_MAX;
    bool *is_private = calloc(n_operands, sizeof *is_private);
    if (is_private != NULL && mark_private(sub_kernel, grid, is_private)) {
        made.n_private = count_private(sub_kernel, is_private);
        made.accumulator = calloc(n_chunks * (size_t)made.n_private + 1, sizeof *made.accumulator);
        made.views =
            calloc(n_chunks * (size_t)pti_sub_kernel_n_views(sub_kernel), sizeof *made.views);
    }
    if (made.accumulator != NULL && made.views != NULL)
        n_bytes = lay_out_copies(sub_kernel, grid, is_private, &made);
    if (n_bytes < INT64_MAX)
        made.memory = aligned_alloc(LINE_BYTES, (size_t)pti_max(n_bytes, LINE_BYTES));
    free(is_private);
    if (made.memory == NULL) {
        pti_accumulators_free(&made);
        return false;
    }
    view_copies(sub_kernel, &made);
    *accumulators = made;
    return true;
}

void pti_accumulators_fill(const pti_accumulators *accumulators, const pti_sub_kernel *sub_kernel,
                           int64_t chunk) {
    for (int k = 0; k < accumulators->n_private; k++) {
        const pti_accumulator *accumulator =
            &accumulators->accumulator[chunk * accumulators->n_private + k];
        fill_accumulator(&sub_kernel->instance->operand[accumulator->operand], accumulator,
                         accumulators->memory);
    }
}

/** Clip a range to the indices from first to last. */
static void clip_range(polytile_range *range, int64_t first, int64_t last) {
    if (first > range->lo)
        range->lo += pti_ceil_div(first - range->lo, range->step) * range->step;
    range->hi = pti_min(range->hi, last);
}

/** Return the k-th of n parts of a box along its first dimension, as far as another box has it. */
static polytile_domain part_of_box(const polytile_domain *box, const polytile_domain *domain,
                                   int64_t k, int64_t n) {
    polytile_domain part = *box;
    const int64_t lo = domain->range[0].lo, extent = domain->range[0].hi - lo + 1;
    const int64_t length = pti_ceil_div(extent, n);
    clip_range(&part.range[0], lo + k * length, pti_min(lo + (k + 1) * length, lo + extent) - 1);
    return part;
}

void pti_accumulators_combine(const pti_accumulators *accumulators,
                              const pti_sub_kernel *sub_kernel, int64_t k, int64_t n) {
    const int64_t n_copies = accumulators->n_chunks * accumulators->n_private;
    for (int64_t c = 0; c < n_copies; c++) {
        const pti_accumulator *accumulator = &accumulators->accumulator[c];
        const pti_operand *operand = &sub_kernel->instance->operand[accumulator->operand];
        const polytile_view *view = &sub_kernel->views[accumulator->operand];
        const polytile_domain box = part_of_box(&accumulator->layout.hull, &view->resident, k, n);
        pti_memory_layout target = pti_memory_layout_of_view(view);
        pti_move move = {&box,
                         operand->element_bytes,
                         {pti_view_first(view), &target},
                         {accumulators->memory + accumulator->offset_bytes, &accumulator->layout}};
        pti_reduction_combine(operand->reduction, operand->type, &move);
    }
}

static int64_t accumulator_bytes(const pti_accumulators *accumulators) {
    int64_t n_bytes = 0;
    for (int64_t c = 0; c < accumulators->n_chunks * accumulators->n_private; c++)
        n_bytes += accumulators->accumulator[c].layout.size_bytes;
    return n_bytes;
}

int64_t pti_accumulators_n_parts(const pti_accumulators *accumulators) {
    return accumulator_bytes(accumulators) < LEAST_SHARED_BYTES ? 1 : accumulators->n_chunks;
}

void pti_accumulators_free(pti_accumulators *accumulators) {
    free(accumulators->accumulator);
    free(accumulators->views);
    free(accumulators->memory);
    *accumulators = (pti_accumulators){0};
}
