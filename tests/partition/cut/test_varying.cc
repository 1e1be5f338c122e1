#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "partition/cut/launches.h"
#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "partition/cost/demand.h"
}

/* Superblocks of varying size, against a cut that looks at one block after the other. */

using namespace cut;

namespace {

using Boxes = std::vector<polytile_domain>;

Kernel on_square(const char *declaration, int64_t n, int64_t m) {
    const std::string extents = std::to_string(n) + "x" + std::to_string(m);
    return {declaration, extents, {{"A", extents}, {"B", extents}}};
}

const char *const ring = "ring[i, j]: in A[wrap(i-1:i+1), j], A[i, wrap(j-1:j+1)]; out B[i, j]";
const char *const wedge = "wedge[i, j]: in A[i, 0:j]; out B[i, j]";
const char *const corner = "corner[i, j]: in A[0:i, 0:j]; out B[i, j]";
const char *const shifted = "shifted[i, j]: in A[wrap(i+5), j]; out B[i, j]";

bool fits(const pti_problem &problem, const polytile_domain &threads) {
    int64_t operand_bytes[PTI_MAX_OPERANDS];
    return pti_piece_bytes(problem.instance, &threads, operand_bytes) <= problem.limit_bytes;
}

/** Greedily, column after column, in blocks of one thread; empty if something does not fit. */
Boxes cut_plainly(const pti_problem &problem, int index, const int64_t *shape) {
    Boxes made;
    const int other = 1 - index;
    const int64_t *n = problem.grid.n_blocks;
    for (int64_t column = 0; column < n[other]; column += shape[other])
        for (int64_t first = 0, length; first < n[index]; first += length) {
            polytile_domain box = problem.instance->threads;
            box.range[other].lo += column;
            box.range[other].hi =
                std::min(box.range[other].hi, box.range[other].lo + shape[other] - 1);
            box.range[index].lo += first;
            const int64_t end = box.range[index].hi;
            polytile_domain longest = box;
            length = 0;
            for (box.range[index].hi = box.range[index].lo; box.range[index].hi <= end;
                 box.range[index].hi++) {
                if (!fits(problem, box))
                    break;
                longest = box;
                length++;
            }
            if (length == 0)
                return {};
            made.push_back(longest);
        }
    return made;
}

/** The fewest of both indices, for all ways of halving the other one. */
Boxes cut_best(const pti_problem &problem, int64_t most) {
    Boxes best;
    for (int index = 0; index < 2; index++) {
        int64_t shape[] = {problem.grid.n_blocks[0], problem.grid.n_blocks[1]};
        if (problem.only_moves[index] || shape[index] == 1)
            continue;
        for (bool is_last = false; !is_last; shape[1 - index] = (shape[1 - index] + 1) / 2) {
            is_last = shape[1 - index] == 1;
            const Boxes made = cut_plainly(problem, index, shape);
            const int64_t n_made = static_cast<int64_t>(made.size());
            if (n_made > 0 && n_made <= most && (best.empty() || made.size() < best.size()))
                best = made;
        }
    }
    return best;
}

TEST(Varying, SuperblocksAreTheLongestThatFit) {
    Random random(test_seed("Varying.SuperblocksAreTheLongestThatFit"));
    int64_t n_cut = 0;
    const int64_t n_rounds = scaled(200);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        const char *const declarations[] = {ring, wedge, corner, shifted};
        const char *const declaration = declarations[random.number(0, 3)];
        const int64_t n = random.number(1, 40), m = random.number(1, 40);
        const std::unique_ptr<Launch> launch(MakeLaunch(on_square(declaration, n, m)));
        ASSERT_EQ(launch->status(), POLYTILE_OK) << launch->error();
        const int64_t limit = random.number(8, 10 * n * m);
        SCOPED_TRACE(std::string(declaration) + " over " + std::to_string(n) + "x" +
                     std::to_string(m) + ", limit " + std::to_string(limit));
        const pti_problem problem =
            pti_problem_of(launch->instance(), &polytile_link_default, pti_one_block, limit);
        pti_candidate candidate = {};
        candidate.variant = pti_variant_of(&pti_family_varying, 1);
        candidate.n_kernels = random.one_of({1, 10, 100, 10000});
        const Boxes expected = cut_best(problem, candidate.n_kernels);
        pti_partition partition;
        ASSERT_TRUE(pti_family_varying.partition(&problem, &candidate, &partition));
        ASSERT_EQ(partition.n_superblocks, static_cast<int64_t>(expected.size()));
        for (size_t k = 0; k < expected.size(); k++)
            EXPECT_TRUE(pti_box_equals(&partition.superblock[k], &expected[k])) << k;
        n_cut += partition.n_superblocks > 1;
        pti_partition_free(&partition);
    }
    EXPECT_GE(n_cut, least_count(n_rounds, 0.3));
}

/** Edges alone, where equal superblocks fit; where none do, one that ends where threads go round
 * may. */
TEST(Varying, EdgesAloneAreAReasonWhereNothingElseFits) {
    const struct {
        const char *declaration;
        bool with_fits, without;
    } table[] = {{ring, false, true}, {shifted, false, true}, {wedge, true, true}};
    for (const auto &of : table) {
        SCOPED_TRACE(of.declaration);
        const std::unique_ptr<Launch> launch(MakeLaunch(on_square(of.declaration, 30, 30)));
        const pti_problem problem =
            pti_problem_of(launch->instance(), &polytile_link_default, pti_one_block, 4000);
        const pti_buffer_range buffers = {1, 3, 3};
        for (const bool fits : {true, false}) {
            pti_variant variant = pti_variant_of(&pti_family_varying, 0);
            EXPECT_EQ(pti_family_varying.next(&problem, &buffers, fits, &variant),
                      fits ? of.with_fits : of.without);
        }
    }
}

} // namespace
