#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <string>
#include <vector>

/* Runs whose arrays are resident in pieces, against plain loops. */

namespace {

POLYTILE_KERNEL(gram, (i, j), (const int32_t, A, 2), (int32_t, G, 2)) {
    int32_t sum = 0;
    for (int64_t k = PT_ARRAY_FIRST(A, 1); k <= PT_ARRAY_LAST(A, 1); k++)
        sum += PT_AT(A, i, k) * PT_AT(A, j, k);
    PT_AT(G, i, j) = sum;
}

POLYTILE_KERNEL(forces, (i, j), (const int32_t, p, 2), (int32_t, a, 2)) {
    for (int64_t d = 0; d < 3; d++)
        PT_SUM(PT_AT(a, i, d), PT_AT(p, j, d) - PT_AT(p, i, d));
}

POLYTILE_KERNEL(four, (i), (int64_t, h), (int64_t, s), (const int32_t, x, 1), (int32_t, y, 1)) {
    PT_AT(y, i) = PT_AT(x, i) + 3 * PT_AT(x, i + h) + 5 * PT_AT(x, s * i) + 7 * PT_AT(x, 0);
}

POLYTILE_KERNEL(butterfly, (g, k), (int64_t, h), (int32_t, x, 1)) {
    const int32_t a = PT_AT(x, 2 * h * g + k), b = PT_AT(x, 2 * h * g + k + h);
    PT_AT(x, 2 * h * g + k) = a + b;
    PT_AT(x, 2 * h * g + k + h) = a - b;
}

POLYTILE_KERNEL(halves, (g, k), (int64_t, h), (int32_t, u, 1), (int32_t, v, 1)) {
    const int32_t a = PT_AT(u, 2 * h * g + k), b = PT_AT(v, 2 * h * g + k + h);
    PT_AT(u, 2 * h * g + k) = a + b;
    PT_AT(v, 2 * h * g + k + h) = a - b;
}

POLYTILE_KERNEL(scatter, (i, j), (int64_t, h), (int64_t, c), (const int32_t, x, 1),
                (const int32_t, y, 1), (int32_t, s, 1)) {
    PT_SUM(PT_AT(s, i), PT_AT(x, i) * PT_AT(y, j));
    PT_SUM(PT_AT(s, i + h), 3 * PT_AT(x, i) - PT_AT(y, j));
    PT_SUM(PT_AT(s, 2 * i + 3 * j + c), 1 + PT_AT(x, i));
}

POLYTILE_KERNEL(between, (i, j), (const int32_t, x, 1), (int32_t, y, 2)) {
    PT_AT(y, i, j) = PT_AT(x, i) + 3 * PT_AT(x, i + 40) + 5 * PT_AT(x, j);
}

POLYTILE_KERNEL(ends, (i), (const int32_t, x, 1), (int32_t, y, 1)) {
    PT_AT(y, i) = (int32_t)(PT_LAST(x, 0) - PT_FIRST(x, 0)) + PT_AT(x, i) + PT_AT(x, i + 1000);
}

void ends_by_hand(const polytile_domain *threads, const polytile_view *views, void *) {
    PT_VIEW(const int32_t, x, 1, views[0]);
    PT_VIEW(int32_t, y, 1, views[1]);
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        PT_AT(y, i) = PT_AT(x, i) + PT_AT(x, i + 1000);
}

class RunPieces : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx_); }

    std::string error() const { return polytile_last_error(ctx_); }

    polytile_kernel *create(const std::string &declaration,
                            const polytile_implementation *implementation) {
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx_, declaration.c_str(), implementation, &kernel),
                  POLYTILE_OK)
            << error();
        return kernel;
    }

    polytile_array *wrap(std::vector<int32_t> *of, std::vector<int64_t> extents) {
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx_, "array", POLYTILE_I32, static_cast<int>(extents.size()),
                                      extents.data(), of->data(), &array),
                  POLYTILE_OK)
            << error();
        return array;
    }

    polytile_device *open(int64_t limit_bytes) {
        polytile_device *device = nullptr;
        const std::string text = "host(memory=" + std::to_string(limit_bytes) + "B,threads=2)";
        EXPECT_EQ(polytile_device_open(ctx_, text.c_str(), &device), POLYTILE_OK) << error();
        return device;
    }

    static std::vector<int32_t> draw(int64_t n, Random *random) {
        std::vector<int32_t> drawn;
        for (int64_t k = 0; k < n; k++)
            drawn.push_back(static_cast<int32_t>(random->number(-9, 9)));
        return drawn;
    }

    polytile_context *ctx_ = nullptr;
};

