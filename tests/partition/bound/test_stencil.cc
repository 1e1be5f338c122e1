#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <polytile/polytile.h>

#include "support/launch.h"
#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "partition/bound/stencil.h"
#include "support/chain_launch.h"
}

/* The bound of launches that read the neighbourhoods of what the former one wrote. */

namespace {

/** Launches over numbered arrays of f32. */
class Chain {
  public:
    void add(const Launch &launch, std::vector<int> arrays) {
        arrays_.push_back(std::make_unique<std::vector<int>>(std::move(arrays)));
        launches_.push_back({launch.instance(), arrays_.back()->data()});
    }
    void add(int n_times, const Launch &launch, const std::vector<int> &arrays,
             const std::vector<int> &back) {
        for (int t = 0; t < n_times; t++)
            add(launch, t % 2 == 0 ? arrays : back);
    }

    pti_bound bound(int n_arrays, int64_t limit_bytes, int scratch = -1) const {
        bool is_scratch[8] = {};
        if (scratch >= 0)
            is_scratch[scratch] = true;
        const int n = static_cast<int>(launches_.size());
        pti_bound found = pti_bound_find_chain(n, launches_.data(), n_arrays, is_scratch);
        EXPECT_TRUE(pti_bound_raise_stencil(n, launches_.data(), n_arrays, is_scratch, limit_bytes,
                                            &found));
        return found;
    }

