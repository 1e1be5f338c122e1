#include "support/fake_cuda.h"

#include <gtest/gtest.h>
#include <polytile/polytile.h>
#include <polytile/stream.h>

extern "C" {
#include "graph/stream/stream.h"
}

/* Superblocks of streams have as many threads as fill the GPU, as those of single runs. */

namespace {

void run_nothing(const polytile_domain *, const polytile_view *, void *) {}

/** Rows of 4 KiB, of which a GPU's memory has few. */
class StreamFill : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        rows.host = run_nothing;
        rows.cuda = reinterpret_cast<const void *>(run_nothing);
        cuda.add_kernel(rows.cuda, rows);
    }
    void TearDown() override { polytile_context_destroy(ctx); }

    void begin() {
        polytile_graph *graph = nullptr;
        polytile_machine *machine = nullptr;
        polytile_graph_plan *plan = nullptr;
        polytile_graph_options how = {};
        how.in_superblocks = true;
        ASSERT_EQ(polytile_graph_parse(ctx,
                                       "digraph { { node [type=f32]; A [extents=\"4096x1024\"]; "
                                       "s [extents=4096] } rows [kernel=\"rows[i]: in A[i, :]; "
                                       "out s[i]\"]; A -> rows [as=A]; rows -> s [as=s] }",
                                       &graph),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        ASSERT_EQ(polytile_graph_bind(graph, "rows", &rows), POLYTILE_OK);
        ASSERT_EQ(
            polytile_machine_parse(ctx, "digraph { a [device=\"cuda:0(memory=4MiB)\"] }", &machine),
            POLYTILE_OK);
        ASSERT_EQ(polytile_graph_plan_create(graph, machine, &how, &plan), POLYTILE_OK)
            << polytile_last_error(ctx);
        ASSERT_EQ(polytile_stream_create(graph, plan, nullptr, &stream), POLYTILE_OK)
            << polytile_last_error(ctx);
    }

    static int64_t count_kernels(const polytile_plan *plan) {
        polytile_plan_summary summary = {};
        polytile_plan_get_summary(plan, &summary);
        return summary.n_kernels;
    }

    /** The sub-kernels of a plan of the stream's actor for so many threads. */
    int64_t planned_kernels(int64_t fill_threads) {
        const pti_stream_actor *actor = &stream->actor[0];
        polytile_array *arrays[] = {stream->buffer[actor->operand[0].in].array[0],
                                    stream->buffer[actor->operand[1].out].array[0]};
        const polytile_domain threads = {1, {{0, 4095, 1}}};
        polytile_launch_options options = {};
        polytile_plan *plan = nullptr;
        polytile_plan_summary summary = {};
        polytile_plan_get_summary(actor->plan, &summary);
        options.plan.limit_bytes = summary.limit_bytes;
        options.plan.link = polytile_device_get_link(stream->lane[0].device);
        options.plan.fill_threads = fill_threads;
        EXPECT_EQ(polytile_plan_create(actor->kernel, &threads, 2, arrays, &options, &plan),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        return count_kernels(plan);
    }

    FakeCuda cuda = FakeCuda(1);
    polytile_implementation rows = {};
    polytile_context *ctx = nullptr;
    polytile_stream *stream = nullptr;
};

TEST_F(StreamFill, SuperblocksArePlannedForTheThreadsOfTheirGpu) {
    begin();
    ASSERT_NE(stream, nullptr);
    const int64_t fill_threads = stream->lane[0].device->fill_threads;
    EXPECT_EQ(count_kernels(stream->actor[0].plan), planned_kernels(fill_threads));
    EXPECT_LT(planned_kernels(fill_threads), planned_kernels(0));
}

} // namespace
