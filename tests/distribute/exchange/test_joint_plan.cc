#include <gtest/gtest.h>

#include <set>

#include "distribute/joint_program.h"
#include "partition/prove/joint/joint_interpreter.h"
#include "support/box_memory.h"
#include "support/scale.h"

extern "C" {
#include "partition/prove/joint/joint_check.h"
}

namespace {

std::string text_of(const pti_joint_schedule &schedule) {
    pti_text text = {};
    pti_joint_write(&text, &schedule);
    const std::string copy = text.data == nullptr ? "" : text.data;
    pti_text_free(&text);
    return copy;
}

TEST(JointPlan, SchedulesOfRandomProgramsAreProvedAndRunRight) {
    const uint64_t seed = test_seed("JointPlan.SchedulesOfRandomProgramsAreProvedAndRunRight");
    const int64_t n_programs = scaled(3000);
    int64_t n_within = 0, n_ranks = 0, n_with[PTI_JOINT_WAIT + 1] = {}; /* programs */
    for (int64_t round = 0; round < n_programs && !HasFailure(); round++) {
        Random random(seed + static_cast<uint64_t>(round));
        SharedProgram program;
        const int n_members = static_cast<int>(random.number(1, 8));
        program.draw_arrays(&random, n_members);
        program.draw_launches(&random);
        JointProgram joint(program, n_members, &random);
        (joint.is_within() ? n_within : n_ranks)++;
        std::set<int> kinds;
        while (JointSchedule schedule = joint.Next(&random)) {
            pti_text why = {};
            ASSERT_TRUE(pti_joint_check(schedule.get(), &why))
                << why.data << "\nround " << round << ", " << n_members << " members, "
                << joint.text() << text_of(*schedule);
            const JointValues values(*schedule);
            for (int run = 0; run < 3; run++)
                ASSERT_TRUE(runs_right(*schedule, values, &random))
                    << "round " << round << ", " << n_members << " members, " << joint.text()
                    << text_of(*schedule);
            for (int k = 0; k < schedule->n_lists; k++)
                for (int o = 0; o < schedule->list[k].n_ops; o++)
                    kinds.insert(schedule->list[k].op[o].kind);
        }
        for (const int kind : kinds)
            n_with[kind]++;
    }
    EXPECT_GE(n_within, least_count(n_programs, 0.45));
    EXPECT_GE(n_ranks, least_count(n_programs, 0.3));
    for (int kind = 0; kind <= PTI_JOINT_WAIT; kind++)
        EXPECT_GE(n_with[kind], least_count(n_programs, 0.035))
            << pti_joint_word(static_cast<pti_joint_kind>(kind));
}

/** Two ranks of two members each: member 2 has a copy of C[0], which member 3 receives into the
 * same memory. Member 2 must not read it meanwhile in threads that do not wait for the edge of
 * A. */
TEST(JointPlan, EarlyThreadsAvoidWhatOthersReceiveInTheirMemory) {
    SharedProgram program;
    const polytile_domain line = domain_of({{0, 39, 1}});
    for (int array = 0; array < 3; array++)
        program.add_array(line, 4, "", "block");
    ASSERT_TRUE(program.add_launch("k[i]: in A[i - 1:i + 1], C[0]; out B[i]", line, {0, 2, 1}))
        << program.error();
    for (uint64_t seed = 0; seed < 20; seed++) {
        Random random(seed);
        JointProgram joint(program, 4, 2);
        joint.give(2, 2, domain_of({{0, 0, 1}}));
        JointSchedule schedule = joint.Next(&random);
        pti_text why = {};
        ASSERT_TRUE(pti_joint_check(schedule.get(), &why)) << why.data << text_of(*schedule);
        const JointValues values(*schedule);
        ASSERT_TRUE(runs_right(*schedule, values, &random)) << text_of(*schedule);
    }
}

} // namespace
