#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <polytile/polytile.h>

#include "partition/bound/pebbles.h"
#include "support/launch.h"
#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "partition/bound/bound.h"
}

namespace {

constexpr int64_t GiB = int64_t{1} << 30;

/** A launch over arrays of f32. */
struct Form {
    const char *declaration;
    const char *threads;
    std::map<std::string, std::string> arrays;
};

pti_bound bound_of(const Form &form, int64_t limit_bytes) {
    Launch launch(form.declaration, form.threads, form.arrays);
    EXPECT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    return launch.instance() ? pti_bound_find(launch.instance(), limit_bytes) : pti_bound{};
}

const std::map<std::string, std::string> square = {{"A", "64x64"}, {"B", "64x64"}, {"C", "64x64"}};

TEST(Bound, RecognisesMatmulsWhateverTheyAreCalledAndHoweverTheyAreStored) {
    const Form forms[] = {
        {"gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]", "64x64x64", square},
        {"f[k, j, i]: in B[k, j], A[i, k]; sum C[i, j]", "64x64x64", square},
        {"f[u, v, w]: in A[w, u], B[v, w]; sum C[v, u]", "64x64x64", square},
        {"f[x, y, z]: out sum C[y, x]; in A[z, x], B[y, z]", "64x64x64", square},
        {"f[i, j, k]: in A[63-i, k], B[k, j]; out max C[i, j]", "64x64x64", square},
        {"whole[i, j]: in A[i, :], B[:, j]; out C[i, j]", "64x64", square},
        {"whole[i, j]: in A[i, :], B[j, :]; out C[j, i]", "64x64", square},
        {"f[i, j, k]: in A[i, k], B[k, j], C[i, j]; out sum s[0]",
         "64x64x64",
         {{"A", "64x64"}, {"B", "64x64"}, {"C", "64x64"}, {"s", "1"}}},
    };
    const int64_t limit_bytes = 4 * 1600;
    for (const Form &form : forms) {
        SCOPED_TRACE(form.declaration);
        const pti_bound bound = bound_of(form, limit_bytes);
        EXPECT_EQ(bound.kind, PTI_BOUND_MATMUL) << bound.reason;
        EXPECT_NEAR(static_cast<double>(bound.goal_bytes), 4 * 2 * 64. * 64 * 64 / 40, 2);
        EXPECT_NE(std::string(bound.reason).find("S = 1600 words"), std::string::npos)
            << bound.reason;
    }
}

TEST(Bound, RecognisesGroupsOfIndicesAndBatches) {
    const Form contraction = {"f[a, b, c, d, e]: in A[a, b, e], B[e, c, d]; out sum C[a, b, c, d]",
                              "8x8x8x8x64",
                              {{"A", "8x8x64"}, {"B", "64x8x8"}, {"C", "8x8x8x8"}}};
    const Form batched = {"f[b, i, j, k]: in A[b, i, k], B[b, k, j]; out sum C[b, i, j]",
                          "8x64x64x64",
                          {{"A", "8x64x64"}, {"B", "8x64x64"}, {"C", "8x64x64"}}};
    const pti_bound one = bound_of(contraction, 1600), many = bound_of(batched, 1600);
    EXPECT_EQ(one.kind, PTI_BOUND_MATMUL);
    EXPECT_NEAR(static_cast<double>(one.goal_bytes), 4 * 2 * 64. * 64 * 64 / 20, 2);
    EXPECT_EQ(many.kind, PTI_BOUND_MATMUL);
    EXPECT_NEAR(static_cast<double>(many.goal_bytes), 8 * 4 * 2 * 64. * 64 * 64 / 20, 16);
}

TEST(Bound, TakesNothingForAMatmulThatOnlyResemblesOne) {
    const std::map<std::string, std::string> wide = {
        {"A", "66x66"}, {"B", "130x130"}, {"C", "64x64"}, {"D", "64x64"}};
    const Form forms[] = {
        {"window[i, j, k]: in A[i:i+1, k], B[k, j]; out sum C[i, j]", "64x64x64", wide},
        {"shared[i, j, k]: in A[i, k], B[k+i, j]; out sum C[i, j]", "64x64x64", wide},
        {"triangle[i, j]: in A[i, 0:i], B[j, 0:j]; out C[i, j]", "64x64", wide},
        {"sums[i, j, k]: in A[i, k]; out sum C[i, j], D[i, j]", "64x64x64", wide},
        {"twice[i, j, k]: in A[i, k], A[k, j]; out sum C[i, j]", "64x64x64", wide},
        {"missing[i, j, k]: in A[i, k], B[k, k]; out sum C[i, j]", "64x64x64", wide},
        {"same[i, j]: in A[i, j], B[i, j]; out C[i, j]", "64x64", wide},
    };
    for (const Form &form : forms) {
        SCOPED_TRACE(form.declaration);
        const pti_bound bound = bound_of(form, 1600);
        EXPECT_NE(bound.kind, PTI_BOUND_MATMUL) << bound.reason;
    }
}

TEST(Bound, RecognisesPairsOfWhichEachMeetsEach) {
    const Form forms[] = {
        {"mv[i, j]: in A[i, j], x[j]; sum y[i]",
         "64x64",
         {{"A", "64x64"}, {"x", "64"}, {"y", "64"}}},
        {"force[i, j]: in x[i], z[j]; out sum y[i]",
         "64x64",
         {{"x", "64"}, {"z", "64"}, {"y", "64"}}},
    };
    const int64_t n_others[] = {64 * 64, 64};
    for (int f = 0; f < 2; f++) {
        SCOPED_TRACE(forms[f].declaration);
        const pti_bound bound = bound_of(forms[f], 16);
        EXPECT_EQ(bound.kind, PTI_BOUND_PAIRS) << bound.reason;
        EXPECT_NEAR(static_cast<double>(bound.goal_bytes),
                    static_cast<double>(4 * n_others[f] + 256 * 256 / 16), 2);
    }
}

TEST(Bound, OfWholeRowsIsThatOfPairsWhereMemoryHoldsFewOfThem) {
    const Form whole = {"whole[i, j]: in A[i, :], B[:, j]; out C[i, j]", "64x64", square};
    const pti_bound bound = bound_of(whole, 4 * 256);
    EXPECT_EQ(bound.kind, PTI_BOUND_PAIRS) << bound.reason;
    EXPECT_NEAR(static_cast<double>(bound.goal_bytes), 4 * 64. * 64 * 64 * 64 / 256, 2);
    EXPECT_EQ(bound.h2d_bytes, bound.goal_bytes);
}

TEST(Bound, OfStreamsAndLargeMemoriesIsEachElementOnce) {
    const Form add = {
        "add[i]: in x[i], y[i]; out z[i]", "1000", {{"x", "1000"}, {"y", "1000"}, {"z", "1000"}}};
    const Form gemm = {"gemm[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]", "64x64x64", square};
    EXPECT_EQ(bound_of(add, 100).h2d_bytes, 8000);
    EXPECT_EQ(bound_of(add, 100).d2h_bytes, 4000);
    const pti_bound large = bound_of(gemm, GiB);
    EXPECT_EQ(large.kind, PTI_BOUND_COMPULSORY);
    EXPECT_EQ(large.h2d_bytes, 3 * 64 * 64 * 4);
    EXPECT_EQ(large.goal_bytes, large.h2d_bytes);
}

/** The fewest uploads of a tiny product over all orders of its multiplications and all choices of
 * what to keep, by search. */
TEST(Bound, IsNeverAboveTheBestPebbling) {
    const char *fresh = "gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]";
    const char *given = "gemm[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]";
    const std::map<std::string, std::string> arrays = {{"A", "2x2"}, {"B", "2x2"}, {"C", "2x2"}};
    const struct {
        bool starts;
        polytile_type types[3];
        int64_t memory;
    } cases[] = {
        {true, {POLYTILE_U8, POLYTILE_U8, POLYTILE_U8}, 3},
        {true, {POLYTILE_U8, POLYTILE_U8, POLYTILE_U8}, 4},
        {false, {POLYTILE_U8, POLYTILE_U8, POLYTILE_U8}, 3},
        {false, {POLYTILE_U8, POLYTILE_U8, POLYTILE_U8}, 5},
        {true, {POLYTILE_I8, POLYTILE_I16, POLYTILE_U8}, 4},
        {false, {POLYTILE_I8, POLYTILE_I8, POLYTILE_I32}, 6},
    };
    for (const auto &c : cases) {
        if (is_left_out(&c - cases, 3))
            continue;
        SCOPED_TRACE(std::to_string(c.memory) + " bytes of memory");
        Launch::Options options;
        for (int a = 0; a < 3; a++)
            options.types[std::string(1, static_cast<char>('A' + a))] = c.types[a];
        Launch launch(c.starts ? fresh : given, "2x2x2", arrays, options);
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        const pti_bound bound = pti_bound_find(launch.instance(), c.memory);
        Pebbles game;
        game.memory = c.memory;
        game.starts = c.starts;
        for (int a = 0; a < 3; a++)
            game.bytes[a] = polytile_type_get_bytes(c.types[a]);
        EXPECT_GE(game.fewest_bytes(0), bound.h2d_bytes);
        EXPECT_GE(game.fewest_bytes(game.bytes[2]), bound.goal_bytes);
        EXPECT_GT(2 * bound.goal_bytes, game.fewest_bytes(game.bytes[2])) << "far too low";
    }
}

/** A product drawn at random: how its arrays are stored, what they hold, and what is done to C. */
struct Product {
    std::string declaration;
    std::vector<int64_t> extents;
    struct Array {
        std::string name;
        polytile_type type;
        std::vector<int64_t> extents;
    };
    std::vector<Array> arrays;
};

polytile_type draw_type(Random *random) {
    const polytile_type types[] = {POLYTILE_F32, POLYTILE_F64, POLYTILE_U8, POLYTILE_I16};
    return types[random->number(0, 3)];
}

/** One access over two of the indices, in either order. */
void add_access(Product *product, Random *random, const std::string &role, const std::string &name,
                const std::string (&subscript)[2], int64_t first_extent, int64_t second_extent) {
    const bool swapped = random->chance(50);
    product->declaration +=
        role + " " + name + "[" + subscript[swapped] + ", " + subscript[!swapped] + "]";
    std::vector<int64_t> extents = {first_extent, second_extent};
    if (swapped)
        std::swap(extents[0], extents[1]);
    product->arrays.push_back({name, draw_type(random), extents});
}

Product draw_product(Random *random) {
    Product product;
    const int64_t m = random->number(4, 14), n = random->number(4, 14), k = random->number(4, 14);
    const bool whole = random->chance(30);
    const std::string hidden = whole ? ":" : "k";
    const char *roles[] = {"out sum", "sum", "prod", "out max"};
    product.declaration = whole ? "f[i, j]: " : "f[i, j, k]: ";
    product.extents = whole ? std::vector<int64_t>{m, n} : std::vector<int64_t>{m, n, k};
    add_access(&product, random, "in", "A", {"i", hidden}, m, k);
    add_access(&product, random, "; in", "B", {hidden, "j"}, k, n);
    if (random->chance(20))
        add_access(&product, random, "; in", "D", {"i", "j"}, m, n);
    add_access(&product, random, whole ? "; out" : std::string("; ") + roles[random->number(0, 3)],
               "C", {"i", "j"}, m, n);
    return product;
}

/** A context with the kernel and the arrays of a product. */
class Planner {
  public:
    Planner() { polytile_context_create(&ctx_); }
    ~Planner() { polytile_context_destroy(ctx_); }
    Planner(const Planner &) = delete;
    Planner &operator=(const Planner &) = delete;