TEST_F(RunPieces, RowsByTwoIndicesEqualAPlainLoop) {
    Random random(test_seed("RunPieces.RowsByTwoIndicesEqualAPlainLoop"));
    polytile_kernel *kernel = create("gram[i, j]: in A[i, :], A[j, :]; out G[i, j]", &gram_kernel);
    for (int64_t round = 0; round < scaled(20) && !HasFailure(); round++) {
        const int64_t n = random.number(1, 60), width = random.number(1, 40);
        std::vector<int32_t> A = draw(n * width, &random), G(static_cast<size_t>(n * n), -1);
        polytile_device *device = open(4096 + 64 * width + random.number(0, 8 * n * (width + n)));
        polytile_array *of_A = wrap(&A, {n, width}), *of_G = wrap(&G, {n, n});
        const auto at = [&](int64_t i, int64_t k) { return A[static_cast<size_t>(i * width + k)]; };
        ASSERT_EQ(polytile_run(device, kernel, POLYTILE_EXTENTS(n, n), POLYTILE_ARRAYS(of_A, of_G),
                               nullptr),
                  POLYTILE_OK)
            << error();
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                int32_t sum = 0;
                for (int64_t k = 0; k < width; k++)
                    sum += at(i, k) * at(j, k);
                ASSERT_EQ(G[static_cast<size_t>(i * n + j)], sum) << i << " " << j << " of " << n;
            }
        polytile_device_close(device);
    }
}

TEST_F(RunPieces, SumsOverPairsEqualAPlainLoop) {
    Random random(test_seed("RunPieces.SumsOverPairsEqualAPlainLoop"));
    polytile_kernel *kernel =
        create("forces[i, j]: in p[i, :], p[j, :]; sum a[i, :]", &forces_kernel);
    for (int64_t round = 0; round < scaled(20) && !HasFailure(); round++) {
        const int64_t n = random.number(1, 300);
        std::vector<int32_t> p = draw(3 * n, &random), a = draw(3 * n, &random), expected = a;
        polytile_device *device = open(random.number(4096, 8192 + 24 * n));
        polytile_array *of_p = wrap(&p, {n, 3}), *of_a = wrap(&a, {n, 3});
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                for (int64_t d = 0; d < 3; d++)
                    expected[static_cast<size_t>(3 * i + d)] +=
                        p[static_cast<size_t>(3 * j + d)] - p[static_cast<size_t>(3 * i + d)];
        ASSERT_EQ(polytile_run(device, kernel, POLYTILE_EXTENTS(n, n), POLYTILE_ARRAYS(of_p, of_a),
                               nullptr),
                  POLYTILE_OK)
            << error();
        ASSERT_EQ(a, expected);
        polytile_device_close(device);
    }
}

