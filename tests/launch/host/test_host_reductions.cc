#include "queue/queue_test.h"
#include "support/random.h"
#include "support/scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

/* Bodies that reduce, against plain loops: results of whole numbers are equal bit by bit, whoever
 * reduces them. */

namespace {

POLYTILE_KERNEL(several, (i), (const double, x, 1), (double, s, 1), (double, lo, 1),
                (double, hi, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(x, i));
    PT_MIN(PT_AT(lo, 0), PT_AT(x, i));
    PT_MAX(PT_AT(hi, 0), PT_AT(x, i));
}

POLYTILE_KERNEL(mixed, (i, j), (const int32_t, A, 2), (int64_t, rows, 1), (int64_t, s, 2)) {
    if (PT_AT(A, i, j) == 3)
        return;
    PT_SUM(PT_AT(rows, i), PT_AT(A, i, j));
    PT_SUM(PT_AT(s, 2, 5), PT_AT(A, i, j));
}

POLYTILE_KERNEL(histogram, (i), (const int32_t, key, 1), (int64_t, bins, 1)) {
    PT_SUM(PT_AT(bins, PT_AT(key, i)), 1);
}

POLYTILE_KERNEL(beyond, (i), (const double, x, 1), (double, s, 1)) {
    PT_SUM(PT_AT(s, 1), PT_AT(x, i));
}

class HostReductions : public QueueTest {
  protected:
    template <class T>
    polytile_array *wrap_as(const char *name, polytile_type type, const Lengths &extents,
                            std::vector<T> &memory) {
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx, name, type, static_cast<int>(extents.size()),
                                      extents.data(), memory.data(), &array),
                  POLYTILE_OK)
            << error();
        return array;
    }

    /** Run over arrays and forget them. */
    polytile_status run(const char *device_text, const polytile_kernel *kernel,
                        const polytile_domain &domain, const Arrays &arrays) {
        polytile_device *device = nullptr;
        EXPECT_EQ(polytile_device_open(ctx, device_text, &device), POLYTILE_OK) << error();
        const polytile_status status = polytile_run(
            device, kernel, &domain, static_cast<int>(arrays.size()), arrays.data(), nullptr);
        polytile_device_get_report(device, &told);
        polytile_device_close(device);
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
        return status;
    }

    static const char *draw_device(Random &random) {
        static const char *const devices[] = {"host", "host(threads=1)", "host(threads=3)",
                                              "host(memory=2KiB)", "host(memory=64KiB,threads=2)"};
        return devices[random.number(0, 4)];
    }

    polytile_report told = {};
};

const char *const several_text = "several[i]: in x[i]; out sum s[0]; out min lo[0]; out max hi[0]";

