#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "partition/window/plan.h"
}

/* An index that an accumulated array does not name is split as the memory asks for. What comes out
 * is the same for whole numbers, and for floats that of the order that docs/planning.md tells. */

namespace {

#define COMBINING_BODY(T, verb, MACRO)                                                             \
    POLYTILE_KERNEL(verb##_##T, (i, j, k), (const T, A, 2), (const T, B, 2), (T, C, 2)) {          \
        MACRO(PT_AT(C, i, j), PT_AT(A, i, k) * PT_AT(B, k, j));                                    \
    }
#define COMBINING_BODIES(T)                                                                        \
    COMBINING_BODY(T, sum, PT_SUM)                                                                 \
    COMBINING_BODY(T, prod, PT_PROD)                                                               \
    COMBINING_BODY(T, min, PT_MIN)                                                                 \
    COMBINING_BODY(T, max, PT_MAX)

COMBINING_BODIES(int32_t)
COMBINING_BODIES(float)
COMBINING_BODIES(double)

POLYTILE_KERNEL(total, (i), (const float, x, 1), (float, s, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(x, i));
}

enum Verb { SUM, PROD, MIN, MAX, N_VERBS };
const char *const verb_names[] = {"sum", "prod", "min", "max"};

/** What is known of a type of elements. */
template <class T> struct Elements;
template <> struct Elements<int32_t> {
    static constexpr polytile_type type = POLYTILE_I32;
    static constexpr const polytile_implementation *body[] = {
        &sum_int32_t_kernel, &prod_int32_t_kernel, &min_int32_t_kernel, &max_int32_t_kernel};
    static int32_t draw(Verb verb, Random *random) {
        return static_cast<int32_t>(verb == PROD ? random->one_of({-1, 1})
                                                 : random->number(-1000, 1000));
    }
};
template <> struct Elements<float> {
    static constexpr polytile_type type = POLYTILE_F32;
    static constexpr const polytile_implementation *body[] = {&sum_float_kernel, &prod_float_kernel,
                                                              &min_float_kernel, &max_float_kernel};
    static float draw(Verb verb, Random *random) {
        const float within_one = static_cast<float>(random->number(-9999, 9999)) / 9999;
        return verb == PROD ? 1 + within_one / 9 : within_one;
    }
};
template <> struct Elements<double> {
    static constexpr polytile_type type = POLYTILE_F64;
    static constexpr const polytile_implementation *body[] = {
        &sum_double_kernel, &prod_double_kernel, &min_double_kernel, &max_double_kernel};
    static double draw(Verb verb, Random *random) {
        return static_cast<double>(Elements<float>::draw(verb, random)) / 3;
    }
};

template <class T> T identity_of(Verb verb) {
    using Limits = std::numeric_limits<T>;
    const T least = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    const T most = Limits::has_infinity ? Limits::infinity() : Limits::max();
    return verb == SUM ? T(0) : verb == PROD ? T(1) : verb == MIN ? most : least;
}

template <class T> T combined(Verb verb, T one, T other) {
    return verb == SUM    ? one + other
           : verb == PROD ? one * other
           : verb == MIN  ? std::min(one, other)
                          : std::max(one, other);
}

/** What is run: products of m x k and k x n matrices, and what becomes of them. */
struct Shape {
    int64_t m, n, k;
};

template <class T> class Product {
  public:
    Product(Verb verb, bool is_fresh, const Shape &shape, Random *random)
        : verb_(verb), is_fresh_(is_fresh), shape_(shape) {
        EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
        const std::string declaration = std::string("product[i, j, k]: in A[i, k], B[k, j]; ") +
                                        (is_fresh ? "out " : "") + verb_names[verb] + " C[i, j]";
        EXPECT_EQ(
            polytile_kernel_create(ctx_, declaration.c_str(), Elements<T>::body[verb], &kernel_),
            POLYTILE_OK)
            << error();
        wrap("A", shape.m, shape.k, &A_);
        wrap("B", shape.k, shape.n, &B_);
        wrap("C", shape.m, shape.n, &C_);
        for (std::vector<T> *elements : {&A_, &B_, &C_})
            for (T &element : *elements)
                element = Elements<T>::draw(verb, random);
        before_ = C_;
    }
    ~Product() { polytile_context_destroy(ctx_); }
    Product(const Product &) = delete;
    Product &operator=(const Product &) = delete;

    int64_t data_bytes() const {
        return static_cast<int64_t>((A_.size() + B_.size() + C_.size()) * sizeof(T));
    }

    /** NULL where nothing fits. */
    polytile_plan *plan(const polytile_launch_options &options) {
        polytile_plan *made = nullptr;
        const polytile_domain all = threads();
        const polytile_status status = polytile_plan_create(
            kernel_, &all, static_cast<int>(arrays_.size()), arrays_.data(), &options, &made);
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_FIT) << error();
        return made;
    }

