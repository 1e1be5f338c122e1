extern "C" {
#include "access/footprint/footprint.h"
#include "access/pieces/shear.h"
#include "access/pieces/split.h"
#include "base/text.h"
#include "partition/arena/build.h"
#include "partition/prove/check.h"
}

#include "support/launch.h"
#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <climits>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace {

struct Free {
    void operator()(pti_instance *instance) const { pti_instance_free(instance); }
    void operator()(pti_schedule *schedule) const { pti_schedule_free(schedule); }
};

using Instance = std::unique_ptr<pti_instance, Free>;
using Schedule = std::unique_ptr<pti_schedule, Free>;

Instance Shear(const Launch &launch) {
    EXPECT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    pti_instance *sheared = nullptr;
    EXPECT_EQ(pti_instance_shear(launch.context(), launch.instance(), &sheared), POLYTILE_OK);
    return Instance(sheared);
}

TEST(Shear, IsOfArraysThatAreTouchedAlongADiagonalThatTheyHave) {
    const std::map<std::string, std::string> square = {{"D", "40x40"}, {"y", "40"}};
    const struct {
        const char *declaration, *threads;
        bool is_sheared;
    } rows[] = {
        {"d[i]: in D[i, i]; out y[i]", "40", true},
        {"d[i]: in D[i, 2*i+1]; out y[i]", "20", true},
        {"d[i]: in D[3*i, i]; out y[i]", "10", true},
        {"d[i]: in D[i, i-1:i+1]; out y[i]", "1:38", true},
        {"d[i]: in D[i, i+2], D[i, i]; out y[i]", "30", true},
        {"d[i]: in D[i, i-1:i+1]; out y[i]", "40", true}, /* clipped */
        {"d[i]: in D[i, i-8:i+8], D[i-9:i+6, i]; out y[i]", "40", false},
        {"d[i]: in D[i, i-16:i+16]; out y[i]", "40", false}, /* too many diagonals */
        {"d[i]: in D[i, i-15:i+16]; out y[i]", "40", true},
        {"d[i]: in D[i, i-32:i+30:2]; out y[i]", "40", true},
        {"d[i]: in D[i, i], D[i+5, i+7]; out y[i]", "30", true},
        {"d[i]: in D[i+5, i+5], D[i, i+9]; out y[i]", "31", true}, /* the box has D[35, 44] */
        {"d[i]: in D[i, 39-i]; out y[i]", "40", true},
        {"d[i]: in D[39-2*i, i]; out y[i]", "20", true},
        {"d[i]: in D[i, 38-i:40-i]; out y[i]", "1:38", true},
        {"d[i]: in D[i, 38-i:40-i]; out y[i]", "40", true}, /* clipped */
        {"d[i]: in D[i, :]; out y[i]", "40", false},
        {"d[i]: in D[2*i, 3*i]; out y[i]", "10", false},
        {"d[i]: in D[i, i], D[i+1, 2*i]; out y[i]", "10", false},
        {"d[i]: in D[i:i+1, i]; out y[i]", "30", true},
        {"d[i]: inout D[i, i]; out y[i]", "40", true},
        {"d[i]: out D[i, i], y[i]", "40", true},
        {"d[i]: out D[i, 39-i]; in D[i, 38-i], y[i]", "39", true},
        {"d[i]: sum D[i, i]; out y[i]", "40", false},
    };
    for (const auto &row : rows) {
        const Launch launch(row.declaration, row.threads, square);
        EXPECT_EQ(Shear(launch) != nullptr, row.is_sheared) << row.declaration;
    }
}

