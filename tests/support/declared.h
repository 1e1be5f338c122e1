#ifndef POLYTILE_TESTS_SUPPORT_DECLARED_H
#define POLYTILE_TESTS_SUPPORT_DECLARED_H

#include <algorithm>
#include <string>
#include <vector>

#include <polytile/polytile.h>

extern "C" {
#include "access/declare/access_text.h"
#include "access/declare/parse.h"
}

/* Declarations as data, parsed from text or built, and their comparison field by field. */

/** A declaration parsed from text, with a context of its own; both are freed here. */
class Parsed {
  public:
    explicit Parsed(const std::string &text) {
        polytile_context_create(&ctx_);
        status_ = pti_declaration_parse(ctx_, text.c_str(), &declaration_);
    }
    ~Parsed() {
        pti_declaration_free(declaration_);
        polytile_context_destroy(ctx_);
    }
    Parsed(const Parsed &) = delete;
    Parsed &operator=(const Parsed &) = delete;

    polytile_status status() const { return status_; }
    std::string error() const { return polytile_last_error(ctx_); }
    /** NULL unless status() is POLYTILE_OK. */
    const polytile_declaration *get() const { return declaration_; }

  private:
    polytile_context *ctx_ = nullptr;
    polytile_declaration *declaration_ = nullptr;
    polytile_status status_;
};

/** The list of parameters with types, "(f32 a, i64 n)", or "" without any. */
inline std::string typed_parameters(const polytile_declaration &declaration) {
    static const char *const names[] = {
#define TYPE_NAME(name, text, bytes) text,
        POLYTILE_TYPES(TYPE_NAME)
#undef TYPE_NAME
    };
    std::string text;
    for (int p = 0; p < declaration.n_parameters; p++)
        if (declaration.is_typed[p])
            text += (text.empty() ? "(" : ", ") +
                    std::string(names[declaration.parameter_type[p]]) + " " +
                    declaration.parameter_name[p];
    return text.empty() ? text : text + ")";
}

/** A whole declaration of accesses without relations, as it could be declared. */
inline std::string text_of(const polytile_declaration *declaration) {
    std::string text = std::string(declaration->name) + "[";
    for (int k = 0; k < declaration->n_indices; k++)
        text += (k ? ", " : "") + std::string(declaration->index_name[k]);
    text += "]" + typed_parameters(*declaration);
    for (int a = 0; a < declaration->n_accesses; a++) {
        pti_text access = {};
        pti_access_write(&access, declaration, &declaration->access[a]);
        text += (a ? "; " : ": ") + std::string(access.data);
        pti_text_free(&access);
    }
    return text;
}

/** The coefficient of a parameter by its name; 0 for one that the declaration does not have. */
inline int64_t coefficient_of(const polytile_declaration *declaration,
                              const polytile_affine &affine, const char *parameter) {
    const int p = pti_find_name(parameter, declaration->n_parameters, declaration->parameter_name);
    return p < 0 ? 0 : affine.parameter[p];
}

/** Whether two affine expressions are the same, whatever the order of the parameters. */
inline bool same_affine(const polytile_declaration *a, const polytile_affine &x,
                        const polytile_declaration *b, const polytile_affine &y) {
    bool same = x.constant == y.constant;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        same = same && x.index[k] == y.index[k];
    for (const polytile_declaration *of : {a, b})
        for (int p = 0; p < of->n_parameters; p++)
            same = same && coefficient_of(a, x, of->parameter_name[p]) ==
                               coefficient_of(b, y, of->parameter_name[p]);
    return same;
}

inline bool same_subscript(const polytile_declaration *a, const polytile_subscript &x,
                           const polytile_declaration *b, const polytile_subscript &y) {
    return x.step == y.step && x.from_first == y.from_first && x.to_last == y.to_last &&
           x.edge == y.edge && same_affine(a, x.lo, b, y.lo) && same_affine(a, x.hi, b, y.hi);
}