    /** False if nothing fits; then *summary is left alone. */
    bool plan(const Product &product, const polytile_launch_options &options,
              polytile_plan_summary *summary) {
        polytile_kernel *kernel;
        std::vector<polytile_array *> arrays;
        EXPECT_EQ(polytile_kernel_create(ctx_, product.declaration.c_str(), nullptr, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
        for (const Product::Array &array : product.arrays) {
            const polytile_domain domain = polytile_domain_from_extents(
                static_cast<int>(array.extents.size()), array.extents.data());
            arrays.push_back(nullptr);
            EXPECT_EQ(polytile_array_describe(ctx_, array.name.c_str(), array.type, &domain,
                                              &arrays.back()),
                      POLYTILE_OK);
        }
        const polytile_domain threads = polytile_domain_from_extents(
            static_cast<int>(product.extents.size()), product.extents.data());
        polytile_plan *plan;
        const polytile_status status = polytile_plan_create(
            kernel, &threads, static_cast<int>(arrays.size()), arrays.data(), &options, &plan);
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_FIT)
            << polytile_last_error(ctx_);
        if (status == POLYTILE_OK) {
            polytile_plan_get_summary(plan, summary);
            is_reused_ = std::string(summary->bound).rfind("compulsory", 0) != 0;
        }
        polytile_plan_destroy(plan);
        polytile_kernel_destroy(kernel);
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
        return status == POLYTILE_OK;
    }

    /** Whether the last plan's bound was more than compulsory. */
    bool is_reused() const { return is_reused_; }

  private:
    polytile_context *ctx_ = nullptr;
    bool is_reused_ = false;
};

TEST(Bound, IsNeverAboveWhatAPlanMoves) {
    Random random(test_seed("Bound.IsNeverAboveWhatAPlanMoves"));
    const char *strategies[] = {"min-kernels", "min-traffic", "min-time", "paper"};
    const std::vector<int64_t> block = {1, 1, 1};
    const int64_t n_plans = scaled(4000);
    int64_t n_reused = 0;
    for (int64_t n = 0; n < n_plans; n++) {
        const Product product = draw_product(&random);
        polytile_launch_options options{};
        options.plan.block = block.data();
        options.plan.strategy = strategies[random.number(0, 3)];
        options.plan.n_buffers = static_cast<int>(random.number(0, 3));
        options.plan.limit_bytes = random.number(24, random.chance(80) ? 300 : 2000);
        SCOPED_TRACE(product.declaration + " within " + std::to_string(options.plan.limit_bytes));
        Planner planner;
        polytile_plan_summary s;
        if (!planner.plan(product, options, &s))
            continue;
        ASSERT_GE(s.h2d_bytes, s.lower_bound_h2d_bytes);
        ASSERT_GE(s.h2d_bytes + s.d2h_bytes, s.lower_bound_bytes);
        ASSERT_GE(s.h2d_bytes + s.d2h_bytes, s.bound_bytes);
        ASSERT_GE(s.bound_bytes, s.lower_bound_h2d_bytes);
        n_reused += planner.is_reused();
    }
    EXPECT_GE(n_reused, least_count(n_plans, 0.2));
}

TEST(Bound, OfALargeMatmulIsNearlyReached) {
    const int64_t n = 65536;
    const Product gemm = {
        "gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]",
        {n, n, n},
        {{"A", POLYTILE_F32, {n, n}}, {"B", POLYTILE_F32, {n, n}}, {"C", POLYTILE_F32, {n, n}}}};
    const struct {
        int64_t limit_bytes;
        double distance;
    } cases[] = {{6 * GiB, 1.25}, {3 * GiB, 1.10}, {3 * GiB / 2, 1.10}, {3 * GiB / 4, 1.10}};
    for (const auto &c : cases) {
        SCOPED_TRACE(std::to_string(c.limit_bytes) + " bytes");
        Planner planner;
        polytile_launch_options options{};
        options.plan.strategy = "min-traffic";
        options.plan.limit_bytes = c.limit_bytes;
        polytile_plan_summary s;
        ASSERT_TRUE(planner.plan(gemm, options, &s));
        const double words = static_cast<double>(c.limit_bytes) / 4, side = static_cast<double>(n);
        const double expected =
            4 * std::max(2 * side * side * side / std::sqrt(words), 2 * side * side);
        EXPECT_NEAR(static_cast<double>(s.bound_bytes) / expected, 1, 1e-6);
        EXPECT_LE(static_cast<double>(s.h2d_bytes),
                  c.distance * static_cast<double>(s.bound_bytes));
        EXPECT_GE(s.h2d_bytes + s.d2h_bytes, s.lower_bound_bytes);
    }
}

/** Launches of a chain over one list of arrays. */
struct Chain {
    std::vector<pti_call> launches;
    std::vector<std::vector<int>> maps;