    /** Run a plan on what was there first. */
    const std::vector<T> &run(const polytile_plan *plan, int64_t memory_bytes, int n_threads) {
        const std::string text = "host(memory=" + std::to_string(memory_bytes) +
                                 "B,threads=" + std::to_string(n_threads) + ")";
        polytile_device *device = nullptr;
        C_ = before_;
        EXPECT_EQ(polytile_device_open(ctx_, text.c_str(), &device), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_plan_run(plan, device, kernel_, static_cast<int>(arrays_.size()),
                                    arrays_.data(), NULL),
                  POLYTILE_OK)
            << error();
        polytile_device_close(device);
        return C_;
    }

    /** What a plain loop makes of it: superblock after superblock, in each the last index fastest.
     */
    std::vector<T> expected(const std::vector<polytile_domain> &superblocks) const {
        std::vector<T> C = before_;
        if (is_fresh_)
            std::fill(C.begin(), C.end(), identity_of<T>(verb_));
        for (const polytile_domain &box : superblocks)
            for (int64_t i = box.range[0].lo; i <= box.range[0].hi; i++)
                for (int64_t j = box.range[1].lo; j <= box.range[1].hi; j++)
                    for (int64_t k = box.range[2].lo; k <= box.range[2].hi; k++) {
                        T &element = C[static_cast<size_t>(i * shape_.n + j)];
                        element =
                            combined(verb_, element,
                                     static_cast<T>(A_[static_cast<size_t>(i * shape_.k + k)] *
                                                    B_[static_cast<size_t>(k * shape_.n + j)]));
                    }
        return C;
    }
    std::vector<T> expected() const { return expected({threads()}); }

    std::string error() const { return polytile_last_error(ctx_); }

  private:
    polytile_domain threads() const {
        const int64_t extents[] = {shape_.m, shape_.n, shape_.k};
        return polytile_domain_from_extents(3, extents);
    }

    void wrap(const char *name, int64_t n_rows, int64_t n_columns, std::vector<T> *memory) {
        const int64_t extents[] = {n_rows, n_columns};
        polytile_array *array = nullptr;
        memory->resize(static_cast<size_t>(n_rows * n_columns));
        EXPECT_EQ(
            polytile_array_wrap(ctx_, name, Elements<T>::type, 2, extents, memory->data(), &array),
            POLYTILE_OK)
            << error();
        arrays_.push_back(array);
    }

    Verb verb_;
    bool is_fresh_;
    Shape shape_;
    polytile_context *ctx_ = nullptr;
    polytile_kernel *kernel_ = nullptr;
    std::vector<polytile_array *> arrays_;
    std::vector<T> A_, B_, C_, before_;
};

std::vector<polytile_domain> superblocks_of(const polytile_plan *plan) {
    polytile_plan_summary summary;
    polytile_plan_get_summary(plan, &summary);
    std::vector<polytile_domain> superblocks(static_cast<size_t>(summary.n_kernels));
    for (size_t s = 0; s < superblocks.size(); s++)
        EXPECT_EQ(polytile_plan_get_superblock(plan, static_cast<int64_t>(s), &superblocks[s]),
                  POLYTILE_OK);
    return superblocks;
}

/** Into how many parts the accumulated index is split. */
int64_t n_splits(const std::vector<polytile_domain> &superblocks) {
    std::set<int64_t> begins;
    for (const polytile_domain &box : superblocks)
        begins.insert(box.range[2].lo);
    return static_cast<int64_t>(begins.size());
}

template <class T> bool same_bits(const std::vector<T> &one, const std::vector<T> &other) {
    return one.size() == other.size() &&
           std::memcmp(one.data(), other.data(), one.size() * sizeof(T)) == 0;
}

