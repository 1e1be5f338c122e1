#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <algorithm>
#include <string>
#include <vector>

/* Runs of sections with steps, stored without their gaps, and of sections that grow, against plain
 * loops. */

namespace {

/** What a body is told: element first + shift * i, and so many more with a step. */
POLYTILE_KERNEL(gather, (i), (int64_t, a), (int64_t, b), (int64_t, c), (int64_t, s),
                (const int32_t, x, 1), (int32_t, y, 1)) {
    int32_t sum = 0;
    for (int64_t k = 0; k <= c; k++)
        sum += (int32_t)(k + 1) * PT_AT(x, a * i + b + k * s);
    PT_AT(y, i) = sum;
}

POLYTILE_KERNEL(scatter, (i, j), (int64_t, a), (int64_t, b), (const int32_t, y, 2),
                (int32_t, x, 2)) {
    PT_AT(x, a * i, b * j) = PT_AT(y, i, j) + 1;
}

POLYTILE_KERNEL(prefix, (i), (const int32_t, x, 1), (int32_t, y, 1)) {
    int32_t sum = 0;
    for (int64_t k = 0; k <= i; k++)
        sum += PT_AT(x, k);
    PT_AT(y, i) = sum;
}

/** A band around the diagonal (a * i + b, c * i + d). */
POLYTILE_KERNEL(band, (i), (int64_t, a), (int64_t, b), (int64_t, c), (int64_t, d), (int64_t, w),
                (const int32_t, D, 2), (int32_t, y, 1)) {
    int32_t sum = 0;
    for (int64_t k = 0; k <= w; k++)
        sum += (int32_t)(k + 1) * PT_AT(D, a * i + b, c * i + d + k);
    PT_AT(y, i) = sum;
}

/** The same band, changed and written. */
POLYTILE_KERNEL(stamp, (i), (int64_t, a), (int64_t, b), (int64_t, c), (int64_t, d), (int64_t, w),
                (int32_t, D, 2), (const int32_t, y, 1)) {
    for (int64_t k = 0; k <= w; k++)
        PT_AT(D, a * i + b, c * i + d + k) =
            3 * PT_AT(D, a * i + b, c * i + d + k) + (int32_t)(k + 1) * PT_AT(y, i);
}

/** The same of what the array has of the band. */
#define HAS(D, x, y)                                                                               \
    ((x) >= PT_FIRST(D, 0) && (x) <= PT_LAST(D, 0) && (y) >= PT_FIRST(D, 1) && (y) <= PT_LAST(D, 1))

POLYTILE_KERNEL(clipped_band, (i), (int64_t, a), (int64_t, b), (int64_t, c), (int64_t, d),
                (int64_t, w), (const int32_t, D, 2), (int32_t, y, 1)) {
    int32_t sum = 0;
    for (int64_t k = 0; k <= w; k++)
        if (HAS(D, a * i + b, c * i + d + k))
            sum += (int32_t)(k + 1) * PT_AT(D, a * i + b, c * i + d + k);
    PT_AT(y, i) = sum;
}

POLYTILE_KERNEL(clipped_stamp, (i), (int64_t, a), (int64_t, b), (int64_t, c), (int64_t, d),
                (int64_t, w), (int32_t, D, 2), (const int32_t, y, 1)) {
    for (int64_t k = 0; k <= w; k++)
        if (HAS(D, a * i + b, c * i + d + k))
            PT_AT(D, a * i + b, c * i + d + k) =
                3 * PT_AT(D, a * i + b, c * i + d + k) + (int32_t)(k + 1) * PT_AT(y, i);
}

POLYTILE_KERNEL(fill_clipped_band, (i), (int64_t, a), (int64_t, b), (int64_t, c), (int64_t, d),
                (int64_t, w), (int32_t, D, 2), (const int32_t, y, 1)) {
    for (int64_t k = 0; k <= w; k++)
        if (HAS(D, a * i + b, c * i + d + k))
            PT_AT(D, a * i + b, c * i + d + k) = (int32_t)(k + 1) * PT_AT(y, i);
}

POLYTILE_KERNEL(fill_band, (i), (int64_t, a), (int64_t, b), (int64_t, c), (int64_t, d),
                (int64_t, w), (int32_t, D, 2), (const int32_t, y, 1)) {
    for (int64_t k = 0; k <= w; k++)
        PT_AT(D, a * i + b, c * i + d + k) = (int32_t)(k + 1) * PT_AT(y, i);
}

class RunCompact : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx_); }

    polytile_array *wrap(std::vector<int32_t> *of, std::vector<int64_t> extents) {
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx_, "array", POLYTILE_I32, static_cast<int>(extents.size()),
                                      extents.data(), of->data(), &array),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
        return array;
    }

    /** Runs a kernel on a device with a memory of its own; false if nothing fits. */
    bool run(const std::string &declaration, const polytile_implementation *implementation,
             std::vector<int64_t> threads, std::vector<polytile_array *> arrays,
             std::vector<polytile_parameter> parameters, int64_t limit_bytes) {
        polytile_kernel *kernel = nullptr;
        polytile_device *device = nullptr;
        const std::string text = "host(memory=" + std::to_string(limit_bytes) + "B,threads=2)";
        EXPECT_EQ(polytile_kernel_create(ctx_, declaration.c_str(), implementation, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
        EXPECT_EQ(polytile_device_open(ctx_, text.c_str(), &device), POLYTILE_OK);
        const polytile_domain domain =
            polytile_domain_from_extents(static_cast<int>(threads.size()), threads.data());
        polytile_launch_options options = {};
        options.n_parameters = static_cast<int>(parameters.size());
        options.parameters = parameters.data();
        const polytile_status status = polytile_run(
            device, kernel, &domain, static_cast<int>(arrays.size()), arrays.data(), &options);
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_FIT)
            << polytile_last_error(ctx_);
        polytile_device_close(device);
        return status == POLYTILE_OK;
    }

    static std::vector<int32_t> draw(int64_t n, Random *random) {
        std::vector<int32_t> drawn;
        for (int64_t k = 0; k < n; k++)
            drawn.push_back(static_cast<int32_t>(random->number(-9, 9)));
        return drawn;
    }

    polytile_context *ctx_ = nullptr;
};

