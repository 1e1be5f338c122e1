#include "support/environment.h"
#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <functional>
#include <string>
#include <vector>

/* Launches whose subscripts have edges, against plain loops over an array that has its neighbours
 * looked up one by one. */

namespace {

POLYTILE_KERNEL(torus, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_AT(B, i, j) = 3 * PT_AT(A, PT_WRAP(A, 0, i - 1), j) + 5 * PT_AT(A, PT_WRAP(A, 0, i + 1), j) +
                     7 * PT_AT(A, i, PT_WRAP(A, 1, j - 1)) +
                     11 * PT_AT(A, i, PT_WRAP(A, 1, j + 1)) + PT_AT(A, i, j);
}

POLYTILE_KERNEL(fixed, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_AT(B, i, j) = 3 * PT_AT(A, PT_WRAP(A, 0, i - 1), j) + 5 * PT_AT(A, PT_WRAP(A, 0, i + 1), j) +
                     7 * PT_AT(A, i, j - 1) + 11 * PT_AT(A, i, j + 1) + PT_AT(A, i, j);
}

POLYTILE_KERNEL(corner, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_AT(B, i, j) = 3 * PT_AT(A, PT_WRAP(A, 0, i - 2), PT_WRAP(A, 1, j + 1)) +
                     PT_AT(A, i, PT_CLAMP(A, 1, j - 3));
}

POLYTILE_KERNEL(rest, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_AT(B, i, j) = 3 * PT_AT(A, PT_CLAMP(A, 0, i - 1), PT_CLAMP(A, 1, j - 2)) +
                     5 * PT_AT(A, PT_CLAMP(A, 0, i + 3), j) + PT_AT(A, i, j);
}

POLYTILE_KERNEL(roll, (i, j), (int64_t, s), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_AT(B, PT_WRAP(B, 0, i + s), j) = PT_AT(A, i, j) + (uint32_t)i;
}

POLYTILE_KERNEL(spread, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    for (int64_t d = -1; d <= 1; d++)
        PT_SUM(PT_AT(B, PT_WRAP(B, 0, i + d), j), PT_AT(A, i, j) * (uint32_t)(d + 2));
}

/** A field of small extents that begins anywhere. */
struct Field {
    polytile_range rows, columns;
    std::vector<uint32_t> values;

