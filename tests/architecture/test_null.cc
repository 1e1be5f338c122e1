#include "support/chain_launch.h"
#include "support/places.h"

#include <gtest/gtest.h>
#include <polytile/isl.h>
#include <polytile/polytile.h>
#include <polytile/program.h>
#include <polytile/ranks.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

/* What NULL in place of an object gives, as polytile/polytile.h says it. */

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path &path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/** Memory that holds other values than an answer would. */
template <class Answer> Answer filled() {
    Answer answer;
    std::memset(static_cast<void *>(&answer), 0x55, sizeof answer);
    return answer;
}

/** All members are numbers, and 0. */
template <class Answer> bool is_zero(const Answer &answer) {
    const Answer zero = {};
    return std::memcmp(&answer, &zero, sizeof answer) == 0;
}

TEST(Null, IsAnArrayWithoutAnything) {
    EXPECT_STREQ(polytile_array_get_name(nullptr), "");
    EXPECT_EQ(polytile_type_get_bytes(polytile_array_get_type(nullptr)), 0);
    ASSERT_NE(polytile_array_get_domain(nullptr), nullptr);
    EXPECT_EQ(polytile_array_get_domain(nullptr)->n_dims, 0);
    EXPECT_EQ(polytile_array_get_data(nullptr), nullptr);
    EXPECT_EQ(polytile_array_get_base(nullptr), nullptr);
    EXPECT_EQ(polytile_array_get_stride_bytes(nullptr, 0), 0);
    EXPECT_FALSE(polytile_array_is_complete(nullptr));
    EXPECT_EQ(polytile_array_get_state(nullptr), POLYTILE_ARRAY_INCOMPLETE);
}

TEST(Null, IsAKernelWithoutAnything) {
    EXPECT_STREQ(polytile_kernel_get_name(nullptr), "");
    EXPECT_EQ(polytile_kernel_get_n_indices(nullptr), 0);
    EXPECT_EQ(polytile_kernel_get_n_arrays(nullptr), 0);
    EXPECT_EQ(polytile_kernel_get_array_name(nullptr, 0), nullptr);
    EXPECT_EQ(polytile_kernel_get_array_role(nullptr, 0), POLYTILE_IN);
    EXPECT_EQ(polytile_kernel_get_n_views(nullptr), 0);
    EXPECT_EQ(polytile_kernel_get_view_name(nullptr, 0), nullptr);
    EXPECT_EQ(polytile_kernel_get_n_parameters(nullptr), 0);
    EXPECT_EQ(polytile_kernel_get_parameter_name(nullptr, 0), nullptr);
    EXPECT_EQ(polytile_kernel_get_parameter_type(nullptr, 0), POLYTILE_BYTES(0));
    EXPECT_EQ(polytile_kernel_get_n_accesses(nullptr), 0);
    EXPECT_EQ(polytile_kernel_get_access_array(nullptr, 0), -1);
    isl_map *map = nullptr;
    EXPECT_EQ(polytile_kernel_copy_isl_map(nullptr, 0, nullptr, &map), POLYTILE_INVALID);
}

TEST(Null, IsADeviceWithoutMemory) {
    polytile_report report = filled<polytile_report>();
    EXPECT_EQ(polytile_device_get_limit(nullptr), 0);
    EXPECT_EQ(polytile_device_get_link(nullptr), &polytile_link_default);
    EXPECT_STREQ(polytile_device_get_text(nullptr), "");
    polytile_device_get_report(nullptr, &report);
    EXPECT_TRUE(is_zero(report));
    polytile_device_get_report(nullptr, nullptr);
}

TEST(Null, IsAQueueThatDidNothing) {
    polytile_report report = filled<polytile_report>();
    EXPECT_EQ(polytile_queue_get_device(nullptr), nullptr);
    EXPECT_EQ(polytile_program_get_queue(nullptr), nullptr);
    polytile_queue_get_report(nullptr, true, &report);
    EXPECT_TRUE(is_zero(report));
    polytile_queue_get_report(nullptr, false, nullptr);
    EXPECT_EQ(polytile_queue_get_progress(nullptr).fraction, 1);
    EXPECT_TRUE(polytile_queue_test(nullptr, nullptr));
    polytile_queue_cancel(nullptr);
    polytile_device_cancel(nullptr);
    polytile_queue_pause(nullptr);
    polytile_queue_resume(nullptr);
}