/** Limits from one that holds nearly all to one that holds little. */
const int64_t shares[] = {1, 2, 3, 5, 8, 13, 21};

polytile_launch_options options_within(int64_t limit_bytes, const char *strategy,
                                       const int64_t *block) {
    polytile_launch_options options = {};
    options.plan.limit_bytes = limit_bytes;
    options.plan.strategy = strategy;
    options.plan.block = block;
    return options;
}

TEST(ReductionOrder, WholeNumbersDoNotDependOnHowOftenTheIndexIsSplit) {
    const int64_t block[] = {2, 2, 4};
    Random random(test_seed("ReductionOrder"));
    for (int verb = SUM; verb < N_VERBS; verb++)
        for (const bool is_fresh : {false, true}) {
            if (is_left_out(2 * verb + is_fresh, 4))
                continue;
            SCOPED_TRACE(std::string(is_fresh ? "out " : "") + verb_names[verb]);
            Product<int32_t> product(static_cast<Verb>(verb), is_fresh, {40, 36, 50}, &random);
            const std::vector<int32_t> expected = product.expected();
            std::set<int64_t> splits;
            for (const int64_t share : shares)
                for (const char *strategy : {"min-time", "min-traffic", "min-kernels"}) {
                    const int64_t limit_bytes = product.data_bytes() / share + 2048;
                    polytile_plan *plan =
                        product.plan(options_within(limit_bytes, strategy, block));
                    ASSERT_NE(plan, nullptr);
                    splits.insert(n_splits(superblocks_of(plan)));
                    for (const int n_threads : {1, 2, 3})
                        EXPECT_EQ(product.run(plan, limit_bytes, n_threads), expected)
                            << limit_bytes << " " << strategy << " " << n_threads;
                    polytile_plan_destroy(plan);
                }
            EXPECT_GE(splits.size(), 3u);
        }
}

template <class T> void expect_order_of_plan(Verb verb, bool is_fresh, Random *random) {
    const int64_t block[] = {2, 2, 4};
    Product<T> product(verb, is_fresh, {40, 36, 50}, random);
    std::set<std::vector<T>> results;
    for (const int64_t share : shares)
        for (const char *strategy : {"min-time", "min-traffic", "min-kernels"}) {
            const int64_t limit_bytes = product.data_bytes() / share + 2048;
            polytile_plan *plan = product.plan(options_within(limit_bytes, strategy, block));
            ASSERT_NE(plan, nullptr);
            const std::vector<T> expected = product.expected(superblocks_of(plan));
            EXPECT_TRUE(same_bits(product.run(plan, limit_bytes, 1), expected));
            EXPECT_TRUE(same_bits(product.run(plan, limit_bytes, 1), expected)) << "run again";
            results.insert(expected);
            polytile_plan_destroy(plan);
        }
    if (verb == SUM || verb == PROD) {
        EXPECT_GT(results.size(), 1u) << "no order differs";
    } else {
        EXPECT_EQ(results.size(), 1u) << "the least and the largest have no order";
    }
}

TEST(ReductionOrder, FloatsAreCombinedSuperblockAfterSuperblockAndInEachInCOrder) {
    Random random(test_seed("ReductionOrder"));
    for (int verb = SUM; verb < N_VERBS; verb++)
        for (const bool is_fresh : {false, true}) {
            if (is_left_out(2 * verb + is_fresh, 4))
                continue;
            SCOPED_TRACE(std::string(is_fresh ? "out " : "") + verb_names[verb]);
            expect_order_of_plan<float>(static_cast<Verb>(verb), is_fresh, &random);
            expect_order_of_plan<double>(static_cast<Verb>(verb), is_fresh, &random);
        }
}

/** The link of an imagined device that is slow, so that small tiles are worth cutting into
 * strips. */
polytile_link slow_link() {
    constexpr double slower = 1e-7;
    polytile_link link = polytile_link_default;
    link.upload_bytes_per_s *= slower;
    link.download_bytes_per_s *= slower;
    link.duplex_bytes_per_s *= slower;
    link.kernel_bytes_per_s *= slower;
    link.kernel_accesses_per_s = 1e4;
    link.run_overhead_bytes = 0;
    link.cache_bytes = 0;
    return link;
}

