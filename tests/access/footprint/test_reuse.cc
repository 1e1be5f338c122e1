#include <algorithm>
#include <gtest/gtest.h>

#include "support/elements.h"
#include "support/launch.h"
#include "support/random.h"
#include "support/random_instance.h"
#include "support/scale.h"

extern "C" {
#include "access/footprint/reuse.h"
}

namespace {

TEST(Reuse, IsWhatNeighboursTouchTogether) {
    const std::map<std::string, std::string> arrays = {{"A", "100x100x100"},
                                                       {"B", "100x100x100"},
                                                       {"P", "100x100"},
                                                       {"Q", "100x100"},
                                                       {"x", "100"}};
    const std::string inner = "4:95, 4:95", cube = "4:95, 4:95, 4:95";
    const struct {
        const char *declaration;
        std::string threads;
        int index;
        int64_t n;
        double part;
    } rows[] = {
        {"k[i, j]: in P[i, j]; out Q[i, j]", inner, 0, 4, 1},
        {"k[i, j]: in P[i-1:i+1, j], P[i, j-1:j+1]; out Q[i, j]", inner, 0, 4, 18.0 / 24},
        {"k[i, j]: in P[i-1:i+1, j], P[i, j-1:j+1]; out Q[i, j]", inner, 1, 4, 18.0 / 24},
        {"k[i, j]: in P[i-1:i+1, j-1:j+1]; out Q[i, j]", inner, 0, 4, 22.0 / 40},
        {"k[i, j]: in P[i, j-1:j+1]; out Q[i, j]", inner, 0, 4, 1},
        {"k[i, j]: in P[i, j], x[j]; out Q[i, j]", inner, 0, 4, 9.0 / 12},
        {"k[i, j]: in P[i, j]; inout Q[i, j]", inner, 0, 4, 1},
        {"k[i, j]: in P[i, :]; out Q[i, j]", inner, 0, 4, 1},
        {"k[i, j]: in P[2*i-4:2*i-4, j]; out Q[i, j]", "4:50, 4:95", 0, 4, 1},
        {"k[i, j]: in P[i-1:i+1, j]; out Q[i, j]", "4:6, 4:95", 0, 4, 1},
        {"k[i, j, l]: in A[i-1:i+1, j, l], A[i, j-1:j+1, l], A[i, j, l-1:l+1]; out B[i, j, l]",
         cube, 1, 4, 26.0 / 32},
        {"k[i, j]: in {[i, j] -> P[a, b] : a = i and j <= b <= j + 1}; out Q[i, j]", inner, 0, 4,
         1},
    };
    for (const auto &row : rows) {
        const Launch launch(row.declaration, row.threads, arrays);
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        EXPECT_DOUBLE_EQ(pti_neighbours_touch(launch.instance(), row.index, row.n), row.part)
            << row.declaration;
    }
}

/** Elements that threads read or write of an operand, by enumeration. */
int64_t count_touched(const pti_instance &instance, int operand, pti_touch touch,
                      const polytile_domain &threads) {
    const pti_operand &of = instance.operand[operand];
    Elements touched(of.domain);
    for (int s = 0; s < of.n_sections; s++) {
        const pti_section &section = instance.section[of.first_section + s];
        if (pti_section_counts(&section, touch))
            add_touched(section, threads, &touched);
    }
    return touched.count();
}

/** The middle thread of a launch, and the neighbours after it along an index. */
polytile_domain middle_of(const pti_instance &instance, int index, int64_t n) {
    polytile_domain threads = instance.threads;
    for (int d = 0; d < threads.n_dims; d++) {
        polytile_range &range = threads.range[d];
        range.lo += (range.hi - range.lo) / 2;
        range.hi = range.lo;
    }
    polytile_range &along = threads.range[index];
    along.lo = std::min(along.lo, instance.threads.range[index].hi - n + 1);
    along.hi = along.lo + n - 1;
    return threads;
}

int64_t count_all(const pti_instance &instance, const polytile_domain &threads) {
    int64_t n = 0;
    for (int o = 0; o < instance.n_operands; o++)
        for (const pti_touch touch : {PTI_READS, PTI_WRITES})
            n += count_touched(instance, o, touch, threads);
    return n;
}

TEST(ReuseRandom, IsThatOfEnumeration) {
    const uint64_t seed = test_seed("ReuseRandom");
    Random random{seed};
    RandomShape shape;
    shape.inexact_percent = 0;
    const int64_t n_rounds = 200 + scaled(4000);
    int64_t n_shared = 0, n_known = 0;
    for (int64_t round = 0; round < n_rounds; round++) {
        polytile_context *ctx = nullptr;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        {
            RandomLaunch launch(ctx, &random, shape);
            const pti_instance *instance = nullptr;
            if (launch.is_small() && launch.instantiate(&instance) == POLYTILE_OK) {
                const int index = static_cast<int>(random.number(0, instance->n_indices - 1));
                const int64_t n = random.number(2, 3);
                const double part = pti_neighbours_touch(instance, index, n);
                n_known++;
                EXPECT_LE(part, 1.0) << "seed " << seed << " round " << round;
                if (part < 1) {
                    n_shared++;
                    EXPECT_DOUBLE_EQ(
                        part,
                        static_cast<double>(count_all(*instance, middle_of(*instance, index, n))) /
                            static_cast<double>(
                                n * count_all(*instance, middle_of(*instance, index, 1))))
                        << launch.declaration_text() << " seed " << seed << " round " << round;
                }
            }
        }
        polytile_context_destroy(ctx);
    }
    EXPECT_GE(n_shared, least_count(n_rounds, 0.1)) << "of " << n_known;
}

} // namespace