TEST(Null, IsAPlanOfNothing) {
    polytile_plan_summary summary = filled<polytile_plan_summary>();
    polytile_domain threads;
    polytile_plan_get_summary(nullptr, &summary);
    EXPECT_STREQ(summary.kernel, "");
    EXPECT_STREQ(summary.strategy, "");
    EXPECT_STREQ(summary.bound, "");
    EXPECT_EQ(summary.n_dims, 0);
    EXPECT_EQ(summary.n_kernels, 0);
    polytile_plan_get_summary(nullptr, nullptr);
    polytile_chain_summary chain;
    polytile_plan_get_chain_summary(nullptr, &chain);
    EXPECT_EQ(chain.n_launches, 0);
    polytile_plan_get_chain_summary(nullptr, nullptr);
    EXPECT_EQ(polytile_plan_get_superblock(nullptr, 0, &threads), POLYTILE_INVALID);
}

TEST(Null, IsAFootprintOfNoArray) {
    polytile_footprint *footprint = nullptr;
    EXPECT_EQ(polytile_footprint_create(nullptr, nullptr, 0, nullptr, nullptr, &footprint),
              POLYTILE_INVALID);
    EXPECT_EQ(footprint, nullptr);
    EXPECT_EQ(polytile_footprint_get_array(nullptr, 0), nullptr);
    polytile_footprint_destroy(nullptr);
}

TEST(Null, IsAPlanForNoRanks) {
    polytile_ranks_summary summary = filled<polytile_ranks_summary>();
    char text[] = "text", *printed = text;
    polytile_ranks_plan_get_summary(nullptr, &summary);
    EXPECT_EQ(summary.n_ranks, 0);
    EXPECT_EQ(summary.n_repeated_threads, 0);
    polytile_ranks_plan_get_summary(nullptr, nullptr);
    EXPECT_EQ(polytile_ranks_plan_get_inner(nullptr), nullptr);
    EXPECT_EQ(polytile_ranks_plan_to_string(nullptr, POLYTILE_TEXT, &printed), POLYTILE_INVALID);
    EXPECT_EQ(printed, nullptr);
}

TEST(Null, IsNoSimulation) {
    char text[] = "text", *printed = text;
    polytile_simulated_policy policy = filled<polytile_simulated_policy>();
    polytile_simulated_unit unit = filled<polytile_simulated_unit>();
    EXPECT_EQ(polytile_simulation_get_lower_bound(nullptr), 0);
    EXPECT_EQ(polytile_simulation_get_policy(nullptr, 0, &policy), POLYTILE_INVALID);
    EXPECT_STREQ(policy.policy, "");
    EXPECT_EQ(polytile_simulation_get_unit(nullptr, 0, 0, &unit), POLYTILE_INVALID);
    EXPECT_EQ(unit.n_rows, 0);
    EXPECT_EQ(polytile_simulation_to_string(nullptr, POLYTILE_TEXT, &printed), POLYTILE_INVALID);
    EXPECT_EQ(printed, nullptr);
    polytile_simulation_destroy(nullptr);
}

TEST(Null, IsNoTrace) {
    char text[] = "text", *printed = text;
    polytile_trace *trace = reinterpret_cast<polytile_trace *>(text);
    EXPECT_EQ(polytile_trace_read(nullptr, "trace.json", &trace), POLYTILE_INVALID);
    EXPECT_EQ(trace, nullptr);
    EXPECT_EQ(polytile_trace_to_string(nullptr, POLYTILE_TEXT, &printed), POLYTILE_INVALID);
    EXPECT_EQ(printed, nullptr);
    polytile_trace_destroy(nullptr);
}

TEST(Null, IsNoPlanOfAGraph) {
    polytile_graph_summary summary = filled<polytile_graph_summary>();
    char text[] = "text", *printed = text;
    polytile_graph_plan_get_summary(nullptr, &summary);
    EXPECT_EQ(summary.period_s, 0);
    EXPECT_STREQ(summary.bound, "");
    EXPECT_EQ(summary.n_channels, 0);
    polytile_graph_plan_get_summary(nullptr, nullptr);
    EXPECT_STREQ(polytile_graph_plan_get_notes(nullptr), "");
    EXPECT_EQ(polytile_graph_plan_to_string(nullptr, POLYTILE_TEXT, &printed), POLYTILE_INVALID);
    EXPECT_EQ(printed, nullptr);
    EXPECT_EQ(polytile_graph_plan_to_dot(nullptr, &printed), POLYTILE_INVALID);
    EXPECT_EQ(polytile_graph_set_seconds(nullptr, "a", 1), POLYTILE_INVALID);
    EXPECT_EQ(polytile_machine_set_rate(nullptr, "a", "b", 1), POLYTILE_INVALID);
    polytile_graph_plan_destroy(nullptr);
    polytile_graph_destroy(nullptr);
    polytile_machine_destroy(nullptr);
}

