#include "support/list.h"

#include <gtest/gtest.h>

#include <polytile/polytile.h>

#include <cstdint>
#include <string>
#include <vector>

/* What the nouns of declarations, arrays and kernels refuse, and that it is said on the context. */

namespace {

class Arguments : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        ASSERT_EQ(polytile_array_describe(ctx, "x", POLYTILE_F32, &nine, &x), POLYTILE_OK);
    }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_kernel *kernel(const char *declaration) {
        polytile_kernel *made = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx, declaration, nullptr, &made), POLYTILE_OK)
            << polytile_last_error(ctx);
        return made;
    }

    void expect_says(polytile_status status, polytile_status wanted, const char *text) {
        EXPECT_EQ(status, wanted) << text;
        EXPECT_NE(std::string(polytile_last_error(ctx)).find(text), std::string::npos)
            << polytile_last_error(ctx) << "\n"
            << text;
    }

    polytile_context *ctx = nullptr;
    polytile_array *x = nullptr;
    const polytile_domain nine = {1, {{0, 8, 1}}};
};

TEST_F(Arguments, ParametersAreThoseOfTheDeclarationOnceEach) {
    const polytile_kernel *k = kernel("k[i]: inout x[i*1+m-n]");
    polytile_array *const arrays[] = {x};
    const struct {
        int n;
        std::vector<polytile_parameter> list;
        polytile_status status;
        const char *says;
    } rows[] = {
        {2, {POLYTILE_PARAMETER("m", 2), POLYTILE_PARAMETER("n", 2)}, POLYTILE_OK, ""},
        {2, {POLYTILE_PARAMETER("n", 5), POLYTILE_PARAMETER("m", 5)}, POLYTILE_OK, ""},
        {1,
         {POLYTILE_PARAMETER("m", 2)},
         POLYTILE_DECLARATION,
         "n is no index, so it is a parameter, and has no"},
        {2,
         {POLYTILE_PARAMETER("m", 2), POLYTILE_PARAMETER("o", 2)},
         POLYTILE_INVALID,
         "there is no parameter o"},
        {2,
         {POLYTILE_PARAMETER("m", 2), POLYTILE_PARAMETER("m", 3)},
         POLYTILE_INVALID,
         "parameter m is given twice, 2 and 3"},
        {1, {POLYTILE_PARAMETER(nullptr, 2)}, POLYTILE_INVALID, "a parameter's name is NULL"},
        {2, {}, POLYTILE_INVALID, "2 parameters, but their list is NULL"},
        {-1, {}, POLYTILE_INVALID, "-1 parameters"},
        {2,
         {POLYTILE_PARAMETER("m", INT64_MAX), POLYTILE_PARAMETER("n", INT64_MIN)},
         POLYTILE_OVERFLOW,
         "leaves -2^61:2^61"},
        {2,
         {POLYTILE_PARAMETER("m", INT64_C(1) << 61), POLYTILE_PARAMETER("n", 0)},
         POLYTILE_OVERFLOW,
         "leaves -2^61:2^61"},
    };
    for (const auto &row : rows) {
        polytile_launch_options options = {};
        options.n_parameters = row.n;
        options.parameters = row.list.empty() ? nullptr : row.list.data();
        expect_says(polytile_check(k, &nine, LIST(arrays), &options), row.status, row.says);
    }
}

TEST_F(Arguments, KernelsNameTheirParameters) {
    const polytile_kernel *k = kernel("k[i]: inout x[i*1+m-n]");
    ASSERT_EQ(polytile_kernel_get_n_parameters(k), 2);
    EXPECT_STREQ(polytile_kernel_get_parameter_name(k, 0), "m");
    EXPECT_STREQ(polytile_kernel_get_parameter_name(k, 1), "n");
    EXPECT_EQ(polytile_kernel_get_parameter_name(k, 2), nullptr);
    EXPECT_EQ(polytile_kernel_get_parameter_name(k, -1), nullptr);
    EXPECT_EQ(polytile_kernel_get_n_parameters(nullptr), 0);
}

TEST_F(Arguments, ParametersCountInBracesToo) {
    const polytile_kernel *k =
        kernel("k[i]: in {[i] -> y[a] : a = i + m and i mod 2 = 0}; out x[i]");
    polytile_array *y = nullptr;
    ASSERT_EQ(polytile_array_describe(ctx, "y", POLYTILE_F32, &nine, &y), POLYTILE_OK);
    polytile_array *const arrays[] = {y, x};
    polytile_parameter m = POLYTILE_PARAMETER("m", 0);
    polytile_launch_options options = {};
    options.n_parameters = 1;
    options.parameters = &m;
    EXPECT_EQ(polytile_check(k, &nine, LIST(arrays), &options), POLYTILE_OK)
        << polytile_last_error(ctx);
    m.value = 1;
    expect_says(polytile_check(k, &nine, LIST(arrays), &options), POLYTILE_DECLARATION,
                "thread [8] touches y[9]");
}