  private:
    std::vector<std::unique_ptr<std::vector<int>>> arrays_;
    std::vector<pti_call> launches_;
};

const char *const three_points = "f[i]: in A[i-1:i+1]; out B[i]";
const char *const five_points = "f[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";
const std::map<std::string, std::string> lines = {{"A", "4098"}, {"B", "4098"}};
const std::map<std::string, std::string> squares = {{"A", "258x258"}, {"B", "258x258"}};

TEST(BoundStencil, OfALineIsTheFormulaOfOneDimension) {
    Launch step(three_points, "1:4096", lines);
    ASSERT_EQ(step.status(), POLYTILE_OK) << step.error();
    Chain chain;
    chain.add(4000, step, {0, 1}, {1, 0});
    const int64_t n_words = 256;
    const pti_bound bound = chain.bound(2, 4 * n_words, 1);
    EXPECT_EQ(bound.kind, PTI_BOUND_STENCIL) << bound.reason;
    const double formula = 4 * 4096. * 4000 / (4 * n_words);
    EXPECT_GT(static_cast<double>(bound.h2d_bytes), 0.95 * formula);
    EXPECT_LT(static_cast<double>(bound.h2d_bytes), 1.05 * formula + 4 * n_words);
    EXPECT_EQ(bound.goal_bytes, bound.h2d_bytes);
    EXPECT_NE(std::string(bound.reason).find("4000 steps over 4096 elements"), std::string::npos)
        << bound.reason;
}

TEST(BoundStencil, OfASquareIsTheFormulaOfTwoDimensions) {
    Launch step(five_points, "1:256,1:256", squares);
    ASSERT_EQ(step.status(), POLYTILE_OK) << step.error();
    Chain chain;
    chain.add(2000, step, {0, 1}, {1, 0});
    const int64_t n_words = 64;
    const pti_bound bound = chain.bound(2, 4 * n_words, 1);
    EXPECT_EQ(bound.kind, PTI_BOUND_STENCIL) << bound.reason;
    const double formula = 4 * 2 * 256. * 256 * 2000 / std::pow(3, 1.5) / std::sqrt(n_words);
    EXPECT_GT(static_cast<double>(bound.h2d_bytes), 0.9 * formula);
    EXPECT_LT(static_cast<double>(bound.h2d_bytes), 1.05 * formula);
}

TEST(BoundStencil, CopiesBetweenTheStepsCountNothingAndBreakNothing) {
    Launch step(three_points, "1:4096", lines);
    Launch copy("f[i]: in A[i]; out B[i]", "1:4096", lines);
    ASSERT_EQ(copy.status(), POLYTILE_OK) << copy.error();
    Chain alone, copied;
    alone.add(1000, step, {0, 1}, {1, 0});
    for (int t = 0; t < 1000; t++) {
        copied.add(step, {0, 1});
        copied.add(copy, {1, 0});
    }
    EXPECT_EQ(copied.bound(2, 256, 1).h2d_bytes, alone.bound(2, 256, 1).h2d_bytes);
}

TEST(BoundStencil, OtherArraysComeInBesides) {
    Launch step(three_points, "1:4096", lines);
    Launch add("f[i]: in A[i-1:i+1], C[i]; out B[i]", "1:4096",
               {{"A", "4098"}, {"B", "4098"}, {"C", "4098"}});
    ASSERT_EQ(add.status(), POLYTILE_OK) << add.error();
    Chain plain, added;
    plain.add(1000, step, {0, 1}, {1, 0});
    added.add(1000, add, {0, 2, 1}, {1, 2, 0});
    EXPECT_EQ(added.bound(3, 256, 1).h2d_bytes, plain.bound(2, 256, 1).h2d_bytes + 4 * 4096);
}

TEST(BoundStencil, TakesNothingForAStencilThatOnlyResemblesOne) {
    const char *const forms[] = {
        "f[i]: in A[i-1:i]; out B[i]",            /* one side */
        "f[i]: in A[i-1], A[i+1]; out B[i]",      /* not itself */
        "f[i]: in A[i-2:i+2:2]; out B[i]",        /* not its neighbours */
        "f[i]: in A[2*i-1:2*i+1]; out B[i]",      /* not along with it */
        "f[i]: in A[i+3:i+5]; out B[i]",          /* elsewhere */
        "f[i]: in A[i-1:i+1]; out B[2*i]",        /* not all elements */
        "f[i]: in A[i-1:i+1]; out B[i], B[i+20]", /* several */
        "f[i]: in A[i-1:i+1]; sum B[i]",
    };
    for (const char *form : forms) {
        SCOPED_TRACE(form);
        Launch step(form, "2:20", {{"A", "98"}, {"B", "98"}});
        ASSERT_EQ(step.status(), POLYTILE_OK) << step.error();
        Chain chain;
        chain.add(1000, step, {0, 1}, {1, 0});
        EXPECT_EQ(chain.bound(2, 16, 1).kind, PTI_BOUND_COMPULSORY);
    }
}

TEST(BoundStencil, TakesNothingWhereARowBeginsWithZerosOrWithWhatALaunchMade) {
    Launch step(three_points, "1:4096", lines);
    Launch make("f[i]: out B[i]", "0:4097", {{"B", "4098"}});
    ASSERT_EQ(make.status(), POLYTILE_OK) << make.error();
    Chain zeros, made;
    zeros.add(1000, step, {0, 1}, {1, 0});
    made.add(make, {0});
    made.add(1000, step, {0, 1}, {1, 0});
    EXPECT_EQ(zeros.bound(2, 256, 0).kind, PTI_BOUND_COMPULSORY);
    EXPECT_EQ(made.bound(2, 256, 1).kind, PTI_BOUND_COMPULSORY);
}

TEST(BoundStencil, TakesNothingWhereMemoryHoldsTheArrays) {
    Launch step(five_points, "1:256,1:256", squares);
    Chain chain;
    chain.add(1000, step, {0, 1}, {1, 0});
    EXPECT_EQ(chain.bound(2, 2 * 4 * 258 * 258, 1).kind, PTI_BOUND_COMPULSORY);
}

/** All ways to choose words out of the elements of a small grid, of the beginning and of each step,
 * and the most elements that any of them suffices for. */
class Sufficient {
  public:
    Sufficient(int n_dims, int extent, int n_steps)
        : n_dims_(n_dims), extent_(extent), n_cells_(n_dims == 1 ? extent : extent * extent),
          n_steps_(n_steps) {}

    int most(int n_words) {
        most_ = 0;
        chosen_.assign(static_cast<size_t>(n_cells_ * (n_steps_ + 1)), 0);
        choose(0, n_words);
        return most_;
    }