    static int64_t wrapped(int64_t index, polytile_range range) {
        const int64_t extent = range.hi - range.lo + 1;
        return range.lo + ((index - range.lo) % extent + extent) % extent;
    }
    static int64_t clamped(int64_t index, polytile_range range) {
        return std::min(std::max(index, range.lo), range.hi);
    }
    uint32_t &at(int64_t i, int64_t j) {
        const int64_t width = columns.hi - columns.lo + 1;
        return values[static_cast<size_t>((i - rows.lo) * width + j - columns.lo)];
    }
    uint32_t &wrap(int64_t i, int64_t j) { return at(wrapped(i, rows), wrapped(j, columns)); }
    uint32_t &clamp(int64_t i, int64_t j) { return at(clamped(i, rows), clamped(j, columns)); }
    polytile_domain domain() const {
        polytile_domain both = {};
        both.n_dims = 2;
        both.range[0] = rows;
        both.range[1] = columns;
        return both;
    }
};

/** What one thread does, by hand. */
using Thread = std::function<void(Field *A, Field *B, int64_t i, int64_t j, int64_t s)>;

struct Kernel {
    const char *declaration;
    const polytile_implementation *implementation;
    bool has_parameter;
    Thread thread;
};

const Kernel kernels[] = {
    {"torus[i, j]: in A[wrap(i-1:i+1), j], A[i, wrap(j-1:j+1)]; out B[i, j]", &torus_kernel, false,
     [](Field *A, Field *B, int64_t i, int64_t j, int64_t) {
         B->at(i, j) = 3 * A->wrap(i - 1, j) + 5 * A->wrap(i + 1, j) + 7 * A->wrap(i, j - 1) +
                       11 * A->wrap(i, j + 1) + A->at(i, j);
     }},
    {"torus[i, j]: in A[wrap(i-1), j], A[wrap(i+1), j], A[i, wrap(j-1)], A[i, wrap(j+1)], A[i, j]; "
     "out B[i, j]",
     &torus_kernel, false,
     [](Field *A, Field *B, int64_t i, int64_t j, int64_t) {
         B->at(i, j) = 3 * A->wrap(i - 1, j) + 5 * A->wrap(i + 1, j) + 7 * A->wrap(i, j - 1) +
                       11 * A->wrap(i, j + 1) + A->at(i, j);
     }},
    {"corner[i, j]: in A[wrap(i-2), wrap(j+1)], A[i, clamp(j-3)]; out B[i, j]", &corner_kernel,
     false,
     [](Field *A, Field *B, int64_t i, int64_t j, int64_t) {
         B->at(i, j) = 3 * A->wrap(i - 2, j + 1) + A->clamp(i, j - 3);
     }},
    {"rest[i, j]: in A[clamp(i-1), clamp(j-2)], A[clamp(i+3), j], A[i, j]; out B[i, j]",
     &rest_kernel, false,
     [](Field *A, Field *B, int64_t i, int64_t j, int64_t) {
         B->at(i, j) = 3 * A->clamp(i - 1, j - 2) + 5 * A->clamp(i + 3, j) + A->at(i, j);
     }},
    {"roll[i, j](i64 s): in A[i, j]; out B[wrap(i+s), j]", &roll_kernel, true,
     [](Field *A, Field *B, int64_t i, int64_t j, int64_t s) {
         B->wrap(i + s, j) = A->at(i, j) + static_cast<uint32_t>(i);
     }},
    {"spread[i, j]: in A[i, j]; sum B[wrap(i-1:i+1), j]", &spread_kernel, false,
     [](Field *A, Field *B, int64_t i, int64_t j, int64_t) {
         for (int64_t d = -1; d <= 1; d++)
             B->wrap(i + d, j) += A->at(i, j) * static_cast<uint32_t>(d + 2);
     }},
};

class QueueEdges : public ::testing::Test {
  protected:
    void SetUp() override {
        environment_.set("POLYTILE_CHECK", "plan");
        ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
        for (const Kernel &of : kernels) {
            kernels_.push_back(nullptr);
            ASSERT_EQ(
                polytile_kernel_create(ctx_, of.declaration, of.implementation, &kernels_.back()),
                POLYTILE_OK)
                << error();
        }
    }
    void TearDown() override { polytile_context_destroy(ctx_); }

    std::string error() const { return polytile_last_error(ctx_); }

    polytile_array *wrap(const char *name, Field *of) {
        polytile_array *array = nullptr;
        const polytile_domain domain = of->domain();
        EXPECT_EQ(polytile_array_wrap_domain(ctx_, name, POLYTILE_U32, &domain, of->values.data(),
                                             &array),
                  POLYTILE_OK)
            << error();
        return array;
    }

    static Field draw_field(Random *random, int64_t most) {
        Field drawn;
        const int64_t first = random->number(-3, 3), first_column = random->number(-3, 3);
        drawn.rows = {first, first + random->one_of({1, 2, 3, 5, 7, 31, most}) - 1, 1};
        drawn.columns = {first_column, first_column + random->one_of({1, 2, 3, 5, 7, 13}) - 1, 1};
        drawn.values.resize(static_cast<size_t>((drawn.rows.hi - drawn.rows.lo + 1) *
                                                (drawn.columns.hi - drawn.columns.lo + 1)));
        for (uint32_t &value : drawn.values)
            value = static_cast<uint32_t>(random->number(0, 99));
        return drawn;
    }

    static void run_by_hand(const Kernel &kernel, Field *A, Field *B, int64_t s) {
        for (int64_t i = A->rows.lo; i <= A->rows.hi; i++)
            for (int64_t j = A->columns.lo; j <= A->columns.hi; j++)
                kernel.thread(A, B, i, j, s);
    }

