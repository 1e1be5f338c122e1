extern "C" {
#include "access/footprint/footprint.h"
#include "access/pieces/shear.h"
#include "base/text.h"
#include "partition/memory/build.h"
#include "partition/prove/check.h"
}

#include "support/launch.h"

#include <gtest/gtest.h>
#include <map>
#include <memory>
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
        {"d[i]: in D[i, i-1:i+1]; out y[i]", "40", false}, /* clipped */
        {"d[i]: in D[i, i], D[i+5, i+7]; out y[i]", "30", true},
        {"d[i]: in D[i+5, i+5], D[i, i+9]; out y[i]", "31", false}, /* the box has D[35, 44] */
        {"d[i]: in D[i, 39-i]; out y[i]", "40", true},
        {"d[i]: in D[39-2*i, i]; out y[i]", "20", true},
        {"d[i]: in D[i, 38-i:40-i]; out y[i]", "1:38", true},
        {"d[i]: in D[i, 38-i:40-i]; out y[i]", "40", false}, /* clipped */
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
          "d[i]: inout D[i, 11-i]; out y[i]", "d[i]: in D[i, i+1]; out D[i, i], y[i]"}) {
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

} // namespace