  private:
    void choose(size_t from, int n_words) {
        most_ = n_words == 0 ? std::max(most_, count()) : most_;
        for (size_t k = from; n_words > 0 && k < chosen_.size(); k++) {
            chosen_[k] = 1;
            choose(k + 1, n_words - 1);
            chosen_[k] = 0;
        }
    }

    /** Elements that are there, as a step needs them: words that were chosen, or computed. */
    int count() const {
        std::vector<char> is_there = chosen_;
        int n_computed = 0;
        for (int t = 1; t <= n_steps_; t++)
            for (int cell = 0; cell < n_cells_; cell++)
                if (can_be_computed(is_there, t, cell)) {
                    n_computed++;
                    is_there[static_cast<size_t>(t * n_cells_ + cell)] = 1;
                }
        return n_computed;
    }

    /** Beyond the grid are constants, which are always there. */
    bool can_be_computed(const std::vector<char> &is_there, int t, int cell) const {
        bool can = is_there[static_cast<size_t>((t - 1) * n_cells_ + cell)] != 0;
        for (int d = 0; d < n_dims_; d++)
            for (const int side : {-1, 1}) {
                const int stride = d == 0 ? 1 : extent_, at = cell / stride % extent_ + side;
                if (at >= 0 && at < extent_)
                    can &=
                        is_there[static_cast<size_t>((t - 1) * n_cells_ + cell + side * stride)] !=
                        0;
            }
        return can;
    }

