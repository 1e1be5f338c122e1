#include <gtest/gtest.h>

#include <algorithm>

#include "distribute/shared_program.h"
#include "partition/prove/extremes.h"
#include "partition/prove/joint/joint_mutations.h"

extern "C" {
#include "distribute/exchange/joint_plan.h"
#include "partition/prove/joint/joint_check.h"
}

namespace {

/** One launch of a stencil on two ranks, or on two members with the same memory; x and y of 8
 * elements lie half with each. Schedules are made from it by hand, op by op. */
class JointCheck : public testing::Test {
  protected:
    void SetUp() override {
        const int64_t extent = 8, first = 1, last = 6;
        const polytile_domain line = polytile_domain_from_extents(1, &extent);
        program.add_array(line, 2, "", "block");
        program.add_array(line, 2, "", "block");
        ASSERT_TRUE(program.add_launch("blend[i]: in x[i-1:i+1]; out y[i]",
                                       polytile_domain_from_bounds(1, &first, &last), {0, 1}));
        pti_copies_create(2, 2, &before);
        pti_copies_create(2, 2, &after);
        superstep = program.superstep(0, 1, 2);
        ASSERT_TRUE(pti_superstep_cut(&superstep, 0, 2, &after, &parts));
    }
    void TearDown() override {
        pti_joint_free(schedule);
        pti_superstep_parts_free(&parts);
        pti_copies_free(&before);
        pti_copies_free(&after);
    }

    void Plan(bool is_within) {
        const bool shared[] = {is_within, is_within}, lent[] = {is_within, is_within};
        const char *names[] = {"x", "y"};
        pti_joint_request request = {};
        request.superstep = &superstep;
        request.parts = &parts;
        request.is_shared = shared;
        request.n_local = is_within ? 2 : 1;
        request.shares_memory = is_within;
        request.is_lent = lent;
        request.keeps = keeps;
        request.pulls = pulls;
        request.meets = pti_joint_meets(&request);
        if (keeps)
            pti_joint_drop_ghosts(&request, &after);
        request.name = names;
        schedule = pti_joint_plan(&request, is_within ? 2 : 1, &before, &after);
        ASSERT_NE(schedule, nullptr);
    }

    std::string Text() const {
        pti_text text = {};
        pti_joint_write(&text, schedule);
        const std::string copy = text.data;
        pti_text_free(&text);
        return copy;
    }

    /** What the checker says; "" if it holds. */
    std::string Check() const {
        pti_text why = {};
        const bool holds = pti_joint_check(schedule, &why);
        const std::string copy = holds ? "" : why.data;
        pti_text_free(&why);
        return copy;
    }

    void ExpectSays(const std::string &part) const {
        EXPECT_NE(Check().find(part), std::string::npos) << Check() << "\nlacks " << part << "\n"
                                                         << Text();
    }

    pti_joint_op *Find(int list, pti_joint_kind kind, int number = 0) {
        for (int o = 0; o < schedule->list[list].n_ops; o++)
            if (schedule->list[list].op[o].kind == kind && number-- == 0)
                return &schedule->list[list].op[o];
        return nullptr;
    }

    void Drop(int list, pti_joint_kind kind, int number = 0) {
        pti_joint_op *op = Find(list, kind, number);
        ASSERT_NE(op, nullptr) << Text();
        pti_boxes_free(&op->boxes);
        std::copy(op + 1, schedule->list[list].op + schedule->list[list].n_ops, op);
        schedule->list[list].n_ops--;
    }

    /** Two launches there and back, of members that keep all, so that both compute the same
     * elements. */
    void PlanThereAndBack() {
        const int64_t first = 1, last = 6;
        ASSERT_TRUE(program.add_launch("blend[i]: in x[i-1:i+1]; out y[i]",
                                       polytile_domain_from_bounds(1, &first, &last), {1, 0}));
        pti_superstep_parts_free(&parts);
        pti_copies_free(&after);
        pti_copies_create(2, 2, &after);
        superstep = program.superstep(0, 2, 2);
        ASSERT_TRUE(pti_superstep_cut(&superstep, 0, 2, &after, &parts));
        keeps = true;
        Plan(true);
    }

