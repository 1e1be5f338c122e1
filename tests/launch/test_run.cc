#include "launch/cases.h"
#include "support/random.h"
#include "support/scale.h"

#include <cstring>
#include <gtest/gtest.h>

extern "C" {
#include "access/array.h"
#include "access/footprint.h"
#include "launch/device.h"
#include "launch/reduction.h"
#include "partition/check.h"
#include "partition/plan.h"
}

namespace {

/** Elements with small whole numbers of a type. */
void fill_elements(polytile_type type, std::vector<unsigned char> *bytes, Random *random) {
    const size_t element_bytes = static_cast<size_t>(polytile_type_get_bytes(type));
    for (size_t k = 0; k < bytes->size(); k += element_bytes) {
        const int64_t value = random->number(0, 7);
        const float f32 = static_cast<float>(value);
        const double f64 = static_cast<double>(value);
        const void *from = type == POLYTILE_F32   ? static_cast<const void *>(&f32)
                           : type == POLYTILE_F64 ? static_cast<const void *>(&f64)
                                                  : &value;
        std::memcpy(bytes->data() + k, from, element_bytes);
    }
}

/** A case with a size: arrays in memory, what they should hold after a run, and its kernel. */
class Scene {
  public:
    Scene(polytile_context *ctx, const Case &of, int64_t n, Random *random)
        : of_(of), domain(of.domain(n)) {
        EXPECT_EQ(polytile_kernel_create(ctx, of.declaration, of.implementation, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        memory.resize(of.arrays.size());
        for (size_t a = 0; a < of.arrays.size(); a++) {
            const Extents extents = of.arrays[a].extents(n);
            int64_t n_bytes = polytile_type_get_bytes(of.arrays[a].type);
            for (int64_t extent : extents)
                n_bytes *= extent;
            memory[a].resize(static_cast<size_t>(n_bytes));
            fill_elements(of.arrays[a].type, &memory[a], random);
            polytile_array *array = nullptr;
            EXPECT_EQ(polytile_array_wrap(ctx, of.arrays[a].name, of.arrays[a].type,
                                          static_cast<int>(extents.size()), extents.data(),
                                          memory[a].data(), &array),
                      POLYTILE_OK)
                << polytile_last_error(ctx);
            arrays.push_back(array);
        }
        if (of.has_parameter) {
            options.n_parameters = 1;
            options.parameters = &parameter;
            parameter = {"n", n};
        }
        before = memory;
    }

    /** The kernel as one plain loop over whole arrays. */
    void compute_expected(const pti_instance *instance) {
        std::vector<polytile_view> views;
        expected = before;
        for (size_t a = 0; a < arrays.size(); a++) {
            const pti_operand &operand = instance->operand[a];
            if (operand.fresh)
                set_to_identity(instance, static_cast<int>(a));
            const pti_layout layout = pti_layout_of(&operand.domain, operand.element_bytes);
            polytile_view view = {};
            view.origin = expected[a].data();
            std::memcpy(view.stride_bytes, layout.stride_bytes, sizeof view.stride_bytes);
            view.resident = resident(instance, static_cast<int>(a));
            views.push_back(view);
        }
        of_.implementation->host(&domain, views.data(), nullptr);
    }

    const Case &of_;
    polytile_domain domain;
    polytile_kernel *kernel = nullptr;
    std::vector<polytile_array *> arrays;
    std::vector<std::vector<unsigned char>> memory, before, expected;
    polytile_plan_options options = {};
    polytile_parameter parameter = {};

  private:
    static polytile_domain resident(const pti_instance *instance, int operand) {
        return pti_footprint_hull(instance, operand, PTI_TOUCHES, &instance->threads);
    }

    void set_to_identity(const pti_instance *instance, int a) {
        const pti_operand &operand = instance->operand[a];
        unsigned char identity[PTI_MAX_SCALAR_BYTES];
        pti_reduction_identity(operand.reduction, operand.type, identity);
        std::vector<unsigned char> &bytes = expected[static_cast<size_t>(a)];
        for (size_t k = 0; k < bytes.size(); k += static_cast<size_t>(operand.element_bytes))
            std::memcpy(bytes.data() + k, identity, static_cast<size_t>(operand.element_bytes));
    }
};

class Run : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_device *open(const std::string &text) {
        polytile_device *device = nullptr;
        EXPECT_EQ(polytile_device_open(ctx, text.c_str(), &device), POLYTILE_OK)
            << polytile_last_error(ctx);
        return device;
    }

    polytile_context *ctx = nullptr;
};

void expect_report_of_plan(const polytile_report &report, const polytile_plan_summary &summary) {
    EXPECT_EQ(report.n_kernels, summary.n_kernels);
    EXPECT_EQ(report.h2d_bytes, summary.h2d_bytes);
    EXPECT_EQ(report.d2h_bytes, summary.d2h_bytes);
    EXPECT_EQ(report.peak_device_bytes, summary.peak_device_bytes);
    EXPECT_EQ(report.lower_bound_bytes, summary.lower_bound_bytes);
    EXPECT_GE(report.total_s, report.compute_s + report.transfer_s);
}

/** Plan and run a scene; false when nothing fits the limit. */
bool runs_right(polytile_context *ctx, polytile_device *device, Scene &scene,
                const polytile_plan_options &options) {
    polytile_plan *plan = nullptr;
    const polytile_status status =
        polytile_plan_create(scene.kernel, &scene.domain, scene.arrays.data(), &options, &plan);
    if (status == POLYTILE_NO_FIT)
        return false;
    EXPECT_EQ(status, POLYTILE_OK) << polytile_last_error(ctx);
    if (plan == nullptr)
        return false;
    scene.compute_expected(plan->instance);
    pti_text why = {};
    EXPECT_TRUE(pti_schedule_check(plan->schedule, &why)) << why.data;
    pti_text_free(&why);
    EXPECT_EQ(polytile_plan_run(plan, device, scene.kernel, scene.arrays.data()), POLYTILE_OK)
        << polytile_last_error(ctx);
    for (size_t a = 0; a < scene.memory.size(); a++) {
        EXPECT_EQ(scene.memory[a], scene.expected[a]) << scene.of_.arrays[a].name;
        EXPECT_TRUE(polytile_array_is_complete(scene.arrays[a]));
    }
    polytile_plan_summary summary;
    polytile_report report;
    polytile_plan_get_summary(plan, &summary);
    polytile_device_get_report(device, &report);
    expect_report_of_plan(report, summary);
    polytile_plan_destroy(plan);
    return true;
}

TEST_F(Run, InPlaceEqualsAPlainLoop) {
    Random random(test_seed("Run.InPlaceEqualsAPlainLoop"));
    for (const char *text : {"host(threads=1)", "host(threads=2)", "host(threads=5)"}) {
        for (const Case &of : all_cases()) {
            Scene scene(ctx, of, of.largest_n, &random);
            EXPECT_TRUE(runs_right(ctx, open(text), scene, scene.options)) << of.declaration;
        }
    }
}

TEST_F(Run, EqualsAPlainLoopUnderAnyLimit) {
    Random random(test_seed("Run.EqualsAPlainLoopUnderAnyLimit"));
    const char *strategies[] = {nullptr, "min-time", "min-traffic", "min-kernels"};
    int64_t n_run = 0;
    const int64_t n_rounds = scaled(3000);
    for (int64_t round = 0; round < n_rounds && !testing::Test::HasFailure(); round++) {
        polytile_context *own = nullptr;
        ASSERT_EQ(polytile_context_create(&own), POLYTILE_OK);
        const Case &of = all_cases()[static_cast<size_t>(round) % all_cases().size()];
        Scene scene(own, of, random.number(3, of.largest_n), &random);
        int64_t n_bytes = 0;
        for (const auto &bytes : scene.memory)
            n_bytes += static_cast<int64_t>(bytes.size());
        polytile_plan_options options = scene.options;
        options.limit_bytes = 64 + random.number(0, 2 * n_bytes >> random.number(0, 6));
        options.strategy = strategies[random.number(0, 3)];
        options.n_buffers = static_cast<int>(random.number(0, 3));
        int64_t block[POLYTILE_MAX_DIMS];
        for (int64_t &threads : block)
            threads = random.number(1, 9);
        options.block = random.chance(70) ? block : nullptr;
        const std::string text = "host(memory=" + std::to_string(options.limit_bytes) +
                                 ",threads=" + std::to_string(random.number(1, 4)) + ")";
        polytile_device *device = nullptr;
        ASSERT_EQ(polytile_device_open(own, text.c_str(), &device), POLYTILE_OK);
        n_run += runs_right(own, device, scene, options);
        if (testing::Test::HasFailure())
            ADD_FAILURE() << of.declaration << " on " << text << " round " << round << " strategy "
                          << (options.strategy ? options.strategy : "default") << " buffers "
                          << options.n_buffers;
        polytile_context_destroy(own);
    }
    EXPECT_GT(n_run, n_rounds / 3);
}

TEST_F(Run, PlansWithTheSmallerOfTheLimits) {
    Random random(1);
    const struct {
        const char *device;
        int64_t asked_bytes;
        int64_t limit_bytes;
    } rows[] = {
        {"host", 0, 0},
        {"host", 8192, 8192},
        {"host(memory=4KiB)", 0, 4096},
        {"host(memory=4KiB)", 8192, 4096},
        {"host(memory=4KiB)", 2048, 2048},
    };
    for (const auto &row : rows) {
        polytile_device *device = open(row.device);
        Scene scene(ctx, all_cases()[0], 3000, &random);
        polytile_plan_options options = {};
        options.limit_bytes = row.asked_bytes;
        options.n_buffers = 1;
        options.strategy = "min-kernels";
        ASSERT_EQ(polytile_run(device, scene.kernel, &scene.domain, scene.arrays.data(), &options),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        polytile_report report;
        polytile_device_get_report(device, &report);
        EXPECT_LE(report.peak_device_bytes, row.limit_bytes);
        EXPECT_GE(report.peak_device_bytes, row.limit_bytes / 2);
        EXPECT_GT(report.plan_s, 0);
    }
}

TEST_F(Run, InPlaceMovesNothing) {
    Random random(1);
    polytile_device *device = open("host");
    Scene scene(ctx, all_cases()[0], 100, &random);
    ASSERT_EQ(polytile_run(device, scene.kernel, &scene.domain, scene.arrays.data(), nullptr),
              POLYTILE_OK);
    polytile_report report;
    polytile_device_get_report(device, &report);
    EXPECT_EQ(report.n_kernels, 1);
    EXPECT_EQ(report.h2d_bytes + report.d2h_bytes + report.peak_device_bytes, 0);
}

TEST_F(Run, APlanRunsOverOtherArraysOfItsShape) {
    Random random(1);
    polytile_device *device = open("host(memory=4KiB)");
    Scene planned(ctx, all_cases()[0], 3000, &random), other(ctx, all_cases()[0], 3000, &random);
    polytile_plan_options options = {};
    options.limit_bytes = 4096;
    polytile_plan *plan = nullptr;
    ASSERT_EQ(polytile_plan_create(planned.kernel, &planned.domain, planned.arrays.data(), &options,
                                   &plan),
              POLYTILE_OK);
    other.compute_expected(plan->instance);
    for (int k = 0; k < 3; k++)
        EXPECT_EQ(polytile_plan_run(plan, device, other.kernel, other.arrays.data()), POLYTILE_OK);
    EXPECT_EQ(other.memory, other.expected);
    EXPECT_EQ(planned.memory, planned.before);
}

} // namespace
