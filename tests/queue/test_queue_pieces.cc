#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <functional>
#include <string>
#include <vector>

/* Queues, on one device and on several, whose launches hold arrays in pieces or give one array for
 * several names, against plain loops. */

namespace {

constexpr uint32_t mask = 0xffff;

POLYTILE_KERNEL(pairs, (i, j), (const uint32_t, x, 1), (uint32_t, s, 1)) {
    PT_SUM(PT_AT(s, i), (PT_AT(x, i) * (PT_AT(x, j) + 1)) & mask);
}

POLYTILE_KERNEL(far, (i), (int64_t, h), (int64_t, c), (const uint32_t, x, 1), (uint32_t, y, 1)) {
    PT_AT(y, i) =
        (PT_AT(x, i) + 3 * PT_AT(x, i + h) + 5 * PT_AT(x, 2 * i) + 7 * PT_AT(x, c)) & mask;
}

POLYTILE_KERNEL(scatter, (i), (int64_t, h), (const uint32_t, x, 1), (uint32_t, y, 1)) {
    PT_SUM(PT_AT(y, i), PT_AT(x, i) & mask);
    PT_SUM(PT_AT(y, i + h), (3 * PT_AT(x, i)) & mask);
    PT_SUM(PT_AT(y, 2 * i + h + 1), (5 * PT_AT(x, i)) & mask);
}

POLYTILE_KERNEL(butterfly, (g, k), (int64_t, h), (uint32_t, x, 1)) {
    const uint32_t a = PT_AT(x, 2 * h * g + k), b = PT_AT(x, 2 * h * g + k + h);
    PT_AT(x, 2 * h * g + k) = (a + b) & mask;
    PT_AT(x, 2 * h * g + k + h) = (a - b) & mask;
}

POLYTILE_KERNEL(halves, (g, k), (int64_t, h), (uint32_t, u, 1), (uint32_t, v, 1)) {
    const uint32_t a = PT_AT(u, 2 * h * g + k), b = PT_AT(v, 2 * h * g + k + h);
    PT_AT(u, 2 * h * g + k) = (a + b) & mask;
    PT_AT(v, 2 * h * g + k + h) = (a - b) & mask;
}

POLYTILE_KERNEL(shift, (i), (int64_t, h), (const uint32_t, a, 1), (uint32_t, b, 1)) {
    PT_AT(b, i) = (2 * PT_AT(a, i + h) + PT_AT(a, h)) & mask;
}

POLYTILE_KERNEL(odd, (i), (const uint32_t, a, 1), (uint32_t, b, 1)) {
    PT_AT(b, 2 * i + 1) = (PT_AT(a, 2 * i) + PT_AT(b, 2 * i + 1)) & mask;
}

using Values = std::vector<uint32_t>;

/** A launch on the arrays x, y and s, and what it does to plain vectors. */
struct Drawn {
    std::string declaration;
    const polytile_implementation *implementation;
    std::vector<int64_t> domain;
    std::vector<int> arrays; /* 0: x, 1: y, 2: s */
    std::vector<std::pair<const char *, int64_t>> parameters;
    std::function<void(Values *)> model; /* of the three */
};

class Drawer {
  public:
    Drawer(Random *random, int64_t n) : random_(random), n_(n) {}

    Drawn draw() {
        Drawn (Drawer::*const ways[])() = {&Drawer::pairs_of, &Drawer::far_of, &Drawer::halves_of,
                                           &Drawer::shift_of, &Drawer::odd_of, &Drawer::scatter_of};
        return (this->*ways[random_->number(0, 5)])();
    }

  private:
    size_t other() { return static_cast<size_t>(random_->number(0, 1)); }