/** Superblocks combine into one element through several pieces; each has it in one. */
TEST_F(RunPieces, SumsIntoPiecesEqualAPlainLoop) {
    Random random(test_seed("RunPieces.SumsIntoPiecesEqualAPlainLoop"));
    polytile_kernel *kernel[] = {nullptr, nullptr};
    for (int is_fresh = 0; is_fresh < 2; is_fresh++)
        kernel[is_fresh] =
            create(std::string("scatter[i, j](i64 h, i64 c): in x[i], y[j]; ") +
                       (is_fresh != 0 ? "out " : "") + "sum s[i], s[i+h], s[2*i+3*j+c]",
                   &scatter_kernel);
    for (int64_t round = 0; round < scaled(100) && !HasFailure(); round++) {
        const int64_t n = random.number(1, 400), m = random.one_of({1, 1, 2, random.number(1, 20)});
        const int64_t h = random.one_of({0, 1, 9, 64, 500, n, random.number(0, 4000)});
        const int64_t c = random.one_of({0, 1, n, h + 1, h + n + 100, random.number(0, 4000)});
        const int64_t n_s = std::max(n + h, 2 * n + 3 * m + c) + random.number(0, 9);
        const int is_fresh = random.chance(50);
        std::vector<int32_t> x = draw(n, &random), y = draw(m, &random), s = draw(n_s, &random);
        std::vector<int32_t> expected = s;
        std::vector<bool> has_begun(static_cast<size_t>(n_s), is_fresh == 0);
        const auto add = [&](int64_t e, int32_t value) {
            int32_t &to = expected[static_cast<size_t>(e)];
            to = value + (has_begun[static_cast<size_t>(e)] ? to : 0);
            has_begun[static_cast<size_t>(e)] = true;
        };
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < m; j++) {
                const int32_t of_x = x[static_cast<size_t>(i)], of_y = y[static_cast<size_t>(j)];
                add(i, of_x * of_y);
                add(i + h, 3 * of_x - of_y);
                add(2 * i + 3 * j + c, 1 + of_x);
            }
        polytile_device *device = nullptr;
        if (random.chance(10))
            ASSERT_EQ(polytile_device_open(ctx_, "host(threads=2)", &device), POLYTILE_OK);
        else
            device = open(random.number(64, 1024 + 8 * n_s));
        polytile_array *of_x = wrap(&x, {n}), *of_y = wrap(&y, {m}), *of_s = wrap(&s, {n_s});
        const polytile_parameter values[] = {POLYTILE_PARAMETER("h", h),
                                             POLYTILE_PARAMETER("c", c)};
        polytile_launch_options options = polytile_launch_options_of(2, values);
        options.plan.strategy = random.chance(50)   ? "min-time"
                                : random.chance(50) ? "min-traffic"
                                                    : "min-kernels";
        options.plan.n_buffers = static_cast<int>(random.number(0, 3));
        const polytile_status status =
            polytile_run(device, kernel[is_fresh], POLYTILE_EXTENTS(n, m),
                         POLYTILE_ARRAYS(of_x, of_y, of_s), &options);
        if (status != POLYTILE_OK)
            EXPECT_TRUE(status == POLYTILE_NO_FIT || status == POLYTILE_UNSUPPORTED) << error();
        else
            ASSERT_EQ(s, expected)
                << n << "x" << m << " h " << h << " c " << c << " fresh " << is_fresh;
        polytile_device_close(device);
    }
}

