#include "queue/twin.h"
#include "support/environment.h"
#include "support/scale.h"

#include <gtest/gtest.h>

/* Steps of several kernels over arrays that do not fit, queued together: they go through the device
 * slab by slab, and give what plain loops give. */

namespace {

/** A cross around a thread: along each dimension in turn from lo to hi. */
std::vector<GenericSection> cross(int n_dims, int64_t lo, int64_t hi) {
    std::vector<GenericSection> sections;
    for (int along = 0; along < n_dims; along++) {
        sections.emplace_back();
        for (int d = 0; d < n_dims; d++)
            sections.back().push_back({d, d == along ? lo : 0, d == along ? hi : 0});
    }
    return sections;
}

std::vector<GenericSection> point(int n_dims) {
    return {cross(n_dims, 0, 0)[0]};
}

/** The kernels of one step, in order; fields are made on the way. */
using MakeStep = std::vector<int> (*)(Twin *twin, const std::vector<int64_t> &extents);

std::vector<int> update_then_copy(Twin *twin, const std::vector<int64_t> &extents) {
    const int n = static_cast<int>(extents.size());
    const int A = twin->add_field(extents, 8), B = twin->add_internal(extents, 8);
    return {twin->add_kernel(n, {{POLYTILE_IN, A, cross(n, -1, 1)}, {POLYTILE_OUT, B, point(n)}}),
            twin->add_kernel(n, {{POLYTILE_IN, B, point(n)}, {POLYTILE_OUT, A, point(n)}})};
}

/** E from the H before it, H from the E after it. */
std::vector<int> staggered_pair(Twin *twin, const std::vector<int64_t> &extents) {
    const int n = static_cast<int>(extents.size());
    const int E = twin->add_field(extents, 8), H = twin->add_field(extents, 8);
    return {
        twin->add_kernel(n, {{POLYTILE_IN, E, cross(n, 0, 1)}, {POLYTILE_INOUT, H, point(n)}}),
        twin->add_kernel(n, {{POLYTILE_IN, H, cross(n, -1, 0)}, {POLYTILE_INOUT, E, point(n)}})};
}

/** Elements of three sizes, and reaches of one, three and two on one side. */
std::vector<int> three_radii(Twin *twin, const std::vector<int64_t> &extents) {
    const int n = static_cast<int>(extents.size());
    const int U = twin->add_field(extents, 8), V = twin->add_internal(extents, 4),
              W = twin->add_field(extents, 2);
    return {twin->add_kernel(n, {{POLYTILE_IN, U, cross(n, -1, 1)}, {POLYTILE_OUT, V, point(n)}}),
            twin->add_kernel(n, {{POLYTILE_IN, V, cross(n, -3, 3)}, {POLYTILE_INOUT, W, point(n)}}),
            twin->add_kernel(n, {{POLYTILE_IN, W, cross(n, -2, 0)},
                                 {POLYTILE_IN, V, point(n)},
                                 {POLYTILE_INOUT, U, point(n)}})};
}

struct Program {
    const char *name;
    MakeStep make_step;
};

const Program programs[] = {{"UpdateThenCopy", update_then_copy},
                            {"StaggeredPair", staggered_pair},
                            {"ThreeRadii", three_radii}};

struct Case {
    Program program;
    std::vector<int64_t> extents;
    int64_t share; /* of the data that fits: one over this */
};

void PrintTo(const Case &of, std::ostream *out) {
    *out << of.program.name << " in " << of.extents.size() << " dimensions within 1/" << of.share;
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    for (const Program &program : programs)
        for (const std::vector<int64_t> &extents :
             {std::vector<int64_t>{6000}, {400, 30}, {300, 8, 6}})
            for (const int64_t share : {4, 16})
                cases.push_back({program, extents, share});
    return cases;
}

class QueueFused : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Programs, QueueFused, testing::ValuesIn(all_cases()), [](const auto &of) {
    return of.param.program.name + std::to_string(of.param.extents.size()) + "dAt" +
           std::to_string(of.param.share);
});

int64_t data_bytes(const Twin &twin) {
    int64_t sum = 0;
    for (int field = 0; field < twin.n_fields(); field++)
        sum += twin.field_bytes(field);
    return sum;
}

/** The memory that a program gets: known only once its fields are. */
int64_t memory_of(const Case &of, Random *random) {
    Twin twin("host", random);
    of.program.make_step(&twin, of.extents);
    return data_bytes(twin) / of.share;
}

void drop_internal(Twin *twin) {
    for (int field = 0; field < twin->n_fields(); field++)
        if (twin->is_internal(field))
            twin->drop(field);
}

TEST_P(QueueFused, StepsOfSeveralKernelsGiveWhatPlainLoopsGiveAndMoveFarLess) {
    constexpr int n_steps = 12;
    const Case &of = GetParam();
    if (is_left_out(2 * static_cast<int64_t>(of.extents.size()) + of.share / 16, 3))
        GTEST_SKIP() << "left out where runs are shortened";
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("QueueFused"));
    const int64_t memory_bytes = memory_of(of, &random);
    Twin twin("host(memory=" + std::to_string(memory_bytes) + "B)", &random);
    const std::vector<int> step = of.program.make_step(&twin, of.extents);
    twin.pause();
    for (int k = 0; k < n_steps; k++)
        for (const int kernel : step)
            ASSERT_EQ(twin.launch(kernel), POLYTILE_OK) << twin.error();
    polytile_plan_options options = {};
    options.limit_bytes = memory_bytes;
    const Twin::Planned planned = twin.plan(options);
    options.launches_per_pass = 1;
    const Twin::Planned apart = twin.plan(options);
    drop_internal(&twin);
    twin.finish();
    const polytile_report told = twin.report();
    EXPECT_EQ(told.n_launches, twin.n_launched());
    EXPECT_LE(told.peak_device_bytes, memory_bytes);
    EXPECT_GT(planned.chain.slab_threads, 0);
    EXPECT_LT(planned.chain.n_passes, twin.n_launched());
    EXPECT_EQ(told.h2d_bytes, planned.summary.h2d_bytes);
    EXPECT_EQ(told.d2h_bytes, planned.summary.d2h_bytes);
    EXPECT_EQ(told.n_kernels, planned.summary.n_kernels);
    EXPECT_EQ(apart.chain.n_passes, twin.n_launched());
    EXPECT_LE(2 * told.h2d_bytes, twin.least_upload_bytes(memory_bytes));
    EXPECT_LE(3 * (told.h2d_bytes + told.d2h_bytes),
              2 * (apart.summary.h2d_bytes + apart.summary.d2h_bytes));
}

} // namespace
