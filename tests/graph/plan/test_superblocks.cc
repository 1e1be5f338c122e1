#include "graph/plan/graph_planned.h"

#include <string>

/* Frames that do not fit the memory of a unit. */

namespace {

class GraphSuperblocks : public GraphPlanned {
  protected:
    const polytile_graph_plan *plan(const std::string &graph_text, const std::string &machine_text,
                                    bool in_superblocks) {
        polytile_graph_options options = {};
        options.in_superblocks = in_superblocks;
        const polytile_graph_plan *made = GraphPlanned::plan(graph_text, machine_text, options);
        EXPECT_EQ(status == POLYTILE_OK, error().empty()) << error();
        return made;
    }

    /** The memory of a name. */
    const pti_planned_memory *memory(const polytile_graph_plan *of, const std::string &name) {
        for (int m = 0; m < of->n_memories; m++)
            if (of->memory[m].name == name)
                return &of->memory[m];
        return nullptr;
    }
};

const char pair[] = R"(digraph { { node [type=f32, extents="64x64"]; x; m; y }
  a [kernel="k[i,j]: in p[i,j]; out q[i,j]"]; b [kernel="k[i,j]: in p[i,j]; out q[i,j]"];
  x -> a [as=p]; a -> m [as=q]; m -> b [as=p]; b -> y [as=q] })";

const char gpu_of_31_kib[] = "digraph { gpu [device=\"cuda:0(memory=31KiB)\"] }";

TEST_F(GraphSuperblocks, RunWhereAFrameDoesNotFitIfTheyMay) {
    EXPECT_EQ(plan(pair, gpu_of_31_kib, false), nullptr);
    EXPECT_EQ(status, POLYTILE_NO_FIT);
    EXPECT_NE(error().find("one frame of actor a needs 32 KiB"), std::string::npos) << error();
    const polytile_graph_plan *made = plan(pair, gpu_of_31_kib, true);
    ASSERT_NE(made, nullptr) << error();
    EXPECT_GT(memory(made, "gpu")->n_bytes, 0);
    EXPECT_LE(memory(made, "gpu")->n_bytes, 31 << 10);
    EXPECT_EQ(memory(made, "gpu")->channel_bytes, 0);
    EXPECT_EQ(made->unit[0].cut_bytes, 31 << 10);
    EXPECT_TRUE(made->memory[made->unit[0].memory].is_host);
    for (int c = 0; c < made->n_channels; c++)
        EXPECT_TRUE(made->memory[made->channel[c].memory].is_host) << made->channel[c].array;
    EXPECT_NE(std::string(polytile_graph_plan_get_notes(made)).find("frames do not fit gpu"),
              std::string::npos);
}

TEST_F(GraphSuperblocks, AreLeftOutWhereFramesFit) {
    const std::string roomy = "digraph { gpu [device=\"cuda:0(memory=1MiB)\"] }";
    const polytile_graph_plan *made = plan(pair, roomy, true);
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(made->unit[0].cut_bytes, 0);
    EXPECT_GT(memory(made, "gpu")->n_bytes, 0);
    EXPECT_EQ(memory(made, "gpu")->channel_bytes, memory(made, "gpu")->n_bytes);
    EXPECT_DOUBLE_EQ(made->period_s, plan(pair, roomy, false)->period_s);
}

TEST_F(GraphSuperblocks, TakeLongerThanFramesThatFit) {
    const polytile_graph_plan *cut = plan(pair, gpu_of_31_kib, true);
    const polytile_graph_plan *whole =
        plan(pair, "digraph { gpu [device=\"cuda:0(memory=1MiB)\"] }", true);
    ASSERT_TRUE(cut != nullptr && whole != nullptr);
    EXPECT_GT(cut->actor[0].seconds, whole->actor[0].seconds);
}

/** Each actor touches at most 48 KiB, but 64 KiB live at once. */
TEST_F(GraphSuperblocks, RunWhereWhatLivesAtOnceDoesNotFit) {
    const char diamond[] = R"(digraph { { node [type=f32, extents="64x64"]; x; m1; m2; m3; p; y }
  { node [kernel="k[i,j]: in p[i,j]; out q[i,j]"]; a; b; c }
  { node [kernel="l[i,j]: in p[i,j], r[i,j]; out q[i,j]"]; d; e }
  x -> a [as=p]; a -> m1 [as=q]; x -> b [as=p]; b -> m2 [as=q]; x -> c [as=p]; c -> m3 [as=q];
  m1 -> d [as=p]; m2 -> d [as=r]; d -> p [as=q]; p -> e [as=p]; m3 -> e [as=r]; e -> y [as=q] })";
    const std::string gpu = "digraph { gpu [device=\"cuda:0(memory=50KiB)\"] }";
    EXPECT_EQ(plan(diamond, gpu, false), nullptr);
    EXPECT_EQ(status, POLYTILE_NO_FIT);
    const polytile_graph_plan *made = plan(diamond, gpu, true);
    ASSERT_NE(made, nullptr) << error();
    EXPECT_EQ(made->unit[0].cut_bytes, 50 << 10);
}

TEST_F(GraphSuperblocks, AreRefusedWithTheCertificateWhereOneDoesNotFit) {
    const char whole[] = R"(digraph { { node [type=f32, extents="64x64"]; x; y }
  a [kernel="k[i,j]: in p[:,:]; out q[i,j]"]; x -> a [as=p]; a -> y [as=q] })";
    EXPECT_EQ(plan(whole, "digraph { gpu [device=\"cuda:0(memory=15KiB)\"] }", true), nullptr);
    EXPECT_EQ(status, POLYTILE_NO_FIT);
    EXPECT_NE(error().find("actor a: "), std::string::npos) << error();
    EXPECT_NE(error().find("16 KiB"), std::string::npos) << error();
}

} // namespace