/** Compares the offsets of all elements of a band of 3 elements and 9 threads. */
void CompareOffsets(const char *declaration) {
    const Launch launch(declaration, "9", {{"D", "-3:20, 0:20"}, {"y", "9"}});
    const Instance sheared = Shear(launch);
    ASSERT_NE(sheared, nullptr);
    const pti_operand *operand = &sheared->operand[0];
    const pti_memory_layout array = pti_memory_layout_of(&operand->whole, operand->element_bytes);
    const pti_memory_layout layout = pti_operand_array_layout(operand, &array);
    ASSERT_EQ(pti_box_count(&operand->domain), 3 * 9);
    const pti_shear *shear = operand->shear;
    for (int64_t a = operand->domain.range[0].lo; a <= operand->domain.range[0].hi; a++)
        for (int64_t b = operand->domain.range[1].lo; b <= operand->domain.range[1].hi; b++) {
            const int64_t index[] = {a, b};
            const int64_t element[] = {a + shear[0].slope * b, b + shear[1].slope * a};
            EXPECT_EQ(pti_memory_layout_offset(&layout, index),
                      pti_memory_layout_offset(&array, element));
        }
    int64_t strides[POLYTILE_MAX_DIMS];
    std::copy_n(layout.stride_bytes, POLYTILE_MAX_DIMS, strides);
    pti_operand_unshear_strides(operand, strides);
    EXPECT_EQ(strides[0], array.stride_bytes[0]);
    EXPECT_EQ(strides[1], array.stride_bytes[1]);
}