/** Four sections of one array: two that move alike at a distance, one faster, one that stays. */
TEST_F(RunPieces, SectionsThatMoveDifferentlyEqualAPlainLoop) {
    Random random(test_seed("RunPieces.SectionsThatMoveDifferentlyEqualAPlainLoop"));
    polytile_kernel *kernel[] = {nullptr, nullptr, nullptr};
    for (int s = 0; s < 3; s++)
        kernel[s] = create("four[i](i64 h, i64 s): in x[i], x[i+h], x[" + std::to_string(s + 1) +
                               "*i], x[0]; out y[i]",
                           &four_kernel);
    for (int64_t round = 0; round < scaled(60) && !HasFailure(); round++) {
        const int64_t n = random.number(1, 5000), h = random.one_of({0, 1, 64, 65, 66, 500, 4999});
        const int64_t s = random.number(1, 3), n_x = std::max(n + h, s * n);
        std::vector<int32_t> x = draw(n_x, &random), y(static_cast<size_t>(n), -1);
        polytile_device *device = open(random.number(8192, 16 * n_x + 16384));
        polytile_array *of_x = wrap(&x, {n_x}), *of_y = wrap(&y, {n});
        const polytile_parameter values[] = {POLYTILE_PARAMETER("h", h),
                                             POLYTILE_PARAMETER("s", s)};
        const polytile_launch_options options = polytile_launch_options_of(2, values);
        ASSERT_EQ(polytile_run(device, kernel[s - 1], POLYTILE_EXTENTS(n),
                               POLYTILE_ARRAYS(of_x, of_y), &options),
                  POLYTILE_OK)
            << error();
        for (int64_t i = 0; i < n; i++)
            ASSERT_EQ(y[static_cast<size_t>(i)], x[static_cast<size_t>(i)] +
                                                     3 * x[static_cast<size_t>(i + h)] +
                                                     5 * x[static_cast<size_t>(s * i)] + 7 * x[0])
                << "n " << n << " h " << h << " s " << s << " i " << i;
        polytile_device_close(device);
    }
}

/** A piece of two sections with elements between them, where those of another piece are found. */
TEST_F(RunPieces, ElementsBetweenSectionsOfAPieceEqualAPlainLoop) {
    Random random(test_seed("RunPieces.ElementsBetweenSectionsOfAPieceEqualAPlainLoop"));
    polytile_kernel *kernel =
        create("between[i, j]: in x[i], x[i+40], x[j]; out y[i, j]", &between_kernel);
    for (int64_t round = 0; round < scaled(60) && !HasFailure(); round++) {
        const int64_t n = random.number(1, 200), n_x = n + 40;
        std::vector<int32_t> x = draw(n_x, &random), y(static_cast<size_t>(n * n), -1);
        polytile_array *of_x = wrap(&x, {n_x}), *of_y = wrap(&y, {n, n});
        polytile_launch_options options = {};
        options.plan.strategy = random.chance(50) ? "min-traffic" : "min-time";
        ASSERT_EQ(polytile_run(open(random.number(1024, 8192)), kernel, POLYTILE_EXTENTS(n, n),
                               POLYTILE_ARRAYS(of_x, of_y), &options),
                  POLYTILE_OK)
            << error();
        const auto at = [&](int64_t i) { return x[static_cast<size_t>(i)]; };
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                ASSERT_EQ(y[static_cast<size_t>(i * n + j)], at(i) + 3 * at(i + 40) + 5 * at(j))
                    << i << " " << j << " of " << n;
    }
}