TEST(Null, IsNoStream) {
    polytile_stream_report report = filled<polytile_stream_report>();
    const void *memory = nullptr;
    int64_t frame = 7;
    polytile_stream_get_report(nullptr, &report);
    EXPECT_EQ(report.n_pushed, 0);
    polytile_stream_get_report(nullptr, nullptr);
    EXPECT_EQ(polytile_stream_get_lanes(nullptr, 0, nullptr), 0);
    EXPECT_EQ(polytile_stream_get_seconds(nullptr, "a"), 0);
    EXPECT_EQ(polytile_stream_get_depth(nullptr), 0);
    char *text = nullptr;
    EXPECT_EQ(polytile_stream_to_json(nullptr, &text), POLYTILE_INVALID);
    EXPECT_EQ(text, nullptr);
    EXPECT_EQ(polytile_stream_push(nullptr, 0, nullptr, &frame), POLYTILE_INVALID);
    EXPECT_EQ(frame, -1);
    EXPECT_EQ(polytile_stream_pull(nullptr, 0, nullptr, nullptr), POLYTILE_INVALID);
    EXPECT_EQ(polytile_stream_peek(nullptr, 0, &memory), POLYTILE_INVALID);
    EXPECT_EQ(polytile_graph_get_input_name(nullptr, 0), nullptr);
    EXPECT_EQ(polytile_graph_get_output_name(nullptr, 0), nullptr);
    EXPECT_EQ(polytile_graph_bind(nullptr, "a", nullptr), POLYTILE_INVALID);
    polytile_stream_destroy(nullptr);
}

TEST(Null, IsNoSizeAndNoPlaceForOne) {
    int64_t bytes = 7;
    EXPECT_FALSE(polytile_size_parse(nullptr, &bytes));
    EXPECT_EQ(bytes, 7);
    EXPECT_FALSE(polytile_size_parse("4B", nullptr));
    EXPECT_EQ(polytile_size_explain("4", nullptr), nullptr);
    EXPECT_EQ(polytile_size_format(3, nullptr), nullptr);
}

TEST(Null, IsShownAsAnEmptyText) {
    char shown[8] = "before";
    EXPECT_STREQ(polytile_text_show(nullptr, shown, sizeof shown), "");
    EXPECT_EQ(polytile_text_show("text", nullptr, 8), nullptr);
}

TEST(Null, GetsNoSummaryOfAPlanThatIsThere) {
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *x = nullptr;
    polytile_plan *plan = nullptr;
    const polytile_domain nine = {1, {{0, 8, 1}}};
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    EXPECT_EQ(polytile_kernel_create(ctx, "k[i]: inout x[i]", nullptr, &kernel), POLYTILE_OK);
    EXPECT_EQ(polytile_array_describe(ctx, "x", POLYTILE_F32, &nine, &x), POLYTILE_OK);
    EXPECT_EQ(polytile_plan_create(kernel, &nine, 1, &x, nullptr, &plan), POLYTILE_OK);
    polytile_plan_get_summary(plan, nullptr);
    EXPECT_EQ(polytile_plan_get_superblock(plan, 0, nullptr), POLYTILE_INVALID);
    polytile_context_destroy(ctx);
}

/** Nothing leads to the context, whose text and witness are those of an error before. */
class NullAfterAnError : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        ASSERT_EQ(polytile_kernel_create(ctx, "k[i]: out x[0]", nullptr, &kernel), POLYTILE_OK);
        ASSERT_EQ(polytile_array_describe(ctx, "x", POLYTILE_F32, &nine, &x), POLYTILE_OK);
    }
    void TearDown() override { polytile_context_destroy(ctx); }

    /** After a conflict, which has a witness. */
    template <class Call> void expect_says(const char *text, const Call &call) {
        polytile_witness witness;
        ASSERT_EQ(polytile_check(kernel, &nine, 1, &x, nullptr), POLYTILE_CONFLICT);
        EXPECT_TRUE(polytile_last_witness(ctx, &witness));
        EXPECT_EQ(call(), POLYTILE_INVALID) << text;
        EXPECT_NE(std::string(polytile_last_error(ctx)).find(text), std::string::npos)
            << polytile_last_error(ctx) << "\n"
            << text;
        EXPECT_FALSE(polytile_last_witness(ctx, &witness));
        EXPECT_EQ(witness.kind, POLYTILE_WITNESS_NONE);
    }

    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *x = nullptr;
    const polytile_domain nine = {1, {{0, 8, 1}}};
};