    Drawn pairs_of() {
        const size_t x = other();
        const int64_t n = random_->number(1, n_ < 400 ? n_ : 400);
        return {"pairs[i, j]: in x[i], x[j]; sum s[i]",
                &pairs_kernel,
                {n, n},
                {static_cast<int>(x), 2},
                {},
                [=](Values *of) {
                    for (int64_t i = 0; i < n; i++)
                        for (int64_t j = 0; j < n; j++)
                            at(of[2], i) += (at(of[x], i) * (at(of[x], j) + 1)) & mask;
                }};
    }

    Drawn far_of() {
        const size_t x = other();
        const int64_t n = random_->number(1, n_ / 2), h = random_->number(0, n_ - n),
                      c = random_->number(0, n_ - 1);
        return {"far[i](i64 h, i64 c): in x[i], x[i+h], x[2*i], x[c]; out y[i]",
                &far_kernel,
                {n},
                {static_cast<int>(x), static_cast<int>(1 - x)},
                {{"h", h}, {"c", c}},
                [=](Values *of) {
                    for (int64_t i = 0; i < n; i++)
                        at(of[1 - x], i) = (at(of[x], i) + 3 * at(of[x], i + h) +
                                            5 * at(of[x], 2 * i) + 7 * at(of[x], c)) &
                                           mask;
                }};
    }

    Drawn scatter_of() {
        const size_t x = other();
        const int64_t n = random_->number(1, 1 + (n_ - 2) / 4), h = random_->number(0, n_ - 2 * n);
        const bool is_fresh = random_->chance(50);
        return {std::string("scatter[i](i64 h): in x[i]; ") + (is_fresh ? "out " : "") +
                    "sum y[i], y[i+h], y[2*i+h+1]",
                &scatter_kernel,
                {n},
                {static_cast<int>(x), static_cast<int>(1 - x)},
                {{"h", h}},
                [=](Values *of) {
                    for (int64_t i = 0; i < n && is_fresh; i++)
                        at(of[1 - x], i) = at(of[1 - x], i + h) = at(of[1 - x], 2 * i + h + 1) = 0;
                    for (int64_t i = 0; i < n; i++) {
                        at(of[1 - x], i) += at(of[x], i) & mask;
                        at(of[1 - x], i + h) += (3 * at(of[x], i)) & mask;
                        at(of[1 - x], 2 * i + h + 1) += (5 * at(of[x], i)) & mask;
                    }
                }};
    }

    Drawn halves_of() {
        const size_t x = other();
        const bool is_named_twice = random_->chance(50);
        const int64_t widest = is_named_twice || random_->chance(50) ? n_ / 2 : 1 + n_ / 100;
        const int64_t h = random_->number(1, widest), n_stretches = n_ / (2 * h);
        const int64_t width = random_->chance(50) ? h : random_->number(1, h);
        const std::string first = std::to_string(2 * h) + "*g+k",
                          second = first + "+" + std::to_string(h);
        const std::string declaration =
            is_named_twice ? "halves[g, k](i64 h): inout u[" + first + "]; inout v[" + second + "]"
                           : "butterfly[g, k](i64 h): inout x[" + first + "], x[" + second + "]";
        const std::vector<int> arrays(is_named_twice ? 2 : 1, static_cast<int>(x));
        return {declaration,
                is_named_twice ? &halves_kernel : &butterfly_kernel,
                {n_stretches, width},
                arrays,
                {{"h", h}},
                [=](Values *of) {
                    for (int64_t g = 0; g < n_stretches; g++)
                        for (int64_t k = 0; k < width; k++) {
                            uint32_t &a = at(of[x], 2 * h * g + k),
                                     &b = at(of[x], 2 * h * g + k + h);
                            const uint32_t sum = (a + b) & mask;
                            b = (a - b) & mask;
                            a = sum;
                        }
                }};
    }

    /** From one half of an array to the other. */
    Drawn shift_of() {
        const int x = static_cast<int>(other());
        const int64_t h = random_->number(1, n_ / 2), n = random_->number(1, h);
        return {"shift[i](i64 h): in a[i+h], a[h]; out b[i]",
                &shift_kernel,
                {n},
                {x, x},
                {{"h", h}},
                [=](Values *of) {
                    for (int64_t i = 0; i < n; i++)
                        at(of[x], i) = (2 * at(of[x], i + h) + at(of[x], h)) & mask;
                }};
    }

