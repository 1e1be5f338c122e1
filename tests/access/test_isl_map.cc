#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <isl/map.h>
#include <polytile/isl.h>

#include "support/braces.h"
#include "support/launch.h"
#include "support/random.h"
#include "support/scale.h"

namespace {

class IslMap : public ::testing::Test {
  protected:
    void SetUp() override {
        isl_ = isl_ctx_alloc();
        ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
    }

    void TearDown() override {
        polytile_context_destroy(ctx_);
        isl_ctx_free(isl_);
    }

    polytile_declaration *declare(std::vector<const char *> indices,
                                  std::vector<const char *> parameters = {}) {
        polytile_declaration *declaration = nullptr;
        EXPECT_EQ(polytile_declaration_create(ctx_, "k", static_cast<int>(indices.size()),
                                              indices.data(), static_cast<int>(parameters.size()),
                                              parameters.data(), &declaration),
                  POLYTILE_OK);
        return declaration;
    }

    polytile_status add(polytile_declaration *declaration, const char *map,
                        polytile_role role = POLYTILE_IN, bool fresh = false) {
        isl_map *made = isl_map_read_from_str(isl_, map);
        const polytile_status status =
            polytile_declaration_add_isl_map(declaration, role, fresh, "A", made);
        isl_map_free(made);
        return status;
    }

    /** All accesses of a kernel in one map without the tuples' names. */
    isl_map *united(const polytile_kernel *kernel) {
        isl_map *all = nullptr;
        for (int a = 0; a < polytile_kernel_get_n_accesses(kernel); a++) {
            isl_map *one = nullptr;
            EXPECT_EQ(polytile_kernel_copy_isl_map(kernel, a, isl_, &one), POLYTILE_OK);
            one = isl_map_reset_tuple_id(isl_map_reset_tuple_id(one, isl_dim_in), isl_dim_out);
            all = all == nullptr ? one : isl_map_union(all, one);
        }
        return all;
    }

