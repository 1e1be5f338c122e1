#include "queue/blend_test.h"

#include <atomic>

extern "C" {
#include "partition/prove/joint/joint_check.h"
bool __real_pti_joint_check(const pti_joint_schedule *schedule, pti_text *why);
bool __wrap_pti_joint_check(const pti_joint_schedule *schedule, pti_text *why);
}

/* What several members are about to do is proved, and is not run if it is not right. The linker
 * puts the function here between the library and the checker, so that a plan can be made wrong. */

namespace {

struct {
    std::atomic<int> n_proofs{0};
    std::atomic<bool> spoils_next{false};
    std::atomic<bool> changes_next{false}; /* once it is proved */
} plans;

} // namespace

/** A plan is wrong if a process does nothing. */
bool __wrap_pti_joint_check(const pti_joint_schedule *schedule, pti_text *why) {
    pti_joint_schedule given = *schedule;
    std::vector<pti_joint_list> lists(schedule->list, schedule->list + schedule->n_lists);
    plans.n_proofs++;
    if (plans.spoils_next.exchange(false))
        lists[0].n_ops = 0;
    given.list = lists.data();
    const bool holds = __real_pti_joint_check(&given, why);
    if (plans.changes_next.exchange(false))
        schedule->list[0].op[0].launch++;
    return holds;
}

namespace {

constexpr int64_t n = 600;

class CertifiedGroups : public blending::BlendTest {
  protected:
    CertifiedGroups() : BlendTest(n) {}

    void SetUp() override { set_check("plan"); }

    void set_check(const char *value) {
        BlendTest::set_check(value);
        plans.n_proofs = 0;
        plans.spoils_next = false;
        plans.changes_next = false;
    }

    polytile_status launch_there_and_back(polytile_queue *queue, int n_times) {
        launch_in_turn(queue, 2 * n_times);
        return polytile_queue_wait(queue);
    }
};

TEST_F(CertifiedGroups, AreProvedOnceASuperstepIfThatIsAskedFor) {
    for (const char *devices : {"host,host", "host(memory=64KiB),host(memory=64KiB)"}) {
        for (const char *check : {"plan", "off"}) {
            set_check(check);
            polytile_queue *queue = open(devices);
            ASSERT_NE(queue, nullptr);
            ASSERT_EQ(attach(queue, arrays), POLYTILE_OK) << error();
            ASSERT_EQ(launch_there_and_back(queue, 3), POLYTILE_OK) << error();
            const int n_first = plans.n_proofs;
            EXPECT_EQ(n_first > 0, std::string(check) == "plan");
            for (int k = 0; k < 5; k++)
                ASSERT_EQ(launch_there_and_back(queue, 3), POLYTILE_OK) << error();
            EXPECT_LE(plans.n_proofs, 3 * n_first);
            polytile_queue_destroy(queue);
        }
    }
}

TEST_F(CertifiedGroups, AreNotRunIfTheirPlanIsWrong) {
    polytile_queue *queue = open("host,host");
    ASSERT_NE(queue, nullptr);
    ASSERT_EQ(attach(queue, arrays), POLYTILE_OK) << error();
    plans.spoils_next = true;
    EXPECT_EQ(launch(queue, kernel, domain, arrays), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_INTERNAL);
    expect_says({"blend", "failed its own check and was not run", "nobody runs threads",
                 "please report it"});
    EXPECT_EQ(fields[1], std::vector<float>(n, -1));
    ASSERT_EQ(launch_there_and_back(queue, 1), POLYTILE_OK) << error();
    polytile_queue_destroy(queue);
}

TEST_F(CertifiedGroups, AreNotRunIfSomethingElseIsProved) {
    polytile_queue *queue = open("host,host");
    ASSERT_NE(queue, nullptr);
    ASSERT_EQ(attach(queue, arrays), POLYTILE_OK) << error();
    plans.changes_next = true;
    EXPECT_EQ(launch(queue, kernel, domain, arrays), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_INTERNAL);
    expect_says({"blend", "was not run", "this process would do something else"});
    EXPECT_EQ(fields[1], std::vector<float>(n, -1));
    polytile_queue_destroy(queue);
}

} // namespace
