#include "access/declare/access_text.h"

#include "access/array/type.h"

#include <inttypes.h>
#include <stdio.h>

void pti_point_write(pti_text *text, const int64_t *point, int n_dims) {
    for (int d = 0; d < n_dims; d++)
        pti_text_add(text, "%s%" PRId64, d == 0 ? "[" : ", ", point[d]);
    pti_text_add(text, "]");
}

void pti_domain_write(pti_text *text, const polytile_domain *domain) {
    for (int d = 0; d < domain->n_dims; d++)
        pti_text_add(text, "%s%" PRId64 ":%" PRId64, d == 0 ? "[" : ", ", domain->range[d].lo,
                     domain->range[d].hi);
    pti_text_add(text, "]");
}

/** Write one term of an affine expression; returns whether it wrote anything. The parser reads a
 * number before its sign, so the least number takes two parts. */
static bool write_term(pti_text *text, int64_t coefficient, const char *name, bool first) {
    if (coefficient == 0)
        return false;
    if (coefficient == INT64_MIN)
        return write_term(text, -INT64_MAX, name, first) && write_term(text, -1, name, false);
    if (coefficient < 0)
        pti_text_add(text, "-");
    else if (!first)
        pti_text_add(text, "+");
    int64_t magnitude = coefficient < 0 ? -coefficient : coefficient;
    if (magnitude != 1)
        pti_text_add(text, "%" PRId64 "*", magnitude);
    pti_text_add(text, "%s", name);
    return true;
}

static void write_constant(pti_text *text, int64_t constant, bool first) {
    bool is_least = constant == INT64_MIN;
    pti_text_add(text, first ? "%" PRId64 : "%+" PRId64, is_least ? constant + 1 : constant);
    if (is_least)
        pti_text_add(text, "-1");
}

/** Write the terms and the constant; first: nothing stands before them. */
static void write_terms(pti_text *text, const polytile_declaration *declaration,
                        const polytile_affine *affine, bool first) {
    for (int k = 0; k < declaration->n_indices; k++)
        first &= !write_term(text, affine->index[k], declaration->index_name[k], first);
    for (int p = 0; p < declaration->n_parameters; p++)
        first &= !write_term(text, affine->parameter[p], declaration->parameter_name[p], first);
    if (affine->constant != 0 || first)
        write_constant(text, affine->constant, first);
}

/** Write lo, lo:hi or lo:hi:step. */
static void write_range(pti_text *text, const polytile_declaration *declaration,
                        const polytile_subscript *subscript) {
    if (!subscript->from_first)
        write_terms(text, declaration, &subscript->lo, true);
    if (pti_subscript_is_one_element(subscript) && subscript->step == 1)
        return;
    pti_text_add(text, ":");
    if (!subscript->to_last)
        write_terms(text, declaration, &subscript->hi, true);
    if (subscript->step != 1)
        pti_text_add(text, ":%" PRId64, subscript->step);
}

static void write_elements(pti_text *text, const polytile_declaration *declaration,
                           const pti_access *access);

static void write_end(pti_text *text, const polytile_declaration *declaration,
                      const pti_indirect_end *end) {
    if (end->access >= 0)
        write_elements(text, declaration, &declaration->access[end->access]);
    write_terms(text, declaration, &end->plus, end->access < 0);
}

/** Write lo:hi, or one end where both are equal. */
static void write_indirect(pti_text *text, const polytile_declaration *declaration,
                           const pti_indirect *indirect, int dim) {
    write_end(text, declaration, &indirect->lo[dim]);
    if (pti_indirect_is_gather(indirect, dim))
        return;
    pti_text_add(text, ":");
    write_end(text, declaration, &indirect->hi[dim]);
}

static void write_subscript(pti_text *text, const polytile_declaration *declaration,
                            const polytile_subscript *subscript) {
    if (subscript->edge != POLYTILE_EDGE_CLIP)
        pti_text_add(text, "%s(", pti_edge_word(subscript->edge));
    write_range(text, declaration, subscript);
    if (subscript->edge != POLYTILE_EDGE_CLIP)
        pti_text_add(text, ")");
}

static void write_role(pti_text *text, const pti_access *access) {
    char type[PTI_TYPE_TEXT_BYTES];
    pti_text_add(text, "%s%s ", access->fresh ? "out " : "", pti_role_word(access->role));
    if (access->role == POLYTILE_SCRATCH)
        pti_text_add(text, "%s ", pti_type_format(access->type, type));
}

/** Write an array with subscripts. */
static void write_elements(pti_text *text, const polytile_declaration *declaration,
                           const pti_access *access) {
    pti_text_add(text, "%s[", declaration->array_name[access->array]);
    for (int d = 0; d < access->n_dims; d++) {
        pti_text_add(text, d == 0 ? "" : ", ");
        if (access->indirect != NULL && access->indirect->is_indirect[d])
            write_indirect(text, declaration, access->indirect, d);
        else
            write_subscript(text, declaration, &access->subscript[d]);
    }
    pti_text_add(text, "]");
}

