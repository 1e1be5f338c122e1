#include "access/access_text.h"

#include <inttypes.h>

/** One term of an affine expression; returns whether it wrote anything. */
static bool write_term(pti_text *text, int64_t coefficient, const char *name, bool first) {
    if (coefficient == 0)
        return false;
    if (coefficient < 0)
        pti_text_add(text, "-");
    else if (!first)
        pti_text_add(text, "+");
    uint64_t magnitude = coefficient < 0 ? 0 - (uint64_t)coefficient : (uint64_t)coefficient;
    if (magnitude != 1)
        pti_text_add(text, "%" PRIu64 "*", magnitude);
    pti_text_add(text, "%s", name);
    return true;
}

static void write_affine(pti_text *text, const polytile_declaration *declaration,
                         const polytile_affine *affine) {
    bool first = true;
    for (int k = 0; k < declaration->n_indices; k++)
        first &= !write_term(text, affine->index[k], declaration->index_name[k], first);
    for (int p = 0; p < declaration->n_parameters; p++)
        first &= !write_term(text, affine->parameter[p], declaration->parameter_name[p], first);
    if (affine->constant != 0 || first)
        pti_text_add(text, first ? "%" PRId64 : "%+" PRId64, affine->constant);
}

static bool is_one_element(const polytile_subscript *subscript) {
    bool same = !subscript->from_first && !subscript->to_last &&
                subscript->lo.constant == subscript->hi.constant;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        same &= subscript->lo.index[k] == subscript->hi.index[k] &&
                subscript->lo.parameter[k] == subscript->hi.parameter[k];
    return same;
}

static void write_subscript(pti_text *text, const polytile_declaration *declaration,
                            const polytile_subscript *subscript) {
    if (!subscript->from_first)
        write_affine(text, declaration, &subscript->lo);
    if (is_one_element(subscript))
        return;
    pti_text_add(text, ":");
    if (!subscript->to_last)
        write_affine(text, declaration, &subscript->hi);
    if (subscript->step != 1)
        pti_text_add(text, ":%" PRId64, subscript->step);
}

void pti_access_write(pti_text *text, const polytile_declaration *declaration,
                      const pti_access *access) {
    pti_text_add(text, "%s%s %s[", access->fresh ? "out " : "", pti_role_word(access->role),
                 declaration->array_name[access->array]);
    for (int d = 0; d < access->n_dims; d++) {
        pti_text_add(text, d == 0 ? "" : ", ");
        write_subscript(text, declaration, &access->subscript[d]);
    }
    pti_text_add(text, "]");
}
