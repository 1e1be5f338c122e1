#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "support/launch.h"

#include <polytile/polytile.h>

extern "C" {
#include "access/array/array.h"
#include "access/bind/rebase.h"
#include "access/footprint/footprint.h"
#include "access/set/boxes.h"
}

namespace {

/** A kernel over views of one array, A. */
class Rebase : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override {
        pti_instance_free(instance);
        polytile_context_destroy(ctx);
    }

    polytile_array *describe(const std::string &domain) {
        const polytile_domain of = domain_of(domain);
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_describe(ctx, "A", POLYTILE_F32, &of, &array), POLYTILE_OK);
        return array;
    }
    polytile_array *reshape(polytile_array *of, const std::string &domain) {
        const polytile_domain shape = domain_of(domain);
        polytile_array *view = nullptr;
        EXPECT_EQ(polytile_array_reshape(of, "V", &shape, &view), POLYTILE_OK)
            << polytile_last_error(ctx);
        return view;
    }
    polytile_array *select(polytile_array *of, const std::string &domain) {
        const polytile_domain part = domain_of(domain);
        polytile_array *view = nullptr;
        EXPECT_EQ(polytile_array_select(of, "V", &part, &view), POLYTILE_OK)
            << polytile_last_error(ctx);
        return view;
    }

    /** Bind a kernel of one array to a view, and rewrite that for another array. */
    polytile_status rebase(const std::string &declaration, const std::string &threads,
                           polytile_array *view, polytile_array *planned) {
        const polytile_implementation none = {};
        const polytile_domain domain = domain_of(threads);
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx, declaration.c_str(), &none, &kernel), POLYTILE_OK);
        EXPECT_EQ(pti_instance_create(kernel, &domain, &view, 0, nullptr, &instance), POLYTILE_OK)
            << polytile_last_error(ctx);
        return pti_instance_rebase(ctx, &view, &planned, &instance);
    }

    /** What all threads touch, as text; "about" in front where that is not exact. */
    std::string touched() const {
        pti_boxes boxes = {};
        std::string text;
        const bool exact =
            pti_footprint_boxes(instance, 0, PTI_TOUCHES, &instance->threads, 16, &boxes);
        for (int b = 0; b < boxes.n_boxes; b++) {
            text += text.empty() ? "" : " ";
            for (int d = 0; d < boxes.box[b].n_dims; d++) {
                const polytile_range &range = boxes.box[b].range[d];
                text += (d == 0 ? "" : ",") + std::to_string(range.lo) + ":" +
                        std::to_string(range.hi) +
                        (range.step == 1 ? "" : ":" + std::to_string(range.step));
            }
        }
        pti_boxes_free(&boxes);
        return (exact ? "" : "about ") + text;
    }

    polytile_context *ctx = nullptr;
    pti_instance *instance = nullptr;
};

TEST_F(Rebase, PartnersOfAButterflyAreRowsAgain) {
    polytile_array *A = describe("16x8");
    EXPECT_EQ(rebase("f[a, h, c]: inout x[a, :, h, c]", "2x4x8", reshape(A, "2x2x4x8"), A),
              POLYTILE_OK);
    EXPECT_EQ(touched(), "0:15,0:7");
    EXPECT_FALSE(instance->operand[0].partial);
    const pti_section &section = instance->section[0];
    EXPECT_EQ(section.n_dims, 2);
    EXPECT_EQ(section.subscript[0].step, 4);
    EXPECT_EQ(section.subscript[0].lo.index[0], 8);
    EXPECT_EQ(section.subscript[0].lo.index[1], 1);
    EXPECT_EQ(section.subscript[1].lo.index[2], 1);
    EXPECT_EQ(pti_instance_as_given(instance)->operand[0].domain.n_dims, 4);
}

TEST_F(Rebase, IntervalsOfSeveralDimensionsAreOneIfTheyGoOn) {
    polytile_array *A = describe("24");
    EXPECT_EQ(rebase("f[i]: in x[i, :, :]", "2", reshape(A, "2x3x4"), A), POLYTILE_OK);
    EXPECT_EQ(touched(), "0:23");
}

TEST_F(Rebase, IntervalsWithGapsAreKnownByTheBoxAroundThem) {
    polytile_array *A = describe("24");
    EXPECT_EQ(rebase("f[i]: in x[i, :, 1:2]", "0:0", reshape(A, "2x3x4"), A), POLYTILE_OK);
    EXPECT_EQ(touched(), "about 1:10");
}

TEST_F(Rebase, WhatAViewClipsIsInItsBase) {
    polytile_array *A = describe("10");
    EXPECT_EQ(rebase("f[i]: in x[i-1:i+1]", "2:7", select(A, "2:7"), A), POLYTILE_OK);
    EXPECT_EQ(touched(), "about 1:8");
}

TEST_F(Rebase, WholeDimensionsClipAlike) {
    polytile_array *A = describe("10x4");
    EXPECT_EQ(rebase("f[i, j]: in x[i-1:i+1, j, 0]", "10x4", reshape(A, "10x4x1"), A), POLYTILE_OK);
    EXPECT_EQ(touched(), "0:9,0:3");
}

TEST_F(Rebase, StepsOfAPartAreThoseOfSections) {
    polytile_array *A = describe("20");
    EXPECT_EQ(rebase("f[i]: in x[:]", "1", select(A, "1:19:3"), A), POLYTILE_OK);
    EXPECT_EQ(touched(), "1:19:3");
}

TEST_F(Rebase, IndicesBetweenThoseOfAPartAreRefused) {
    polytile_array *A = describe("20");
    EXPECT_EQ(rebase("f[i]: in x[i]", "1:4", select(A, "1:19:3"), A), POLYTILE_DECLARATION);
    EXPECT_NE(std::string(polytile_last_error(ctx)).find("1:19:3"), std::string::npos);
    EXPECT_EQ(instance->given, nullptr);
}

TEST_F(Rebase, ViewsOfViewsAreOfTheOutermost) {
    polytile_array *A = describe("4x12");
    polytile_array *V = select(reshape(A, "4x3x4"), "1:3,0:2:2,1:2");
    EXPECT_EQ(rebase("f[i]: in x[i, :, 1]", "1:3", V, A), POLYTILE_OK);
    EXPECT_EQ(touched(), "1:3,1:9:8");
}

TEST_F(Rebase, DimensionsThatAViewJoinsAreRefused) {
    polytile_array *A = describe("4x12");
    EXPECT_EQ(rebase("f[i]: in x[i]", "48", reshape(A, "48"), A), POLYTILE_INVALID);
    EXPECT_NE(std::string(polytile_last_error(ctx)).find("joins"), std::string::npos);
}

} // namespace
