#define POLYTILE_RECORD_ACCESS
#include "launch/kernels.h"

#include "support/environment.h"
#include "support/list.h"
#include "support/random.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <polytile/polytile.h>

/* How much of what is declared to be read is read. */

namespace {

/* As the body of polytile/kernel.h, by hand, which tells nothing. */
void add_quietly(const polytile_domain *threads, const polytile_view *views, void *) {
    const auto at = [&](int view, int64_t i) {
        return reinterpret_cast<float *>(static_cast<char *>(views[view].origin) +
                                         i * views[view].stride_bytes[0]);
    };
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        *at(2, i) = *at(0, i) + *at(1, i);
}

class AccessUse : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        ASSERT_EQ(polytile_device_open(ctx, "host", &device), POLYTILE_OK);
        std::iota(memory[0].begin(), memory[0].end(), 1.0f);
        std::iota(memory[1].begin(), memory[1].end(), 7.0f);
        for (int a = 0; a < 3; a++)
            ASSERT_EQ(polytile_array_wrap(ctx, names[a], POLYTILE_F32, 1, &extent, memory[a].data(),
                                          &arrays[a]),
                      POLYTILE_OK);
    }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_status find(const char *declaration, const polytile_implementation &of) {
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx, declaration, &of, &kernel), POLYTILE_OK) << error();
        return polytile_check_use(device, kernel, POLYTILE_EXTENTS(100),
                                  polytile_kernel_get_n_arrays(kernel), arrays, nullptr, uses);
    }
    std::string error() const { return polytile_last_error(ctx); }

    static constexpr const char *names[] = {"x", "y", "z"};
    const int64_t extent = 200;
    polytile_context *ctx = nullptr;
    polytile_device *device = nullptr;
    std::vector<float> memory[3] = {std::vector<float>(200), std::vector<float>(200),
                                    std::vector<float>(200)};
    polytile_array *arrays[3] = {};
    polytile_use uses[3] = {};
};

TEST_F(AccessUse, IsCountedExactlyForBodiesThatTell) {
    ASSERT_EQ(find("add[i]: in x[i], y[:]; out z[i]", add_kernel), POLYTILE_OK) << error();
    EXPECT_TRUE(uses[0].is_recorded);
    EXPECT_EQ(uses[0].n_declared, 100);
    EXPECT_EQ(uses[0].n_tried, 100);
    EXPECT_EQ(uses[0].n_read, 100);
    EXPECT_EQ(uses[1].n_declared, 8 * 200);
    EXPECT_EQ(uses[1].n_read, 100);
    EXPECT_EQ(uses[1].n_never, 100);
    EXPECT_FALSE(uses[1].depends_on_data);
    EXPECT_EQ(uses[0].n_never, 0);
    EXPECT_EQ(uses[2].n_declared, 0);
}

TEST_F(AccessUse, IsEstimatedForFunctionsThatDoNot) {
    polytile_implementation quiet = {};
    quiet.host = add_quietly;
    ASSERT_EQ(find("add[i]: in x[i], y[:]; out z[i]", quiet), POLYTILE_OK) << error();
    EXPECT_FALSE(uses[0].is_recorded);
    EXPECT_EQ(uses[0].n_tried, 100);
    EXPECT_EQ(uses[0].n_read, uses[0].n_tried);
    EXPECT_EQ(uses[1].n_declared, 8 * 200);
    EXPECT_GT(uses[1].n_read, 0);
    EXPECT_LT(uses[1].n_read, uses[1].n_tried / 2);
}

/** Adding nothing leaves an element as it was, whatever that is. */
TEST_F(AccessUse, OfElementsThatAreUpdatedIsSeen) {
    polytile_implementation quiet = {};
    quiet.host = [](const polytile_domain *threads, const polytile_view *views, void *) {
        float *x = static_cast<float *>(views[0].origin);
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
            x[i * views[0].stride_bytes[0] / 4] += i % 2 == 0 ? 1.0f : 0.0f;
    };
    ASSERT_EQ(find("update[i]: inout x[i]", quiet), POLYTILE_OK) << error();
    EXPECT_EQ(uses[0].n_tried, 100);
    EXPECT_EQ(uses[0].n_read, 100);
}

