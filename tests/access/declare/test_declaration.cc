#include <gtest/gtest.h>

#include <climits>
#include <functional>
#include <string>
#include <vector>

#include "support/declared.h"

namespace {

/** constant + the indices with their coefficients. */
polytile_affine affine(int64_t constant, std::vector<int64_t> index = {}) {
    polytile_affine made = {};
    made.constant = constant;
    std::copy(index.begin(), index.end(), made.index);
    return made;
}

polytile_subscript range(const polytile_affine &lo, const polytile_affine &hi, int64_t step = 1) {
    return {lo, hi, step, false, false, POLYTILE_EDGE_CLIP, NULL, NULL};
}

polytile_subscript at(const polytile_affine &value) {
    return range(value, value);
}

const polytile_subscript all = {{}, {}, 1, true, true, POLYTILE_EDGE_CLIP, NULL, NULL};
const polytile_affine i = affine(0, {1}), j = affine(0, {0, 1}), k = affine(0, {0, 0, 1});

/** A declaration built through the public functions. */
class Built {
  public:
    Built(const char *name, std::vector<const char *> indices,
          std::vector<const char *> parameters = {}) {
        polytile_context_create(&ctx_);
        status_ = polytile_declaration_create(ctx_, name, static_cast<int>(indices.size()),
                                              indices.data(), static_cast<int>(parameters.size()),
                                              parameters.data(), &declaration_);
    }
    ~Built() { polytile_context_destroy(ctx_); }
    Built(const Built &) = delete;
    Built &operator=(const Built &) = delete;

    Built &add(polytile_role role, const char *array, std::vector<polytile_subscript> subscripts,
               bool fresh = false) {
        if (status_ == POLYTILE_OK)
            status_ =
                polytile_declaration_add(declaration_, role, fresh, array,
                                         static_cast<int>(subscripts.size()), subscripts.data());
        return *this;
    }

    polytile_status status() const { return status_; }
    std::string error() const { return polytile_last_error(ctx_); }
    polytile_context *context() const { return ctx_; }
    polytile_declaration *get() const { return declaration_; }

