extern "C" {
#include "graph/plan/plan.h"
}

#include <gtest/gtest.h>

namespace {

TEST(GraphStrategy, IsFoundByItsNameAndTheFirstOneWithout) {
    EXPECT_STREQ(pti_graph_strategy_find(nullptr)->name, "best");
    EXPECT_EQ(pti_graph_strategy_find("best"), pti_graph_strategy_find(nullptr));
    EXPECT_STREQ(pti_graph_strategy_find("paper")->name, "paper");
    EXPECT_EQ(pti_graph_strategy_find("min-time"), nullptr);
    EXPECT_EQ(pti_graph_strategy_find(""), nullptr);
}

/** What a stream relies on. */
TEST(GraphStrategy, TheRulesOfThePaperAreNotRun) {
    const pti_graph_strategy *paper = pti_graph_strategy_find("paper");
    EXPECT_FALSE(paper->is_sound || paper->may_overlap || paper->may_spread);
    EXPECT_TRUE(pti_graph_strategy_find("best")->is_sound);
}

} // namespace