TEST_F(RunCompact, GathersElementsOfAnyStep) {
    Random random(test_seed("RunCompact"));
    for (int64_t round = scaled(60); round > 0; round--) {
        const int64_t s = random.number(1, 17), c = random.number(0, 5), b = random.number(0, 9);
        const int64_t a = random.number(1, 20), n = random.number(1, 300);
        std::vector<int32_t> x = draw(a * n + b + c * s + 1, &random), y(n), expected(n);
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = 0; k <= c; k++)
                expected[i] += static_cast<int32_t>(k + 1) * x[a * i + b + k * s];
        const bool ran =
            run("gather[i](i64 a, i64 b, i64 c, i64 s): in x[" + std::to_string(a) +
                    "*i+b:" + std::to_string(a) + "*i+b+" + std::to_string(c * s) + ":" +
                    std::to_string(s) + "]; out y[i]",
                &gather_kernel, {n}, {wrap(&x, {static_cast<int64_t>(x.size())}), wrap(&y, {n})},
                {POLYTILE_PARAMETER("a", a), POLYTILE_PARAMETER("b", b), POLYTILE_PARAMETER("c", c),
                 POLYTILE_PARAMETER("s", s)},
                random.number(100, 4000));
        if (ran) {
            ASSERT_EQ(y, expected) << a << " " << b << " " << c << " " << s << " " << n;
        }
    }
}