    int n_dims_, extent_, n_cells_, n_steps_;
    int most_ = 0;
    std::vector<char> chosen_;
};

TEST(BoundStencil, NoChoiceOfWordsSufficesForMoreElements) {
    const struct {
        int n_dims, extent, n_steps, most_words;
    } cases[] = {{1, 4, 3, 3}, {1, 6, 3, 5}, {1, 9, 4, 4}, {2, 3, 2, 4}, {2, 4, 2, 3}};
    int n_bounded = 0;
    for (const auto &of : cases) {
        Sufficient grid(of.n_dims, of.extent, of.n_steps);
        pti_stencil row = {};
        row.n_steps = of.n_steps;
        row.dims = of.n_dims == 1 ? 1 : 3;
        row.box.n_dims = of.n_dims;
        for (int d = 0; d < of.n_dims; d++)
            row.box.range[d] = {0, of.extent - 1, 1};
        for (int n_words = 1; n_words <= of.most_words; n_words++) {
            const double most = pti_stencil_most_elements(&row, n_words);
            n_bounded += std::isfinite(most);
            EXPECT_LE(grid.most(n_words), most + 1e-9)
                << n_words << " words, " << of.extent << " to the power of " << of.n_dims;
        }
    }
    EXPECT_GE(n_bounded, 15);
}

/* What plans move. */

struct Drawn {
    std::string step, copy;
    int n_dims;
    int64_t extent[3];
    int64_t limit_bytes;
    int n_steps;
    bool copies, in_two;
};

Drawn draw(Random *random) {
    static const char *const steps[] = {
        "f[i]: in A[i-1:i+1]; out B[i]", "f[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
        "f[i, j, k]: in A[i-1:i+1, j-1:j+1, k-1:k+1]; out B[i, j, k]"};
    static const char *const copies[] = {"g[i]: in B[i]; out A[i]",
                                         "g[i, j]: in B[i, j]; out A[i, j]",
                                         "g[i, j, k]: in B[i, j, k]; out A[i, j, k]"};
    static const int64_t least[] = {100, 12, 6}, most[] = {650, 64, 24};
    static const int64_t least_limit[] = {1024, 3072, 8192}, most_steps[] = {2500, 250, 80};
    Drawn of = {};
    of.n_dims = static_cast<int>(random->number(1, 3));
    const size_t d = static_cast<size_t>(of.n_dims - 1);
    of.step = steps[d];
    of.copy = copies[d];
    for (int k = 0; k < of.n_dims; k++)
        of.extent[k] = random->chance(50) ? most[d] : random->number(least[d], most[d]);
    of.limit_bytes =
        random->number(least_limit[d], least_limit[d] * (random->chance(50) ? 11 : 20) / 10);
    of.n_steps =
        static_cast<int>(random->chance(50) ? most_steps[d] : random->number(1, most_steps[d]));
    of.copies = random->chance(30);
    of.in_two = random->chance(50);
    return of;
}

/** Plan steps to and fro, or each followed by a copy; the figures and the kind of the bound. */
polytile_plan_summary plan(const Drawn &of, std::string *bound) {
    polytile_context *ctx = nullptr;
    polytile_context_create(&ctx);
    polytile_kernel *step = nullptr, *copy = nullptr;
    EXPECT_EQ(polytile_kernel_create(ctx, of.step.c_str(), nullptr, &step), POLYTILE_OK);
    EXPECT_EQ(polytile_kernel_create(ctx, of.copy.c_str(), nullptr, &copy), POLYTILE_OK);
    polytile_domain whole = {}, inner = {};
    whole.n_dims = inner.n_dims = of.n_dims;
    for (int d = 0; d < of.n_dims; d++) {
        whole.range[d] = {0, of.extent[d] - 1, 1};
        inner.range[d] = {1, of.extent[d] - 2, 1};
    }
    polytile_array *a = nullptr, *b = nullptr;
    polytile_array_describe(ctx, "A", POLYTILE_F32, &whole, &a);
    polytile_array_describe(ctx, "B", POLYTILE_F32, &whole, &b);
    polytile_array *there[] = {a, b}, *back[] = {b, a};
    std::vector<polytile_chain_launch> launches;
    for (int t = 0; t < of.n_steps; t++) {
        launches.push_back(chain_launch(step, inner, of.copies || t % 2 == 0 ? there : back));
        if (of.copies)
            launches.push_back(chain_launch(copy, inner, back));
    }
    polytile_plan_options options = {};
    options.limit_bytes = of.limit_bytes;
    options.strategy = "min-traffic";
    polytile_plan *made = nullptr;
    polytile_plan_summary summary = {};
    EXPECT_EQ(polytile_plan_create_chain(static_cast<int>(launches.size()), launches.data(),
                                         of.in_two ? 0 : 1, &b, &options, &made),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    if (made != nullptr) {
        polytile_plan_get_summary(made, &summary);
        *bound = summary.bound;
    }
    polytile_context_destroy(ctx);
    return summary;
}

TEST(BoundStencil, IsNeverAboveWhatAPlanMoves) {
    Random random(test_seed("BoundStencil.IsNeverAboveWhatAPlanMoves"));
    const int64_t n_plans = scaled(60);
    int64_t n_stencils = 0;
    double nearest = INFINITY;
    for (int64_t n = 0; n < n_plans && !testing::Test::HasFailure(); n++) {
        const Drawn of = draw(&random);
        std::string bound;
        const polytile_plan_summary s = plan(of, &bound);
        SCOPED_TRACE(of.step + " over " + std::to_string(of.extent[0]) + "x" +
                     std::to_string(of.extent[1]) + "x" + std::to_string(of.extent[2]) + ", " +
                     std::to_string(of.n_steps) + " steps, " + std::to_string(of.limit_bytes) +
                     " bytes: " + bound);
        EXPECT_GE(s.h2d_bytes, s.lower_bound_h2d_bytes);
        EXPECT_GE(s.h2d_bytes + s.d2h_bytes, s.lower_bound_bytes);
        if (bound.rfind("stencil", 0) != 0)
            continue;
        n_stencils++;
        nearest = std::min(nearest, static_cast<double>(s.h2d_bytes) /
                                        static_cast<double>(s.lower_bound_h2d_bytes));
    }
    std::printf("%lld of %lld plans have the bound of a stencil, the nearest moves %.2f times it\n",
                static_cast<long long>(n_stencils), static_cast<long long>(n_plans), nearest);
    EXPECT_GE(n_stencils, least_count(n_plans, 0.24));
}

} // namespace
