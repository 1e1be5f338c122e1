#ifndef POLYTILE_TESTS_PARTITION_SCHEDULE_PERIODS_H
#define POLYTILE_TESTS_PARTITION_SCHEDULE_PERIODS_H

#include <algorithm>
#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "support/launch.h"
#include "support/random.h"

extern "C" {
#include "access/footprint/footprint.h"
#include "base/text.h"
#include "partition/arena/build.h"
#include "partition/cost/predict.h"
#include "partition/cut/family.h"
#include "partition/prove/check.h"
#include "partition/schedule/stretch.h"
}

/* Launches that are cut into equal superblocks, their schedules with a period and without one, and
 * changes of those. */

namespace periods {

/** A launch, and how it is cut into equal superblocks. */
struct Cut {
    std::string declaration, threads;
    std::map<std::string, std::string> arrays;
    std::vector<int64_t> block, shape;
    std::vector<int> order; /* slowest index first */
    int n_buffers;
    bool for_time;
};

/** The schedules of a cut, with all operations in the list and with a period. */
class Both {
  public:
    explicit Both(const Cut &cut) : launch(cut.declaration, cut.threads, cut.arrays) {
        if (launch.status() != POLYTILE_OK)
            return;
        const pti_problem problem = pti_problem_of(launch.instance(), &polytile_link_default,
                                                   cut.block.data(), INT64_MAX / 4);
        pti_candidate candidate = {};
        candidate.variant = pti_variant_of(&pti_family_plain, cut.n_buffers);
        for (size_t d = 0; d < cut.shape.size(); d++) {
            candidate.shape[d] = cut.shape[d];
            candidate.order[d] = cut.order[d];
        }
        candidate.n_kernels = pti_grid_n_superblocks(&problem.grid, candidate.shape);
        n_kernels = candidate.n_kernels;
        pti_partition partition;
        EXPECT_TRUE(pti_partition_uniform(&problem, &candidate, &partition));
        Build(partition, cut, &flat);
        pti_partition_free(&partition);
        EXPECT_TRUE(pti_partition_repeated(&problem, &candidate, &partition));
        if (partition.n_superblocks > 0)
            Build(partition, cut, &folded);
        pti_partition_free(&partition);
    }
    ~Both() {
        pti_schedule_free(flat);
        pti_schedule_free(folded);
    }

    Launch launch;
    int64_t n_kernels = 0;
    pti_schedule *flat = nullptr, *folded = nullptr;

