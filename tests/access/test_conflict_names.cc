#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/polytile.h>

#include <set>
#include <string>
#include <vector>

/* One array that is given for several names, of which some are written. */

namespace {

class ConflictNames : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx_); }

    std::string error() const { return polytile_last_error(ctx_); }

    /** Check a kernel all of whose names are one array of n elements. */
    polytile_status check(const std::string &declaration, std::vector<int64_t> threads, int64_t n) {
        polytile_kernel *kernel = nullptr;
        polytile_array *array = nullptr;
        const polytile_domain domain =
            polytile_domain_from_extents(static_cast<int>(threads.size()), threads.data());
        EXPECT_EQ(polytile_kernel_create(ctx_, declaration.c_str(), nullptr, &kernel), POLYTILE_OK)
            << declaration << "\n"
            << error();
        EXPECT_EQ(polytile_array_describe(ctx_, "x", POLYTILE_F32, POLYTILE_EXTENTS(n), &array),
                  POLYTILE_OK);
        const std::vector<polytile_array *> arrays(
            static_cast<size_t>(polytile_kernel_get_n_arrays(kernel)), array);
        const polytile_status status = polytile_check(
            kernel, &domain, static_cast<int>(arrays.size()), arrays.data(), nullptr);
        polytile_kernel_destroy(kernel);
        return status;
    }

    polytile_context *ctx_ = nullptr;
};

/** a[K[i]] has 5 and 90. Written elements between them are in the box around these, those beyond
 * are not. */
TEST_F(ConflictNames, WhatIsLookedUpIsTheBoxAroundIt) {
    std::vector<int64_t> memory = {5, 90};
    const int64_t n = 2;
    for (const bool is_between : {false, true}) {
        polytile_array *a = nullptr, *K = nullptr;
        polytile_kernel *kernel = nullptr;
        const char *declaration =
            is_between ? "k[i]: in a[K[i]]; out b[i+40]" : "k[i]: in a[K[i]]; out b[i+95]";
        ASSERT_EQ(polytile_kernel_create(ctx_, declaration, nullptr, &kernel), POLYTILE_OK);
        ASSERT_EQ(polytile_array_describe(ctx_, "a", POLYTILE_F32, POLYTILE_EXTENTS(100), &a),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx_, "K", POLYTILE_I64, 1, &n, memory.data(), &K),
                  POLYTILE_OK);
        polytile_array *const arrays[] = {a, K, a};
        EXPECT_EQ(polytile_check(kernel, POLYTILE_EXTENTS(2), 3, arrays, nullptr),
                  is_between ? POLYTILE_UNSUPPORTED : POLYTILE_OK)
            << error();
        if (is_between) {
            EXPECT_NE(error().find("k: one array is given for a and b, of which one is written; "
                                   "what is looked up of a counts as the box around it, where b"),
                      std::string::npos)
                << error();
        }
        polytile_kernel_destroy(kernel);
    }
}

TEST_F(ConflictNames, TouchDifferentElementsIfOneIsWritten) {
    const struct {
        const char *declaration;
        std::vector<int64_t> threads;
        const char *says; /* "" where they do */
    } rows[] = {
        {"k[i]: in a[i+50]; out b[i]", {50}, ""},
        {"k[i]: in a[i+49]; out b[i]",
         {50},
         "k: threads [0] and [49] conflict on a[49], whose array is given for b, too: the first "
         "reads it (in a[i+49]), the second writes it (out b[i]); give two arrays, or restrict the "
         "launch domain"},
        {"k[i]: in a[i]; out b[i]", {50}, "threads [0] and [0] conflict on a[0], whose array"},
        {"k[i]: in a[2*i]; inout b[2*i+1]", {50}, ""},
        {"k[i]: in a[2*i]; inout b[3*i+1]", {30}, "conflict on a[4], whose array"},
        {"k[i]: in a[i], b[i]", {50}, ""},
        {"k[g, k]: inout a[16*g+k]; inout b[16*g+k+8]", {6, 8}, ""},
        {"k[g, k]: inout a[16*g+k]; inout b[16*g+k+8]", {6, 9}, "conflict on a["},
        {"k[i]: in a[0]; in c[99]; out b[i+1]", {98}, ""},
        {"k[i]: in a[0]; in c[98]; out b[i+1]", {98}, "conflict on c[98], whose array"},
        {"k[i]: sum a[0]; in b[i+1]", {99}, ""},
        {"k[i]: sum a[2*i]; in b[2*i+1]", {50}, ""},
        {"k[i]: sum a[0], a[2]; in b[1]", {50}, ""},
        {"k[i]: sum a[0], a[2], a[3]; in b[1]", {50}, "a is held as the box around its own"},
        {"k[i]: sum a[i]; sum b[i]", {50}, "conflict on a[0], whose array"},
        {"k[i, j]: inout a[i*1+20*j]; in b[19]", {1, 4}, ""},
    };
    for (const auto &row : rows) {
        const polytile_status status = check(row.declaration, row.threads, 100);
        if (row.says[0] == '\0')
            EXPECT_EQ(status, POLYTILE_OK) << row.declaration << "\n" << error();
        else
            EXPECT_NE(status, POLYTILE_OK) << row.declaration;
        EXPECT_NE(error().find(row.says), std::string::npos) << row.declaration << "\n" << error();
    }
}