TEST_F(Arguments, LaunchesHaveADomainAndArrays) {
    const polytile_kernel *k = kernel("k[i]: inout x[i]");
    polytile_array *const none[] = {nullptr};
    polytile_array *const arrays[] = {x};
    expect_says(polytile_check(k, nullptr, LIST(arrays), nullptr), POLYTILE_INVALID,
                "domain is NULL");
    expect_says(polytile_check(k, &nine, 0, nullptr, nullptr), POLYTILE_INVALID, "arrays is NULL");
    expect_says(polytile_check(k, &nine, 2, arrays, nullptr), POLYTILE_INVALID,
                "k: 2 arrays are given and the kernel has 1, from x to x; give one of each");
    expect_says(polytile_check(k, &nine, 0, arrays, nullptr), POLYTILE_INVALID,
                "k: 0 arrays are given and the kernel has 1");
    expect_says(polytile_check(k, &nine, LIST(none), nullptr), POLYTILE_INVALID,
                "(number 0) is NULL");
    EXPECT_EQ(polytile_check(nullptr, &nine, LIST(arrays), nullptr), POLYTILE_INVALID);
    const polytile_domain far = {1, {{INT64_C(1) << 61, (INT64_C(1) << 61) + 1, 1}}};
    expect_says(polytile_check(k, &far, LIST(arrays), nullptr), POLYTILE_OVERFLOW,
                "leaves -2^61:2^61");
    const polytile_domain before = {1, {{-(INT64_C(1) << 61) - 1, 0, 1}}};
    expect_says(polytile_check(k, &before, LIST(arrays), nullptr), POLYTILE_OVERFLOW, "leaves");
}

TEST_F(Arguments, OptionsAreJudgedBeforeAnythingIsProved) {
    const polytile_kernel *k = kernel("k[i]: inout x[i]");
    polytile_array *const arrays[] = {x};
    const int64_t empty_block[] = {0};
    polytile_link dead = polytile_link_default;
    dead.upload_bytes_per_s = 0;
    polytile_link early = polytile_link_default;
    early.launch_latency_s = -1;
    polytile_launch_options options[9] = {};
    options[0].plan.strategy = "fastest";
    options[1].plan.n_buffers = 4;
    options[2].plan.limit_bytes = -1;
    options[3].plan.block = empty_block;
    options[4].plan.link = &dead;
    options[5].plan.link = &early;
    options[6].plan.launches_per_pass = -1;
    options[7].reserved[3] = 5;
    options[8].plan.reserved[0] = -1;
    const char *const says[] = {
        "unknown strategy \"fastest\"",
        "4 buffers",
        "a limit of -1 bytes",
        "a block of 0 threads along index 0",
        "every rate must be above 0",
        "every latency and overhead at least 0",
        "k: -1 launches a pass; there must be at least 1, or 0 to let the planner choose",
        "k: reserved[3] of polytile_launch_options is 5; set what is not used to zero",
        "k: reserved[0] of polytile_plan_options is -1"};
    for (int n = 0; n < 9; n++) {
        polytile_plan *plan = nullptr;
        expect_says(polytile_check(k, &nine, LIST(arrays), &options[n]), POLYTILE_INVALID, says[n]);
        expect_says(polytile_plan_create(k, &nine, LIST(arrays), &options[n], &plan),
                    POLYTILE_INVALID, says[n]);
        EXPECT_EQ(plan, nullptr);
    }
}

