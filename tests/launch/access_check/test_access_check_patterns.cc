#include "launch/access_check/lines.h"

#include <cmath>

/* What only one of the patterns shows, and what only threads that are looked at alone do. */

namespace {

/** What becomes of an element that is read beside the declaration. */
using Shown = bool (*)(float value);

struct Kernel {
    const char *name;
    Shown is_shown;
};

const Kernel kernels[] = {
    {"what is compared with zero", [](float value) { return value == 0; }},
    {"what is a small number of neither sign", [](float value) { return value >= 1 && value < 2; }},
    {"what is negative and small", [](float value) { return value < -1 && value > -5; }},
    {"what is large", [](float value) { return value > 1e6f; }},
    {"what is small", [](float value) { return value < -1e6f; }},
    {"what is no number", [](float value) { return std::isnan(value); }},
    {"what is a fraction", [](float value) { return value != 0 && std::fabs(value) < 1; }},
    {"what the array holds", [](float value) { return value == 5000; }}};

class AccessCheckPatterns : public testing::Test {
  protected:
    /** Threads that are told by a function read the element beside their own, and what is shown of
     * it becomes a part of the result. */
    struct Reads {
        int64_t (*element)(int64_t thread);
        Shown is_shown;
    };
    static float &at(const polytile_view &view, int64_t i) {
        return *reinterpret_cast<float *>(static_cast<char *>(view.origin) +
                                          i * view.stride_bytes[0]);
    }
    polytile_status check(Reads reads) {
        const int64_t extent = 5001;
        Context context;
        std::vector<float> x(5001, 5000), y(5001);
        polytile_array *arrays[2];
        EXPECT_EQ(
            polytile_array_wrap(context.ctx, "x", POLYTILE_F32, 1, &extent, x.data(), &arrays[0]),
            POLYTILE_OK);
        EXPECT_EQ(
            polytile_array_wrap(context.ctx, "y", POLYTILE_F32, 1, &extent, y.data(), &arrays[1]),
            POLYTILE_OK);
        polytile_kernel *kernel = nullptr;
        polytile_implementation made = {};
        made.user = &reads;
        made.host = [](const polytile_domain *threads, const polytile_view *views, void *user) {
            const Reads *of = static_cast<const Reads *>(user);
            for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
                at(views[1], i) = of->is_shown(at(views[0], of->element(i))) ? 7.0f : 3.0f;
        };
        EXPECT_EQ(polytile_kernel_create(context.ctx, "show[i]: in x[i]; out y[i]", &made, &kernel),
                  POLYTILE_OK);
        const polytile_status status =
            polytile_check_run(context.open("host"), kernel, POLYTILE_EXTENTS(5000),
                               polytile_kernel_get_n_arrays(kernel), arrays, nullptr, &report);
        return status;
    }
    polytile_check_report report = {};
};

TEST_F(AccessCheckPatterns, EachShowsWhatTheOthersDoNot) {
    for (const Kernel &kernel : kernels) {
        EXPECT_EQ(check({[](int64_t i) { return i + 1; }, kernel.is_shown}), POLYTILE_INVALID)
            << kernel.name;
        EXPECT_EQ(report.violation, POLYTILE_READS_UNDECLARED) << kernel.name;
    }
}

/** Where boxes end, none of the threads reads what is another's. */
TEST_F(AccessCheckPatterns, ShowInThreadsThatAreDrawnWhatIsDeclaredForTheirNeighbours) {
    const Shown any = [](float value) { return value > 0; };
    EXPECT_EQ(check({[](int64_t i) { return i % 10 == 5 ? i + 1 : i; }, any}), POLYTILE_INVALID);
    EXPECT_GT(report.n_alone, 1);
    EXPECT_EQ(report.threads.range[0].lo % 10, 5);
    EXPECT_EQ(report.element[0], report.threads.range[0].lo + 1);
}

TEST_F(AccessCheckPatterns, ShowWhatTheThreadsAtTheCornersRead) {
    const Shown any = [](float value) { return value > 0; };
    EXPECT_EQ(check({[](int64_t i) { return i == 0 ? int64_t{1} : i; }, any}), POLYTILE_INVALID);
    EXPECT_EQ(report.threads.range[0].lo, 0);
    EXPECT_EQ(check({[](int64_t i) { return i == 4999 ? i - 1 : i; }, any}), POLYTILE_INVALID);
    EXPECT_EQ(report.threads.range[0].lo, 4999);
}

} // namespace