/** x is written and not read, and both are reached for. */
POLYTILE_KERNEL(overwrite, (i), (float, x, 1), (const float, y, 1)) {
    PT_AT(x, i) = PT_AT(y, i) + 1;
}
POLYTILE_KERNEL(update, (i), (float, x, 1), (const float, y, 1)) {
    PT_AT(x, i) = PT_AT(x, i) * 2 + PT_AT(y, i);
}
POLYTILE_KERNEL(later, (i), (float, x, 1), (const float, y, 1)) {
    if (i >= 50)
        PT_AT(x, i) = PT_AT(y, i);
}

/** Elements that are written for some of what they, or others, hold. */
POLYTILE_KERNEL(no_negative, (i), (float, x, 1), (const float, y, 1)) {
    if (PT_AT(x, i) < 0)
        PT_AT(x, i) = PT_AT(y, i);
}
POLYTILE_KERNEL(no_positive_number, (i), (int32_t, x, 1)) {
    if (PT_AT(x, i) >= 0)
        PT_AT(x, i) = 5;
}
POLYTILE_KERNEL(unless_zero, (i), (float, x, 1), (const float, y, 1)) {
    if (PT_AT(x, i) != 0)
        PT_AT(x, i) = PT_AT(y, i);
}
POLYTILE_KERNEL(where_odd, (i), (float, x, 1), (const float, y, 1)) {
    if ((int)PT_AT(y, i) % 2 == 1)
        PT_AT(x, i) = 3;
}
/** x is added to where y is odd, and elsewhere is written and not read. */
POLYTILE_KERNEL(add_or_set, (i), (float, x, 1), (const float, y, 1)) {
    PT_AT(x, i) = (int)PT_AT(y, i) % 2 == 1 ? PT_AT(x, i) + 1 : 0;
}

/** Were they declared out, those that are left would lose what they hold. */
TEST_F(AccessUse, OfElementsThatAreLeftAsTheyWereIsSeen) {
    ASSERT_EQ(find("no_negative[i]: inout x[i]; in y[i]", no_negative_kernel), POLYTILE_OK)
        << error();
    EXPECT_EQ(uses[0].n_tried, 100);
    EXPECT_EQ(uses[0].n_read, 100);
    ASSERT_EQ(find("unless_zero[i]: inout x[i]; in y[i]", unless_zero_kernel), POLYTILE_OK)
        << error();
    EXPECT_EQ(uses[0].n_read, 100);
    ASSERT_EQ(find("where_odd[i]: inout x[i]; in y[i]", where_odd_kernel), POLYTILE_OK) << error();
    EXPECT_EQ(uses[0].n_read, 50);
}

TEST_F(AccessUse, OfIntegersThatAreLeftIfNegativeIsSeen) {
    std::vector<int32_t> numbers(200, 7);
    polytile_array *x = nullptr;
    ASSERT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_I32, 1, &extent, numbers.data(), &x),
              POLYTILE_OK);
    arrays[0] = x;
    ASSERT_EQ(find("no_positive_number[i]: inout x[i]", no_positive_number_kernel), POLYTILE_OK)
        << error();
    EXPECT_EQ(uses[0].n_tried, 100);
    EXPECT_EQ(uses[0].n_read, 100);
}

TEST_F(AccessUse, OfElementsThatAreOnlyWrittenIsNone) {
    ASSERT_EQ(find("overwrite[i]: inout x[i]; in y[i]", overwrite_kernel), POLYTILE_OK) << error();
    EXPECT_FALSE(uses[0].is_recorded);
    EXPECT_EQ(uses[0].n_declared, 100);
    EXPECT_EQ(uses[0].n_tried, 100);
    EXPECT_EQ(uses[0].n_read, 0);
    EXPECT_TRUE(uses[1].is_recorded);
    EXPECT_EQ(uses[1].n_read, 100);
    ASSERT_EQ(find("update[i]: inout x[i]; in y[i]", update_kernel), POLYTILE_OK) << error();
    EXPECT_EQ(uses[0].n_declared, 100);
    EXPECT_EQ(uses[0].n_read, 100);
}

