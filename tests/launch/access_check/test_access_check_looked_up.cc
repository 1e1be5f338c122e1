#include <gtest/gtest.h>

#include "launch/looked_up.h"
#include "support/environment.h"
#include "support/scale.h"

/* Checks that run kernels whose subscripts hold elements of index arrays. */

namespace {

using looked_up::Arrays;
using looked_up::Kind;
using looked_up::Matrix;

/** A context and what is checked in it. */
class AccessCheckLookedUp : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_status check(const char *device_text, const char *declaration,
                          const polytile_implementation &body, int64_t n_threads,
                          const Arrays &arrays) {
        polytile_device *device = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx, declaration, &body, &kernel), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_device_open(ctx, device_text, &device), POLYTILE_OK) << error();
        threads = *POLYTILE_EXTENTS(n_threads);
        return polytile_check_run(device, kernel, &threads, static_cast<int>(arrays.list.size()),
                                  arrays.list.data(), nullptr, &report);
    }
    std::string error() const { return polytile_last_error(ctx); }

    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_domain threads = {};
    polytile_check_report report = {};
};

TEST_F(AccessCheckLookedUp, LetsRightKernelsPass) {
    const uint64_t seed = test_seed("AccessCheckLookedUp");
    Random random(seed);
    for (int64_t round = 0; round < scaled(60) && !HasFailure(); round++) {
        const int64_t n_rows = random.one_of({1, 2, 17, 127});
        const Matrix matrix(n_rows, random.one_of({1, 5, 97, 300}), &random);
        const Kind kind = static_cast<Kind>(random.number(0, looked_up::N_KINDS - 1));
        const bool is_wide = random.chance(50);
        const int64_t n_threads = matrix.n_threads(kind);
        Arrays arrays(ctx, is_wide);
        add_arrays(kind, matrix, std::vector<float>(matrix.n_results(kind), 3), &arrays);
        if (n_threads > 0) {
            EXPECT_EQ(check(random.chance(50) ? "host" : "host(memory=64MiB)",
                            looked_up::declarations[kind],
                            *looked_up::implementations[kind][is_wide], n_threads, arrays),
                      POLYTILE_OK)
                << "seed " << seed << ": " << error();
        }
    }
}

POLYTILE_KERNEL(row_too_long, (i), (const float, V, 1), (const int32_t, P, 1), (const float, x, 1),
                (const int32_t, K, 1), (float, y, 1)) {
    float sum = PT_AT(V, PT_AT(P, i + 1));
    for (int64_t k = PT_AT(P, i); k < PT_AT(P, i + 1); k++)
        sum += PT_AT(V, k) * PT_AT(x, PT_AT(K, k));
    PT_AT(y, i) = sum;
}

POLYTILE_KERNEL(column_beside, (i), (const float, V, 1), (const int32_t, P, 1), (const float, x, 1),
                (const int32_t, K, 1), (float, y, 1)) {
    float sum = 0;
    for (int64_t k = PT_AT(P, i); k < PT_AT(P, i + 1); k++)
        sum += PT_AT(V, k) * PT_AT(x, PT_AT(K, k) + 1);
    PT_AT(y, i) = sum;
}

POLYTILE_KERNEL(next_end, (i), (const float, V, 1), (const int32_t, P, 1), (const float, x, 1),
                (const int32_t, K, 1), (float, y, 1)) {
    float sum = static_cast<float>(PT_AT(P, i + 2));
    for (int64_t k = PT_AT(P, i); k < PT_AT(P, i + 1); k++)
        sum += PT_AT(V, k) * PT_AT(x, PT_AT(K, k));
    PT_AT(y, i) = sum;
}

/** A body that touches more than its declaration says, and the array of which it does. */
struct Wrong {
    const polytile_implementation *body;
    int array;
};

/** Rows of three entries in every other column, none of which is empty. */
void add_ladder(int64_t n_rows, Arrays *arrays) {
    std::vector<int64_t> P(1, 0), K;
    for (int64_t i = 0; i < n_rows; i++) {
        for (int64_t k = 0; k < 3; k++)
            K.push_back(2 * i + 4 * k);
        P.push_back(static_cast<int64_t>(K.size()));
    }
    std::vector<float> V, x;
    for (size_t k = 0; k < K.size(); k++)
        V.push_back(static_cast<float>(k % 11) + 1);
    for (int64_t c = 0; c < 2 * n_rows + 10; c++)
        x.push_back(static_cast<float>(c % 13) + 1);
    P.push_back(P.back());
    V.push_back(5);
    K.push_back(0);
    arrays->add_values("V", V);
    arrays->add_indices("P", P);
    arrays->add_values("x", x);
    arrays->add_indices("K", K);
    arrays->add_values("y", std::vector<float>(static_cast<size_t>(n_rows)));
}