TEST_F(ConflictNames, OfElementsThatTakeManyBoxesAreRefusedWithWhatHelps) {
    const char *halves = "k[g, k]: inout a[160*g+k], b[160*g+k+80]";
    EXPECT_EQ(check(halves, {64, 80}, 10400), POLYTILE_OK) << error();
    EXPECT_EQ(check(halves, {65, 80}, 10400), POLYTILE_UNSUPPORTED);
    EXPECT_NE(error().find("declare the sections of both under one name, or give two arrays"),
              std::string::npos)
        << error();
    EXPECT_EQ(check("k[g, k]: inout a[160*g+k], a[160*g+k+80]", {65, 80}, 10400), POLYTILE_OK);
    EXPECT_EQ(check("k[i]: sum a[0], a[2], a[3]; in b[1]", {50}, 100), POLYTILE_UNSUPPORTED);
    EXPECT_EQ(error().find("under one name"), std::string::npos) << error();
}

TEST_F(ConflictNames, HaveAWitnessThatBothTouch) {
    polytile_witness witness;
    ASSERT_EQ(check("k[i]: in a[i+3]; out b[2*i]", {20}, 100), POLYTILE_CONFLICT);
    ASSERT_TRUE(polytile_last_witness(ctx_, &witness));
    EXPECT_EQ(witness.operand, 0);
    EXPECT_EQ(witness.element[0], witness.thread[0] + 3);
    EXPECT_EQ(witness.element[0], 2 * witness.other[0]);
}

/** The elements of a[f*i+c : f*i+c+w] for n threads. */
std::set<int64_t> elements_of(int64_t f, int64_t c, int64_t w, int64_t n) {
    std::set<int64_t> all;
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = 0; e <= w; e++)
            all.insert(f * i + c + e);
    return all;
}

TEST_F(ConflictNames, AreRefusedExactlyIfSomeElementIsOfBoth) {
    Random random(test_seed("ConflictNames.AreRefusedExactlyIfSomeElementIsOfBoth"));
    for (int64_t round = 0; round < scaled(500) && !HasFailure(); round++) {
        const int64_t n = random.number(1, 12);
        std::string declaration = "k[i]: ";
        std::set<int64_t> first, all;
        for (const char *begin : {"in a[", "; out b["}) {
            const int64_t w = random.number(0, 3), f = w + random.number(1, 4),
                          c = random.number(0, 60);
            const std::string place = std::to_string(f) + "*i+" + std::to_string(c);
            declaration += begin + place + ":" + place + "+" + std::to_string(w) + "]";
            first = all;
            all = elements_of(f, c, w, n);
        }
        size_t n_common = 0;
        for (const int64_t element : all)
            n_common += first.count(element);
        EXPECT_EQ(check(declaration, {n}, 200), n_common == 0 ? POLYTILE_OK : POLYTILE_CONFLICT)
            << declaration << " over " << n << "\n"
            << error();
    }
}

} // namespace
