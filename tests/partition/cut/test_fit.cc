#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <string>
#include <vector>

#include "partition/cut/launches.h"
#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "partition/cost/demand.h"
#include "partition/window/plan.h"
}

/* Whether superblocks fit that look up index arrays, against looking at each of them. */

namespace {

/** A launch over index arrays, bound. */
class LookedUp {
  public:
    LookedUp() { EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK); }
    ~LookedUp() {
        pti_instance_free(instance_);
        polytile_context_destroy(ctx_);
    }
    LookedUp(const LookedUp &) = delete;
    LookedUp &operator=(const LookedUp &) = delete;

    void index(const char *name, const std::vector<int32_t> &held) {
        memory_.push_back(held);
        const auto extent = static_cast<int64_t>(held.size());
        arrays_.push_back(nullptr);
        EXPECT_EQ(polytile_array_wrap(ctx_, name, POLYTILE_I32, 1, &extent, memory_.back().data(),
                                      &arrays_.back()),
                  POLYTILE_OK);
    }

    void array(const char *name, const std::vector<int64_t> &extents) {
        const polytile_domain domain =
            polytile_domain_from_extents(static_cast<int>(extents.size()), extents.data());
        arrays_.push_back(nullptr);
        EXPECT_EQ(polytile_array_describe(ctx_, name, POLYTILE_F32, &domain, &arrays_.back()),
                  POLYTILE_OK);
    }

    const pti_instance *bind(const char *declaration, const std::vector<int64_t> &threads) {
        const polytile_launch_options options = {};
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx_, declaration, nullptr, &kernel), POLYTILE_OK)
            << polytile_last_error(ctx_);
        const polytile_domain domain =
            polytile_domain_from_extents(static_cast<int>(threads.size()), threads.data());
        EXPECT_EQ(pti_plan_bind_operands(kernel, &domain, arrays_.data(), &options, &instance_),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
        return instance_;
    }

  private:
    polytile_context *ctx_ = nullptr;
    std::list<std::vector<int32_t>> memory_;
    std::vector<polytile_array *> arrays_;
    pti_instance *instance_ = nullptr;
};

/** Indices below n: all over, in a band, or in a band but for a few. */
std::vector<int32_t> draw_indices(int64_t n_held, int64_t n, Random *random) {
    std::vector<int32_t> held;
    const int64_t width = random->number(0, n / 4), far_percent = random->one_of({0, 0, 1, 100});
    for (int64_t e = 0; e < n_held; e++) {
        const bool is_far = random->chance(static_cast<int>(far_percent));
        const int64_t near = std::min(n - 1, e * n / n_held + random->number(0, width));
        held.push_back(static_cast<int32_t>(is_far ? random->number(0, n - 1) : near));
    }
    return held;
}

/** Where rows begin, and where the last one ends: some are much longer than others. */
std::vector<int32_t> draw_rows(int64_t n_rows, Random *random) {
    std::vector<int32_t> begins(1, 0);
    const int long_percent = static_cast<int>(random->one_of({0, 1, 20}));
    for (int64_t i = 0; i < n_rows; i++)
        begins.push_back(begins.back() + static_cast<int32_t>(random->number(
                                             0, random->chance(long_percent) ? 200 : 4)));
    return begins;
}

const pti_instance *bind_gather(LookedUp *of, Random *random) {
    const int64_t n = random->one_of({1, 7, 300, 3000}), n_x = random->number(1, 4000);
    of->array("x", {n_x});
    of->index("K", draw_indices(n, n_x, random));
    of->array("z", {n});
    return of->bind("gather[e]: in x[K[e]]; out z[e]", {n});
}

const pti_instance *bind_rows(LookedUp *of, Random *random) {
    const int64_t n = random->one_of({1, 7, 300, 3000}), n_x = random->number(1, 4000);
    const std::vector<int32_t> begins = draw_rows(n, random);
    const int64_t n_entries = begins.back() + 1;
    of->array("V", {n_entries});
    of->index("P", begins);
    of->array("x", {n_x});
    of->index("K", draw_indices(n_entries, n_x, random));
    of->array("y", {n});
    return of->bind("rows[i]: in V[P[i]:P[i+1]-1], x[K[P[i]:P[i+1]-1]]; out y[i]", {n});
}

const pti_instance *bind_entries(LookedUp *of, Random *random) {
    const int64_t n = random->one_of({1, 50, 3000}), n_x = random->number(1, 4000);
    of->array("x", {n_x});
    of->index("K", draw_indices(n, n_x, random));
    of->array("y", {n_x});
    of->index("R", draw_indices(n, n_x, random));
    return of->bind("entries[e]: in x[K[e]]; sum y[R[e]]", {n});
}

/** Beside what is looked up, operands that go round an edge, and in steps. */
const pti_instance *bind_table(LookedUp *of, Random *random) {
    const int64_t n = random->number(1, 70), m = random->number(1, 50),
                  n_rows = random->number(1, 90), n_columns = random->number(1, 90);
    of->array("T", {n_rows, n_columns});
    of->index("K", draw_indices(n, n_rows, random));
    of->index("L", draw_indices(m, n_columns, random));
    of->array("u", {n, 2 * m});
    of->array("w", {n, m});
    return of->bind("table[i, j]: in T[K[i], L[j]], u[wrap(i-1:i+1), 2*j]; out w[i, j]", {n, m});
}

