#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "partition/cut/launches.h"
#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "access/set/boxes.h"
#include "base/text.h"
#include "partition/arena/build.h"
#include "partition/choose/choose.h"
#include "partition/prove/check.h"
}

using namespace cut;

namespace {

struct Numbers {
    int n_buffers, along, n_strips;
};

struct Application {
    const char *name;
    Kernel kernel;
    const pti_family *family;
    pti_buffer_range buffers;
    std::vector<Numbers> variants;
};

TEST(Family, AppliesToTheLaunchesThatItsFileSaysByTheseVariants) {
    const Application table[] = {
        {"any launch", Add(100), &pti_family_plain, {1, 2, 3}, {{1, -1, 1}, {2, -1, 1}}},
        {"the user's buffers", Gemm(8), &pti_family_plain, {3, 3, 3}, {{3, -1, 1}}},
        {"a product, along k",
         Gemm(8),
         &pti_family_strips,
         {1, 2, 3},
         {{2, 2, 8}, {2, 2, 4}, {2, 2, 2}}},
        {"one buffer", Gemm(8), &pti_family_strips, {1, 1, 3}, {}},
        {"nothing is accumulated", Add(100), &pti_family_strips, {1, 2, 3}, {}},
        {"one result cannot be cut", Dot(100), &pti_family_strips, {1, 2, 3}, {}},
        {"results of columns",
         columns,
         &pti_family_strips,
         {1, 2, 3},
         {{2, 0, 8}, {2, 0, 4}, {2, 0, 2}}},
        {"results overlap", overlapping, &pti_family_strips, {1, 2, 3}, {}},
        {"a product, along each index",
         Gemm(8),
         &pti_family_lines,
         {1, 2, 3},
         {{2, 0, 1}, {3, 0, 1}, {2, 1, 1}, {3, 1, 1}, {2, 2, 1}, {3, 2, 1}}},
        {"the user's two buffers", columns, &pti_family_lines, {2, 2, 2}, {{2, 0, 1}}},
        {"one buffer", Gemm(8), &pti_family_lines, {1, 1, 3}, {}},
        {"nothing stays", Add(100), &pti_family_lines, {1, 2, 3}, {}},
        {"neighbours move", Jacobi(32), &pti_family_lines, {1, 2, 3}, {}},
        {"rows grow", Triangle(50), &pti_family_varying, {1, 2, 3}, {{1, -1, 1}, {2, -1, 1}}},
        {"footprints only move", Jacobi(32), &pti_family_varying, {1, 2, 3}, {}},
    };
    for (const Application &of : table) {
        SCOPED_TRACE(std::string(of.family->name) + ": " + of.name);
        const std::unique_ptr<Launch> launch(MakeLaunch(of.kernel));
        ASSERT_EQ(launch->status(), POLYTILE_OK) << launch->error();
        const pti_problem problem =
            pti_problem_of(launch->instance(), &polytile_link_default, pti_one_block, MiB);
        const std::vector<pti_variant> variants = VariantsOf(*of.family, problem, of.buffers);
        ASSERT_EQ(variants.size(), of.variants.size());
        for (size_t k = 0; k < variants.size(); k++) {
            EXPECT_EQ(variants[k].family, of.family);
            EXPECT_EQ(variants[k].n_buffers, of.variants[k].n_buffers) << k;
            EXPECT_EQ(variants[k].along, of.variants[k].along) << k;
            EXPECT_EQ(variants[k].n_strips, of.variants[k].n_strips) << k;
        }
    }
}

TEST(Family, RowsThatDoNotApplyByThemselvesAreNamed) {
    std::set<std::string> names, unnamed;
    for (const pti_family *family : pti_families) {
        names.insert(family->name);
        EXPECT_NE(family->partition, nullptr) << family->name;
        if (family->next == nullptr)
            unnamed.insert(family->name);
        EXPECT_EQ(family->next != nullptr && family->seconds != nullptr,
                  family->least_seconds != nullptr)
            << family->name << ": what is searched for has a lower bound";
    }
    EXPECT_EQ(names.size(), size_t{PTI_N_FAMILIES});
    EXPECT_EQ(unnamed, (std::set<std::string>{"paper", "tapered"}));
    EXPECT_EQ(pti_strategy_find("paper")->solved, &pti_family_paper);
}

/** A device on which a product takes so many times as long as it does on the default one. */
polytile_link LinkOf(double slower, double cache_bytes) {
    polytile_link link = polytile_link_default;
    link.kernel_accesses_per_s /= slower;
    link.cache_bytes *= cache_bytes;
    return link;
}

TEST(Family, EachRowIsTakenBySomeLaunch) {
    const polytile_link usual = polytile_link_default, slow = LinkOf(100, 0),
                        fast = LinkOf(1. / 6, 1);
    const struct {
        const pti_family *family;
        Kernel kernel;
        const char *strategy;
        int64_t limit_bytes;
        const polytile_link *link;
    } table[] = {
        {&pti_family_plain, Jacobi(2048), "min-traffic", MiB, &usual},
        {&pti_family_strips, Gemm(4096), "min-time", 24 * MiB, &slow},
        {&pti_family_lines, Gemm(8192), "min-time", 96 * MiB, &fast},
        {&pti_family_tapered, Add(1 << 24), "min-time", 32 * MiB, &usual},
        {&pti_family_varying, Triangle(2000), "min-kernels", 200 * KiB, &usual},
        {&pti_family_paper, Jacobi(2048), "paper", MiB, &usual},
    };
    std::set<const pti_family *> taken;
    for (const auto &of : table) {
        SCOPED_TRACE(of.family->name);
        const std::unique_ptr<Launch> launch(MakeLaunch(of.kernel));
        ASSERT_EQ(launch->status(), POLYTILE_OK) << launch->error();
        polytile_plan_options options = {};
        options.limit_bytes = of.limit_bytes;
        options.link = of.link;
        pti_choice choice;
        ASSERT_EQ(pti_choose(launch->context(), launch->instance(), pti_strategy_find(of.strategy),
                             &options, &choice),
                  POLYTILE_OK)
            << launch->error();
        EXPECT_STREQ(choice.family->name, of.family->name);
        taken.insert(choice.family);
        pti_schedule_free(choice.schedule);
    }
    EXPECT_EQ(taken.size(), size_t{PTI_N_FAMILIES}) << "a row that nothing takes";
}

/** The superblocks are disjoint boxes inside the domain with as many threads as it has, and their
 * schedule passes the checker, wherever it fits. */
void ExpectRight(const pti_problem &problem, const pti_partition &partition) {
    pti_boxes covered = {};
    int64_t n_threads = 0;
    for (int64_t k = 0; k < partition.n_superblocks; k++) {
        n_threads += pti_box_count(&partition.superblock[k]);
        pti_boxes_add(&covered, &partition.superblock[k]);
    }
    int64_t n_covered = 0;
    for (int k = 0; k < covered.n_boxes; k++)
        n_covered += pti_box_count(&covered.box[k]);
    pti_boxes_free(&covered);
    EXPECT_EQ(n_threads, pti_box_count(&problem.instance->threads));
    EXPECT_EQ(n_covered, n_threads);
    pti_schedule *schedule = nullptr;
    int64_t need_bytes = 0;
    const polytile_status status = pti_schedule_build(problem.instance, &partition, nullptr,
                                                      INT64_MAX / 2, &need_bytes, &schedule);
    ASSERT_EQ(status, POLYTILE_OK);
    pti_text why = {};
    EXPECT_TRUE(pti_schedule_check(schedule, &why)) << (why.data != nullptr ? why.data : "");
    pti_text_free(&why);
    pti_schedule_free(schedule);
}

/** A candidate of a variant, of a shape that is drawn. */
pti_candidate DrawCandidate(const pti_problem &problem, const pti_variant &variant,
                            Random *random) {
    pti_candidate candidate = {};
    candidate.variant = variant;
    for (int d = 0; d < problem.instance->n_indices; d++)
        candidate.shape[d] = random->number(1, problem.grid.n_blocks[d]);
    if (variant.family->seconds != nullptr && variant.family->least_seconds != nullptr)
        pti_candidate_estimate(&problem, &candidate);
    else
        candidate.n_kernels = 1000;
    return candidate;
}

TEST(Family, SuperblocksOfEveryVariantCoverTheDomainOnceInARightSchedule) {
    Random random(test_seed("Family"));
    std::map<std::string, int> n_made;
    for (int64_t round = std::max<int64_t>(scaled(100), 20); round > 0; round--) {
        const int64_t n = random.number(5, 14);
        const Kernel kernels[] = {Gemm(n), Jacobi(n), Triangle(n), columns, Add(10 * n)};
        const std::unique_ptr<Launch> launch(MakeLaunch(kernels[round % 5]));
        ASSERT_EQ(launch->status(), POLYTILE_OK) << launch->error();
        const std::vector<int64_t> block = {random.number(1, 2), random.number(1, 3), 1};
        const pti_problem problem = pti_problem_of(launch->instance(), &polytile_link_default,
                                                   block.data(), random.number(200, 500));
        for (const pti_family *family : pti_families) {
            SCOPED_TRACE(family->name);
            const pti_family *from = family->next != nullptr ? family : &pti_family_plain;
            for (const pti_variant &variant : VariantsOf(*from, problem, {1, 2, 3})) {
                const pti_candidate candidate = DrawCandidate(problem, variant, &random);
                pti_partition partition;
                ASSERT_TRUE(family->partition(&problem, &candidate, &partition));
                if (partition.n_superblocks > 0)
                    ExpectRight(problem, partition);
                n_made[family->name] += partition.n_superblocks > 1;
                pti_partition_free(&partition);
            }
        }
    }
    EXPECT_EQ(n_made.size(), size_t{PTI_N_FAMILIES});
    for (const auto &[name, n] : n_made)
        EXPECT_GT(n, 0) << name;
}

} // namespace