    void add(const Launch &launch, std::vector<int> map) {
        maps.push_back(std::move(map));
        launches.push_back({launch.instance(), nullptr});
        for (size_t l = 0; l < launches.size(); l++)
            launches[l].array = maps[l].data();
    }

    pti_bound bound(const std::vector<char> &scratch) const {
        bool is_scratch[8] = {};
        std::copy(scratch.begin(), scratch.end(), is_scratch);
        return pti_bound_find_chain(static_cast<int>(launches.size()), launches.data(),
                                    static_cast<int>(scratch.size()), is_scratch);
    }
};

TEST(Bound, OfAChainIsEachFieldInOnceAndOutOnce) {
    Launch step("step[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]", "1:98,1:98",
                {{"A", "100x100"}, {"B", "100x100"}});
    Launch copy("copy[i, j]: in A[i, j]; out B[i, j]", "0:0,0:99",
                {{"A", "100x100"}, {"B", "100x100"}});
    ASSERT_EQ(step.status(), POLYTILE_OK) << step.error();
    ASSERT_EQ(copy.status(), POLYTILE_OK) << copy.error();
    Chain chain;
    chain.add(copy, {0, 1});
    for (int t = 0; t < 256; t++)
        chain.add(step, t % 2 == 0 ? std::vector<int>{0, 1} : std::vector<int>{1, 0});
    const int64_t touched = 100 * 100 - 4, updated = 98 * 98;
    const pti_bound scratch = chain.bound({0, 1});
    EXPECT_EQ(scratch.h2d_bytes, 4 * (touched + 2));
    EXPECT_EQ(scratch.d2h_bytes, 4 * updated);
    EXPECT_EQ(scratch.goal_bytes, scratch.h2d_bytes);
    const pti_bound both = chain.bound({0, 0});
    EXPECT_EQ(both.h2d_bytes, 4 * (touched + 2 + 3 * 98)) << "the copied row of B came from A";
    EXPECT_EQ(both.d2h_bytes, 4 * (2 * updated + 100));
}

TEST(Bound, OfAChainCountsNothingThatALaunchWroteBefore) {
    Launch add("add[i]: inout y[i]; in z[i]", "50:149", {{"y", "200"}, {"z", "200"}});
    Launch make("make[i]: in x[i]; out y[i]", "0:99", {{"x", "200"}, {"y", "200"}});
    Chain chain;
    chain.add(make, {0, 1});
    chain.add(add, {1, 2});
    const pti_bound bound = chain.bound({0, 0, 0});
    EXPECT_EQ(bound.h2d_bytes, 4 * (100 + 50 + 100));
    EXPECT_EQ(bound.d2h_bytes, 4 * 150);
    EXPECT_EQ(pti_bound_find_chain(0, nullptr, 0, nullptr).h2d_bytes, 0);
}

/** One array is read through a window and another one written, all of 60 elements. */
struct Sweep {
    int from, to;
    int64_t lo, hi, first, last, stride;

