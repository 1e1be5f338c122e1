#include "launch/scene.h"
#include "support/list.h"

namespace {

Extents cube(int n_dims, int64_t n) {
    return Extents(static_cast<size_t>(n_dims), n);
}

ArrayShape cube_of(const char *name, int n_dims) {
    return {name, POLYTILE_I32, [n_dims](int64_t n) { return cube(n_dims, n); }};
}

std::function<polytile_domain(int64_t)> threads_of(int n_dims) {
    return [n_dims](int64_t n) { return bounds(cube(n_dims, 0), cube(n_dims, n - 1)); };
}

const std::vector<Case> &cases_of_many_indices() {
    static const std::vector<Case> cases = {
        {"four[a, b, c, d]: in X[a, b, c, d]; out Y[d, b, c, a]",
         &four_kernel,
         threads_of(4),
         {cube_of("X", 4), cube_of("Y", 4)},
         false,
         7},
        {"five[a, b, c, d, e]: in X[a, b, c, d, e]; out Y[e, d, c, b, a]",
         &five_kernel,
         threads_of(5),
         {cube_of("X", 5), cube_of("Y", 5)},
         false,
         5},
        {"six[a, b, c, d, e, f]: in X[a, b, c, d, e:e+1, :]; out Y[a, b, c, d, e, f]",
         &six_kernel,
         [](int64_t n) {
             return bounds(cube(6, 0), {n - 1, n - 1, n - 1, n - 1, n - 2, n - 1});
         },
         {cube_of("X", 6), cube_of("Y", 6)},
         false,
         4},
        {"seven[a, b, c, d, e, f, g]: in X[g, f, e, d, c, b, a]; sum Y[a, c, e, g]",
         &seven_kernel,
         threads_of(7),
         {cube_of("X", 7), cube_of("Y", 4)},
         false,
         3},
        {"eight[a, b, c, d, e, f, g, h]: in X[a, b, c, d, e, f, g, h], Y[a+b+c+d+e+f+g+h]; "
         "out Z[b, a, d, c, f, e, h, g]",
         &eight_kernel,
         threads_of(8),
         {cube_of("X", 8),
          {"Y", POLYTILE_I32, [](int64_t n) { return Extents{8 * n}; }},
          cube_of("Z", 8)},
         false,
         3},
    };
    return cases;
}

/** The loops of POLYTILE_KERNEL spelt out for one body, so that the macros are not their own proof.
 */
TEST(ManyIndices, ABodyOfFiveIndicesVisitsEachThreadOnce) {
    const int64_t extents[] = {2, 3, 4, 5, 6}, reversed[] = {6, 5, 4, 3, 2};
    std::vector<int32_t> x(720), y(720), expected(720);
    for (int32_t k = 0; k < 720; k++) {
        const int32_t e = k % 6, d = k / 6 % 5, c = k / 30 % 4, b = k / 120 % 3, a = k / 360;
        x[static_cast<size_t>(k)] = 7 * k;
        const int32_t at = (((e * 5 + d) * 4 + c) * 3 + b) * 2 + a;
        expected[static_cast<size_t>(at)] = 7 * k + a + 10 * e;
    }
    polytile_context *ctx = nullptr;
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *arrays[2] = {};
    const polytile_domain threads = polytile_domain_from_extents(5, extents);
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    polytile_device_open(ctx, "host", &device);
    polytile_kernel_create(ctx, cases_of_many_indices()[1].declaration, &five_kernel, &kernel);
    polytile_array_wrap(ctx, "X", POLYTILE_I32, 5, extents, x.data(), &arrays[0]);
    polytile_array_wrap(ctx, "Y", POLYTILE_I32, 5, reversed, y.data(), &arrays[1]);
    EXPECT_EQ(polytile_run(device, kernel, &threads, LIST(arrays), nullptr), POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(y, expected);
    polytile_context_destroy(ctx);
}

TEST(ManyIndices, InPlaceAndUnderALimitGiveThePlainLoopsResult) {
    Random random{1};
    for (const Case &of : cases_of_many_indices()) {
        polytile_context *ctx = nullptr;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        int64_t total_bytes = 0;
        for (const bool limited : {false, true}) {
            SCOPED_TRACE(std::string(of.declaration) + (limited ? ", limited" : ", in place"));
            Scene scene(ctx, of, of.largest_n, &random);
            for (const auto &bytes : scene.memory)
                total_bytes += limited ? 0 : static_cast<int64_t>(bytes.size());
            scene.options.plan.limit_bytes = limited ? total_bytes / 2 : 0;
            polytile_device *device = nullptr;
            polytile_plan *plan = nullptr;
            ASSERT_EQ(polytile_device_open(ctx, "host", &device), POLYTILE_OK);
            ASSERT_EQ(polytile_plan_create(scene.kernel, &scene.domain,
                                           static_cast<int>(scene.arrays.size()),
                                           scene.arrays.data(), &scene.options, &plan),
                      POLYTILE_OK)
                << polytile_last_error(ctx);
            polytile_plan_summary summary;
            polytile_plan_get_summary(plan, &summary);
            EXPECT_EQ(summary.n_kernels > 1, limited);
            pti_instance *instance = nullptr;
            ASSERT_EQ(pti_instance_create(scene.kernel, &scene.domain, scene.arrays.data(), 0,
                                          nullptr, &instance),
                      POLYTILE_OK);
            scene.compute_expected(instance);
            pti_instance_free(instance);
            EXPECT_EQ(polytile_plan_run(plan, device, scene.kernel,
                                        static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                        NULL),
                      POLYTILE_OK)
                << polytile_last_error(ctx);
            EXPECT_EQ(scene.memory, scene.expected);
        }
        polytile_context_destroy(ctx);
    }
}

} // namespace
