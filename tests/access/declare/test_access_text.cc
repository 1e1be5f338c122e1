#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/declared.h"
#include "support/random.h"
#include "support/scale.h"

namespace {

/** Small numbers mostly, and now and then one near the ends of 64 bits. */
int64_t draw_number(Random *random) {
    if (random->chance(50))
        return random->number(-1, 1);
    if (random->chance(90))
        return random->number(-9, 9);
    return random->chance(20) ? INT64_MIN : random->number(-INT64_MAX / 2, INT64_MAX / 2);
}

polytile_affine draw_affine(Random *random, int n_indices, int n_parameters) {
    polytile_affine affine = {};
    affine.constant = draw_number(random);
    for (int k = 0; k < n_indices; k++)
        affine.index[k] = random->chance(50) ? draw_number(random) : 0;
    for (int k = 0; k < n_parameters; k++)
        affine.parameter[k] = random->chance(30) ? draw_number(random) : 0;
    return affine;
}

polytile_subscript draw_subscript(Random *random, int n_indices, int n_parameters) {
    polytile_subscript subscript = {};
    subscript.step = random->chance(20) ? random->number(2, INT32_MAX) : 1;
    subscript.from_first = random->chance(20);
    subscript.to_last = random->chance(20);
    if (!subscript.from_first)
        subscript.lo = draw_affine(random, n_indices, n_parameters);
    if (!subscript.to_last)
        subscript.hi = draw_affine(random, n_indices, n_parameters);
    if (random->chance(40)) {
        subscript = {};
        subscript.lo = subscript.hi = draw_affine(random, n_indices, n_parameters);
        subscript.step = 1;
    }
    return subscript;
}

polytile_edge draw_edge(Random *random, polytile_role role) {
    if (random->chance(60))
        return POLYTILE_EDGE_CLIP;
    return role == POLYTILE_IN && random->chance(50) ? POLYTILE_EDGE_CLAMP : POLYTILE_EDGE_WRAP;
}

pti_constraint draw_constraint(Random *random, int n_indices, int n_parameters, int n_dims,
                               int n_exists) {
    const polytile_affine affine = draw_affine(random, n_indices, n_parameters);
    pti_constraint constraint = {};
    constraint.is_equality = random->chance(40);
    constraint.constant = affine.constant;
    std::copy_n(affine.index, POLYTILE_MAX_DIMS, constraint.index);
    std::copy_n(affine.parameter, POLYTILE_MAX_DIMS, constraint.parameter);
    for (int d = 0; d < n_dims; d++)
        constraint.element[d] = draw_number(random);
    for (int k = 0; k < n_exists; k++)
        constraint.exists[k] = 1 + random->number(0, 4);
    return constraint;
}

pti_relation *draw_relation(Random *random, int n_indices, int n_parameters, int n_dims) {
    pti_relation *relation = pti_relation_new();
    const int n_constraints = static_cast<int>(random->number(0, 4));
    relation->n_exists =
        n_constraints > 0 && random->chance(40) ? static_cast<int>(random->number(1, 3)) : 0;
    for (int c = 0; c < n_constraints; c++) {
        const pti_constraint constraint =
            draw_constraint(random, n_indices, n_parameters, n_dims, relation->n_exists);
        pti_relation_add(relation, &constraint);
    }
    return relation;
}

polytile_declaration *random_declaration(polytile_context *ctx, Random *random) {
    static const char *const indices[] = {"i", "j", "k", "e", "e0", "x", "sum", "mod_"};
    static const char *const parameters[] = {"n", "exists", "ex0", "_p", "N", "in", "out", "y"};
    pti_text why = {};
    polytile_declaration *made = nullptr;
    EXPECT_EQ(pti_declaration_new(ctx, "any", &made, &why), POLYTILE_OK);
    const int n_indices = static_cast<int>(random->number(1, POLYTILE_MAX_DIMS));
    const int n_parameters = static_cast<int>(random->number(0, POLYTILE_MAX_DIMS));
    for (int k = 0; k < n_indices; k++)
        pti_declaration_add_index(made, indices[k], &why);
    for (int k = 0; k < n_parameters; k++)
        pti_declaration_add_parameter(made, parameters[k], &why);
    for (int64_t a = random->number(1, 5); a > 0; a--) {
        pti_access access = {};
        const int array = static_cast<int>(random->number(0, 3));
        access.n_dims = array == 3 ? POLYTILE_MAX_DIMS : array + 1;
        access.role = static_cast<polytile_role>(random->number(POLYTILE_IN, POLYTILE_MAX));
        access.fresh = pti_role_reduces(access.role) && array % 2 == 0;
        access.exact = true;
        for (int d = 0; d < access.n_dims; d++)
            access.subscript[d] = draw_subscript(random, n_indices, n_parameters);
        for (int d = 0; d < access.n_dims; d++)
            access.subscript[d].edge = draw_edge(random, access.role);
        if (random->chance(30)) {
            access.relation = draw_relation(random, n_indices, n_parameters, access.n_dims);
            access.exact = false;
            for (int d = 0; d < access.n_dims; d++)
                access.subscript[d] = {{}, {}, 1, true, true, POLYTILE_EDGE_CLIP, NULL, NULL};
        }
        static const char *const arrays[] = {"A", "sum", "in", "e1"};
        EXPECT_EQ(pti_declaration_add_access(made, arrays[array], &access, &why), POLYTILE_OK)
            << why.data;
    }
    pti_text_free(&why);
    return made;
}

TEST(AccessText, ReadsBackAsItWasWritten) {
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    Random random(test_seed("AccessText.ReadsBackAsItWasWritten"));
    for (int64_t round = scaled(20000); round > 0 && !testing::Test::HasFailure(); round--) {
        polytile_declaration *drawn = random_declaration(ctx, &random);
        polytile_declaration *parsed = nullptr;
        const std::string text = written(*drawn);
        ASSERT_EQ(pti_declaration_parse(ctx, text.c_str(), &parsed), POLYTILE_OK)
            << polytile_last_error(ctx);
        EXPECT_EQ(difference(drawn, parsed), "") << text;
        EXPECT_EQ(relation_difference(drawn, parsed), "") << text;
        pti_declaration_free(drawn);
        pti_declaration_free(parsed);
    }
    polytile_context_destroy(ctx);
}

} // namespace
