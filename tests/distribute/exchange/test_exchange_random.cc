#include <gtest/gtest.h>

#include <algorithm>

#include "distribute/shared_program.h"
#include "support/scale.h"

namespace {

struct Seen {
    int64_t n_supersteps = 0;
    int64_t n_deep = 0;
    int64_t n_moving = 0;    /* programs of which more than ten elements moved */
    int64_t n_repeating = 0; /* programs of which some threads ran on several members */
    int64_t n_split = 0;
    int64_t n_divided = 0;
};

/* Groups are as long as can be, or shorter. */
std::string run_in_supersteps(Random *random, const SharedProgram &program, int n_members,
                              Seen *seen) {
    Members members(program.ownerships(), n_members);
    const size_t n_launches = program.launches().size();
    std::string error;
    for (size_t first = 0; first < n_launches && error.empty();) {
        const pti_superstep rest = program.superstep(first, n_launches - first, n_members);
        const int64_t longest = pti_superstep_longest(&rest);
        const int64_t n = random->chance(50) ? longest : random->number(1, longest);
        const pti_home home = pti_home_of(rest.launch, rest.ownerships);
        error = members.run({rest.launch, rest.launch + n});
        if (!error.empty())
            error = "launches " + std::to_string(first) + " to " +
                    std::to_string(first + static_cast<size_t>(n) - 1) + ": " + error;
        first += static_cast<size_t>(n);
        seen->n_supersteps++;
        seen->n_deep += n > 1;
        seen->n_split += home.splits;
        seen->n_divided += home.operand >= 0;
    }
    seen->n_moving += members.n_moved() > 10;
    seen->n_repeating += members.n_extra_threads() > 0;
    return error;
}

TEST(Exchange, OwnersOfRandomProgramsHaveWhatOneMemberAloneHas) {
    const uint64_t seed = test_seed("Exchange.OwnersOfRandomProgramsHaveWhatOneMemberAloneHas");
    Seen seen;
    const int64_t n_programs = scaled(3000);
    for (int64_t round = 0; round < n_programs; round++) {
        Random random(seed + static_cast<uint64_t>(round));
        SharedProgram program;
        const int n_members = static_cast<int>(random.number(1, 8));
        program.draw_arrays(&random, n_members);
        if (random.chance(25))
            program.let_run_once();
        program.draw_launches(&random);
        const std::string error = run_in_supersteps(&random, program, n_members, &seen);
        ASSERT_EQ(error, "") << n_members << " members, round " << round << "\n" << program.text();
    }
    EXPECT_GE(seen.n_deep, least_count(n_programs, 0.3));
    EXPECT_GE(seen.n_split, least_count(n_programs, 0.1));
    EXPECT_GE(seen.n_divided, least_count(seen.n_supersteps, 0.4));
    EXPECT_GE(seen.n_moving, least_count(n_programs, 0.35));
    EXPECT_GE(seen.n_repeating, least_count(n_programs, 0.17));
}

} // namespace
