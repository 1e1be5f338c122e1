#include <gtest/gtest.h>

#include "distribute/shared_program.h"

extern "C" {
#include "distribute/exchange/superstep.h"
}

namespace {

/** Launches over two lines of n elements, to and fro, cut for some members. */
class Superstep : public ::testing::Test {
  protected:
    pti_superstep make(const char *declaration, int64_t n, int n_members, int n_launches) {
        const int64_t extents[] = {n};
        const polytile_domain line = polytile_domain_from_extents(1, extents);
        const polytile_domain inner = {1, {{1, n - 2, 1}}};
        for (int a = 0; a < 2; a++)
            program_.add_array(line, n_members, "", "block");
        for (int l = 0; l < 2; l++)
            EXPECT_TRUE(program_.add_launch(declaration, inner, {l, 1 - l}));
        for (int l = 2; l < n_launches; l++)
            program_.repeat_launch(static_cast<size_t>(l % 2));
        return program_.superstep(0, program_.launches().size(), n_members);
    }

    SharedProgram program_;
};

const char *const three_points = "three[i]: in A[i-1:i+1]; out B[i]";
const char *const one_point = "one[i]: in A[i]; out B[i]";
const char *const total = "total[i]: in A[i]; sum B[0]";

int64_t count(const pti_exchange &exchange) {
    int64_t n = 0;
    for (int t = 0; t < exchange.n_transfers; t++)
        n += exchange.transfer[t].n_elements;
    return n;
}

TEST_F(Superstep, IsAsLongAsLittleIsComputedTwiceWithinItsLimits) {
    const pti_superstep known = make(three_points, 400, 4, 100);
    struct Case {
        pti_superstep_limits limits;
        int n_launches;
    };
    const Case cases[] = {{{0, false, false, false}, 3},
                          {{0, false, true, false}, 3},
                          {{1, false, false, false}, 1},
                          {{2, false, false, false}, 2},
                          {{0, true, false, false}, 1}};
    for (const Case &c : cases)
        EXPECT_EQ(pti_superstep_next(&known, &c.limits).n_launches, c.n_launches)
            << c.limits.most_launches << c.limits.runs_once;
}

TEST_F(Superstep, HasNoMoreLaunchesThanMembersKeepCutsOf) {
    const pti_superstep known = make(one_point, 400, 4, 2 * PTI_SUPERSTEP_LAUNCHES);
    for (const int64_t most : {0, 2 * PTI_SUPERSTEP_LAUNCHES}) {
        const pti_superstep_limits alone = {most, false, false, false},
                                   sending = {most, false, true, false};
        EXPECT_EQ(pti_superstep_next(&known, &alone).n_launches, PTI_SUPERSTEP_LAUNCHES);
        EXPECT_EQ(pti_superstep_next(&known, &sending).n_launches, PTI_SENDING_SUPERSTEP_LAUNCHES);
    }
}

TEST_F(Superstep, IsDealtOutOnceWhoeverAsks) {
    const pti_superstep known = make(three_points, 400, 4, 6);
    const pti_superstep_limits limits = {2, false, false, false};
    const pti_superstep next = pti_superstep_next(&known, &limits);
    pti_copies of_all = {}, of_one = {};
    pti_superstep_parts all, one;
    ASSERT_TRUE(pti_copies_create(2, 4, &of_all));
    ASSERT_TRUE(pti_copies_create(2, 4, &of_one));
    ASSERT_TRUE(pti_superstep_cut(&next, 0, 4, &of_all, &all));
    ASSERT_TRUE(pti_superstep_cut(&next, 1, 1, &of_one, &one));
    EXPECT_EQ(count(all.before), 6 * 2) << "two elements over each of three borders, both ways";
    EXPECT_EQ(count(one.before), 4 * 2);
    EXPECT_EQ(count(all.after), 0);
    EXPECT_EQ(one.work[0].n_threads, all.work[1].n_threads);
    EXPECT_EQ(one.work[0].n_extra_threads, 2);
    EXPECT_TRUE(pti_copies_are_alike(&of_all, &of_one));
    pti_superstep_parts_free(&all);
    pti_superstep_parts_free(&one);
    pti_copies_free(&of_all);
    pti_copies_free(&of_one);
}

/** What is combined everybody has, as one box. */
TEST_F(Superstep, LeavesWhatIsCombinedWithAll) {
    const pti_superstep known = make(total, 40, 2, 1);
    const pti_superstep first = {1, known.launch, known.n_arrays, known.ownerships, 2};
    const polytile_domain sum = {1, {{0, 0, 1}}};
    pti_copies copies = {};
    pti_superstep_parts parts;
    ASSERT_TRUE(pti_copies_create(2, 2, &copies));
    ASSERT_TRUE(pti_superstep_cut(&first, 0, 2, &copies, &parts));
    ASSERT_TRUE(parts.work[0].home[0].splits);
    for (int m = 0; m < 2; m++)
        EXPECT_TRUE(pti_boxes_cover(pti_copies_get(&copies, 1, m), &sum)) << m;
    EXPECT_EQ(count(parts.after), 0);
    pti_superstep_parts_free(&parts);
    pti_copies_free(&copies);
}

} // namespace