  private:
    void Build(const pti_partition &partition, const Cut &cut, pti_schedule **made) {
        int64_t need_bytes = 0;
        const polytile_status status = pti_schedule_build(
            launch.instance(), &partition, cut.for_time ? &polytile_link_default : nullptr,
            INT64_MAX / 4, &need_bytes, made);
        EXPECT_TRUE(status == POLYTILE_OK || (made == &folded && status == POLYTILE_UNSUPPORTED));
    }
};

inline std::string Refusal(const pti_schedule *schedule) {
    pti_text why = {};
    std::string text = pti_schedule_check(schedule, &why) ? ""
                       : why.data == nullptr              ? "?"
                                                          : why.data;
    pti_text_free(&why);
    return text;
}

inline std::string Text(int64_t n) {
    return std::to_string(n);
}

/** A launch along one index, of a few thousand superblocks. */
inline Cut DrawLine(Random *random) {
    const std::string before = Text(random->number(0, 5)), after = Text(random->number(0, 5));
    const std::string factor = Text(random->number(1, 3));
    const std::string declarations[] = {
        "k[i]: in x[i], u[i]; out z[i]",
        "k[i]: in x[i]; inout z[i]",
        "k[i]: in x[i-" + before + ":i+" + after + "]; out z[i]",
        "k[i]: in x[i-" + before + "], x[i+" + after + "], y[:]; out z[i]",
        "k[i]: in x[" + factor + "*i:" + factor + "*i+" + after + "]; out z[i]",
        "k[i]: in x[i]; out z[" + factor + "*i:" + factor + "*i+" + factor + "-1]",
        "k[i]: in w[i, :], y[:]; out z[i]",
    };
    const int64_t block = random->number(1, 4), shape = random->number(1, 4);
    const int64_t n = random->number(2048, 6000) * block * shape + random->number(0, block * shape);
    const std::string extent = Text(4 * n);
    const int64_t drawn = random->number(0, 6), first = drawn == 3 ? 5 : random->number(0, 3);
    return {declarations[drawn],
            Text(first) + ":" + Text(n - 1 - random->number(0, 3)),
            {{"x", extent}, {"y", "37"}, {"u", extent}, {"z", extent}, {"w", Text(n) + "x3"}},
            {block},
            {shape},
            {0},
            static_cast<int>(random->number(1, 3)),
            random->number(0, 1) == 1};
}

/** A launch along two indices, cut along both or one, whichever is slow. */
inline Cut DrawPlane(Random *random) {
    const std::string r = Text(random->number(0, 2));
    const std::string declarations[] = {
        "k[i, j]: in A[i-" + r + ":i+" + r + ", j], A[i, j-" + r + ":j+" + r + "]; out B[i, j]",
        "k[i, j]: in A[j, i]; out B[i, j]",
        "k[i, j]: in A[i, j], v[j]; inout B[i, j]",
        "k[i, j]: in A[i, :], v[j]; out B[i, j]",
    };
    const int64_t n_fast = random->number(1, 9), n_slow = 2048 / n_fast + random->number(40, 400);
    const bool rows_are_slow = random->number(0, 3) > 0;
    const std::vector<int64_t> block = {random->number(1, 2), random->number(1, 2)};
    const std::vector<int64_t> shape = {random->number(1, 3), random->number(1, 3)};
    const int64_t rows = block[0] * shape[0] * (rows_are_slow ? n_slow : n_fast);
    const int64_t columns = block[1] * shape[1] * (rows_are_slow ? n_fast : n_slow);
    const std::string square = Text(std::max(rows, columns));
    const std::string plane = Text(rows) + "x" + Text(columns);
    const int64_t drawn = random->number(0, 3);
    return {declarations[drawn],
            plane,
            {{"A", drawn == 3 ? plane : square + "x" + square}, {"B", plane}, {"v", square}},
            block,
            shape,
            rows_are_slow ? std::vector<int>{0, 1} : std::vector<int>{1, 0},
            static_cast<int>(random->number(1, 3)),
            random->number(0, 1) == 1};
}

/** A copy of a schedule, to be changed. */
class Mutant {
  public:
    explicit Mutant(const pti_schedule *right) : schedule(pti_schedule_copy(right)) {}
    ~Mutant() { pti_schedule_free(schedule); }
    Mutant(const Mutant &) = delete;
    Mutant &operator=(const Mutant &) = delete;
    pti_period &period() { return schedule->period; }

    /** Drop an operation, and all waits for it. */
    void Drop(int64_t dropped) {
        for (int64_t k = 0; k < schedule->n_ops; k++) {
            pti_op &op = schedule->op[k];
            int n_kept = 0;
            for (int w = 0; w < op.n_waits; w++) {
                const int64_t wait = schedule->wait[op.first_wait + w];
                if (wait != dropped)
                    schedule->wait[op.first_wait + n_kept++] = wait - (wait > dropped ? 1 : 0);
            }
            op.n_waits = n_kept;
        }
        for (int64_t k = dropped; k + 1 < schedule->n_ops; k++)
            schedule->op[k] = schedule->op[k + 1];
        schedule->n_ops--;
        if (dropped < period().first_op)
            period().first_op--;
        else if (dropped < period().first_op + period().n_ops)
            period().n_ops--;
    }

    pti_schedule *schedule;
};

} // namespace periods

#endif