  private:
    polytile_context *ctx_ = nullptr;
    polytile_declaration *declaration_ = nullptr;
    polytile_status status_;
};

void expect_same(const char *text, const Built &built) {
    Parsed parsed(text);
    ASSERT_EQ(parsed.status(), POLYTILE_OK) << parsed.error();
    ASSERT_EQ(built.status(), POLYTILE_OK) << built.error();
    EXPECT_EQ(difference(parsed.get(), built.get()), "") << text;
}

TEST(Declaration, TextAndBuiltFormAreTheSame) {
    expect_same("add[i]: in x[i], y[i]; out z[i]", Built("add", {"i"})
                                                       .add(POLYTILE_IN, "x", {at(i)})
                                                       .add(POLYTILE_IN, "y", {at(i)})
                                                       .add(POLYTILE_OUT, "z", {at(i)}));
    expect_same("jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
                Built("jacobi", {"i", "j"})
                    .add(POLYTILE_IN, "A", {range(affine(-1, {1}), affine(1, {1})), at(j)})
                    .add(POLYTILE_IN, "A", {at(i), range(affine(-1, {0, 1}), affine(1, {0, 1}))})
                    .add(POLYTILE_OUT, "B", {at(i), at(j)}));
    expect_same("matmul[i, j]: in A[i, :], B[:, j]; out C[i, j]",
                Built("matmul", {"i", "j"})
                    .add(POLYTILE_IN, "A", {at(i), all})
                    .add(POLYTILE_IN, "B", {all, at(j)})
                    .add(POLYTILE_OUT, "C", {at(i), at(j)}));
    expect_same("gemm[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]",
                Built("gemm", {"i", "j", "k"})
                    .add(POLYTILE_IN, "A", {at(i), at(k)})
                    .add(POLYTILE_IN, "B", {at(k), at(j)})
                    .add(POLYTILE_SUM, "C", {at(i), at(j)}));
    expect_same("dot[i]: in x[i], y[i]; out sum s[0]",
                Built("dot", {"i"})
                    .add(POLYTILE_IN, "x", {at(i)})
                    .add(POLYTILE_IN, "y", {at(i)})
                    .add(POLYTILE_SUM, "s", {at(affine(0))}, true));
    expect_same("coarsen[i]: in fine[2*i:2*i+2]; out coarse[i]",
                Built("coarsen", {"i"})
                    .add(POLYTILE_IN, "fine", {range(affine(0, {2}), affine(2, {2}))})
                    .add(POLYTILE_OUT, "coarse", {at(i)}));
    polytile_affine n_less_1 = affine(-1);
    n_less_1.parameter[0] = 1;
    expect_same("odd[i]: in x[1:n-1:2]; out y[i]",
                Built("odd", {"i"}, {"n"})
                    .add(POLYTILE_IN, "x", {range(affine(1), n_less_1, 2)})
                    .add(POLYTILE_OUT, "y", {at(i)}));
    expect_same("lower[i]: in L[i, 0:i], x[0:i]; out y[i]",
                Built("lower", {"i"})
                    .add(POLYTILE_IN, "L", {at(i), range(affine(0), i)})
                    .add(POLYTILE_IN, "x", {range(affine(0), i)})
                    .add(POLYTILE_OUT, "y", {at(i)}));
    expect_same("hankel[i, j]: in h[i+j]; out H[i, j]",
                Built("hankel", {"i", "j"})
                    .add(POLYTILE_IN, "h", {at(affine(0, {1, 1}))})
                    .add(POLYTILE_OUT, "H", {at(i), at(j)}));
}

TEST(Declaration, WhatAWholeDimensionLeavesUnsaidDoesNotCount) {
    polytile_subscript odd = all;
    odd.lo = affine(7, {3});
    odd.hi = affine(9, {5});
    odd.step = 2;
    expect_same("k[i]: in x[::2]", Built("k", {"i"}).add(POLYTILE_IN, "x", {odd}));
}

TEST(Declaration, RefusalsOfTheBuilderNameTheArray) {
    struct Case {
        std::function<void(Built &)> add;
        polytile_status status;
        const char *says;
    };
    const Case cases[] = {
        {[](Built &b) { b.add(POLYTILE_IN, "", {at(i)}); }, POLYTILE_DECLARATION, "array's name"},
        {[](Built &b) { b.add(POLYTILE_IN, "2x", {at(i)}); }, POLYTILE_DECLARATION, "'2x'"},
        {[](Built &b) { b.add(POLYTILE_IN, nullptr, {at(i)}); }, POLYTILE_INVALID, "NULL"},
        {[](Built &b) { b.add(POLYTILE_IN, "x", {}); }, POLYTILE_INVALID, "NULL"},
        {[](Built &b) { b.add(POLYTILE_IN, "x", std::vector<polytile_subscript>(9, at(i))); },
         POLYTILE_DECLARATION, "x has 9 subscripts; there may be 1 to 8"},
        {[](Built &b) {
             b.add(POLYTILE_IN, "x", {at(i)}).add(POLYTILE_OUT, "x", {at(i), at(i)});
         },
         POLYTILE_DECLARATION, "x has 2 subscripts here and 1 before"},
        {[](Built &b) { b.add(POLYTILE_IN, "x", {range(i, i, 0)}); }, POLYTILE_DECLARATION,
         "step of subscript 1 of x is 0"},
        {[](Built &b) { b.add(POLYTILE_IN, "x", {at(j)}); }, POLYTILE_DECLARATION,
         "1 index and 0 parameters"},
        {[](Built &b) { b.add(POLYTILE_IN, "x", {at(i)}, true); }, POLYTILE_DECLARATION,
         "'in'; only sum"},
        {[](Built &b) { b.add(POLYTILE_SUM, "x", {at(i)}).add(POLYTILE_SUM, "x", {at(i)}, true); },
         POLYTILE_DECLARATION, "use two arrays"},
        {[](Built &b) { b.add(POLYTILE_SCRATCH, "x", {at(i)}); }, POLYTILE_DECLARATION,
         "scratch such as x needs a type"},
    };
    for (const Case &c : cases) {
        Built built("k", {"i"});
        c.add(built);
        EXPECT_EQ(built.status(), c.status) << c.says;
        EXPECT_EQ(built.error().rfind("k: ", 0), 0u) << built.error();
        EXPECT_NE(built.error().find(c.says), std::string::npos) << built.error();
    }
}

TEST(Declaration, NamesAreCheckedWhenItBegins) {
    const std::vector<const char *> nine = {"a", "b", "c", "d", "e", "f", "g", "h", "o"};
    const std::vector<const char *> seventeen(17, "n");
    struct Case {
        const char *name;
        std::vector<const char *> indices, parameters;
        polytile_status status;
        const char *says;
    };
    const Case cases[] = {
        {nullptr, {"i"}, {}, POLYTILE_INVALID, "name is NULL"},
        {"", {"i"}, {}, POLYTILE_DECLARATION, "identifier"},
        {"a b", {"i"}, {}, POLYTILE_DECLARATION, "'a b'"},
        {"k", {}, {}, POLYTILE_DECLARATION, "at least one index"},
        {"k", {"i", "i"}, {}, POLYTILE_DECLARATION, "'i' is an index already"},
        {"k", {"i"}, {"i"}, POLYTILE_DECLARATION, "'i' is an index already"},
        {"k", {"i"}, {"n", "n"}, POLYTILE_DECLARATION, "'n' is a parameter already"},
        {"k", {nullptr}, {}, POLYTILE_DECLARATION, "identifier"},
        {"k", nine, {}, POLYTILE_DECLARATION, "9 indices; there may be at most 8"},
        {"k", {"i"}, seventeen, POLYTILE_DECLARATION, "17 parameters; there may be at most 16"},
    };
    for (const Case &c : cases) {
        Built built(c.name, c.indices, c.parameters);
        EXPECT_EQ(built.status(), c.status) << c.says;
        EXPECT_EQ(built.get(), nullptr);
        EXPECT_NE(built.error().find(c.says), std::string::npos) << built.error();
    }
    EXPECT_EQ(polytile_declaration_create(nullptr, "k", 0, nullptr, 0, nullptr, nullptr),
              POLYTILE_INVALID);
}

TEST(Declaration, ItCanBeUsedOnAfterAKernelWasMade) {
    Built built("k", {"i"});
    polytile_kernel *first = nullptr, *second = nullptr;
    EXPECT_EQ(polytile_kernel_create_from(built.get(), nullptr, &first), POLYTILE_DECLARATION);
    EXPECT_NE(built.error().find("no section"), std::string::npos);
    built.add(POLYTILE_IN, "x", {at(i)});
    ASSERT_EQ(polytile_kernel_create_from(built.get(), nullptr, &first), POLYTILE_OK);
    built.add(POLYTILE_OUT, "y", {at(i)});
    ASSERT_EQ(polytile_kernel_create_from(built.get(), nullptr, &second), POLYTILE_OK);
    EXPECT_EQ(polytile_kernel_get_n_arrays(first), 1);
    EXPECT_EQ(polytile_kernel_get_n_arrays(second), 2);
    polytile_declaration_destroy(built.get());
    EXPECT_STREQ(polytile_kernel_get_array_name(second, 1), "y");
}

TEST(Declaration, TheSmallestCoefficientsAreNoTrouble) {
    Built built("k", {"i"});
    built.add(POLYTILE_IN, "x", {range(affine(INT64_MIN, {INT64_MIN}), affine(INT64_MAX, {1}))});
    polytile_kernel *kernel = nullptr;
    EXPECT_EQ(polytile_kernel_create_from(built.get(), nullptr, &kernel), POLYTILE_OK)
        << built.error();
}

} // namespace
