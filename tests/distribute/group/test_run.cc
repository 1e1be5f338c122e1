#include "queue/queue_test.h"

extern "C" {
#include "distribute/exchange/superstep.h"
#include "distribute/group/run.h"
}

/* When a group runs what it has recorded, and what is left of that. */

namespace {

class GroupRun : public QueueTest {
  protected:
    void SetUp() override {
        QueueTest::SetUp();
        queue = open("host(threads=1),host(threads=1)");
        X = wrap("x", x);
        ASSERT_EQ(attach(queue, {X}), POLYTILE_OK) << error();
        group = pti_group_of(queue);
        ASSERT_NE(group, nullptr);
    }

    polytile_status increase(Gate &gate) { return launch(queue, gated(gate), line(64), {X}); }

    std::vector<float> x = std::vector<float>(64);
    polytile_queue *queue = nullptr;
    polytile_array *X = nullptr;
    pti_group *group = nullptr;
};

TEST_F(GroupRun, RunsAllThatIsRecordedOnce) {
    Gate gate;
    for (int n_launches : {1, 2, 3 * PTI_SUPERSTEP_LAUNCHES + 1}) {
        std::fill(x.begin(), x.end(), 0.f);
        for (int l = 0; l < n_launches; l++)
            ASSERT_EQ(increase(gate), POLYTILE_OK) << error();
        pti_group_run(group);
        EXPECT_EQ(group->n_recorded, 0);
        EXPECT_EQ(x, std::vector<float>(64, static_cast<float>(n_launches)));
        pti_group_run(group);
        EXPECT_EQ(x, std::vector<float>(64, static_cast<float>(n_launches)));
    }
    EXPECT_EQ(pti_group_wait(group), POLYTILE_OK) << error();
}

TEST_F(GroupRun, AFewLaunchesAreOnlyRecordedUntilThen) {
    Gate gate;
    ASSERT_EQ(increase(gate), POLYTILE_OK) << error();
    ASSERT_EQ(increase(gate), POLYTILE_OK) << error();
    EXPECT_EQ(group->n_recorded, 2);
    EXPECT_EQ(gate.n_launches(), 0);
    EXPECT_EQ(pti_group_wait(group), POLYTILE_OK) << error();
    EXPECT_GT(gate.n_launches(), 0);
}

TEST_F(GroupRun, AFailureIsKeptForTheNextWaitAlone) {
    Gate failing;
    failing.let_return(7);
    ASSERT_EQ(increase(failing), POLYTILE_OK) << error();
    pti_group_run(group);
    EXPECT_EQ(group->n_recorded, 0);
    EXPECT_EQ(pti_group_wait(group), POLYTILE_DEVICE);
    expect_says({"gated", "7", "left incomplete: x"});
    EXPECT_FALSE(polytile_array_is_complete(X));
    EXPECT_EQ(pti_group_wait(group), POLYTILE_OK) << error();
}

TEST_F(GroupRun, AGroupThatWasGivenUpForgetsWhatIsRecorded) {
    Gate gate;
    ASSERT_EQ(increase(gate), POLYTILE_OK) << error();
    pti_group_give_up(group);
    pti_group_run(group);
    EXPECT_EQ(group->n_recorded, 0);
    EXPECT_EQ(gate.n_launches(), 0);
    EXPECT_EQ(x, std::vector<float>(64));
}

/** What a group told the members' queues of arrays. */
struct Notified {
    static polytile_status note(pti_group *group, const polytile_array *array) {
        EXPECT_EQ(array->name, std::string("x"));
        last_n_recorded = group->n_recorded;
        n_calls++;
        return POLYTILE_OK;
    }
    static int n_calls, last_n_recorded;
};
int Notified::n_calls = 0, Notified::last_n_recorded = 0;

TEST_F(GroupRun, MembersAreToldOfArraysThatLeaveWithTheLastLaunches) {
    Gate gate;
    ASSERT_EQ(increase(gate), POLYTILE_OK) << error();
    ASSERT_EQ(increase(gate), POLYTILE_OK) << error();
    const pti_group_last last = {1, &X, Notified::note};
    pti_group_run_to_end(group, &last);
    EXPECT_GT(Notified::n_calls, 0);
    EXPECT_EQ(Notified::last_n_recorded, 2) << "while the launches are run";
    EXPECT_EQ(pti_group_wait(group), POLYTILE_OK) << error();
    EXPECT_EQ(x, std::vector<float>(64, 2.f));
}

/** There is no other process that could differ. */
TEST_F(GroupRun, OneProcessAgreesWithItself) {
    Gate gate;
    bool differs = true;
    ASSERT_EQ(increase(gate), POLYTILE_OK) << error();
    EXPECT_EQ(pti_group_compare_recorded(group, &differs), POLYTILE_OK) << error();
    EXPECT_FALSE(differs);
    EXPECT_EQ(pti_group_wait(group), POLYTILE_OK) << error();
}

} // namespace