void pti_access_write(pti_text *text, const polytile_declaration *declaration,
                      const pti_access *access) {
    write_role(text, access);
    write_elements(text, declaration, access);
}

static bool any_begins_with(char letter, int n_names, char *const *names) {
    for (int k = 0; k < n_names; k++)
        if (names[k][0] == letter)
            return true;
    return false;
}

/** Return a letter for elements and quantified variables. There are more letters here than indices
 * and parameters, so one of them makes new names. */
static char free_letter(const polytile_declaration *declaration) {
    static const char letters[] = "exyzabcdfghklmpqrnijstuvwo";
    _Static_assert(sizeof letters > POLYTILE_MAX_DIMS + POLYTILE_MAX_PARAMETERS + 1,
                   "a letter must stay free");
    const char *letter = letters;
    while (any_begins_with(*letter, declaration->n_indices, declaration->index_name) ||
           any_begins_with(*letter, declaration->n_parameters, declaration->parameter_name))
        letter++;
    return *letter;
}

/** Write "e0, e1"; kind distinguishes elements and quantified variables. */
static void write_numbered(pti_text *text, char letter, const char *kind, int n) {
    for (int k = 0; k < n; k++)
        pti_text_add(text, "%s%c%s%d", k == 0 ? "" : ", ", letter, kind, k);
}

static void write_indices(pti_text *text, const polytile_declaration *declaration) {
    for (int k = 0; k < declaration->n_indices; k++)
        pti_text_add(text, "%s%s", k == 0 ? "" : ", ", declaration->index_name[k]);
}

/** Find the terms of one side of a relation: the positive ones or, negated, the negative ones. The
 * least number, which has no negative, stays. */
static void take_side(const int64_t *from, int n, bool turned, int64_t *to) {
    for (int k = 0; k < n; k++) {
        bool is_turned = from[k] < 0 && from[k] != INT64_MIN;
        to[k] = is_turned != turned ? 0 : turned ? -from[k] : from[k];
    }
}

static void write_side(pti_text *text, const polytile_declaration *declaration, char letter,
                       const pti_constraint *constraint, bool turned) {
    char name[32];
    bool first = true;
    int64_t element[POLYTILE_MAX_DIMS], exists[POLYTILE_MAX_DIMS];
    polytile_affine rest = {0};
    take_side(constraint->element, POLYTILE_MAX_DIMS, turned, element);
    take_side(constraint->exists, POLYTILE_MAX_DIMS, turned, exists);
    take_side(constraint->index, POLYTILE_MAX_DIMS, turned, rest.index);
    take_side(constraint->parameter, POLYTILE_MAX_PARAMETERS, turned, rest.parameter);
    take_side(&constraint->constant, 1, turned, &rest.constant);
    for (int d = 0; d < POLYTILE_MAX_DIMS; d++) {
        snprintf(name, sizeof name, "%c%d", letter, d);
        first &= !write_term(text, element[d], name, first);
    }
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++) {
        snprintf(name, sizeof name, "%cx%d", letter, k);
        first &= !write_term(text, exists[k], name, first);
    }
    write_terms(text, declaration, &rest, first);
}

/** Write a constraint with few signs: "i = 3*ex0+1" rather than "-3*ex0+i-1 = 0". */
static void write_constraint(pti_text *text, const polytile_declaration *declaration, char letter,
                             const pti_constraint *constraint) {
    write_side(text, declaration, letter, constraint, false);
    pti_text_add(text, constraint->is_equality ? " = " : " >= ");
    write_side(text, declaration, letter, constraint, true);
}

static void write_relation(pti_text *text, const polytile_declaration *declaration,
                           const pti_access *access) {
    const pti_relation *relation = access->relation;
    char letter = free_letter(declaration);
    pti_text_add(text, "{[");
    write_indices(text, declaration);
    pti_text_add(text, "] -> %s[", declaration->array_name[access->array]);
    write_numbered(text, letter, "", access->n_dims);
    pti_text_add(text, "]%s", relation->n_constraints > 0 ? " : " : "");
    if (relation->n_exists > 0) {
        pti_text_add(text, "exists (");
        write_numbered(text, letter, "x", relation->n_exists);
        pti_text_add(text, " : ");
    }
    for (int c = 0; c < relation->n_constraints; c++) {
        pti_text_add(text, c == 0 ? "" : " and ");
        write_constraint(text, declaration, letter, &relation->constraint[c]);
    }
    pti_text_add(text, relation->n_exists > 0 ? ")}" : "}");
}

void pti_access_write_declared(pti_text *text, const polytile_declaration *declaration,
                               const pti_access *access) {
    if (access->relation == NULL) {
        pti_access_write(text, declaration, access);
        return;
    }
    write_role(text, access);
    write_relation(text, declaration, access);
}

void pti_access_write_exactly(pti_text *text, const polytile_declaration *declaration,
                              const pti_access *access) {
    if (access->exact)
        pti_access_write(text, declaration, access);
    else
        pti_access_write_declared(text, declaration, access);
}