TEST_F(HostReductions, SeveralShareOneUpload) {
    std::vector<double> x(1000), s(1, 7), lo(1, 7), hi(1, 7);
    for (size_t k = 0; k < x.size(); k++)
        x[k] = static_cast<double>(k * 7919 % 1009);
    ASSERT_EQ(run("host(memory=4KiB)", create(several_text, &several_kernel), line(1000),
                  {wrap_as("x", POLYTILE_F64, {1000}, x), wrap_as("s", POLYTILE_F64, {1}, s),
                   wrap_as("lo", POLYTILE_F64, {1}, lo), wrap_as("hi", POLYTILE_F64, {1}, hi)}),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(told.h2d_bytes, 8000);
    EXPECT_EQ(told.d2h_bytes, 24);
    double sum = 0;
    for (double value : x)
        sum += value;
    EXPECT_EQ(s[0], sum);
    EXPECT_EQ(lo[0], *std::min_element(x.begin(), x.end()));
    EXPECT_EQ(hi[0], *std::max_element(x.begin(), x.end()));
}

TEST_F(HostReductions, SeveralAreThoseOfALoop) {
    Random random(test_seed("HostReductions.SeveralAreThoseOfALoop"));
    polytile_kernel *fresh = create(several_text, &several_kernel);
    polytile_kernel *further =
        create("several[i]: in x[i]; sum s[0]; min lo[0]; max hi[0]", &several_kernel);
    for (int64_t k = scaled(300); k > 0 && !HasFailure(); k--) {
        const bool is_fresh = random.chance(50);
        const int64_t n = random.one_of({1, 2, 3, 31, 64, 997, 5003});
        std::vector<double> x(static_cast<size_t>(n)), s(1, 5), lo(1, -400), hi(1, 400);
        double sum = is_fresh ? 0 : 5, least = is_fresh ? INFINITY : -400,
               most = is_fresh ? -INFINITY : 400;
        for (double &value : x) {
            value = static_cast<double>(random.number(-1000, 1000));
            sum += value;
            least = std::min(least, value);
            most = std::max(most, value);
        }
        ASSERT_EQ(run(draw_device(random), is_fresh ? fresh : further, line(n),
                      {wrap_as("x", POLYTILE_F64, {n}, x), wrap_as("s", POLYTILE_F64, {1}, s),
                       wrap_as("lo", POLYTILE_F64, {1}, lo), wrap_as("hi", POLYTILE_F64, {1}, hi)}),
                  POLYTILE_OK)
            << error();
        EXPECT_EQ(s[0], sum);
        EXPECT_EQ(lo[0], least);
        EXPECT_EQ(hi[0], most);
    }
}

/** One operand has an element a row, the other one element in all; some threads return early. */
TEST_F(HostReductions, OneElementAndOneARowAreThoseOfALoop) {
    Random random(test_seed("HostReductions.OneElementAndOneARowAreThoseOfALoop"));
    polytile_kernel *kernel =
        create("mixed[i, j]: in A[i, j]; sum rows[i]; out sum s[2, 5]", &mixed_kernel);
    for (int64_t k = scaled(200); k > 0 && !HasFailure(); k--) {
        const int64_t n = random.one_of({1, 2, 13, 40}), m = random.one_of({1, 7, 64, 101});
        std::vector<int32_t> A(static_cast<size_t>(n * m));
        std::vector<int64_t> rows(static_cast<size_t>(n), 1), expected(rows), s(18, 0);
        int64_t sum = 0;
        for (size_t e = 0; e < A.size(); e++) {
            A[e] = static_cast<int32_t>(random.number(-9, 9));
            if (A[e] != 3) {
                expected[e / static_cast<size_t>(m)] += A[e];
                sum += A[e];
            }
        }
        ASSERT_EQ(
            run(draw_device(random), kernel, box({0, 0}, {n - 1, m - 1}),
                {wrap_as("A", POLYTILE_I32, {n, m}, A), wrap_as("rows", POLYTILE_I64, {n}, rows),
                 wrap_as("s", POLYTILE_I64, {3, 6}, s)}),
            POLYTILE_OK)
            << error();
        EXPECT_EQ(rows, expected);
        EXPECT_EQ(s[17], sum);
        EXPECT_EQ(s[16], 0);
    }
}

/** With few bins and with more than threads get copies of. */
TEST_F(HostReductions, HistogramsAreThoseOfALoop) {
    Random random(test_seed("HostReductions.HistogramsAreThoseOfALoop"));
    polytile_kernel *kernel = create("histogram[i]: in key[i]; out sum bins[:]", &histogram_kernel);
    for (int64_t n_bins : {INT64_C(1), INT64_C(2), INT64_C(257), INT64_C(100003)}) {
        const int64_t n = random.one_of({1, 1009, 60000});
        std::vector<int32_t> key(static_cast<size_t>(n));
        std::vector<int64_t> bins(static_cast<size_t>(n_bins), 3), expected(bins.size(), 0);
        for (int32_t &value : key) {
            value = static_cast<int32_t>(random.number(0, n_bins - 1));
            expected[static_cast<size_t>(value)]++;
        }
        ASSERT_EQ(run("host(threads=3)", kernel, line(n),
                      {wrap_as("key", POLYTILE_I32, {n}, key),
                       wrap_as("bins", POLYTILE_I64, {n_bins}, bins)}),
                  POLYTILE_OK)
            << error();
        EXPECT_EQ(bins, expected) << n_bins;
    }
}

/** A comparison with NaN is false: one that is combined changes nothing, one that is there
 * stays. */
TEST_F(HostReductions, NaNIsNeitherLeastNorMost) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const char *device : {"host(threads=1)", "host(threads=3)", "host(memory=128B)"}) {
        std::vector<double> x = {nan, 3, -2, nan, 8, nan, 1, 0, 4}, s(1), lo(1), hi(1);
        ASSERT_EQ(run(device, create(several_text, &several_kernel), line(9),
                      {wrap_as("x", POLYTILE_F64, {9}, x), wrap_as("s", POLYTILE_F64, {1}, s),
                       wrap_as("lo", POLYTILE_F64, {1}, lo), wrap_as("hi", POLYTILE_F64, {1}, hi)}),
                  POLYTILE_OK)
            << error();
        EXPECT_TRUE(std::isnan(s[0]));
        EXPECT_EQ(lo[0], -2);
        EXPECT_EQ(hi[0], 8);
    }
}

/** An element that a body may keep in a register is in memory where accesses are checked. */
TEST_F(HostReductions, WhatIsNotDeclaredIsFound) {
    std::vector<double> x(8, 1), s(4, 0);
    polytile_device *device = nullptr;
    ASSERT_EQ(polytile_device_open(ctx, "host(threads=1)", &device), POLYTILE_OK) << error();
    const Arrays arrays = {wrap_as("x", POLYTILE_F64, {8}, x), wrap_as("s", POLYTILE_F64, {4}, s)};
    const polytile_domain all = line(8);
    EXPECT_EQ(polytile_check_run(device, create("beyond[i]: in x[i]; out sum s[0]", &beyond_kernel),
                                 &all, 2, arrays.data(), nullptr, nullptr),
              POLYTILE_INVALID);
    expect_says({"s"});
}

} // namespace