    isl_ctx *isl_ = nullptr;
    polytile_context *ctx_ = nullptr;
};

TEST_F(IslMap, WhatGoesInComesOut) {
    const char *const maps[] = {
        "{ [i, j] -> [i, j] }",
        "{ [i, j] -> [a, b] : a = i and 0 <= b <= j }",
        "{ [i, j] -> [a, b] : i - 1 <= a <= i + 1 and j - 1 <= b <= j + 1; [i, j] -> [0, j] }",
        "[n, m] -> { [i, j] -> [n - i, b] : 0 <= b < m }",
        "[m] -> { [i, j] -> [a, j] : a mod 3 = 1 and a > m + i }",
        "{ [i, j] -> [a, b] : exists (e : a = 2e + i and b <= e <= 7 + j) }",
        "{ [i, j] -> [floor((i + j) / 3), i mod 5] }",
        "{ [i, j] -> [a, b] : exists (e, f : 3e + 5f = a - i and 0 <= e < f < 9 and b = j) }",
    };
    for (const char *text : maps) {
        polytile_declaration *declaration = declare({"i", "j"}, {"m", "n"});
        ASSERT_EQ(add(declaration, text), POLYTILE_OK) << polytile_last_error(ctx_);
        polytile_kernel *kernel = nullptr;
        ASSERT_EQ(polytile_kernel_create_from(declaration, nullptr, &kernel), POLYTILE_OK);
        isl_map *in = isl_map_read_from_str(isl_, text), *out = united(kernel);
        EXPECT_EQ(isl_map_is_equal(in, out), isl_bool_true) << text;
        isl_map_free(in);
        isl_map_free(out);
    }
}

TEST_F(IslMap, AMapOfAnAccessHasItsNames) {
    polytile_kernel *kernel = nullptr;
    ASSERT_EQ(
        polytile_kernel_create(ctx_, "odd[i]: in x[1:n-1:2], M[i, :]; out y[i]", nullptr, &kernel),
        POLYTILE_OK);
    ASSERT_EQ(polytile_kernel_get_n_accesses(kernel), 3);
    const char *const expected[] = {
        "[n] -> { odd[i] -> x[a] : 1 <= a < n and a mod 2 = 1 }",
        "[n] -> { odd[i] -> M[i, b] }",
        "[n] -> { odd[i] -> y[i] }",
    };
    for (int a = 0; a < 3; a++) {
        isl_map *map = nullptr, *same = isl_map_read_from_str(isl_, expected[a]);
        ASSERT_EQ(polytile_kernel_copy_isl_map(kernel, a, isl_, &map), POLYTILE_OK);
        EXPECT_EQ(isl_map_is_equal(map, same), isl_bool_true) << expected[a];
        EXPECT_EQ(polytile_kernel_get_access_array(kernel, a), a);
        isl_map_free(map);
        isl_map_free(same);
    }
    EXPECT_EQ(polytile_kernel_get_access_array(kernel, 3), -1);
}

TEST_F(IslMap, ACopyOutlivesTheKernel) {
    polytile_kernel *kernel = nullptr;
    isl_map *map = nullptr;
    ASSERT_EQ(polytile_kernel_create(ctx_, "k[i]: in x[i]", nullptr, &kernel), POLYTILE_OK);
    ASSERT_EQ(polytile_kernel_copy_isl_map(kernel, 0, isl_, &map), POLYTILE_OK);
    polytile_kernel_destroy(kernel);
    EXPECT_EQ(isl_map_is_bijective(map), isl_bool_true);
    isl_map_free(map);
}

TEST_F(IslMap, WrongMapsAreRefusedAndTheDeclarationStaysAsItWas) {
    struct Case {
        const char *map;
        polytile_role role;
        bool fresh;
        polytile_status status;
        const char *says;
    };
    const Case cases[] = {
        {"{ [i] -> [i] }", POLYTILE_IN, false, POLYTILE_DECLARATION, "1 input dimension,"},
        {"{ [i, j] -> [] }", POLYTILE_IN, false, POLYTILE_DECLARATION, "0 output dimensions"},
        {"{ [i, j] -> [0, 0, 0, 0, 0, 0, 0, 0, 0] }", POLYTILE_IN, false, POLYTILE_DECLARATION,
         "9 output dimensions"},
        {"[p] -> { [i, j] -> [p] }", POLYTILE_IN, false, POLYTILE_DECLARATION, "a parameter p"},
        {"{ [i, j] -> [a] : 1 = 0 }", POLYTILE_IN, false, POLYTILE_DECLARATION, "empty"},
        {"{ [i, j] -> [i] }", POLYTILE_IN, true, POLYTILE_DECLARATION, "identity"},
        {"{ [i, j] -> [9223372036854775809i] }", POLYTILE_IN, false, POLYTILE_OVERFLOW, "64 bits"},
        {"{ [i, j] -> [i mod 2 + i mod 3 + i mod 5 + i mod 7 + j mod 2 + j mod 3 + j mod 5 + j mod "
         "7 + (i + j) mod 11] }",
         POLYTILE_IN, false, POLYTILE_UNSUPPORTED, "more than 8"},
    };
    for (const Case &c : cases) {
        polytile_declaration *declaration = declare({"i", "j"}, {"n"});
        EXPECT_EQ(add(declaration, c.map, c.role, c.fresh), c.status) << c.map;
        EXPECT_NE(std::string(polytile_last_error(ctx_)).find(c.says), std::string::npos)
            << polytile_last_error(ctx_);
        EXPECT_EQ(std::string(polytile_last_error(ctx_)).rfind("k: A: ", 0), 0u);
        ASSERT_EQ(add(declaration, "{ [i, j] -> [i, j, 0] }"), POLYTILE_OK)
            << polytile_last_error(ctx_);
    }
    polytile_declaration *declaration = declare({"i"});
    EXPECT_EQ(polytile_declaration_add_isl_map(declaration, POLYTILE_IN, false, "A", nullptr),
              POLYTILE_INVALID);
    EXPECT_EQ(polytile_declaration_add_isl_map(nullptr, POLYTILE_IN, false, "A", nullptr),
              POLYTILE_INVALID);
    polytile_kernel *kernel = nullptr;
    isl_map *map = nullptr;
    ASSERT_EQ(polytile_kernel_create(ctx_, "k[i]: in x[i]", nullptr, &kernel), POLYTILE_OK);
    EXPECT_EQ(polytile_kernel_copy_isl_map(kernel, 1, isl_, &map), POLYTILE_INVALID);
    EXPECT_STREQ(polytile_last_error(ctx_), "k: there is no access 1; it has 0 to 0");
    EXPECT_EQ(polytile_kernel_copy_isl_map(kernel, 0, nullptr, &map), POLYTILE_INVALID);
    EXPECT_EQ(polytile_kernel_copy_isl_map(kernel, 0, isl_, nullptr), POLYTILE_INVALID);
}

/* A random relation in braces through isl: parsed here, copied out, put in again, copied out. */
TEST_F(IslMap, MapsUseIntegerParametersByName) {
    polytile_declaration *declaration = declare({"i"}, {"n"});
    ASSERT_EQ(polytile_declaration_add_parameter(declaration, POLYTILE_F32, "a"), POLYTILE_OK);
    ASSERT_EQ(polytile_declaration_add_parameter(declaration, POLYTILE_U8, "c"), POLYTILE_OK);
    EXPECT_EQ(add(declaration, "[a] -> { [i] -> [i] }"), POLYTILE_OK) << polytile_last_error(ctx_);
    EXPECT_EQ(add(declaration, "[c] -> { [i] -> [i + c] }"), POLYTILE_OK);
    const bool in_subscripts[] = {false, false, true};
    for (int p = 0; p < 3; p++)
        EXPECT_EQ(declaration->is_in_subscripts[p], in_subscripts[p]) << p;
    EXPECT_EQ(add(declaration, "[n, a] -> { [i] -> [n]; [i] -> [i + a] }"), POLYTILE_DECLARATION);
    EXPECT_NE(std::string(polytile_last_error(ctx_)).find("a is f32: subscripts take integers"),
              std::string::npos)
        << polytile_last_error(ctx_);
    EXPECT_EQ(declaration->n_accesses, 2);
    for (int p = 0; p < 3; p++)
        EXPECT_EQ(declaration->is_in_subscripts[p], in_subscripts[p]) << p;
}

TEST_F(IslMap, RandomRelationsSurviveTheWayThroughIsl) {
    Random random(test_seed("IslMap.RandomRelationsSurviveTheWayThroughIsl"));
    for (int64_t round = scaled(1000); round > 0 && !HasFailure(); round--) {
        const RandomBraces braces(&random, 2, 2);
        const std::string text = "k[i, j]: in " + braces.text();
        polytile_kernel *first = nullptr, *second = nullptr;
        ASSERT_EQ(polytile_kernel_create(ctx_, text.c_str(), nullptr, &first), POLYTILE_OK);
        isl_map *map = united(first);
        if (isl_map_is_empty(map) == isl_bool_false) {
            polytile_declaration *declaration = declare({"i", "j"});
            ASSERT_EQ(polytile_declaration_add_isl_map(declaration, POLYTILE_IN, false, "A", map),
                      POLYTILE_OK)
                << polytile_last_error(ctx_) << text;
            ASSERT_EQ(polytile_kernel_create_from(declaration, nullptr, &second), POLYTILE_OK);
            isl_map *again = united(second);
            EXPECT_EQ(isl_map_is_equal(map, again), isl_bool_true) << text;
            isl_map_free(again);
        }
        isl_map_free(map);
        polytile_kernel_destroy(first);
        polytile_kernel_destroy(second);
    }
}

} // namespace