    polytile_context *ctx_ = nullptr;
    Environment environment_;
    std::vector<polytile_kernel *> kernels_;
};

TEST_F(QueueEdges, RunsEqualAPlainLoop) {
    Random random(test_seed("QueueEdges.RunsEqualAPlainLoop"));
    const int64_t n_rounds = scaled(100);
    int64_t n_run = 0;
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        const size_t k = static_cast<size_t>(random.number(0, std::size(kernels) - 1));
        Field A = draw_field(&random, 199), B = A, expected = A;
        const int64_t s = random.number(-50, 50);
        const int64_t bytes = static_cast<int64_t>(A.values.size()) * 4;
        const std::string device_text =
            "host(memory=" + std::to_string(random.number(32, 3 * bytes + 256)) + "B,threads=2)";
        SCOPED_TRACE(kernels[k].declaration + (" on " + device_text));
        polytile_device *device = nullptr;
        ASSERT_EQ(polytile_device_open(ctx_, device_text.c_str(), &device), POLYTILE_OK);
        polytile_array *of_A = wrap("A", &A), *of_B = wrap("B", &B);
        const polytile_parameter value = POLYTILE_PARAMETER("s", s);
        polytile_launch_options options =
            polytile_launch_options_of(kernels[k].has_parameter ? 1 : 0, &value);
        options.plan.strategy = random.chance(50) ? "min-traffic" : "min-time";
        const polytile_domain domain = A.domain();
        const polytile_status status =
            polytile_run(device, kernels_[k], &domain, POLYTILE_ARRAYS(of_A, of_B), &options);
        run_by_hand(kernels[k], &A, &expected, s);
        if (status == POLYTILE_OK)
            EXPECT_EQ(B.values, expected.values);
        else
            EXPECT_EQ(status, POLYTILE_NO_FIT) << error();
        n_run += status == POLYTILE_OK;
        polytile_device_close(device);
        polytile_array_destroy(of_A);
        polytile_array_destroy(of_B);
    }
    EXPECT_GE(n_run, least_count(n_rounds, 0.8));
}

TEST_F(QueueEdges, LaunchesInTurnEqualPlainLoops) {
    Random random(test_seed("QueueEdges.LaunchesInTurnEqualPlainLoops"));
    for (int64_t round = 0; round < scaled(60) && !HasFailure(); round++) {
        Field field[2] = {draw_field(&random, 400), {}};
        field[1] = field[0];
        Field expected[2] = {field[0], field[1]};
        const int64_t bytes = static_cast<int64_t>(field[0].values.size()) * 4;
        std::string text =
            "host(memory=" + std::to_string(random.number(bytes / 3, bytes) + 640) + "B,threads=2)";
        if (random.chance(30))
            text = random.chance(50) ? "host" : text + "," + text;
        std::string trace = text;
        polytile_queue *queue = nullptr;
        ASSERT_EQ(polytile_queue_create(ctx_, text.c_str(), &queue), POLYTILE_OK) << error();
        polytile_array *arrays[2] = {wrap("A", &field[0]), wrap("B", &field[1])};
        for (polytile_array *array : arrays)
            ASSERT_EQ(polytile_queue_attach(queue, POLYTILE_ARRAYS(array)), POLYTILE_OK) << error();
        const bool is_chain = random.chance(60);
        if (random.chance(70))
            polytile_queue_pause(queue);
        const size_t first = static_cast<size_t>(random.number(0, std::size(kernels) - 1));
        for (int64_t step = random.number(1, 12); step > 0 && !HasFailure(); step--) {
            const size_t k =
                is_chain ? first : static_cast<size_t>(random.number(0, std::size(kernels) - 1));
            const int64_t s = random.number(-50, 50), from = step % 2;
            const polytile_parameter value = POLYTILE_PARAMETER("s", s);
            const polytile_launch_options options =
                polytile_launch_options_of(kernels[k].has_parameter ? 1 : 0, &value);
            const polytile_domain domain = field[0].domain();
            trace += std::string("\n") + kernels[k].declaration;
            const polytile_status status =
                polytile_queue_launch(queue, kernels_[k], &domain,
                                      POLYTILE_ARRAYS(arrays[from], arrays[1 - from]), &options);
            EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_FIT) << error() << trace;
            if (status == POLYTILE_OK)
                run_by_hand(kernels[k], &expected[from], &expected[1 - from], s);
        }
        ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error() << trace;
        for (polytile_array *array : arrays)
            ASSERT_EQ(polytile_queue_detach(queue, POLYTILE_ARRAYS(array)), POLYTILE_OK) << error();
        EXPECT_EQ(field[0].values, expected[0].values) << trace;
        EXPECT_EQ(field[1].values, expected[1].values) << trace;
        polytile_queue_destroy(queue);
        polytile_array_destroy(arrays[0]);
        polytile_array_destroy(arrays[1]);
    }
}

