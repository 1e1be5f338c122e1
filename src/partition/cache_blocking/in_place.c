#include "partition/cache_blocking/in_place.h"

#include "base/checked.h"
#include "partition/skew/builder.h"
#include "partition/skew/memory.h"

#include <stdlib.h>

/* The choice of a shape. */

/** Return the largest slab whose bands fit, and which is no shorter than their rest: shorter slabs
 * cost more launches than they save in reading; 0: none. */
static int64_t largest_slab_in_arena(const pti_skew_request *request, const pti_skew_need *needs) {
    int n_arrays = request->chain->arrays->n_operands;
    int64_t least = 1, slab = 0;
    for (int a = 0; a < n_arrays; a++)
        least = pti_max(least, needs[a].band_rows);
    for (int64_t tried = least;
         pti_skew_slabs_bytes(request->chain, needs, tried) <= (double)request->arena_bytes;
         tried++)
        slab = tried;
    return slab;
}

/** Return whether the caches hold everything that the chain touches. */
static bool all_fit_into_caches(const pti_skew_request *request, const pti_skew_need *needs) {
    return pti_skew_slabs_bytes(request->chain, needs, INT64_MAX) <= (double)request->arena_bytes;
}

/** Try a number of launches a pass; false if fewer need not be tried. */
static bool try_in_place(const pti_skew_request *request, int n_per_pass, pti_skew_shape *shape) {
    pti_skew_need *needs = pti_skew_needs(request->chain, n_per_pass);
    bool goes_on = needs != NULL && !all_fit_into_caches(request, needs);
    if (goes_on)
        shape->slab = largest_slab_in_arena(request, needs);
    free(needs);
    return goes_on;
}

bool pti_blocking_choose_in_place(const pti_skew_request *request, pti_skew_shape *shape,
                                  pti_text *why) {
    int n_launches = request->chain->n_launches, n_passes = pti_skew_fewest_passes(request);
    *shape = (pti_skew_shape){.n_per_lap = INT64_MAX};
    for (; n_passes <= pti_skew_most_passes(request) && shape->slab == 0; n_passes++) {
        shape->n_per_pass = (int)pti_ceil_div(n_launches, n_passes);
        shape->n_passes = (int)pti_ceil_div(n_launches, shape->n_per_pass);
        if (!try_in_place(request, shape->n_per_pass, shape))
            return false;
    }
    if (shape->slab == 0)
        pti_skew_explain_memory(request, why);
    return shape->slab > 0;
}

/* The schedule. */

/** Place every array as its own image. */
static void place_arrays(pti_skew_builder *builder) {
    for (int a = 0; a < pti_skew_n_arrays(builder); a++) {
        const pti_operand *is = &builder->chain->arrays->operand[a];
        pti_placement placement = {.operand = a,
                                   .layout = pti_memory_layout_of(&is->domain, is->element_bytes)};
        builder->image[a] = pti_skew_image_at(0, pti_builder_place(&builder->builder, &placement));
    }
}

static void add_pass_in_place(pti_skew_builder *builder, int number) {
    if (!pti_skew_builder_pass(builder, number, &builder->pass)) {
        builder->builder.failed = true;
        return;
    }
    int64_t n_slabs = pti_pass_n_slabs(&builder->pass, builder->shape->slab);
    for (int64_t k = 0; k < n_slabs && !builder->builder.failed; k++) {
        for (int l = builder->pass.first; l < builder->pass.end; l++)
            pti_skew_add_launch(builder, l, k);
    }
    pti_pass_end(&builder->pass);
}

pti_schedule *pti_blocking_build_in_place(const pti_chain *chain, const pti_skew_shape *shape) {
    pti_skew_builder builder = {.shape = shape, .chain = chain};
    int64_t most_slabs = 0;
    bool is_made = pti_skew_builder_begin(&builder, &most_slabs);
    builder.image = calloc((size_t)chain->arrays->n_operands + 1, sizeof *builder.image);
    is_made = is_made && builder.image != NULL;
    if (is_made) {
        builder.schedule->in_place = true;
        place_arrays(&builder);
    }
    for (int p = 0; is_made && p < shape->n_passes; p++)
        add_pass_in_place(&builder, p);
    is_made = is_made && !builder.builder.failed;
    pti_skew_builder_end(&builder);
    if (!is_made)
        pti_schedule_free(builder.schedule);
    return is_made ? builder.schedule : NULL;
}
