#include "partition/skew_memory.h"

#include "base/checked.h"
#include "partition/layout.h"
#include "partition/residency.h"
#include "partition/skew_pass.h"

#include <stdlib.h>

static void add_pass(const pti_pass *pass, pti_skew_need *needs) {
    for (int a = 0; a < pass->chain->arrays->n_operands; a++) {
        const pti_band *band = &pass->band[a];
        if (!band->passes)
            continue;
        const polytile_range *rows = &band->hull.range[pass->chain->axis[a]];
        needs[a].band_rows = pti_max(needs[a].band_rows, band->hi - band->lo);
        needs[a].all_rows = pti_max(needs[a].all_rows, rows->hi - rows->lo + 1);
        needs[a].row_bytes = pti_max(needs[a].row_bytes, band->row_bytes);
    }
}

static void add_whole(const pti_chain *chain, pti_skew_need *needs) {
    for (int a = 0; a < chain->arrays->n_operands; a++) {
        const pti_operand *of = &chain->arrays->operand[a];
        if (chain->axis[a] == PTI_AXIS_WHOLE)
            needs[a].whole_bytes = pti_layout_of(&of->domain, of->element_bytes).size_bytes;
    }
}

pti_skew_need *pti_skew_needs(const pti_chain *chain, int n_per_pass) {
    pti_skew_need *needs = calloc((size_t)chain->arrays->n_operands + 1, sizeof *needs);
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

int64_t pti_skew_image_bytes(const pti_skew_need *need, int64_t slab, int64_t n_per_lap) {
    int64_t rows, bytes;
    if (need->whole_bytes > 0)
        return pti_resident_padded(need->whole_bytes);
    if (pti_mul_overflows(slab, n_per_lap, &rows) ||
        pti_add_overflows(rows, need->band_rows, &rows))
        rows = INT64_MAX;
    rows = pti_min(rows, need->all_rows);
    return pti_mul_overflows(rows, need->row_bytes, &bytes) ? INT64_MAX
                                                            : pti_resident_padded(bytes);
}

int64_t pti_skew_bytes(const pti_skew_need *needs, int n_arrays, int64_t slab, int64_t n_per_lap) {
    int64_t sum = 0;
    for (int a = 0; a < n_arrays; a++) {
        int n_images = needs[a].whole_bytes > 0 ? 1 : 2;
        int64_t bytes = pti_skew_image_bytes(&needs[a], slab, n_per_lap);
        for (int k = 0; k < n_images; k++) {
            if (pti_add_overflows(sum, bytes, &sum))
                return INT64_MAX;
        }
    }
    return sum;
}