TEST_F(Arguments, DeclarationsBuiltInCAreJudgedAsTextIs) {
    polytile_declaration *made = nullptr;
    const char *names[] = {"i", nullptr, "a b", "i"};
    const struct {
        const char *name;
        int n_indices;
        const char **indices;
        polytile_status status;
        const char *says;
    } rows[] = {
        {nullptr, 1, names, POLYTILE_INVALID, "name is NULL"},
        {"k", 1, nullptr, POLYTILE_INVALID, "names of the indices are NULL"},
        {"k", -1, names, POLYTILE_DECLARATION, "indices"},
        {"k", 9, names, POLYTILE_DECLARATION, "indices"},
        {"k", 2, names, POLYTILE_DECLARATION, "must be an identifier, not ''"},
        {"k", 1, names + 2, POLYTILE_DECLARATION, "must be an identifier, not 'a b'"},
        {"", 1, names, POLYTILE_DECLARATION, "kernel's name must be an identifier, not ''"},
        {"9", 1, names, POLYTILE_DECLARATION, "kernel's name must be an identifier, not '9'"},
    };
    for (const auto &row : rows) {
        const polytile_status status = polytile_declaration_create(ctx, row.name, row.n_indices,
                                                                   row.indices, 0, nullptr, &made);
        EXPECT_NE(status, POLYTILE_OK);
        EXPECT_EQ(made, nullptr);
        expect_says(status, status, row.says);
    }
    EXPECT_EQ(polytile_declaration_create(nullptr, "k", 1, names, 0, nullptr, &made),
              POLYTILE_INVALID);
    ASSERT_EQ(polytile_declaration_create(ctx, "k", 1, names, 0, nullptr, &made), POLYTILE_OK);
    const polytile_subscript point = {{0, {1}, {}}, {0, {1}, {}},       1,    false,
                                      false,        POLYTILE_EDGE_CLIP, NULL, NULL};
    EXPECT_EQ(polytile_declaration_add(nullptr, POLYTILE_IN, false, "x", 1, &point),
              POLYTILE_INVALID);
    const auto add = [&](int role, const char *array, int n_dims, const polytile_subscript *at) {
        return polytile_declaration_add(made, static_cast<polytile_role>(role), false, array,
                                        n_dims, at);
    };
    EXPECT_NE(add(POLYTILE_IN, nullptr, 1, &point), POLYTILE_OK);
    EXPECT_NE(add(POLYTILE_IN, "x", 1, nullptr), POLYTILE_OK);
    EXPECT_NE(add(POLYTILE_IN, "x", 0, &point), POLYTILE_OK);
    EXPECT_NE(add(POLYTILE_IN, "x", 9, &point), POLYTILE_OK);
    polytile_subscript unknown = point;
    unknown.lo.index[1] = 1;
    EXPECT_NE(add(POLYTILE_IN, "x", 1, &unknown), POLYTILE_OK);
    unknown = point;
    unknown.hi.parameter[0] = 1;
    EXPECT_NE(add(POLYTILE_IN, "x", 1, &unknown), POLYTILE_OK);
    EXPECT_EQ(add(POLYTILE_IN, "x", 1, &point), POLYTILE_OK) << polytile_last_error(ctx);
    polytile_kernel *built = nullptr;
    EXPECT_EQ(polytile_kernel_create_from(made, nullptr, nullptr), POLYTILE_INVALID);
    EXPECT_EQ(polytile_kernel_create_from(nullptr, nullptr, &built), POLYTILE_INVALID);
    polytile_declaration *empty = nullptr;
    ASSERT_EQ(polytile_declaration_create(ctx, "k", 1, names, 0, nullptr, &empty), POLYTILE_OK);
    expect_says(polytile_kernel_create_from(empty, nullptr, &built), POLYTILE_DECLARATION,
                "there is no section");
}

TEST_F(Arguments, ArraysHaveANameATypeAndADomain) {
    polytile_array *made = nullptr;
    EXPECT_EQ(polytile_array_describe(nullptr, "a", POLYTILE_F32, &nine, &made), POLYTILE_INVALID);
    EXPECT_EQ(polytile_array_describe(ctx, "a", POLYTILE_F32, &nine, nullptr), POLYTILE_INVALID);
    EXPECT_EQ(polytile_array_describe(ctx, "a", POLYTILE_F32, nullptr, &made), POLYTILE_INVALID);
    const polytile_domain cases[] = {
        {1, {{INT64_MIN, 0, 1}}},
        {1, {{0, INT64_MAX, 1}}},
        {1, {{5, 4, 1}}},
        {1, {{0, 8, 2}}},
        {0, {}},
        {9, {{0, 8, 1}}},
        {-1, {{0, 8, 1}}},
    };
    for (const polytile_domain &domain : cases) {
        EXPECT_NE(polytile_array_describe(ctx, "a", POLYTILE_F32, &domain, &made), POLYTILE_OK)
            << domain.n_dims << " " << domain.range[0].lo << " " << domain.range[0].hi;
        EXPECT_NE(std::string(polytile_last_error(ctx)), "");
        EXPECT_EQ(made, nullptr);
    }
    polytile_array_destroy(nullptr);
}

} // namespace