/** Arrays in pieces that are written, and two names of one array, under a limit and in place. */
TEST_F(RunPieces, ButterfliesEqualPlainLoops) {
    Random random(test_seed("RunPieces.ButterfliesEqualPlainLoops"));
    for (int64_t round = 0; round < scaled(200) && !HasFailure(); round++) {
        const int64_t n = random.number(2, 5000),
                      h = random.number(1, random.chance(50) ? n / 2 : 1 + n / 100),
                      n_stretches = n / (2 * h), width = random.number(1, h);
        const bool is_named_twice = random.chance(50);
        const std::string first = std::to_string(2 * h) + "*g+k",
                          second = first + "+" + std::to_string(h);
        polytile_kernel *kernel =
            is_named_twice
                ? create("halves[g, k](i64 h): inout u[" + first + "]; inout v[" + second + "]",
                         &halves_kernel)
                : create("butterfly[g, k](i64 h): inout x[" + first + "], x[" + second + "]",
                         &butterfly_kernel);
        std::vector<int32_t> x = draw(n, &random), expected = x;
        for (int64_t g = 0; g < n_stretches; g++)
            for (int64_t k = 0; k < width; k++) {
                int32_t &a = expected[static_cast<size_t>(2 * h * g + k)],
                        &b = expected[static_cast<size_t>(2 * h * g + k + h)];
                const int32_t sum = a + b;
                b = a - b;
                a = sum;
            }
        polytile_device *device = nullptr;
        if (random.chance(20))
            ASSERT_EQ(polytile_device_open(ctx_, "host(threads=2)", &device), POLYTILE_OK);
        else
            device = open(random.number(64, 64 + 5 * n));
        polytile_array *of_x = wrap(&x, {n});
        const polytile_parameter value = POLYTILE_PARAMETER("h", h);
        polytile_launch_options options = polytile_launch_options_of(1, &value);
        options.plan.strategy = random.chance(50)   ? "min-time"
                                : random.chance(50) ? "min-traffic"
                                                    : "min-kernels";
        polytile_array *arrays[] = {of_x, of_x};
        const polytile_status status =
            polytile_run(device, kernel, POLYTILE_EXTENTS(n_stretches, width),
                         is_named_twice ? 2 : 1, arrays, &options);
        if (status != POLYTILE_OK)
            EXPECT_TRUE(status == POLYTILE_NO_FIT || status == POLYTILE_UNSUPPORTED) << error();
        else
            EXPECT_EQ(x, expected) << n << " " << h << " " << width;
        polytile_device_close(device);
    }
}

/** At most as many kernels, and as few bytes, as of the same launch with a name a section. */
TEST_F(RunPieces, PlansEqualThoseOfTwoNames) {
    const struct {
        const char *one, *two;
        int n_arrays;
        std::vector<int64_t> domain, array;
        int64_t limit_bytes;
    } rows[] = {
        {"gram[i, j]: in A[i, :], A[j, :]; out G[i, j]",
         "gram[i, j]: in A[i, :], B[j, :]; out G[i, j]",
         2,
         {512, 512},
         {512, 512},
         512 << 10},
        {"far[i]: in x[i], x[i+5000000]; out y[i]",
         "far[i]: in x[i], z[i+5000000]; out y[i]",
         2,
         {10000000},
         {15000000},
         1 << 20},
        {"scatter[i]: in y[i]; sum x[i], x[i+5000000]",
         "scatter[i]: in y[i]; sum x[i], z[i+5000000]",
         2,
         {5000000},
         {10000000},
         1 << 20},
        {"butterfly[g, k]: inout x[2048*g+k], x[2048*g+k+1024]",
         "butterfly[g, k]: inout x[2048*g+k], z[2048*g+k+1024]",
         1,
         {100, 1024},
         {204800},
         4096},
    };
    for (const auto &row : rows) {
        std::vector<polytile_array *> arrays;
        for (int a = 0; a < 3; a++) {
            const polytile_domain domain =
                polytile_domain_from_extents(static_cast<int>(row.array.size()), row.array.data());
            arrays.push_back(nullptr);
            ASSERT_EQ(polytile_array_describe(ctx_, "x", POLYTILE_F32, &domain, &arrays.back()),
                      POLYTILE_OK)
                << error();
        }
        const polytile_domain domain =
            polytile_domain_from_extents(static_cast<int>(row.domain.size()), row.domain.data());
        for (const char *strategy : {"min-kernels", "min-traffic", "min-time"}) {
            polytile_launch_options options = {};
            options.plan.limit_bytes = row.limit_bytes;
            options.plan.strategy = strategy;
            const polytile_implementation nothing = {};
            polytile_plan *one = nullptr, *two = nullptr;
            ASSERT_EQ(polytile_plan_create(create(row.one, &nothing), &domain, row.n_arrays,
                                           arrays.data(), &options, &one),
                      POLYTILE_OK)
                << error();
            ASSERT_EQ(polytile_plan_create(create(row.two, &nothing), &domain, row.n_arrays + 1,
                                           arrays.data(), &options, &two),
                      POLYTILE_OK)
                << error();
            polytile_plan_summary of_one, of_two;
            polytile_plan_get_summary(one, &of_one);
            polytile_plan_get_summary(two, &of_two);
            EXPECT_EQ(of_one.n_kernels, of_two.n_kernels) << row.one << " " << strategy;
            EXPECT_EQ(of_one.h2d_bytes, of_two.h2d_bytes) << row.one << " " << strategy;
            EXPECT_LE(of_one.peak_device_bytes, row.limit_bytes);
            EXPECT_LE(of_one.lower_bound_bytes, of_one.h2d_bytes + of_one.d2h_bytes);
        }
    }
}

