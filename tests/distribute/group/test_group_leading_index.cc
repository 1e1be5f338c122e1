#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <string>
#include <vector>

#include "support/environment.h"
#include "support/random.h"
#include "support/scale.h"

/* Launches whose rows several indices name: devices deal them out by the leading one. */

namespace {

POLYTILE_KERNEL(butterfly, (a, h, c), (float, x, 4)) {
    const float one = PT_AT(x, a, 0, h, c), other = PT_AT(x, a, 1, h, c);
    PT_AT(x, a, 0, h, c) = one + other;
    PT_AT(x, a, 1, h, c) = one - other;
}

/** Thread (i, j) adds to row f * i + j + k of m columns what it reads of y. */
POLYTILE_KERNEL(add_rows, (i, j, c), (int64_t, f), (int64_t, k), (const int32_t, y, 1),
                (int32_t, x, 2)) {
    PT_AT(x, f * i + j + k, c) += (int32_t)(i + 3 * j) + PT_AT(y, c);
}

class GroupLeadingIndex : public ::testing::Test {
  protected:
    void SetUp() override {
        environment_.set("POLYTILE_CHECK", "plan");
        ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
    }
    void TearDown() override { polytile_context_destroy(ctx_); }

    void expect_ok(polytile_status status) {
        ASSERT_EQ(status, POLYTILE_OK) << polytile_last_error(ctx_);
    }

    polytile_context *ctx_ = nullptr;

  private:
    Environment environment_;
};

/** All stages of a transform of each column, of as many rows. */
void transform_columns(int64_t n_rows, int64_t n_columns, std::vector<float> *x) {
    for (int64_t h = 1; h < n_rows; h *= 2)
        for (int64_t r = 0; r < n_rows; r++)
            for (int64_t c = 0; (r / h) % 2 == 0 && c < n_columns; c++) {
                float &one = (*x)[r * n_columns + c], &other = (*x)[(r + h) * n_columns + c];
                const float sum = one + other, difference = one - other;
                one = sum;
                other = difference;
            }
}

TEST_F(GroupLeadingIndex, StagesOfATransformEqualPlainLoops) {
    const int64_t n_rows = 256, n_columns = 64;
    std::vector<float> x, expected;
    for (int64_t k = 0; k < n_rows * n_columns; k++)
        x.push_back(static_cast<float>(k * 7 % 31));
    expected = x;
    transform_columns(n_rows, n_columns, &expected);
    polytile_array *matrix = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_queue *queue = nullptr;
    const int64_t extents[] = {n_rows, n_columns};
    expect_ok(polytile_array_wrap(ctx_, "x", POLYTILE_F32, 2, extents, x.data(), &matrix));
    expect_ok(polytile_kernel_create(ctx_, "k[a, h, c]: inout x[a, 0:1, h, c]", &butterfly_kernel,
                                     &kernel));
    expect_ok(polytile_queue_create(ctx_, "host(memory=24KiB),host(memory=24KiB)", &queue));
    expect_ok(polytile_queue_attach(queue, 1, &matrix));
    polytile_queue_pause(queue);
    for (int64_t h = 1; h < n_rows; h *= 2) {
        polytile_array *view = nullptr;
        expect_ok(polytile_array_reshape(
            matrix, "x", POLYTILE_EXTENTS(n_rows / (2 * h), 2, h, n_columns), &view));
        expect_ok(polytile_queue_launch(
            queue, kernel, POLYTILE_EXTENTS(n_rows / (2 * h), h, n_columns), 1, &view, nullptr));
    }
    polytile_queue_resume(queue);
    expect_ok(polytile_queue_detach(queue, 1, &matrix));
    EXPECT_EQ(x, expected);
}

/** Groups of rows that end where the devices' rows do, or not. */
TEST_F(GroupLeadingIndex, RandomRowsEqualAPlainLoop) {
    Random random(test_seed("GroupLeadingIndex.RandomRowsEqualAPlainLoop"));
    const char *const devices[] = {"host,host", "host(memory=4KiB),host(memory=4KiB)",
                                   "host(memory=1KiB),host(memory=3KiB),host(memory=1KiB)",
                                   "host(memory=1MiB),host",
                                   "host(memory=64KiB),host(memory=64KiB)"};
    for (int64_t round = scaled(20); round > 0 && !HasFailure(); round--)
        for (const char *device : devices) {
            const int64_t width = random.number(1, 6), f = width + random.number(0, 2),
                          k = random.number(0, 3), n = random.number(1, 20),
                          m = random.number(1, 9),
                          n_rows = f * (n - 1) + width + k + random.number(0, 3);
            std::vector<int32_t> x(static_cast<size_t>(n_rows * m), 5),
                y(static_cast<size_t>(m), 2), expected = x;
            const int n_launches = static_cast<int>(random.number(1, 4));
            for (int l = 0; l < n_launches; l++)
                for (int64_t i = 0; i < n; i++)
                    for (int64_t j = 0; j < width; j++)
                        for (int64_t c = 0; c < m; c++)
                            expected[static_cast<size_t>((f * i + j + k) * m + c)] +=
                                static_cast<int32_t>(i + 3 * j) + 2;
            const int64_t extents[] = {n_rows, m};
            polytile_array *arrays[2] = {};
            polytile_kernel *kernel = nullptr;
            polytile_queue *queue = nullptr;
            expect_ok(polytile_array_wrap(ctx_, "y", POLYTILE_I32, 1, &m, y.data(), &arrays[0]));
            expect_ok(
                polytile_array_wrap(ctx_, "x", POLYTILE_I32, 2, extents, x.data(), &arrays[1]));
            const std::string declaration =
                "k[i, j, c](i64 f, i64 k): in y[c]; inout x[" + std::to_string(f) + "*i+j+k, c]";
            expect_ok(polytile_kernel_create(ctx_, declaration.c_str(), &add_rows_kernel, &kernel));
            expect_ok(polytile_queue_create(ctx_, device, &queue));
            expect_ok(polytile_queue_attach(queue, 2, arrays));
            polytile_parameter parameters[] = {POLYTILE_PARAMETER("f", f),
                                               POLYTILE_PARAMETER("k", k)};
            polytile_launch_options options = {};
            options.n_parameters = 2;
            options.parameters = parameters;
            for (int l = 0; l < n_launches; l++)
                expect_ok(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(n, width, m), 2,
                                                arrays, &options));
            expect_ok(polytile_queue_detach(queue, 2, arrays));
            EXPECT_EQ(x, expected) << declaration << " on " << device << ", k " << k << ", " << n
                                   << " x " << width << " x " << m;
            polytile_queue_destroy(queue);
        }
}

} // namespace