TEST_F(NullAfterAnError, IsWhatTheTextNames) {
    polytile_plan *plan = nullptr;
    polytile_queue *queue = nullptr;
    char *text = nullptr;
    const polytile_chain_launch launches[] = {chain_launch(nullptr, nine, &x),
                                              chain_launch(kernel, nine, &x)};
    expect_says("polytile_plan_to_string: the plan is NULL",
                [&] { return polytile_plan_to_string(nullptr, POLYTILE_TEXT, &text); });
    expect_says("polytile_ranks_plan_to_string: the plan is NULL",
                [&] { return polytile_ranks_plan_to_string(nullptr, POLYTILE_TEXT, &text); });
    expect_says("polytile_plan_create: the kernel is NULL",
                [&] { return polytile_plan_create(nullptr, &nine, 1, &x, nullptr, &plan); });
    expect_says("polytile_check: the kernel is NULL",
                [&] { return polytile_check(nullptr, &nine, 1, &x, nullptr); });
    expect_says("polytile_run: the device is NULL",
                [&] { return polytile_run(nullptr, kernel, &nine, 1, &x, nullptr); });
    expect_says("polytile_plan_run: the device is NULL",
                [&] { return polytile_plan_run(nullptr, nullptr, kernel, 1, &x, NULL); });
    expect_says("the device is NULL", [&] {
        return polytile_check_run(nullptr, kernel, &nine, 1, &x, nullptr, nullptr);
    });
    expect_says("the queue is NULL",
                [&] { return polytile_queue_launch(nullptr, kernel, &nine, 1, &x, nullptr); });
    expect_says("the queue is NULL", [&] { return polytile_queue_attach(nullptr, 1, &x); });
    expect_says("polytile_queue_create_shared: the context is NULL",
                [&] { return polytile_queue_create(nullptr, "host", &queue); });
    expect_says("launch 1 of 2 has no kernel", [&] {
        return polytile_plan_create_chain(2, launches, 0, nullptr, nullptr, &plan);
    });
    expect_says("polytile_check_chain: there are no launches with a kernel",
                [&] { return polytile_check_chain(1, launches, 0, nullptr, nullptr); });
}

/** As any other error's. */
TEST_F(NullAfterAnError, LeavesATextUntilTheNextCall) {
    polytile_context *other = nullptr;
    expect_says("the kernel is NULL",
                [&] { return polytile_check(nullptr, &nine, 1, &x, nullptr); });
    ASSERT_EQ(polytile_context_create(&other), POLYTILE_OK);
    EXPECT_STREQ(polytile_last_error(other), "");
    expect_says("the kernel is NULL",
                [&] { return polytile_check(nullptr, &nine, 1, &x, nullptr); });
    EXPECT_EQ(polytile_array_describe(ctx, "y", POLYTILE_F32, &nine, &x), POLYTILE_OK);
    EXPECT_STREQ(polytile_last_error(ctx), "");
    polytile_context_destroy(other);
}

/** Every function of the headers that tells something of an object is called above, but for those
 * that are given no object and those that need MPI. */
TEST(Null, IsGivenToEveryGetter) {
    const fs::path root = in_source("");
    const std::string tested = read(root / "tests/architecture/test_null.cc");
    const std::regex getter("(polytile_\\w+_(get|is)_\\w+\\()(const )?polytile_\\w+ \\*");
    for (const fs::directory_entry &header : fs::directory_iterator(root / "include/polytile")) {
        const std::string text = read(header);
        if (header.path().filename() == "mpi.h")
            continue;
        for (auto at = std::sregex_iterator(text.begin(), text.end(), getter);
             at != std::sregex_iterator(); ++at)
            EXPECT_NE(tested.find((*at)[1].str() + "nullptr"), std::string::npos)
                << header.path() << ": " << (*at)[1];
    }
}

} // namespace
