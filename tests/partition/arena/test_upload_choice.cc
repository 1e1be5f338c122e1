#include <gtest/gtest.h>
#include <vector>

extern "C" {
#include "partition/arena/upload_choice.h"
}

/* What is uploaded into a piece. */

namespace {

polytile_domain Span(int64_t lo, int64_t hi) {
    polytile_domain box = {};
    box.n_dims = 1;
    box.range[0] = {lo, hi, 1};
    return box;
}

pti_boxes SetOf(const std::vector<polytile_domain> &boxes) {
    pti_boxes set = {};
    for (const polytile_domain &box : boxes)
        pti_boxes_append(&set, &box);
    return set;
}

TEST(UploadChoice, WhatWasCombinedIntoComesAgainAndTheRestStartsFromTheIdentity) {
    const polytile_domain all = Span(0, 19), upper = Span(15, 40);
    pti_boxes written = SetOf({all}), combined = SetOf({Span(3, 7), upper}), again = {};
    pti_upload_split_combined(&written, &combined, &again);
    EXPECT_EQ(pti_boxes_count(&written), 10);
    EXPECT_EQ(pti_boxes_count(&again), 10);
    EXPECT_EQ(pti_boxes_find_meeting(&written, &combined), nullptr);
    EXPECT_EQ(pti_boxes_find_meeting(&written, &again), nullptr);
    EXPECT_EQ(pti_boxes_find_uncovered(&combined, &again), nullptr);
    for (pti_boxes *set : {&written, &combined, &again})
        pti_boxes_free(set);
}

TEST(UploadChoice, WithoutALinkFewestBytesMove) {
    const pti_operand operand = {};
    pti_boxes needed = SetOf({Span(0, 1), Span(3, 4)}), shared = {}, rest = {};
    EXPECT_FALSE(pti_upload_around_is_faster(nullptr, &operand, &needed, &shared, &rest));
    pti_boxes_free(&needed);
}

} // namespace
