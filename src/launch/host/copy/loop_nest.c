#include "launch/host/copy/loop_nest.h"

#include "access/set/range.h"
#include "base/checked.h"

/** Add a loop inside the nest, joined with the one around it if both sides allow. */
static void add_loop(pti_loop_nest *nest, pti_loop inner) {
    if (inner.count == 1)
        return;
    if (nest->n_loops > 0) {
        pti_loop *outer = &nest->loops[nest->n_loops - 1];
        if (outer->to_step == inner.count * inner.to_step &&
            outer->from_step == inner.count * inner.from_step) {
            inner.count *= outer->count;
            *outer = inner;
            return;
        }
    }
    nest->loops[nest->n_loops++] = inner;
}

static void take_unit(pti_loop_nest *nest, int64_t element_bytes) {
    nest->run_bytes = element_bytes;
    if (nest->n_loops == 0)
        nest->loops[nest->n_loops++] = (pti_loop){1, 0, 0};
    pti_loop *inner = &nest->loops[nest->n_loops - 1];
    if (inner->to_step == element_bytes && inner->from_step == element_bytes) {
        nest->run_bytes = inner->count * element_bytes;
        *inner = (pti_loop){1, 0, 0};
        if (nest->n_loops > 1)
            nest->n_loops--;
    }
}

static void end_nest(pti_loop_nest *nest, int64_t element_bytes) {
    take_unit(nest, element_bytes);
    nest->n_runs = 1;
    for (int k = 0; k < nest->n_loops; k++)
        nest->n_runs *= nest->loops[k].count;
}

pti_loop_nest pti_loop_nest_of(const pti_move *move) {
    pti_loop_nest nest = {.to = (char *)move->to.base +
                                pti_memory_layout_offset_of(move->to.layout, move->box),
                          .from = (const char *)move->from.base +
                                  pti_memory_layout_offset_of(move->from.layout, move->box)};
    for (int d = 0; d < move->box->n_dims; d++) {
        polytile_range range = move->box->range[d];
        add_loop(&nest,
                 (pti_loop){pti_range_count(range),
                            pti_mul_wrapped(range.step, move->to.layout->stride_bytes[d]),
                            pti_mul_wrapped(range.step, move->from.layout->stride_bytes[d])});
    }
    end_nest(&nest, move->element_bytes);
    return nest;
}

pti_loop_nest pti_loop_nest_of_packed(const polytile_domain *box, const pti_memory_layout *layout,
                                      int64_t element_bytes, char *first, char *packed,
                                      bool is_in) {
    int64_t count[POLYTILE_MAX_DIMS], packed_step[POLYTILE_MAX_DIMS], bytes = element_bytes;
    pti_loop_nest nest;
    nest.n_loops = 0;
    nest.to = is_in ? packed : first;
    nest.from = is_in ? first : packed;
    for (int d = box->n_dims - 1; d >= 0; d--) {
        count[d] = pti_range_count(box->range[d]);
        packed_step[d] = bytes;
        bytes *= count[d];
    }
    for (int d = 0; d < box->n_dims; d++) {
        const int64_t step = box->range[d].step * layout->stride_bytes[d];
        add_loop(&nest, is_in ? (pti_loop){count[d], packed_step[d], step}
                              : (pti_loop){count[d], step, packed_step[d]});
    }
    end_nest(&nest, element_bytes);
    return nest;
}

int64_t pti_loop_nest_locate(const pti_loop_nest *nest, int64_t run, char **to, const char **from) {
    int innermost = nest->n_loops - 1;
    int64_t rest_of_row = nest->loops[innermost].count - run % nest->loops[innermost].count;
    *to = nest->to;
    *from = nest->from;
    for (int k = innermost; k >= 0; k--) {
        int64_t position = run % nest->loops[k].count;
        run /= nest->loops[k].count;
        *to += position * nest->loops[k].to_step;
        *from += position * nest->loops[k].from_step;
    }
    return rest_of_row;
}