/** The threads of the first strip of a superblock, or of all of it. */
polytile_domain threads_at(const pti_problem &problem, const pti_variant &variant,
                           const int64_t *shape, const int64_t *position) {
    polytile_domain threads = pti_grid_superblock(&problem.grid, shape, position);
    if (variant.n_strips > 1) {
        polytile_range *range = &threads.range[variant.cut];
        range->hi = std::min(
            range->hi,
            range->lo + pti_strip_blocks(&variant, shape) * problem.grid.block[variant.cut] - 1);
    }
    return threads;
}

bool arena_fits(const pti_problem &problem, const pti_variant &variant, const int64_t *shape,
                const pti_demand &demand) {
    int64_t n_pieces[PTI_MAX_OPERANDS];
    int n_places[PTI_MAX_OPERANDS];
    for (int o = 0; o < problem.instance->n_operands; o++) {
        n_pieces[o] = 1;
        for (int d = 0; d < problem.instance->n_indices && !problem.has_largest[o]; d++)
            n_pieces[o] *= problem.depends[o][d] ? pti_grid_quotient(&problem.grid, shape, d) : 1;
        n_places[o] = variant.family->count_places == nullptr
                          ? 0
                          : variant.family->count_places(&problem, &variant, shape, o);
        if (n_places[o] == 0 && problem.keeps_largest && problem.has_largest[o])
            n_places[o] = 1;
    }
    return demand.superblock_bytes <= problem.limit_bytes &&
           pti_demand_divide(&demand, problem.instance, n_pieces, n_places, variant.n_buffers, 1,
                             problem.limit_bytes)
                   .arena_bytes <= problem.limit_bytes;
}

/** Superblock after superblock. */
bool each_fits(const pti_problem &problem, const pti_variant &variant, const int64_t *shape) {
    pti_demand demand = {};
    int64_t position[POLYTILE_MAX_DIMS] = {};
    const int last = problem.instance->n_indices - 1;
    for (;;) {
        const polytile_domain threads = threads_at(problem, variant, shape, position);
        pti_demand_add(&demand, problem.instance, &threads);
        int d = last;
        while (d >= 0 && ++position[d] == pti_grid_quotient(&problem.grid, shape, d))
            position[d--] = 0;
        if (d < 0)
            return arena_fits(problem, variant, shape, demand);
    }
}

pti_variant draw_variant(const pti_problem &problem, Random *random) {
    const pti_family *families[] = {&pti_family_plain, &pti_family_strips, &pti_family_lines};
    const std::vector<pti_variant> variants =
        cut::VariantsOf(*families[random->number(0, 2)], problem, {1, 3, 3});
    if (variants.empty())
        return pti_variant_of(&pti_family_plain, static_cast<int>(random->number(1, 3)));
    return variants[static_cast<size_t>(
        random->number(0, static_cast<int64_t>(variants.size()) - 1))];
}

TEST(Fit, SuperblocksThatLookUpFitWhereEachOfThemDoes) {
    Random random(test_seed("Fit"));
    const int64_t n_rounds = scaled(400);
    int64_t n_fit = 0, n_not = 0;
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        LookedUp launch;
        const auto kind = static_cast<size_t>(random.number(0, 3));
        const auto binds = {bind_gather, bind_rows, bind_entries, bind_table};
        const pti_instance *instance = binds.begin()[kind](&launch, &random);
        ASSERT_NE(instance, nullptr);
        const pti_problem whole =
            pti_problem_of(instance, &polytile_link_default, pti_one_block, 1 << 30);
        const pti_variant variant = draw_variant(whole, &random);
        int64_t operand_bytes[PTI_MAX_OPERANDS];
        const int64_t all_bytes = pti_piece_bytes(instance, &instance->threads, operand_bytes);
        for (int draw = 0; draw < 8; draw++) {
            int64_t shape[POLYTILE_MAX_DIMS] = {}, block[POLYTILE_MAX_DIMS] = {};
            for (int d = 0; d < instance->n_indices; d++) {
                block[d] = random.number(1, 3);
                shape[d] = random.number(1, std::max<int64_t>(1, whole.grid.n_blocks[d] / 8));
            }
            const int64_t limit = random.number(16, 2 * all_bytes >> random.number(0, 5));
            pti_problem problem = pti_problem_of(instance, &polytile_link_default, block, limit);
            problem.keeps_largest = random.chance(50);
            const bool expected = each_fits(problem, variant, shape);
            EXPECT_EQ(pti_fit_full(&problem, &variant, shape), expected);
            EXPECT_EQ(pti_fit_quick(&problem, &variant, shape), expected);
            n_fit += expected;
            n_not += !expected;
        }
    }
    EXPECT_TRUE(n_rounds < 20 || (n_fit > 0 && n_not > 0));
}

} // namespace