TEST_F(AccessCheckLookedUp, NamesWhatIsTouchedBesideWhatIsLookedUp) {
    const Wrong wrongs[] = {
        {&row_too_long_kernel, 0}, {&column_beside_kernel, 2}, {&next_end_kernel, 1}};
    for (const Wrong &wrong : wrongs)
        for (const char *device : {"host", "host(memory=1MiB)"}) {
            Arrays arrays(ctx, false);
            add_ladder(100, &arrays);
            EXPECT_EQ(
                check(device, looked_up::declarations[looked_up::ROWS], *wrong.body, 100, arrays),
                POLYTILE_INVALID);
            EXPECT_EQ(report.violation, POLYTILE_READS_UNDECLARED) << error();
            EXPECT_EQ(report.array, wrong.array) << error();
        }
}

POLYTILE_KERNEL(bin_beside, (e), (const int32_t, bin, 1), (float, h, 1)) {
    PT_SUM(PT_AT(h, PT_AT(bin, e) + 1), 1);
}

TEST_F(AccessCheckLookedUp, NamesWhatIsAddedToBesideWhatIsLookedUp) {
    Arrays arrays(ctx, false);
    arrays.add_indices("bin", std::vector<int64_t>(64, 20));
    arrays.add_values("h", std::vector<float>(40, 1));
    EXPECT_EQ(check("host", "count[e]: in bin[e]; sum h[bin[e]]", bin_beside_kernel, 64, arrays),
              POLYTILE_INVALID);
    EXPECT_EQ(report.violation, POLYTILE_WRITES_UNDECLARED) << error();
    EXPECT_EQ(report.array, 1);
    EXPECT_EQ(report.element[0], 21);
}

TEST_F(AccessCheckLookedUp, SaysOfNoRightKernelThatItIsTooWide) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "wide");
    for (const Kind kind : {looked_up::ROWS, looked_up::GATHER}) {
        polytile_device *device = nullptr;
        polytile_context *checking = nullptr;
        ASSERT_EQ(polytile_context_create(&checking), POLYTILE_OK);
        Arrays arrays(checking, false);
        if (kind == looked_up::ROWS) {
            add_ladder(100, &arrays);
        } else {
            arrays.add_values("x", {9, 1, 8, 2, 7, 3, 6, 4});
            arrays.add_indices("K", {3, 5, 3, 0});
            arrays.add_values("z", std::vector<float>(4));
        }
        ASSERT_EQ(polytile_kernel_create(checking, looked_up::declarations[kind],
                                         looked_up::implementations[kind][0], &kernel),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_device_open(checking, "host", &device), POLYTILE_OK);
        testing::internal::CaptureStderr();
        EXPECT_EQ(polytile_run(device, kernel, POLYTILE_EXTENTS(kind == looked_up::ROWS ? 100 : 4),
                               static_cast<int>(arrays.list.size()), arrays.list.data(), nullptr),
                  POLYTILE_OK)
            << polytile_last_error(checking);
        EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
        polytile_context_destroy(checking);
    }
}

TEST_F(AccessCheckLookedUp, CountsWhatIsLookedUpAlone) {
    enum { N = 50, FEW = 10 };
    polytile_use use[3] = {};
    std::vector<int64_t> K;
    std::vector<float> x;
    for (int64_t e = 0; e < N; e++) {
        K.push_back(e % FEW * 30);
        x.push_back(static_cast<float>(10 * e));
    }
    x.resize(300, 7);
    Arrays arrays(ctx, false);
    arrays.add_values("x", x);
    arrays.add_indices("K", K);
    arrays.add_values("z", std::vector<float>(N));
    ASSERT_EQ(check("host", looked_up::declarations[looked_up::GATHER],
                    looked_up::gather_i32_kernel, FEW, arrays),
              POLYTILE_OK)
        << error();
    polytile_device *device = nullptr;
    ASSERT_EQ(polytile_device_open(ctx, "host", &device), POLYTILE_OK);
    ASSERT_EQ(polytile_check_use(device, kernel, &threads, 3, arrays.list.data(), nullptr, use),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(use[0].n_declared, FEW);
    EXPECT_EQ(use[1].n_declared, FEW);
}

} // namespace
