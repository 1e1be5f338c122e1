#include "partition/window/random_steps.h"
#include "support/scale.h"

extern "C" {
#include "partition/prove/check.h"
}

/* Which launches of a window are interleaved, which run one after the other, and what is said of
 * them. */

namespace {

/** The group that begins with a step. */
class Group {
  public:
    Group(const pti_step_window &window, int first)
        : status(pti_fusion_group_find(&window, first, &of)), window_(window), first_(first) {}
    ~Group() { pti_fusion_group_free(&of); }
    Group(const Group &) = delete;
    Group &operator=(const Group &) = delete;

    std::string text() const {
        pti_text text = {};
        pti_fusion_group_describe(&window_, first_, &of, &text);
        const std::string said = text.data == nullptr ? "" : text.data;
        pti_text_free(&text);
        return said;
    }

    pti_fusion_group of;
    polytile_status status;

  private:
    const pti_step_window &window_;
    int first_;
};

/** How many launches follow one another from a step on. */
int count_launches(const pti_step_window &window, int first) {
    int n = 0;
    while (first + n < window.n_steps && window.step[first + n].kind == PTI_STEP_LAUNCH)
        n++;
    return n;
}

/** The sub-kernels of a schedule, by launch. */
std::vector<int64_t> count_sub_kernels(const pti_schedule &schedule) {
    std::vector<int64_t> found(static_cast<size_t>(schedule.n_launches));
    for (int64_t k = 0; k < schedule.n_ops; k++)
        if (schedule.op[k].kind == PTI_LAUNCH)
            found[static_cast<size_t>(schedule.op[k].launch)]++;
    return found;
}

TEST(FusionGroup, IsOfLaunchesThatFollowOneAnother) {
    const uint64_t seed = test_seed("FusionGroup.IsOfLaunchesThatFollowOneAnother");
    int n_fused = 0, n_apart = 0;
    for (int64_t round = 0; round < 40 + scaled(160); round++) {
        SCOPED_TRACE(seed + static_cast<uint64_t>(round));
        Random random(seed + static_cast<uint64_t>(round));
        RandomSteps steps(&random, random.one_of({0, 1, 2, 4}));
        for (int first = 0; count_launches(steps.window, first) > 0; first++) {
            const int n_row = count_launches(steps.window, first);
            const Group group(steps.window, first);
            ASSERT_EQ(group.status, POLYTILE_OK);
            EXPECT_NE(group.of.n_launches, 1);
            EXPECT_LE(group.of.n_launches, n_row);
            EXPECT_GE(group.of.n_single, 1);
            EXPECT_LE(group.of.n_single, n_row);
            const bool is_fused = group.of.n_launches > 0;
            if (is_fused) {
                EXPECT_EQ(pti_chain_n_calls(&group.of.chain), group.of.n_launches);
                EXPECT_EQ(group.text().find("not fused"), std::string::npos) << group.text();
            }
            (is_fused ? n_fused : n_apart)++;
        }
    }
    EXPECT_GT(n_fused, 0);
    EXPECT_GT(n_apart, 0);
}

/** Nothing has run before the first group. */
TEST(FusionGroup, IsBuiltAsAScheduleThatTheCheckerProves) {
    const uint64_t seed = test_seed("FusionGroup.IsBuiltAsAScheduleThatTheCheckerProves");
    int n_built = 0;
    for (int64_t round = 0; round < 40 + scaled(160); round++) {
        SCOPED_TRACE(seed + static_cast<uint64_t>(round));
        Random random(seed + static_cast<uint64_t>(round));
        RandomSteps steps(&random, random.one_of({0, 2, 3, 4}));
        Group group(steps.window, 0);
        ASSERT_EQ(group.status, POLYTILE_OK);
        if (group.of.n_launches == 0 || group.of.is_resident)
            continue;
        pti_schedule *schedule = pti_fusion_group_build(&steps.window, &group.of);
        ASSERT_NE(schedule, nullptr);
        pti_text why = {};
        EXPECT_TRUE(pti_schedule_check(schedule, &why)) << why.data;
        pti_text_free(&why);
        const std::vector<int64_t> n_sub_kernels = count_sub_kernels(*schedule);
        EXPECT_GE(n_sub_kernels.size(), static_cast<size_t>(group.of.n_launches));
        for (const int64_t n : n_sub_kernels)
            EXPECT_GT(n, 0);
        pti_schedule_free(schedule);
        n_built++;
    }
    EXPECT_GT(n_built, 0);
}

TEST(FusionGroup, IsNoneOfLaunchesThatArePlannedByThemselves) {
    const uint64_t seed = test_seed("FusionGroup.IsNoneOfLaunchesThatArePlannedByThemselves");
    for (int64_t round = 0; round < 5 + scaled(40); round++) {
        SCOPED_TRACE(seed + static_cast<uint64_t>(round));
        Random random(seed + static_cast<uint64_t>(round));
        RandomSteps steps(&random, random.one_of({2, 4}));
        const int n_row = count_launches(steps.window, 0);
        steps.options().launches_per_pass = 1;
        const Group one_a_pass(steps.window, 0);
        EXPECT_EQ(one_a_pass.of.n_launches, 0);
        EXPECT_EQ(one_a_pass.of.n_single, n_row);
        EXPECT_EQ(one_a_pass.text(), "");
        steps.options().launches_per_pass = 0;
        steps.options().strategy = "min-kernels";
        const Group by_strategy(steps.window, 0);
        EXPECT_EQ(by_strategy.of.n_launches, 0);
        EXPECT_EQ(by_strategy.of.n_single, n_row);
        if (n_row > 1 && !by_strategy.of.is_resident) {
            EXPECT_NE(by_strategy.text().find("strategy min-kernels runs each launch by itself"),
                      std::string::npos)
                << by_strategy.text();
        }
    }
}

} // namespace