TEST_F(RunCompact, WritesElementsOfAnyStepAndNothingBetween) {
    Random random(test_seed("RunCompact"));
    for (int64_t round = scaled(60); round > 0; round--) {
        const int64_t a = random.number(1, 12), b = random.number(1, 12);
        const int64_t n = random.number(1, 30), m = random.number(1, 30);
        std::vector<int32_t> x = draw(a * n * b * m, &random), y = draw(n * m, &random);
        std::vector<int32_t> expected = x;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < m; j++)
                expected[a * i * b * m + b * j] = y[i * m + j] + 1;
        const bool ran =
            run("scatter[i, j](i64 a, i64 b): in y[i, j]; out x[" + std::to_string(a) + "*i, " +
                    std::to_string(b) + "*j]",
                &scatter_kernel, {n, m}, {wrap(&y, {n, m}), wrap(&x, {a * n, b * m})},
                {POLYTILE_PARAMETER("a", a), POLYTILE_PARAMETER("b", b)}, random.number(100, 4000));
        if (ran) {
            ASSERT_EQ(x, expected) << a << " " << b << " " << n << " " << m;
        }
    }
}

/** A band of width w + 1 from (a * i + b, c * i + d) on, in an array that has it and may have more;
 * a and c may be negative. */
struct Band {
    int64_t a, b, c, d, w, n, rows, columns;

    explicit Band(Random *random)
        : a(random->number(1, 4)), b(random->number(0, 5)), c(random->number(1, 4)),
          d(random->number(0, 5)), w(random->number(0, 4)), n(random->number(1, 90)) {
        rows = a * (n - 1) + b + 1 + random->number(0, 3);
        columns = c * (n - 1) + d + w + 1 + random->number(0, 3);
        if (random->number(0, 2) == 0) {
            b += a * (n - 1);
            a = -a;
        }
        if (random->number(0, 1) == 0) {
            d += c * (n - 1);
            c = -c;
        }
    }

    /** The element k of the band of thread i. */
    int64_t at(int64_t i, int64_t k) const { return (a * i + b) * columns + c * i + d + k; }

    std::string section() const {
        const std::string row = "b+" + std::to_string(a) + "*i";
        const std::string column = "d+" + std::to_string(c) + "*i";
        return "D[" + row + ", " + column + ":" + column + "+w]";
    }

    std::vector<polytile_parameter> parameters() const {
        return {POLYTILE_PARAMETER("a", a), POLYTILE_PARAMETER("b", b), POLYTILE_PARAMETER("c", c),
                POLYTILE_PARAMETER("d", d), POLYTILE_PARAMETER("w", w)};
    }

    std::string text() const {
        return section() + " for " + std::to_string(n) + ", b " + std::to_string(b) + ", d " +
               std::to_string(d) + ", w " + std::to_string(w);
    }
};

TEST_F(RunCompact, DiagonalsAndBandsEqualAPlainLoop) {
    Random random(test_seed("RunCompact"));
    for (int64_t round = scaled(60); round > 0; round--) {
        const Band of(&random);
        std::vector<int32_t> D = draw(of.rows * of.columns, &random), y(of.n), expected(of.n);
        for (int64_t i = 0; i < of.n; i++)
            for (int64_t k = 0; k <= of.w; k++)
                expected[i] += static_cast<int32_t>(k + 1) * D[of.at(i, k)];
        const bool ran =
            run("band[i](i64 a, i64 b, i64 c, i64 d, i64 w): in " + of.section() + "; out y[i]",
                &band_kernel, {of.n}, {wrap(&D, {of.rows, of.columns}), wrap(&y, {of.n})},
                of.parameters(), random.number(40, 2000));
        if (ran) {
            ASSERT_EQ(y, expected) << of.text();
        }
    }
}

TEST_F(RunCompact, DiagonalsAndBandsAreWrittenAndNothingBeside) {
    Random random(test_seed("RunCompact"));
    for (int64_t round = scaled(60); round > 0; round--) {
        const Band of(&random);
        const bool is_read = random.number(0, 1) == 1;
        const int32_t times = is_read ? 3 : 0;
        std::vector<int32_t> D = draw(of.rows * of.columns, &random), y = draw(of.n, &random);
        std::vector<int32_t> expected = D;
        for (int64_t i = 0; i < of.n; i++)
            for (int64_t k = 0; k <= of.w; k++)
                expected[of.at(i, k)] = times * D[of.at(i, k)] + static_cast<int32_t>(k + 1) * y[i];
        const bool ran =
            run("stamp[i](i64 a, i64 b, i64 c, i64 d, i64 w): " +
                    std::string(is_read ? "inout " : "out ") + of.section() + "; in y[i]",
                is_read ? &stamp_kernel : &fill_band_kernel, {of.n},
                {wrap(&D, {of.rows, of.columns}), wrap(&y, {of.n})}, of.parameters(),
                random.number(40, 2000));
        if (ran) {
            ASSERT_EQ(D, expected) << of.text();
        }
    }
}