    /** From the even elements of an array to the odd ones between them. */
    Drawn odd_of() {
        const int x = static_cast<int>(other());
        const int64_t n = random_->number(1, n_ / 2);
        return {"odd[i]: in a[2*i]; inout b[2*i+1]", &odd_kernel, {n}, {x, x}, {}, [=](Values *of) {
                    for (int64_t i = 0; i < n; i++)
                        at(of[x], 2 * i + 1) = (at(of[x], 2 * i) + at(of[x], 2 * i + 1)) & mask;
                }};
    }

    static uint32_t &at(Values &of, int64_t i) { return of[static_cast<size_t>(i)]; }

    Random *random_;
    int64_t n_;
};

class QueuePieces : public ::testing::Test {
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

    static polytile_status launch(polytile_queue *queue, const polytile_kernel *kernel,
                                  const Drawn &drawn, polytile_array *const *all) {
        std::vector<polytile_array *> arrays;
        for (const int a : drawn.arrays)
            arrays.push_back(all[a]);
        std::vector<polytile_parameter> values;
        for (const auto &value : drawn.parameters)
            values.push_back(POLYTILE_PARAMETER(value.first, value.second));
        const polytile_launch_options options =
            polytile_launch_options_of(static_cast<int>(values.size()), values.data());
        const polytile_domain domain = polytile_domain_from_extents(
            static_cast<int>(drawn.domain.size()), drawn.domain.data());
        return polytile_queue_launch(queue, kernel, &domain, static_cast<int>(arrays.size()),
                                     arrays.data(), &options);
    }

    /** Run drawn launches on a queue and on plain vectors, and compare. */
    void compare(const std::string &devices, int64_t n, int n_launches, Random *random) {
        Values values[3], expected[3];
        for (Values &of : values)
            for (int64_t i = 0; i < n; i++)
                of.push_back(static_cast<uint32_t>(random->number(0, 999)));
        for (int a = 0; a < 3; a++)
            expected[a] = values[a];
        polytile_queue *queue = nullptr;
        ASSERT_EQ(polytile_queue_create(ctx_, devices.c_str(), &queue), POLYTILE_OK) << error();
        polytile_array *arrays[3];
        const char *names[] = {"x", "y", "s"};
        for (int a = 0; a < 3; a++)
            ASSERT_EQ(polytile_array_wrap(ctx_, names[a], POLYTILE_U32, 1, &n, values[a].data(),
                                          &arrays[a]),
                      POLYTILE_OK);
        ASSERT_EQ(polytile_queue_attach(queue, 3, arrays), POLYTILE_OK) << error();
        Drawer drawer(random, n);
        std::string done = devices + ", n " + std::to_string(n);
        for (int l = 0; l < n_launches; l++) {
            const Drawn drawn = drawer.draw();
            polytile_kernel *kernel = create(drawn.declaration, drawn.implementation);
            done += "\n" + drawn.declaration + " over " + std::to_string(drawn.domain[0]);
            for (const auto &value : drawn.parameters)
                done += std::string(" ") + value.first + "=" + std::to_string(value.second);
            const polytile_status status = launch(queue, kernel, drawn, arrays);
            ASSERT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_FIT ||
                        status == POLYTILE_UNSUPPORTED)
                << done << "\n"
                << error();
            if (status == POLYTILE_OK)
                drawn.model(expected);
            n_refused_ += status != POLYTILE_OK;
            n_run_ += status == POLYTILE_OK;
        }
        ASSERT_EQ(polytile_queue_detach(queue, 3, arrays), POLYTILE_OK) << done << "\n" << error();
        for (int a = 0; a < 3; a++)
            ASSERT_EQ(values[a], expected[a]) << done << "\narray " << names[a];
        polytile_queue_destroy(queue);
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
    }