TEST_F(AccessUse, IsCountedWhereTheFirstThreadsDoNothing) {
    ASSERT_EQ(find("later[i]: inout x[i]; in y[i]", later_kernel), POLYTILE_OK) << error();
    EXPECT_TRUE(uses[1].is_recorded);
    EXPECT_EQ(uses[1].n_declared, 100);
    EXPECT_EQ(uses[1].n_read, 50);
}

TEST_F(AccessUse, IsNotLookedForBehindAWrongDeclaration) {
    EXPECT_EQ(find("add[i]: in x[i], y[0]; out z[i]", add_kernel), POLYTILE_INVALID);
    EXPECT_NE(error().find("reads y["), std::string::npos) << error();
}

class AccessUseIsTold : public AccessUse {
  protected:
    void SetUp() override {
        environment_.set("POLYTILE_CHECK", "wide");
        AccessUse::SetUp();
    }

    /** What is said of a launch. */
    std::string warning(const char *declaration, const polytile_implementation &of) {
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx, declaration, &of, &kernel), POLYTILE_OK) << error();
        testing::internal::CaptureStderr();
        EXPECT_EQ(polytile_run(device, kernel, POLYTILE_EXTENTS(100),
                               polytile_kernel_get_n_arrays(kernel), arrays, nullptr),
                  POLYTILE_OK)
            << error();
        return testing::internal::GetCapturedStderr();
    }
    Environment environment_;
};

TEST_F(AccessUseIsTold, WhereTheEnvironmentAsksForIt) {
    EXPECT_EQ(
        warning("add[i]: in x[i], y[:]; out z[i]", add_kernel),
        "polytile: add: declared too wide: y: 1500 of 1600 elements that boxes of threads "
        "are declared to read are not read there, 5.86 KiB of 6.25 KiB; 100 elements of it are "
        "never read, 400 B (found on host for the threads [0:99])\n");
    EXPECT_EQ(memory[2][99], memory[0][99] + memory[1][99]);
}

TEST_F(AccessUseIsTold, OfElementsThatAreOnlyWritten) {
    EXPECT_EQ(warning("overwrite[i]: inout x[i]; in y[i]", overwrite_kernel),
              "polytile: overwrite: perhaps declared too wide: x: of 100 elements tried no result "
              "depends on 100, about 400 B of 400 B; declare it out if it is never read, and "
              "written whatever it held (found on host for the threads [0:99])\n");
    EXPECT_EQ(warning("add_or_set[i]: inout x[i]; in y[i]", add_or_set_kernel),
              "polytile: add_or_set: perhaps declared too wide: x: of 100 elements tried no result "
              "depends on 50, about 200 B of 400 B; if a section holds just those that are never "
              "read, and written whatever they held, declare it out (found on host for the threads "
              "[0:99])\n");
}

TEST_F(AccessUseIsTold, NothingOfElementsThatAreWrittenOnlySometimes) {
    EXPECT_EQ(
        warning("no_negative[i]: inout x[i]; in y[i]", no_negative_kernel).find("too wide: x"),
        std::string::npos);
    EXPECT_EQ(warning("unless_zero[i]: inout x[i]; in y[i]", unless_zero_kernel), "");
    EXPECT_EQ(warning("where_odd[i]: inout x[i]; in y[i]", where_odd_kernel), "");
}

