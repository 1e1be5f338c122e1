#include "launch/access_check/lines.h"

/* How much a check looks at. */

namespace {

/** Threads that each read all of a line, or an element of it. */
class AccessCheckCost : public testing::Test {
  protected:
    polytile_check_report check(const char *declaration, int64_t n, int64_t n_threads,
                                int element_bytes = 4) {
        Context context;
        std::vector<char> x(static_cast<size_t>(n * element_bytes), 1);
        std::vector<float> y(static_cast<size_t>(n_threads));
        polytile_array *arrays[2];
        EXPECT_EQ(polytile_array_wrap(context.ctx, "x", POLYTILE_BYTES(element_bytes), 1, &n,
                                      x.data(), &arrays[0]),
                  POLYTILE_OK);
        EXPECT_EQ(polytile_array_wrap(context.ctx, "y", POLYTILE_F32, 1, &n_threads, y.data(),
                                      &arrays[1]),
                  POLYTILE_OK);
        polytile_kernel *kernel = nullptr;
        polytile_implementation made = {};
        made.host = [](const polytile_domain *threads, const polytile_view *views, void *) {
            const int64_t step = views[1].stride_bytes[0];
            for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
                *reinterpret_cast<float *>(static_cast<char *>(views[1].origin) + i * step) = 7;
        };
        EXPECT_EQ(polytile_kernel_create(context.ctx, declaration, &made, &kernel), POLYTILE_OK);
        polytile_check_report report = {};
        EXPECT_EQ(polytile_check_run(context.open("host"), kernel, POLYTILE_EXTENTS(n_threads),
                                     polytile_kernel_get_n_arrays(kernel), arrays, nullptr,
                                     &report),
                  POLYTILE_OK)
            << context.error();
        EXPECT_LE(report.n_runs, 9 * (report.n_boxes + report.n_alone));
        return report;
    }
};

TEST_F(AccessCheckCost, SomeThreadsAreLookedAtAloneHoweverManyThereAre) {
    EXPECT_EQ(check("some[i]: in x[i]; out y[i]", 1000, 1000).n_alone, 1000);
    EXPECT_EQ(check("some[i]: in x[i]; out y[i]", 50000, 50000).n_alone, 1024);
}

TEST_F(AccessCheckCost, FewThreadsAreLookedAtAloneThatReadMuch) {
    const polytile_check_report report = check("all[i]: in x[:]; out y[i]", 50000, 50000);
    EXPECT_GT(report.n_alone, 40);
    EXPECT_LT(report.n_alone, 100);
    EXPECT_EQ(check("all[i]: in x[:]; out y[i]", 50000, 30).n_alone, 30);
}

/** What is more than a box should take, and does not become less in smaller boxes. */
TEST_F(AccessCheckCost, BoxesThatHaveAllInCommonStayFew) {
    EXPECT_LE(check("all[i]: in x[:]; out y[i]", 8500, 60, 4096).n_boxes, 16);
}

} // namespace