/** Cuts rows and columns off an array, so that its ends clip a band, each thread's not wholly. */
void clip(Band *of, Random *random) {
    const int64_t before = random->number(0, of->w), after = random->number(0, of->w);
    of->d -= before;
    of->columns = std::max<int64_t>(1, of->columns - before - after - random->number(0, 3));
}

TEST_F(RunCompact, BandsThatTheArraysEndsClipEqualAPlainLoop) {
    Random random(test_seed("RunCompact"));
    int64_t n_ran = 0;
    for (int64_t round = scaled(300); round > 0; round--) {
        Band of(&random);
        clip(&of, &random);
        const int kind = static_cast<int>(random.number(0, 2));
        const auto has = [&](int64_t i, int64_t k) {
            const int64_t row = of.a * i + of.b, column = of.c * i + of.d + k;
            return row >= 0 && row < of.rows && column >= 0 && column < of.columns;
        };
        bool is_refused = false;
        std::vector<int32_t> D = draw(of.rows * of.columns, &random), y = draw(of.n, &random);
        std::vector<int32_t> expected_D = D, expected_y = y;
        for (int64_t i = 0; i < of.n; i++) {
            bool is_outside = true;
            int32_t sum = 0;
            for (int64_t k = 0; k <= of.w; k++) {
                if (!has(i, k))
                    continue;
                is_outside = false;
                int32_t &element = expected_D[of.at(i, k)];
                if (kind == 0)
                    sum += static_cast<int32_t>(k + 1) * element;
                else
                    element = (kind == 1 ? 3 * element : 0) + static_cast<int32_t>(k + 1) * y[i];
            }
            if (kind == 0)
                expected_y[i] = sum;
            is_refused |= is_outside;
        }
        if (is_refused)
            continue;
        const polytile_implementation *bodies[] = {&clipped_band_kernel, &clipped_stamp_kernel,
                                                   &fill_clipped_band_kernel};
        const char *const roles[] = {"in ", "inout ", "out "};
        const bool ran =
            run("clipped[i](i64 a, i64 b, i64 c, i64 d, i64 w): " + std::string(roles[kind]) +
                    of.section() + (kind == 0 ? "; out y[i]" : "; in y[i]"),
                bodies[kind], {of.n}, {wrap(&D, {of.rows, of.columns}), wrap(&y, {of.n})},
                of.parameters(), random.number(40, 2000));
        n_ran += ran;
        if (ran) {
            ASSERT_EQ(D, expected_D) << of.text() << " " << roles[kind];
            ASSERT_EQ(y, expected_y) << of.text() << " " << roles[kind];
        }
    }
    EXPECT_GE(n_ran, least_count(scaled(300), 0.6));
}

TEST_F(RunCompact, PrefixesGrowWhereTheyLie) {
    Random random(test_seed("RunCompact"));
    for (int64_t round = scaled(30); round > 0; round--) {
        const int64_t n = random.number(1, 500);
        std::vector<int32_t> x = draw(n, &random), y(n), expected(n);
        for (int64_t i = 0, sum = 0; i < n; i++)
            expected[i] = static_cast<int32_t>(sum += x[i]);
        if (run("prefix[i]: in x[0:i]; out y[i]", &prefix_kernel, {n},
                {wrap(&x, {n}), wrap(&y, {n})}, {}, 4 * n + random.number(4, 4 * n))) {
            ASSERT_EQ(y, expected) << n;
        }
    }
}

} // namespace
