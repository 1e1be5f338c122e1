#include "partition/skew/memory.h"

#include "access/set/memory_layout.h"
#include "base/checked.h"
#include "partition/memory/residency.h"
#include "partition/skew/pass.h"
#include <polytile/size.h>

#include <stdlib.h>

static void add_band(const pti_pass *pass, int array, pti_skew_need *need) {
    const pti_band *band = &pass->band[array];
    if (!band->passes)
        return;
    const polytile_range *rows = &band->hull.range[pass->chain->axis[array]];
    need->band_rows = pti_max(need->band_rows, band->hi - band->lo);
    need->all_rows = pti_max(need->all_rows, rows->hi - rows->lo + 1);
    need->row_bytes = pti_max(need->row_bytes, band->row_bytes);
}

/** An image aside is as large as that of its array. */
static void add_pass(const pti_pass *pass, pti_skew_need *needs) {
    const int n_arrays = pass->chain->arrays->n_operands;
    int aside[PTI_TILE_MOST_STORED];
    const int n_aside = pti_tiled_list_aside(pass->chain, pass->unit, pass->n_units, aside);
    for (int a = 0; a < n_arrays; a++)
        add_band(pass, a, &needs[a]);
    for (int k = 0; k < n_aside; k++)
        add_band(pass, aside[k], &needs[n_arrays + k]);
}

int pti_skew_n_images(const pti_chain *chain) {
    int n_aside = 0;
    for (int r = 0; chain->tiled != NULL && r < chain->tiled->n_sequences; r++)
        n_aside += pti_tiled_n_aside(&chain->tiled->sequence[r]);
    return chain->arrays->n_operands + n_aside;
}

static void add_whole(const pti_chain *chain, pti_skew_need *needs) {
    for (int a = 0; a < chain->arrays->n_operands; a++) {
        const pti_operand *operand = &chain->arrays->operand[a];
        if (chain->axis[a] == PTI_AXIS_WHOLE)
            needs[a].whole_bytes =
                pti_memory_layout_of(&operand->domain, operand->element_bytes).size_bytes;
    }
}

pti_skew_need *pti_skew_needs(const pti_chain *chain, int n_per_pass) {
    pti_skew_need *needs = calloc((size_t)pti_skew_n_images(chain) + 1, sizeof *needs);
    bool is_complete = needs != NULL;
    for (int first = 0; first < chain->n_launches && is_complete; first += n_per_pass) {
        pti_pass pass;
        is_complete = pti_pass_begin(
            chain, first, (int)pti_min(chain->n_launches, (int64_t)first + n_per_pass), &pass);
        if (is_complete)
            add_pass(&pass, needs);
        pti_pass_end(&pass);
    }
    if (!is_complete) {
        free(needs);
        return NULL;
    }
    add_whole(chain, needs);
    return needs;
}

void pti_skew_note_still(const pti_chain *chain, const pti_skew_sets *sets, pti_skew_need *needs) {
    for (int a = 0; a < chain->arrays->n_operands && chain->tiled != NULL; a++) {
        needs[a].none_goes = needs[a].none_comes = true;
        for (int p = 0; p < sets->n_passes; p++) {
            const pti_pass_sets *pass_sets = pti_skew_sets_of(sets, p, a);
            needs[a].none_goes = needs[a].none_goes && pass_sets->live.n_boxes == 0;
            needs[a].none_comes = needs[a].none_comes && pass_sets->exposed.n_boxes == 0 &&
                                  pass_sets->filled.n_boxes == 0;
        }
    }
}

int64_t pti_skew_image_rows(int64_t slab, int64_t n_per_lap, int64_t band_rows, int n_beside) {
    int64_t n_slabs, rows;
    bool overflows = pti_add_overflows(n_per_lap, n_beside, &n_slabs) ||
                     pti_mul_overflows(slab, n_slabs, &rows) ||
                     pti_add_overflows(rows, band_rows, &rows);
    return overflows ? INT64_MAX : rows;
}

/** Return the bytes of n_rows rows, padded; at most those of all rows. */
static int64_t rows_bytes(const pti_skew_need *need, int64_t n_rows) {
    int64_t bytes;
    n_rows = pti_min(n_rows, need->all_rows);
    return pti_mul_overflows(n_rows, need->row_bytes, &bytes) ? INT64_MAX
                                                              : pti_resident_padded(bytes);
}

int64_t pti_skew_image_bytes(const pti_skew_need *need, int64_t slab, int64_t n_per_lap) {
    return need->whole_bytes > 0
               ? pti_resident_padded(need->whole_bytes)
               : rows_bytes(need, pti_skew_image_rows(
                                      slab, n_per_lap, need->band_rows,
                                      pti_skew_n_beside(need->none_goes, need->none_comes)));
}

/** Return the bytes of an array that one slab touches. */
static int64_t slab_bytes(const pti_skew_need *need, int64_t slab) {
    if (need->whole_bytes > 0)
        return pti_resident_padded(need->whole_bytes);
    return rows_bytes(need, pti_add_saturated(slab, need->band_rows));
}

double pti_skew_slabs_bytes(const pti_chain *chain, const pti_skew_need *needs, int64_t slab) {
    double sum = 0;
    for (int a = 0; a < chain->arrays->n_operands; a++)
        sum += (double)slab_bytes(&needs[a], slab);
    return sum;
}

int64_t pti_skew_bytes(const pti_skew_need *needs, int n_images, int64_t slab, int64_t n_per_lap) {
    int64_t sum = 0;
    for (int a = 0; a < n_images; a++) {
        if (pti_add_overflows(sum, pti_skew_image_bytes(&needs[a], slab, n_per_lap), &sum))
            return INT64_MAX;
    }
    return sum;
}

void pti_skew_explain_memory(const pti_skew_request *request, pti_text *why) {
    char size[32];
    pti_text_add(why,
                 "%s does not hold the rows that two launches of %s need at the same time; each "
                 "launch goes through the arrays by itself",
                 polytile_size_format(request->arena_bytes, size),
                 request->chain->launch[0].call.instance->kernel_name);
}
