#include <gtest/gtest.h>

#include <map>

#include "distribute/joint_program.h"
#include "partition/prove/joint/joint_interpreter.h"
#include "partition/prove/joint/joint_mutations.h"
#include "support/scale.h"

extern "C" {
#include "partition/prove/joint/joint_check.h"
}

/* No mutant of a right schedule that is wrong is accepted: at least 20,000 of those at scale 1. */

namespace {

/** Runs of a mutant that is accepted, and of one that is rejected, whose fault should show. */
enum { ACCEPTED_RUNS = 8, REJECTED_RUNS = 3 };

struct Tally {
    int64_t rejected = 0;
    int64_t harmless = 0; /* accepted, and the interpreter finds nothing wrong */
    int64_t missed = 0;   /* accepted, and wrong */
    int64_t cautious = 0; /* rejected, and the interpreter finds nothing wrong */
};

struct Verdict {
    bool holds;
    bool is_malformed; /* what the interpreter cannot run */
    std::string why;
};

Verdict check(const pti_joint_schedule &schedule) {
    pti_text why = {};
    Verdict verdict = {pti_joint_check(&schedule, &why), false, ""};
    verdict.why = why.data == nullptr ? "" : why.data;
    for (const char *text : {"out of range", "not disjoint boxes inside"})
        verdict.is_malformed |= verdict.why.find(text) != std::string::npos;
    pti_text_free(&why);
    return verdict;
}

bool is_wrong(const pti_joint_schedule &schedule, const JointValues &values, int n_runs,
              Random *random) {
    for (int run = 0; run < n_runs; run++)
        if (!runs_right(schedule, values, random))
            return true;
    return false;
}

class JointMutation : public ::testing::Test {
  protected:
    void Try(const pti_joint_schedule &right, const std::string &program, Random *random) {
        const JointValues values(right);
        for (int n = 0; n < 24 && !HasFailure(); n++) {
            JointMutant mutant(right);
            const std::string what = mutant.Change(random);
            if (what.empty())
                continue;
            const Verdict verdict = check(mutant.schedule());
            if (verdict.is_malformed)
                continue;
            const bool wrong = is_wrong(mutant.schedule(), values,
                                        verdict.holds ? ACCEPTED_RUNS : REJECTED_RUNS, random);
            Tally &tally = tallies_[what];
            (verdict.holds ? wrong ? tally.missed : tally.harmless
             : wrong       ? tally.rejected
                           : tally.cautious)++;
            pti_text text = {};
            pti_joint_write(&text, &mutant.schedule());
            EXPECT_FALSE(verdict.holds && wrong) << what << "\n" << program << text.data;
            pti_text_free(&text);
        }
    }

    std::map<std::string, Tally> tallies_;
};

TEST_F(JointMutation, BrokenSchedulesAreRejectedAndRightOnesAccepted) {
    const uint64_t seed = test_seed("JointMutation");
    for (int64_t round = 0; round < scaled(1400) && !HasFailure(); round++) {
        Random random(seed + static_cast<uint64_t>(round));
        SharedProgram program;
        const int n_members = static_cast<int>(random.number(2, 4));
        program.draw_arrays(&random, n_members);
        program.draw_launches(&random);
        JointProgram joint(program, n_members, &random);
        while (JointSchedule schedule = joint.Next(&random)) {
            const Verdict verdict = check(*schedule);
            ASSERT_TRUE(verdict.holds) << verdict.why << "\n" << joint.text();
            Try(*schedule, joint.text(), &random);
        }
    }
    Tally all;
    for (const auto &[what, tally] : tallies_) {
        std::printf("%-40s %6lld rejected %6lld harmless %4lld missed %6lld more rejected\n",
                    what.c_str(), static_cast<long long>(tally.rejected),
                    static_cast<long long>(tally.harmless), static_cast<long long>(tally.missed),
                    static_cast<long long>(tally.cautious));
        all.rejected += tally.rejected;
        all.missed += tally.missed;
    }
    EXPECT_EQ(all.missed, 0);
    EXPECT_GE(all.rejected, scaled(1000) >= 1000 ? 20000 : 1);
}

} // namespace