TEST_F(RunPieces, TheEndsAreThoseOfTheBoxAroundAllPieces) {
    std::vector<int32_t> x(3000, 1), y(2000, -1);
    polytile_array *of_x = wrap(&x, {3000}), *of_y = wrap(&y, {2000});
    ASSERT_EQ(polytile_run(open(3072),
                           create("ends[i]: in x[i:i+1], x[i+998:i+1000]; out y[i]", &ends_kernel),
                           POLYTILE_EXTENTS(2000), POLYTILE_ARRAYS(of_x, of_y), nullptr),
              POLYTILE_OK)
        << error();
    for (const int32_t element : y)
        EXPECT_GT(element, 1000);
}

TEST_F(RunPieces, FunctionsByHandGetArraysInOnePiece) {
    std::vector<int32_t> x(3000, 1), y(2000, -1);
    polytile_implementation by_hand = {};
    by_hand.host = ends_by_hand;
    polytile_kernel *kernel = create("ends[i]: in x[i:i+1], x[i+998:i+1000]; out y[i]", &by_hand);
    polytile_array *of_x = wrap(&x, {3000}), *of_y = wrap(&y, {2000});
    EXPECT_EQ(polytile_run(open(3072), kernel, POLYTILE_EXTENTS(2000), POLYTILE_ARRAYS(of_x, of_y),
                           nullptr),
              POLYTILE_NO_FIT);
    EXPECT_NE(error().find("name it twice in the declaration"), std::string::npos) << error();
    EXPECT_EQ(polytile_run(open(4020), kernel, POLYTILE_EXTENTS(2000), POLYTILE_ARRAYS(of_x, of_y),
                           nullptr),
              POLYTILE_NO_FIT);
    EXPECT_NE(error().find("sub-kernels with each array in one piece"), std::string::npos)
        << error();
    EXPECT_NE(error().find("name it twice in the declaration"), std::string::npos) << error();
    EXPECT_EQ(polytile_run(open(8192), kernel, POLYTILE_EXTENTS(2000), POLYTILE_ARRAYS(of_x, of_y),
                           nullptr),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(y, std::vector<int32_t>(2000, 2));
}

TEST_F(RunPieces, APlanInPiecesIsRefusedForAFunctionByHand) {
    std::vector<int32_t> x(3000, 1), y(2000, -1);
    polytile_implementation by_hand = {};
    by_hand.host = ends_by_hand;
    const char *declaration = "ends[i]: in x[i:i+1], x[i+998:i+1000]; out y[i]";
    polytile_array *of_x = wrap(&x, {3000}), *of_y = wrap(&y, {2000});
    polytile_launch_options options = {};
    options.plan.limit_bytes = 3072;
    polytile_plan *plan = nullptr;
    ASSERT_EQ(polytile_plan_create(create(declaration, &ends_kernel), POLYTILE_EXTENTS(2000),
                                   POLYTILE_ARRAYS(of_x, of_y), &options, &plan),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(polytile_plan_run(plan, open(3072), create(declaration, &by_hand),
                                POLYTILE_ARRAYS(of_x, of_y), nullptr),
              POLYTILE_INVALID);
    EXPECT_NE(error().find("holds arrays in pieces"), std::string::npos) << error();
}

} // namespace