/** Periodic rows, fixed columns: a chain is folded, and its data goes through the device once. */
TEST_F(QueueEdges, ChainsRoundARingGoThroughTheDeviceOnce) {
    Random random(test_seed("QueueEdges.ChainsRoundARingGoThroughTheDeviceOnce"));
    const char *const declarations[] = {
        "jacobi[i, j]: in A[wrap(i-1:i+1), j], A[i, j-1:j+1]; out B[i, j]",
        "jacobi[i, j]: in A[wrap(i-1), j], A[wrap(i+1), j], A[i, j-1:j+1]; out B[i, j]",
        "jacobi[i, j]: in A[wrap(i-3:i+2), j], A[i, wrap(j-1:j+1)]; out B[i, j]"};
    for (int64_t round = 0; round < scaled(12) && !HasFailure(); round++) {
        polytile_kernel *kernel = nullptr;
        const size_t which = static_cast<size_t>(random.number(0, 2));
        const char *declaration = declarations[which];
        ASSERT_EQ(polytile_kernel_create(ctx_, declaration, &fixed_kernel, &kernel), POLYTILE_OK);
        Field field[2] = {};
        const int64_t first = random.number(-3, 3), n_rows = random.number(300, 600);
        field[0].rows = {first, first + n_rows - 1, 1};
        field[0].columns = {0, 40, 1};
        for (int64_t k = 0; k < n_rows * 41; k++)
            field[0].values.push_back(static_cast<uint32_t>(random.number(0, 99)));
        field[1] = field[0];
        Field expected[2] = {field[0], field[1]};
        const int64_t bytes = n_rows * 41 * 4, n_steps = random.number(8, 14);
        const std::string text = "host(memory=" + std::to_string(bytes) + "B)";
        SCOPED_TRACE(std::string(declaration) + " on " + text + ", " + std::to_string(n_rows) +
                     " rows, " + std::to_string(n_steps) + " steps");
        polytile_queue *queue = nullptr;
        ASSERT_EQ(polytile_queue_create(ctx_, text.c_str(), &queue), POLYTILE_OK) << error();
        polytile_array *arrays[2] = {wrap("A", &field[0]), wrap("B", &field[1])};
        ASSERT_EQ(polytile_queue_attach(queue, POLYTILE_ARRAYS(arrays[0], arrays[1])), POLYTILE_OK);
        polytile_queue_pause(queue);
        polytile_domain domain = field[0].domain();
        domain.range[1] = {1, 39, 1};
        // So small a field may take less time in two passes of larger slabs.
        polytile_launch_options options = {};
        options.plan.strategy = "min-traffic";
        for (int64_t t = 0; t < n_steps; t++) {
            Field *A = &expected[t % 2], *B = &expected[(t + 1) % 2];
            ASSERT_EQ(polytile_queue_launch(queue, kernel, &domain,
                                            POLYTILE_ARRAYS(arrays[t % 2], arrays[(t + 1) % 2]),
                                            &options),
                      POLYTILE_OK)
                << error();
            for (int64_t i = A->rows.lo; i <= A->rows.hi; i++)
                for (int64_t j = 1; j < 40; j++)
                    B->at(i, j) = 3 * A->wrap(i - 1, j) + 5 * A->wrap(i + 1, j) +
                                  7 * A->at(i, j - 1) + 11 * A->at(i, j + 1) + A->at(i, j);
        }
        ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        polytile_report report = {};
        polytile_queue_get_report(queue, false, &report);
        ASSERT_EQ(polytile_queue_detach(queue, POLYTILE_ARRAYS(arrays[0], arrays[1])), POLYTILE_OK);
        EXPECT_EQ(field[0].values, expected[0].values);
        EXPECT_EQ(field[1].values, expected[1].values);
        EXPECT_LE(report.h2d_bytes, which == 2 ? 4 * bytes : bytes * 12 / 10);
        polytile_queue_destroy(queue);
        polytile_array_destroy(arrays[0]);
        polytile_array_destroy(arrays[1]);
    }
}

} // namespace