    std::string declaration() const {
        return "f[i]: in x[i+" + std::to_string(first) + ":i+" + std::to_string(last) +
               "]; out y[" + std::to_string(stride) + "*i]";
    }
};

Sweep draw_sweep(Random *random) {
    Sweep sweep{};
    sweep.from = static_cast<int>(random->number(0, 2));
    sweep.to = (sweep.from + static_cast<int>(random->number(1, 2))) % 3;
    sweep.lo = random->number(0, 15);
    sweep.hi = random->number(sweep.lo, 25);
    sweep.first = random->number(0, 10);
    sweep.last = random->number(sweep.first, 20);
    sweep.stride = random->number(1, 2);
    return sweep;
}

/** What a list of sweeps needs and leaves after, element by element. */
struct Elements {
    bool is_needed[3][60] = {}, is_written[3][60] = {};

    void run(const Sweep &sweep) {
        for (int64_t i = sweep.lo; i <= sweep.hi; i++)
            for (int64_t e = i + sweep.first; e <= i + sweep.last; e++)
                is_needed[sweep.from][e] |= !is_written[sweep.from][e];
        for (int64_t i = sweep.lo; i <= sweep.hi; i++)
            is_written[sweep.to][sweep.stride * i] = true;
    }

    static int64_t count(const bool (&of)[3][60], const std::vector<char> &scratch) {
        int64_t n = 0;
        for (size_t a = 0; a < 3; a++)
            n += scratch[a] ? 0 : std::count(of[a], of[a] + 60, true);
        return n;
    }
};

TEST(Bound, OfRandomChainsIsWhatTheirElementsSay) {
    Random random(test_seed("Bound.OfRandomChainsIsWhatTheirElementsSay"));
    const int64_t n_chains = scaled(500);
    for (int64_t n = 0; n < n_chains; n++) {
        std::vector<std::unique_ptr<Launch>> launches;
        Chain chain;
        Elements elements;
        std::string trace;
        for (int64_t l = random.number(1, 6); l > 0; l--) {
            const Sweep sweep = draw_sweep(&random);
            const std::string threads = std::to_string(sweep.lo) + ":" + std::to_string(sweep.hi);
            trace += sweep.declaration() + " over " + threads + "\n";
            launches.push_back(std::make_unique<Launch>(
                sweep.declaration(), threads,
                std::map<std::string, std::string>{{"x", "60"}, {"y", "60"}}));
            ASSERT_EQ(launches.back()->status(), POLYTILE_OK) << launches.back()->error();
            chain.add(*launches.back(), {sweep.from, sweep.to});
            elements.run(sweep);
        }
        SCOPED_TRACE(trace);
        const std::vector<char> scratch = {0, 0, random.chance(30)};
        const pti_bound bound = chain.bound(scratch);
        ASSERT_EQ(bound.h2d_bytes, 4 * Elements::count(elements.is_needed, scratch));
        ASSERT_EQ(bound.d2h_bytes, 4 * Elements::count(elements.is_written, scratch));
    }
}

} // namespace