/** How many places in device memory the pieces of C take in turn. */
size_t n_places(const polytile_plan *plan) {
    std::set<int64_t> offsets;
    for (int64_t p = 0; p < plan->schedule->n_placements; p++)
        if (plan->schedule->placement[p].operand == 2)
            offsets.insert(plan->schedule->placement[p].offset_bytes);
    return offsets.size();
}

template <class T> void expect_right_in_strips(Verb verb, bool is_fresh, Random *random) {
    const int64_t block[] = {2, 2, 2};
    const polytile_link link = slow_link();
    Product<T> product(verb, is_fresh, {48, 48, 48}, random);
    for (const int64_t share : {4, 8, 16}) {
        const int64_t limit_bytes = product.data_bytes() / share;
        polytile_launch_options options = options_within(limit_bytes, "min-time", block);
        options.plan.link = &link;
        polytile_plan *plan = product.plan(options);
        ASSERT_NE(plan, nullptr);
        EXPECT_GT(n_places(plan), 3u) << "not in strips";
        EXPECT_GT(n_splits(superblocks_of(plan)), 3);
        EXPECT_TRUE(
            same_bits(product.run(plan, limit_bytes, 1), product.expected(superblocks_of(plan))));
        polytile_plan_destroy(plan);
    }
}

TEST(ReductionOrder, IsTheSameInStrips) {
    Random random(test_seed("ReductionOrder"));
    for (int verb = SUM; verb < N_VERBS; verb++)
        for (const bool is_fresh : {false, true}) {
            if (is_left_out(2 * verb + is_fresh, 4))
                continue;
            SCOPED_TRACE(std::string(is_fresh ? "out " : "") + verb_names[verb]);
            expect_right_in_strips<int32_t>(static_cast<Verb>(verb), is_fresh, &random);
            expect_right_in_strips<float>(static_cast<Verb>(verb), is_fresh, &random);
        }
}

/** The sum of floats in equal shares, each from zero, the longer ones first, put together in order.
 */
float sum_in_shares(float sum, const std::vector<float> &x, size_t n_shares) {
    size_t begin = 0;
    for (size_t share = 0; share < n_shares; share++) {
        const size_t end = begin + x.size() / n_shares + (share < x.size() % n_shares);
        float part = 0;
        for (size_t i = begin; i < end; i++)
            part += x[i];
        sum += part;
        begin = end;
    }
    return sum;
}

TEST(ReductionOrder, ThreadsOfTheHostAddUpTheirSharesInOrder) {
    Random random(test_seed("ReductionOrder"));
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(polytile_kernel_create(ctx, "total[i]: in x[i]; sum s[0]", &total_kernel, &kernel),
              POLYTILE_OK);
    std::vector<float> x(1003), s(1);
    for (float &element : x)
        element = Elements<float>::draw(SUM, &random);
    const int64_t extents[] = {1003, 1};
    const polytile_domain threads = polytile_domain_from_extents(1, extents);
    polytile_array *arrays[2];
    ASSERT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &extents[0], x.data(), &arrays[0]),
              POLYTILE_OK);
    ASSERT_EQ(polytile_array_wrap(ctx, "s", POLYTILE_F32, 1, &extents[1], s.data(), &arrays[1]),
              POLYTILE_OK);
    for (const size_t n_threads : {1, 2, 3, 4, 7}) {
        const std::string text = "host(threads=" + std::to_string(n_threads) + ")";
        polytile_device *device = nullptr;
        ASSERT_EQ(polytile_device_open(ctx, text.c_str(), &device), POLYTILE_OK);
        for (int round = 0; round < 2; round++) {
            s[0] = 0.1f;
            ASSERT_EQ(polytile_run(device, kernel, &threads, polytile_kernel_get_n_arrays(kernel),
                                   arrays, nullptr),
                      POLYTILE_OK);
            const float expected = n_threads < 2 ? std::accumulate(x.begin(), x.end(), 0.1f)
                                                 : sum_in_shares(0.1f, x, n_threads);
            EXPECT_EQ(s[0], expected) << n_threads << " threads";
        }
    }
    polytile_context_destroy(ctx);
}

} // namespace