    /** Run a few rows of one kernel at a time, and compare with plain loops. */
    void compare_rows(const std::string &devices, int64_t n, Random *random) {
        const int64_t n_rows = n / 2, h = random->number(0, n - n_rows),
                      c = random->number(0, n - 1);
        Values x, y(static_cast<size_t>(n), 7);
        for (int64_t i = 0; i < n; i++)
            x.push_back(static_cast<uint32_t>(random->number(0, 999)));
        Values expected = y;
        polytile_queue *queue = nullptr;
        ASSERT_EQ(polytile_queue_create(ctx_, devices.c_str(), &queue), POLYTILE_OK) << error();
        polytile_array *arrays[2];
        ASSERT_EQ(polytile_array_wrap(ctx_, "x", POLYTILE_U32, 1, &n, x.data(), &arrays[0]),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx_, "y", POLYTILE_U32, 1, &n, y.data(), &arrays[1]),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_queue_attach(queue, 2, arrays), POLYTILE_OK) << error();
        const polytile_kernel *kernel =
            create("far[i](i64 h, i64 c): in x[i], x[i+h], x[2*i], x[c]; out y[i]", &far_kernel);
        const polytile_parameter values[] = {POLYTILE_PARAMETER("h", h),
                                             POLYTILE_PARAMETER("c", c)};
        const polytile_launch_options options = polytile_launch_options_of(2, values);
        std::string done = devices + ", n " + std::to_string(n) + " h=" + std::to_string(h) +
                           " c=" + std::to_string(c) + ":";
        for (int64_t lo = 0; lo < n_rows && lo < 60;) {
            const int64_t hi = std::min(n_rows - 1, lo + random->one_of({0, 0, 1, 7}));
            const polytile_domain rows = {1, {{lo, hi, 1}}};
            done += " " + std::to_string(lo) + ":" + std::to_string(hi);
            ASSERT_EQ(polytile_queue_launch(queue, kernel, &rows, 2, arrays, &options), POLYTILE_OK)
                << done << "\n"
                << error();
            for (int64_t i = lo; i <= hi; i++)
                at(&expected, i) =
                    (at(&x, i) + 3 * at(&x, i + h) + 5 * at(&x, 2 * i) + 7 * at(&x, c)) & mask;
            if (random->chance(30)) {
                ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << done << "\n" << error();
            }
            lo = hi + random->number(1, 3);
        }
        ASSERT_EQ(polytile_queue_detach(queue, 2, arrays), POLYTILE_OK) << done << "\n" << error();
        ASSERT_EQ(y, expected) << done;
        polytile_queue_destroy(queue);
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
    }

    static uint32_t &at(Values *of, int64_t i) { return (*of)[static_cast<size_t>(i)]; }

    polytile_context *ctx_ = nullptr;
    int n_refused_ = 0, n_run_ = 0;
};

std::string device(int64_t limit_bytes) {
    return "host(memory=" + std::to_string(limit_bytes) + "B,threads=1)";
}

TEST_F(QueuePieces, RandomLaunchesOnOneDeviceEqualPlainLoops) {
    Random random(test_seed("QueuePieces.RandomLaunchesOnOneDeviceEqualPlainLoops"));
    for (int64_t round = 0; round < scaled(300) && !HasFailure(); round++) {
        const int64_t n = random.number(2, 6000);
        compare(device(random.number(2560, 2560 + 12 * n)), n,
                static_cast<int>(random.number(1, 6)), &random);
    }
    EXPECT_GE(n_run_, least_count(n_run_ + n_refused_, 0.9));
}

