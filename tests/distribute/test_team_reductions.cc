#include "support/environment.h"

#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <string>
#include <vector>

/* Reductions of which several devices know a part each. */

namespace {

POLYTILE_KERNEL(total, (i), (const uint32_t, x, 1), (uint32_t, s, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(x, i));
}

POLYTILE_KERNEL(stencil, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2), (uint32_t, s, 1)) {
    const uint32_t value = PT_AT(A, i - 1, j) + 2 * PT_AT(A, i + 1, j) + 3 * PT_AT(A, i, j - 1) +
                           5 * PT_AT(A, i, j + 1);
    PT_AT(B, i, j) = value;
    PT_SUM(PT_AT(s, 0), value);
}

class TeamReductions : public testing::TestWithParam<const char *> {
  protected:
    TeamReductions() {
        environment_.set("POLYTILE_CHECK", "plan");
        polytile_context_create(&ctx_);
        polytile_queue_create(ctx_, GetParam(), &queue_);
    }
    ~TeamReductions() override { polytile_context_destroy(ctx_); }

    polytile_array *wrap(const char *name, std::vector<int64_t> extents,
                         std::vector<uint32_t> *memory) {
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx_, name, POLYTILE_U32, static_cast<int>(extents.size()),
                                      extents.data(), memory->data(), &array),
                  POLYTILE_OK);
        EXPECT_EQ(polytile_queue_attach(queue_, POLYTILE_ARRAYS(array)), POLYTILE_OK) << error();
        return array;
    }
    polytile_kernel *kernel(const char *declaration, const polytile_implementation *body) {
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx_, declaration, body, &kernel), POLYTILE_OK) << error();
        return kernel;
    }
    std::string error() const { return polytile_last_error(ctx_); }

    Environment environment_;
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(
    Devices, TeamReductions,
    testing::Values("host", "host,host",
                    "host(memory=16KiB),host(memory=16KiB),host(memory=8KiB)"));

/* Threads of every part of x, of which the first device often has none. */
TEST_P(TeamReductions, BeginAnewWhoeverHasThreads) {
    std::vector<uint32_t> x(100), s(1, 1000);
    for (uint32_t i = 0; i < 100; i++)
        x[i] = i * i;
    polytile_array *const of_x = wrap("x", {100}, &x), *const of_s = wrap("s", {1}, &s);
    polytile_kernel *const fresh = kernel("total[i]: in x[i]; out sum s[0]", &total_kernel);
    polytile_kernel *const more = kernel("total[i]: in x[i]; sum s[0]", &total_kernel);
    for (const int64_t lo : {0, 40, 60, 99}) {
        const polytile_domain threads = {1, {{lo, 99, 1}}};
        uint32_t sum = 0;
        for (int64_t i = lo; i < 100; i++)
            sum += static_cast<uint32_t>(i * i);
        ASSERT_EQ(
            polytile_queue_launch(queue_, fresh, &threads, POLYTILE_ARRAYS(of_x, of_s), nullptr),
            POLYTILE_OK)
            << error();
        ASSERT_EQ(
            polytile_queue_launch(queue_, more, &threads, POLYTILE_ARRAYS(of_x, of_s), nullptr),
            POLYTILE_OK)
            << error();
        ASSERT_EQ(polytile_queue_detach(queue_, POLYTILE_ARRAYS(of_s)), POLYTILE_OK) << error();
        EXPECT_EQ(s[0], 2 * sum) << "from " << lo;
        ASSERT_EQ(polytile_queue_attach(queue_, POLYTILE_ARRAYS(of_s)), POLYTILE_OK) << error();
    }
}

/* A step and its residual in one launch, again and again. */
TEST_P(TeamReductions, GoBesideWhatEachThreadWritesAlone) {
    constexpr int64_t n = 24, n_steps = 6;
    const auto at = [](int64_t i, int64_t j) { return static_cast<size_t>(i * n + j); };
    std::vector<uint32_t> memory[2] = {std::vector<uint32_t>(n * n), std::vector<uint32_t>(n * n)};
    std::vector<uint32_t> s(1, 7);
    for (size_t k = 0; k < n * n; k++)
        memory[0][k] = static_cast<uint32_t>(k * k % 101);
    std::vector<uint32_t> expected[2] = {memory[0], memory[1]};
    uint32_t sum = 7;
    polytile_array *const fields[2] = {wrap("A", {n, n}, &memory[0]),
                                       wrap("B", {n, n}, &memory[1])};
    polytile_array *const of_s = wrap("s", {1}, &s);
    polytile_kernel *const step = kernel(
        "stencil[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]; sum s[0]", &stencil_kernel);
    for (int64_t t = 0; t < n_steps; t++) {
        const std::vector<uint32_t> &from = expected[t % 2];
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < n - 1; j++)
                sum += expected[1 - t % 2][at(i, j)] = from[at(i - 1, j)] + 2 * from[at(i + 1, j)] +
                                                       3 * from[at(i, j - 1)] +
                                                       5 * from[at(i, j + 1)];
        ASSERT_EQ(polytile_queue_launch(queue_, step, POLYTILE_INTERIOR(1, n, n),
                                        POLYTILE_ARRAYS(fields[t % 2], fields[1 - t % 2], of_s),
                                        nullptr),
                  POLYTILE_OK)
            << error();
    }
    ASSERT_EQ(polytile_queue_detach(queue_, POLYTILE_ARRAYS(fields[0], fields[1], of_s)),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(s[0], sum);
    EXPECT_EQ(memory[0], expected[0]);
    EXPECT_EQ(memory[1], expected[1]);
}

} // namespace