    SharedProgram program;
    pti_superstep superstep = {};
    pti_superstep_parts parts = {};
    pti_copies before = {}, after = {};
    pti_joint_schedule *schedule = nullptr;
    bool keeps = false; /* in Plan(), as the next one */
    bool pulls = false;
};

TEST_F(JointCheck, NothingStandsBetweenTheSendsOfAMessage) {
    Plan(false);
    pti_joint_op *op = Find(0, PTI_JOINT_FORGET);
    ASSERT_NE(op, nullptr);
    op->kind = PTI_JOINT_SEND;
    op->peer = 1;
    ExpectSays("sends some of a message of which an operation that stands apart sends the rest");
}

TEST_F(JointCheck, RanksExchangeWhatTheyLackBeforeTheyRun) {
    Plan(false);
    EXPECT_EQ(Check(), "");
    EXPECT_EQ(Text(), "members 0 to 0\n"
                      "  0: download x [3] by member 0\n"
                      "  1: forget x [4] by member 0\n"
                      "  2: wait, after what member 0 does with x\n"
                      "  3: send x [3] to member 1 by member 0\n"
                      "  4: receive x [4] from member 1 by member 0\n"
                      "  5: forget x [4] by member 0\n"
                      "  6: launch 0, blend [1:3] by member 0\n"
                      "members 1 to 1\n"
                      "  0: download x [4] by member 1\n"
                      "  1: forget x [3] by member 1\n"
                      "  2: wait, after what member 1 does with x\n"
                      "  3: send x [4] to member 0 by member 1\n"
                      "  4: receive x [3] from member 0 by member 1\n"
                      "  5: forget x [3] by member 1\n"
                      "  6: launch 0, blend [4:6] by member 1\n");
}

TEST_F(JointCheck, MembersOverOneMemoryWaitAndCopyNothing) {
    Plan(true);
    EXPECT_EQ(Check(), "");
    EXPECT_NE(Text().find("copy x [3] from member 0 by member 1"), std::string::npos) << Text();
}

struct Fault {
    bool is_within;
    int list;
    pti_joint_kind kind;
    int number;
    const char *says;
};

class JointFault : public JointCheck, public testing::WithParamInterface<Fault> {};

INSTANTIATE_TEST_SUITE_P(
    Dropped, JointFault,
    testing::Values(
        Fault{false, 0, PTI_JOINT_FETCH, 0, "host memory does not have it in its newest version"},
        Fault{false, 0, PTI_JOINT_FORGET, 0, "is written where a device may bring older elements"},
        Fault{false, 0, PTI_JOINT_WAIT, 0, "host memory does not have it in its newest version"},
        Fault{false, 0, PTI_JOINT_SEND, 0, "waits for others that never get so far"},
        Fault{false, 1, PTI_JOINT_RECEIVE, 0,
              "does not have all that it reads in its newest version"},
        Fault{false, 1, PTI_JOINT_FORGET, 1,
              "does not have all that it reads in its newest version"},
        Fault{false, 1, PTI_JOINT_RUN, 0, "nobody runs threads [4:6]"},
        Fault{true, 0, PTI_JOINT_FETCH, 0, "host memory does not have it in its newest version"},
        Fault{true, 0, PTI_JOINT_FORGET, 2,
              "does not have all that it reads in its newest version"},
        Fault{true, 0, PTI_JOINT_WAIT, 1, "host memory does not have it in its newest version"}));

TEST_P(JointFault, IsNamed) {
    Plan(GetParam().is_within);
    Drop(GetParam().list, GetParam().kind, GetParam().number);
    ExpectSays(GetParam().says);
}

TEST_F(JointCheck, NoTwoWaitForEachOther) {
    Plan(false);
    for (int list = 0; list < 2; list++)
        std::swap(*Find(list, PTI_JOINT_SEND), *Find(list, PTI_JOINT_RECEIVE));
    ExpectSays(
        "operation 3 of the process with member 0 (receive x [4] from member 1 by member 0): "
        "waits for others that never get so far");
}

TEST_F(JointCheck, WhatIsReceivedIsWhatWasSent) {
    Plan(false);
    Find(1, PTI_JOINT_RECEIVE)->boxes.box[0].range[0] = {2, 2, 1};
    ExpectSays("(receive x [2] from member 0 by member 1): what is sent is something else");
}

TEST_F(JointCheck, NumbersAreInRange) {
    const struct {
        const char *what;
        void (*change)(pti_joint_op *op);
    } changes[] = {{"member", [](pti_joint_op *op) { op->member = 1; }},
                   {"peer", [](pti_joint_op *op) { op->peer = 0; }},
                   {"launch", [](pti_joint_op *op) { op->launch = 2; }},
                   {"array", [](pti_joint_op *op) { op->array = 2; }},
                   {"waits", [](pti_joint_op *op) { op->n_waits = 7; }}};
    for (const auto &change : changes) {
        Plan(false);
        change.change(Find(0, PTI_JOINT_SEND));
        SCOPED_TRACE(change.what);
        ExpectSays("operation 3 of the process with member 0 has a number that is out of range");
        pti_joint_free(schedule);
        schedule = nullptr;
    }
    Plan(false);
    Find(0, PTI_JOINT_SEND)->boxes.box[0].range[0].hi = 8;
    ExpectSays("its boxes are not disjoint boxes inside");
    Find(0, PTI_JOINT_SEND)->boxes.box[0].range[0].hi = 3;
    schedule->list[1].first = 2;
    ExpectSays("process 1 does not have the members from 1 on");
}

TEST_F(JointCheck, NumbersThatAreAnythingAreRefused) {
    Random random(test_seed("JointCheck.NumbersThatAreAnythingAreRefused"));
    for (const bool is_within : {false, true}) {
        Plan(is_within);
        ExpectExtremesRefused(NumbersOf(schedule), 1000, &random, [this] { return Check(); });
        pti_joint_free(schedule);
        schedule = nullptr;
    }
    PlanThereAndBack();
    ExpectExtremesRefused(NumbersOf(schedule), 1000, &random, [this] { return Check(); });
}

TEST_F(JointCheck, NoMessageIsLeft) {
    Plan(false);
    pti_boxes_assign(&pti_joint_at(schedule, schedule->before, 0, 1)->valid,
                     &schedule->array[0].domain);
    Drop(1, PTI_JOINT_FORGET, 1);
    Drop(1, PTI_JOINT_FORGET);
    Drop(1, PTI_JOINT_RECEIVE);
    ExpectSays("a message of x from member 0 to member 1 is never received");
}

TEST_F(JointCheck, WhatSeveralComputedIsForgottenBeforeAnythingElse) {
    PlanThereAndBack();
    ASSERT_EQ(Check(), "") << Text();
    pti_joint_list *list = &schedule->list[0];
    pti_joint_op *end = list->op + list->n_ops, *first_forget = end - 1;
    ASSERT_EQ(end[-1].kind, PTI_JOINT_WAIT) << Text();
    while (first_forget[-1].kind == PTI_JOINT_FORGET)
        first_forget--;
    ASSERT_LT(first_forget, end - 1) << Text();
    std::rotate(first_forget, end - 1, end);
    ExpectSays("is forgotten, and nobody waits for that");
}

/** A member writes elements of the other's, which that one brings to the host and forgets before.
 * */
TEST_F(JointCheck, WhatOthersWriteIsBroughtHomeBefore) {
    const int64_t first = 0, last = 3;
    ASSERT_TRUE(program.add_launch("mirror[i]: inout x[i]; in y[i]; out z[7-i]",
                                   polytile_domain_from_bounds(1, &first, &last), {0, 1, 1}));
    pti_superstep_parts_free(&parts);
    pti_copies_free(&after);
    pti_copies_create(2, 2, &after);
    superstep = program.superstep(1, 1, 2);
    ASSERT_TRUE(pti_superstep_cut(&superstep, 0, 2, &after, &parts));
    keeps = true;
    Plan(true);
    ASSERT_EQ(Check(), "") << Text();
    ASSERT_NE(Find(0, PTI_JOINT_FETCH), nullptr) << Text();
    ASSERT_LT(Find(0, PTI_JOINT_FETCH), Find(0, PTI_JOINT_RUN)) << Text();
    pti_joint_op *wait = Find(0, PTI_JOINT_RUN) - 1;
    ASSERT_GT(wait->n_waits, 0) << Text();
    wait->n_waits = 0;
    ExpectSays("another member's download may bring older elements to the host later");
}

TEST_F(JointCheck, LinkedDevicesPullInPlaceOfGoingThroughTheHost) {
    pulls = true;
    PlanThereAndBack();
    EXPECT_EQ(Check(), "") << Text();
    EXPECT_EQ(Find(0, PTI_JOINT_FETCH), nullptr) << Text();
    EXPECT_EQ(Find(0, PTI_JOINT_COPY), nullptr) << Text();
    EXPECT_NE(Text().find("pull x [4:5] from member 1 by member 0"), std::string::npos) << Text();
    EXPECT_NE(Text().find("pull x [2:3] from member 0 by member 1"), std::string::npos) << Text();
}

TEST_F(JointCheck, NobodyPullsFromDevicesThatMayBeBusy) {
    pulls = true;
    PlanThereAndBack();
    for (pti_joint_op *op = schedule->list[0].op; op->kind != PTI_JOINT_PULL; op++)
        op->n_waits = 0;
    ExpectSays("the peer may still be busy");
}

TEST_F(JointCheck, NobodyRunsWhileOthersPull) {
    pulls = true;
    PlanThereAndBack();
    ASSERT_GT((Find(0, PTI_JOINT_RUN) - 1)->n_waits, 0) << Text();
    (Find(0, PTI_JOINT_RUN) - 1)->n_waits = 0;
    ExpectSays("runs while members pull from each other");
}

TEST_F(JointCheck, OnlyDevicesThatKeepAllPull) {
    pulls = true;
    PlanThereAndBack();
    schedule->keeps[1] = false;
    ExpectSays("one of the devices may not keep it");
}

TEST_F(JointCheck, WhatIsPulledIsTheNewestVersion) {
    pulls = true;
    PlanThereAndBack();
    pti_boxes_clear(&pti_joint_at(schedule, schedule->before, 0, 1)->valid);
    ExpectSays("the peer does not have it in its newest version");
}

/** Host memory does not have it. */
TEST_F(JointCheck, WhatIsPulledIsForgottenInTheEndAndNeverFetched) {
    pulls = true;
    PlanThereAndBack();
    pti_joint_op *forget = Find(0, PTI_JOINT_FORGET);
    ASSERT_EQ(forget->array, 0) << Text();
    forget->kind = PTI_JOINT_FETCH;
    ExpectSays("was pulled, so that it does not come to the host");
    Drop(0, PTI_JOINT_FETCH);
    ExpectSays("is pulled, and not forgotten");
}

TEST_F(JointCheck, APeerIsNamedOfWhatIsPulled) {
    pulls = true;
    PlanThereAndBack();
    Find(0, PTI_JOINT_PULL)->peer = -1;
    ExpectSays("number that is out of range");
}

TEST_F(JointCheck, NobodyHoldsLessThanIsSaid) {
    Plan(true);
    pti_boxes *valid = &pti_joint_at(schedule, schedule->before, 0, 1)->valid;
    pti_boxes_clear(valid);
    ExpectSays("host memory does not have it in its newest version");
    pti_boxes_assign(valid, &schedule->array[0].domain);
    pti_boxes_clear(&pti_joint_at(schedule, schedule->after, 1, 1)->loose);
    ExpectSays(
        "after all operations, y [4:7] of member 1: its device may bring to the host what it "
        "should not");
}

} // namespace