/** Whether two accesses declare the same section in the same role of the same array. */
inline bool same_access(const polytile_declaration *a, const pti_access &x,
                        const polytile_declaration *b, const pti_access &y) {
    bool same = x.array == y.array && x.role == y.role && x.fresh == y.fresh &&
                x.exact == y.exact && x.n_dims == y.n_dims;
    for (int d = 0; same && d < x.n_dims; d++)
        same = same_subscript(a, x.subscript[d], b, y.subscript[d]);
    return same && (x.relation == nullptr) == (y.relation == nullptr);
}

/** Where two declarations first differ, "" if nowhere; unused parameters without a type do not
 * count. */
inline std::string difference(const polytile_declaration *a, const polytile_declaration *b) {
    if (std::string(a->name) != b->name)
        return "name";
    if (a->n_indices != b->n_indices)
        return "number of indices";
    for (int k = 0; k < a->n_indices; k++)
        if (std::string(a->index_name[k]) != b->index_name[k])
            return "index " + std::to_string(k);
    if (typed_parameters(*a) != typed_parameters(*b))
        return "parameters";
    if (a->n_arrays != b->n_arrays)
        return "number of arrays";
    for (int k = 0; k < a->n_arrays; k++)
        if (std::string(a->array_name[k]) != b->array_name[k] ||
            a->array_n_dims[k] != b->array_n_dims[k])
            return "array " + std::to_string(k);
    if (a->n_accesses != b->n_accesses)
        return "number of accesses";
    for (int k = 0; k < a->n_accesses; k++)
        if (!same_access(a, a->access[k], b, b->access[k]))
            return "access " + std::to_string(k);
    return "";
}

/** A whole declaration, with what was declared in braces as relations. */
inline std::string written(const polytile_declaration &declaration) {
    pti_text text = {};
    pti_text_add(&text, "%s[", declaration.name);
    for (int k = 0; k < declaration.n_indices; k++)
        pti_text_add(&text, "%s%s", k == 0 ? "" : ", ", declaration.index_name[k]);
    pti_text_add(&text, "]%s", typed_parameters(declaration).c_str());
    for (int a = 0; a < declaration.n_accesses; a++) {
        pti_text_add(&text, a == 0 ? ": " : "; ");
        pti_access_write_declared(&text, &declaration, &declaration.access[a]);
    }
    const std::string copy = text.data;
    pti_text_free(&text);
    return copy;
}

inline bool same_constraint(const polytile_declaration *a, const pti_constraint &x,
                            const polytile_declaration *b, const pti_constraint &y) {
    polytile_affine left = {}, right = {};
    left.constant = x.constant;
    right.constant = y.constant;
    std::copy_n(x.index, POLYTILE_MAX_DIMS, left.index);
    std::copy_n(y.index, POLYTILE_MAX_DIMS, right.index);
    std::copy_n(x.parameter, POLYTILE_MAX_PARAMETERS, left.parameter);
    std::copy_n(y.parameter, POLYTILE_MAX_PARAMETERS, right.parameter);
    return x.is_equality == y.is_equality && same_affine(a, left, b, right) &&
           std::equal(x.element, x.element + POLYTILE_MAX_DIMS, y.element) &&
           std::equal(x.exists, x.exists + POLYTILE_MAX_DIMS, y.exists);
}

/** Where the relations of two declarations first differ, whatever the order of the parameters. */
inline std::string relation_difference(const polytile_declaration *a,
                                       const polytile_declaration *b) {
    for (int k = 0; k < a->n_accesses; k++) {
        const pti_relation *x = a->access[k].relation, *y = b->access[k].relation;
        const std::string here = "access " + std::to_string(k);
        if (x == nullptr || y == nullptr) {
            if (x != y)
                return here;
            continue;
        }
        if (x->n_exists != y->n_exists || x->n_constraints != y->n_constraints)
            return here + ": size";
        for (int c = 0; c < x->n_constraints; c++)
            if (!same_constraint(a, x->constraint[c], b, y->constraint[c]))
                return here + ": constraint " + std::to_string(c);
    }
    return "";
}

#endif