/** Such a way once took pieces for arrays of their own: `polytile run` read beyond its list. */
TEST(Shear, OfALaunchInPiecesHasTheSamePieces) {
    const Launch launch("d[i]: in D[i, i:i+3], x[i], x[i+500]; out y[i]", "100",
                        {{"D", "100x104"}, {"x", "600"}, {"y", "100"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    pti_instance *split = nullptr, *sheared = nullptr;
    ASSERT_EQ(pti_instance_split(launch.context(), launch.instance(), nullptr, INT_MAX, &split),
              POLYTILE_OK);
    const Instance owned(split);
    ASSERT_NE(split, nullptr);
    ASSERT_EQ(pti_instance_shear(launch.context(), split, &sheared), POLYTILE_OK);
    const Instance made(sheared);
    ASSERT_NE(sheared, nullptr);
    EXPECT_EQ(split->n_further, 1);
    ASSERT_EQ(sheared->n_further, split->n_further);
    for (int o = 0; o < split->n_operands; o++)
        EXPECT_EQ(pti_operand_array(sheared, o), pti_operand_array(split, o));
}

TEST(Shear, IndicesLieWhereThoseOfTheArrayDo) {
    for (const char *declaration :
         {"d[i]: in D[i+1, 2*i:2*i+2]; out y[i]", "d[i]: in D[i+1, 18-2*i:20-2*i]; out y[i]",
          "d[i]: in D[12-i:14-i, i+4]; out y[i]", "d[i]: inout D[16-2*i:18-2*i, i]; out y[i]"})
        CompareOffsets(declaration);
}

TEST(Shear, WhatIsWrittenIsKnownElementByElement) {
    const Launch launch("d[i]: out D[i, 99-i]; in y[i]", "100", {{"D", "100x100"}, {"y", "100"}});
    ASSERT_TRUE(launch.instance()->operand[0].partial);
    const Instance sheared = Shear(launch);
    ASSERT_NE(sheared, nullptr);
    EXPECT_FALSE(sheared->operand[0].partial);
    EXPECT_FALSE(sheared->operand[0].reads);
    EXPECT_TRUE(sheared->operand[0].writes);
}

/* Of more boxes the hull would move, of which the array lacks elements at its ends. */
TEST(Shear, AClippedBandThatIsWrittenInTooManyBoxesStaysAsItIs) {
    const struct {
        const char *declaration, *threads;
        bool is_sheared;
    } rows[] = {
        {"d[i, j]: inout D[40*i+j, 40*i+j-1:40*i+j+1]; out y[i, j]", "25x25", false},
        {"d[i, j]: in D[40*i+j, 40*i+j-1:40*i+j+1]; out y[i, j]", "25x25", true},
        {"d[i, j]: inout D[40*i+j, 40*i+j-1:40*i+j+1]; out y[i, j]", "25x12", true},
    };
    for (const auto &row : rows) {
        const Launch launch(row.declaration, row.threads, {{"D", "985x985"}, {"y", "25x25"}});
        const Instance sheared = Shear(launch);
        EXPECT_EQ(sheared != nullptr, row.is_sheared) << row.declaration << " " << row.threads;
        for (int o = 0; sheared != nullptr && o < sheared->n_operands; o++)
            EXPECT_FALSE(sheared->operand[o].partial) << row.declaration;
    }
}

/** Whether some boxes are, in sheared indices, the elements that threads have of a band that the
 * array's ends clip, disjoint. Row a * i + b has the columns c * i + d .. c * i + d + w. */
void CompareClipped(int64_t a, int64_t b, int64_t c, int64_t d, int64_t w, int64_t n, int64_t rows,
                    int64_t columns) {
    const auto number = [](int64_t k) { return std::to_string(k); };
    const std::string row = number(a) + "*i+" + number(b), column = number(c) + "*i+" + number(d);
    const std::string text =
        "d[i]: in D[" + row + ", " + column + ":" + column + "+" + number(w) + "]; out y[i]";
    const Launch launch(text, number(n),
                        {{"D", number(rows) + "x" + number(columns)}, {"y", number(n)}});
    if (launch.status() != POLYTILE_OK)
        return;
    const Instance sheared = Shear(launch);
    ASSERT_TRUE(sheared != nullptr || c % a != 0) << text;
    if (sheared == nullptr)
        return;
    const pti_operand *operand = &sheared->operand[0];
    pti_boxes boxes = {};
    for (int64_t first = 0; first < n; first += 3) {
        const polytile_domain threads = {1, {{first, std::min(first + 2, n - 1), 1}}};
        std::set<std::pair<int64_t, int64_t>> expected, found;
        for (int64_t i = first; i <= threads.range[0].hi; i++)
            for (int64_t k = 0; k <= w; k++)
                if (a * i + b >= 0 && a * i + b < rows && c * i + d + k >= 0 &&
                    c * i + d + k < columns)
                    expected.insert({a * i + b, c * i + d + k});
        ASSERT_TRUE(pti_footprint_boxes(sheared.get(), 0, PTI_READS, &threads, 16, &boxes)) << text;
        for (int k = 0; k < boxes.n_boxes; k++)
            for (int64_t x = boxes.box[k].range[0].lo; x <= boxes.box[k].range[0].hi;
                 x += boxes.box[k].range[0].step)
                for (int64_t y = boxes.box[k].range[1].lo; y <= boxes.box[k].range[1].hi;
                     y += boxes.box[k].range[1].step)
                    ASSERT_TRUE(found
                                    .insert({x + operand->shear[0].slope * y,
                                             y + operand->shear[1].slope * x})
                                    .second)
                        << text;
        ASSERT_EQ(found, expected) << text << " from thread " << first;
    }
    pti_boxes_free(&boxes);
}

TEST(Shear, OfABandThatTheEndsClipItHasWhatTheArrayHas) {
    Random random(test_seed("Shear.OfABandThatTheEndsClipItHasWhatTheArrayHas"));
    for (int64_t round = scaled(2000); round > 0 && !HasFailure(); round--) {
        const int64_t a = random.number(0, 3) == 0 ? -random.number(1, 3) : random.number(1, 3);
        const int64_t c = random.number(0, 1) == 0 ? -random.number(1, 3) : random.number(1, 3);
        const int64_t n = random.number(1, 14), w = random.number(0, 5);
        CompareClipped(a, (a < 0 ? -a * n : 0) + random.number(-2, 2), c,
                       (c < 0 ? -c * n : 0) + random.number(-4, 3), w, n,
                       std::abs(a) * n + random.number(-2, 3),
                       std::abs(c) * n + random.number(-3, 5));
    }
}

/** Superblocks of so many threads each, with one buffer. */
Schedule Build(const pti_instance *instance, int64_t n_threads) {
    pti_partition partition = {};
    partition.n_buffers = 1;
    for (int64_t i = 0; i <= instance->threads.range[0].hi; i += n_threads) {
        polytile_domain threads = instance->threads;
        threads.range[0].lo = i;
        threads.range[0].hi = std::min(i + n_threads - 1, instance->threads.range[0].hi);
        EXPECT_TRUE(pti_partition_add(&partition, &threads));
    }
    pti_schedule *schedule = nullptr;
    int64_t need_bytes = 0;
    EXPECT_EQ(pti_schedule_build(instance, &partition, nullptr, 4096, &need_bytes, &schedule),
              POLYTILE_OK);
    pti_partition_free(&partition);
    return Schedule(schedule);
}

bool Holds(const pti_schedule *schedule) {
    pti_text why = {};
    const bool holds = pti_schedule_check(schedule, &why);
    pti_text_free(&why);
    return holds;
}

TEST(Shear, SchedulesAreProvedAndThoseThatLackElementsRejected) {
    for (const char *declaration :
         {"d[i]: in D[i, i]; out y[i]", "d[i]: in D[i, i:i+2]; out y[i]",
          "d[i]: in D[3*i, i+1]; out y[i]", "d[i]: in D[i, 30-2*i]; out y[i]",
          "d[i]: inout D[i, 11-i]; out y[i]", "d[i]: in D[i, i+1]; out D[i, i], y[i]",
          "d[i]: in D[i, i-2:i+1]; out y[i]", "d[i]: inout D[i, i-1:i+1]; out y[i]",
          "d[i]: in D[i-1:i+1, i]; out y[i]"}) {
        const Launch launch(declaration, "12", {{"D", "40x40"}, {"y", "12"}});
        const Instance sheared = Shear(launch);
        ASSERT_NE(sheared, nullptr) << declaration;
        const Schedule schedule = Build(sheared.get(), 5);
        ASSERT_NE(schedule, nullptr);
        EXPECT_TRUE(Holds(schedule.get())) << declaration;
        int n_mutants = 0;
        for (int64_t k = 0; k < schedule->n_ops; k++)
            for (int d = 0; schedule->op[k].kind == PTI_UPLOAD && d < 2; d++)
                for (const int64_t by : {-1, 1}) {
                    pti_op *op = &schedule->op[k];
                    const pti_op before = *op;
                    op->box.range[d].lo += by;
                    op->box.range[d].hi += by;
                    EXPECT_FALSE(Holds(schedule.get())) << declaration << " op " << k;
                    *op = before;
                    n_mutants++;
                }
        EXPECT_GE(n_mutants, 12);
    }
}

TEST(Shear, SchedulesThatMoveWhatTheArrayLacksAreRejected) {
    const Launch launch("d[i]: in D[i, i-1:i+1]; out y[i]", "12", {{"D", "12x12"}, {"y", "12"}});
    const Instance sheared = Shear(launch);
    ASSERT_NE(sheared, nullptr);
    const Schedule schedule = Build(sheared.get(), 12);
    ASSERT_TRUE(Holds(schedule.get()));
    int n_mutants = 0;
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        pti_op *op = &schedule->op[k];
        if (op->kind != PTI_UPLOAD || op->box.n_dims != 2 || op->box.range[0].lo != 1)
            continue;
        op->box.range[0].lo--; /* D[0, -1] */
        op->bytes = pti_box_count(&op->box) * 4;
        pti_text why = {};
        EXPECT_FALSE(pti_schedule_check(schedule.get(), &why));
        EXPECT_NE(std::string(why.data).find("does not have"), std::string::npos) << why.data;
        pti_text_free(&why);
        op->box.range[0].lo++;
        op->bytes = pti_box_count(&op->box) * 4;
        n_mutants++;
    }
    EXPECT_EQ(n_mutants, 1);
}

} // namespace
