#include "partition/skew/builder.h"

#include <stdlib.h>

/** Place every array as its own image. */
static void place_arrays(pti_skew_builder *of) {
    for (int a = 0; a < pti_skew_n_arrays(of); a++) {
        const pti_operand *is = &of->chain->arrays->operand[a];
        pti_placement placement = {.operand = a,
                                   .layout = pti_memory_layout_of(&is->domain, is->element_bytes)};
        of->image[a] = pti_skew_image_at(0, pti_builder_place(&of->builder, &placement));
    }
}

static void run_pass_in_place(pti_skew_builder *of, int number) {
    if (!pti_skew_builder_pass(of, number, &of->pass)) {
        of->builder.failed = true;
        return;
    }
    int64_t n_slabs = pti_pass_n_slabs(&of->pass, of->shape->slab);
    for (int64_t k = 0; k < n_slabs && !of->builder.failed; k++) {
        for (int l = of->pass.first; l < of->pass.end; l++)
            pti_skew_builder_launch(of, l, k);
    }
    pti_pass_end(&of->pass);
}

pti_schedule *pti_skew_build_in_place(const pti_chain *chain, const pti_skew_shape *shape) {
    pti_skew_builder of = {.shape = shape, .chain = chain};
    int64_t most_slabs = 0;
    bool is_made = pti_skew_builder_begin(&of, &most_slabs);
    of.image = calloc((size_t)chain->arrays->n_operands + 1, sizeof *of.image);
    is_made = is_made && of.image != NULL;
    if (is_made) {
        of.schedule->in_place = true;
        place_arrays(&of);
    }
    for (int p = 0; is_made && p < shape->n_passes; p++)
        run_pass_in_place(&of, p);
    is_made = is_made && !of.builder.failed;
    pti_skew_builder_end(&of);
    if (!is_made)
        pti_schedule_free(of.schedule);
    return is_made ? of.schedule : NULL;
}