TEST_F(QueuePieces, RandomLaunchesOnSeveralDevicesEqualPlainLoops) {
    Random random(test_seed("QueuePieces.RandomLaunchesOnSeveralDevicesEqualPlainLoops"));
    for (int64_t round = 0; round < scaled(200) && !HasFailure(); round++) {
        const int64_t n = random.number(2, 6000);
        std::string devices = device(random.number(4096, 4096 + 12 * n));
        for (int64_t d = random.number(1, 3); d > 0; d--)
            devices += "," + (random.chance(30) ? std::string("host(threads=1)")
                                                : device(random.number(4096, 4096 + 12 * n)));
        compare(devices, n, static_cast<int>(random.number(1, 6)), &random);
    }
}

/** Some threads after another of one queue: a piece of one thread may have steps of any size. */
TEST_F(QueuePieces, LaunchesOfFewThreadsEqualPlainLoops) {
    Random random(test_seed("QueuePieces.LaunchesOfFewThreadsEqualPlainLoops"));
    for (int64_t round = 0; round < scaled(400) && !HasFailure(); round++) {
        const int64_t n = random.number(2, 3000);
        compare_rows(device(random.number(2560, 2560 + 12 * n)), n, &random);
    }
}

/** What a queue would move for one launch, some times, over arrays of n rows. */
polytile_plan_summary planned(const std::string &declaration, int64_t n, int64_t width,
                              int64_t limit_bytes, int n_launches) {
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_plan *plan = nullptr;
    polytile_plan_summary summary = {};
    EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    EXPECT_EQ(polytile_kernel_create(ctx, declaration.c_str(), nullptr, &kernel), POLYTILE_OK);
    std::vector<polytile_array *> arrays;
    for (int a = 0; a < polytile_kernel_get_n_arrays(kernel); a++) {
        const bool is_square = std::string(polytile_kernel_get_array_name(kernel, a)) == "G";
        arrays.push_back(nullptr);
        EXPECT_EQ(polytile_array_describe(ctx, polytile_kernel_get_array_name(kernel, a),
                                          POLYTILE_F32, POLYTILE_EXTENTS(n, is_square ? n : width),
                                          &arrays.back()),
                  POLYTILE_OK);
    }
    polytile_chain_launch launch = {};
    launch.kernel = kernel;
    launch.domain = *POLYTILE_EXTENTS(n, n);
    launch.n_arrays = static_cast<int>(arrays.size());
    launch.arrays = arrays.data();
    const std::vector<polytile_chain_launch> launches(static_cast<size_t>(n_launches), launch);
    polytile_plan_options options = {};
    options.limit_bytes = limit_bytes;
    EXPECT_EQ(polytile_plan_create_chain(n_launches, launches.data(), 0, nullptr, &options, &plan),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_plan_get_summary(plan, &summary);
    polytile_context_destroy(ctx);
    return summary;
}

TEST_F(QueuePieces, TakeAsManyKernelsAsTwoNamesAndMoveNoMore) {
    const struct {
        const char *one, *two;
        int64_t n, width, limit_bytes;
    } rows[] = {
        {"gram[i, j]: in A[i, :], A[j, :]; out G[i, j]",
         "gram[i, j]: in A[i, :], B[j, :]; out G[i, j]", 4096, 4096, 32 << 20},
        {"body[i, j]: in p[i, :], p[j, :]; sum a[i, :]",
         "body[i, j]: in p[i, :], q[j, :]; sum a[i, :]", 1000000, 4, 8 << 20},
    };
    for (const auto &row : rows)
        for (int n_launches : {1, 2, 5}) {
            SCOPED_TRACE(std::string(row.one) + " " + std::to_string(n_launches));
            const polytile_plan_summary one =
                planned(row.one, row.n, row.width, row.limit_bytes, n_launches);
            const polytile_plan_summary two =
                planned(row.two, row.n, row.width, row.limit_bytes, n_launches);
            EXPECT_LE(one.n_kernels, two.n_kernels);
            EXPECT_LE(one.h2d_bytes + one.d2h_bytes, two.h2d_bytes + two.d2h_bytes);
        }
}

} // namespace
