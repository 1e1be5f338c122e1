#include "access/set/box_text.h"

#include <inttypes.h>

static void write_range(pti_text *text, polytile_range range) {
    pti_text_add(text, "%" PRId64, range.lo);
    if (range.hi != range.lo)
        pti_text_add(text, ":%" PRId64, range.hi);
    if (range.hi != range.lo && range.step != 1)
        pti_text_add(text, ":%" PRId64, range.step);
}

void pti_box_write(pti_text *text, const polytile_domain *box) {
    pti_text_add(text, "[");
    for (int d = 0; d < box->n_dims && d < POLYTILE_MAX_DIMS; d++) {
        pti_text_add(text, d == 0 ? "" : ", ");
        write_range(text, box->range[d]);
    }
    pti_text_add(text, "]");
}