TEST_F(AccessUseIsTold, OncePerArray) {
    polytile_kernel *kernel = nullptr;
    ASSERT_EQ(polytile_kernel_create(ctx, "add[i]: in x[i], y[:]; out z[i]", &add_kernel, &kernel),
              POLYTILE_OK);
    testing::internal::CaptureStderr();
    for (const int64_t n : {100, 100, 60, 100})
        EXPECT_EQ(polytile_run(device, kernel, POLYTILE_EXTENTS(n),
                               polytile_kernel_get_n_arrays(kernel), arrays, nullptr),
                  POLYTILE_OK)
            << error();
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

POLYTILE_KERNEL(spmv, (i), (const int32_t, P, 1), (const int32_t, K, 1), (const float, V, 1),
                (const float, x, 1), (float, y, 1)) {
    float sum = 0;
    for (int32_t k = PT_AT(P, i); k < PT_AT(P, i + 1); k++)
        sum += PT_AT(V, k) * PT_AT(x, PT_AT(K, k));
    PT_AT(y, i) = sum;
}

/* The same by hand, which tells nothing. */
void spmv_quietly(const polytile_domain *threads, const polytile_view *views, void *) {
    const auto *P = static_cast<const int32_t *>(views[0].origin);
    const auto *K = static_cast<const int32_t *>(views[1].origin);
    const auto *V = static_cast<const float *>(views[2].origin);
    const auto *x = static_cast<const float *>(views[3].origin);
    auto *y = static_cast<float *>(views[4].origin);
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++) {
        y[i] = 0;
        for (int32_t k = P[i]; k < P[i + 1]; k++)
            y[i] += V[k] * x[K[k]];
    }
}

/** A sparse product: the rows are of some length, or all of the same. */
class AccessUseOfSparse : public AccessUseIsTold {
  protected:
    static constexpr int64_t n = 200;

    void make_matrix(int64_t shortest, int64_t longest, Random *random) {
        for (int64_t i = 0; i < n; i++) {
            P.push_back(static_cast<int32_t>(K.size()));
            for (int64_t k = random->number(shortest, longest); k > 0; k--) {
                K.push_back(static_cast<int32_t>(random->number(0, n - 1)));
                V.push_back(static_cast<float>(random->number(1, 9)));
            }
        }
        P.push_back(static_cast<int32_t>(K.size()));
    }
    template <class T> polytile_array *wrap(const char *name, polytile_type type, T &of) {
        polytile_array *array = nullptr;
        const auto length = static_cast<int64_t>(of.size());
        EXPECT_EQ(polytile_array_wrap(ctx, name, type, 1, &length, of.data(), &array), POLYTILE_OK);
        return array;
    }

    std::vector<int32_t> P, K;
    std::vector<float> V, x = std::vector<float>(n, 2), y = std::vector<float>(n);
};

TEST_F(AccessUseOfSparse, IsSilentWhereTheDataSayWhatIsRead) {
    Random random(test_seed("AccessUseOfSparse"));
    polytile_implementation quiet = {};
    quiet.host = spmv_quietly;
    for (const int64_t longest : {5, 9}) {
        P.clear(), K.clear(), V.clear();
        make_matrix(longest == 5 ? 5 : 1, longest, &random);
        polytile_array *of[] = {wrap("P", POLYTILE_I32, P), wrap("K", POLYTILE_I32, K),
                                wrap("V", POLYTILE_F32, V), wrap("x", POLYTILE_F32, x),
                                wrap("y", POLYTILE_F32, y)};
        const std::vector<const polytile_implementation *> bodies = {&spmv_kernel, &quiet};
        for (const polytile_implementation *body : bodies) {
            polytile_kernel *kernel = nullptr;
            polytile_use use[5];
            ASSERT_EQ(polytile_kernel_create(
                          ctx, "spmv[i]: in P[i:i+1], K[:], V[:], x[:]; out y[i]", body, &kernel),
                      POLYTILE_OK);
            testing::internal::CaptureStderr();
            EXPECT_EQ(polytile_run(device, kernel, POLYTILE_EXTENTS(n), LIST(of), nullptr),
                      POLYTILE_OK);
            EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
            ASSERT_EQ(
                polytile_check_use(device, kernel, POLYTILE_EXTENTS(n), LIST(of), nullptr, use),
                POLYTILE_OK);
            for (int a = 1; a < 4; a++)
                EXPECT_TRUE(use[a].depends_on_data) << "array " << a;
            EXPECT_FALSE(use[0].depends_on_data);
        }
    }
}

} // namespace
