#include "distribute/mpi/joined.h"

namespace {

std::string text_of(int rank) {
    return "piece " + std::to_string(rank) + " is wrong";
}

TEST(MpiAgree, NobodyFailedIfNobodyDid) {
    const Joined joined;
    EXPECT_EQ(joined.functions().agree(joined.transport, POLYTILE_OK), POLYTILE_OK);
    EXPECT_EQ(joined.error(), "");
}

TEST(MpiAgree, AllGetTheFailureOfTheLowestRankThatFailedByItself) {
    const Joined joined;
    Random random(world_seed("MpiAgree.AllGetTheFailureOfTheLowestRankThatFailedByItself"));
    for (int64_t round = scaled(50); round > 0; round--) {
        polytile_status own = POLYTILE_OK;
        int lowest = -1;
        for (int rank = 0; rank < world_size(); rank++) {
            const auto drawn = static_cast<polytile_status>(
                random.one_of({POLYTILE_OK, PTI_PEER_FAILED, POLYTILE_NO_FIT}));
            if (drawn == POLYTILE_NO_FIT && lowest < 0)
                lowest = rank;
            own = rank == world_rank() ? drawn : own;
        }
        if (lowest < 0)
            own = POLYTILE_OK;
        if (own == POLYTILE_NO_FIT)
            joined.fail(own, text_of(world_rank()));
        const polytile_status agreed = joined.functions().agree(joined.transport, own);
        ASSERT_EQ(agreed, lowest < 0 ? POLYTILE_OK : POLYTILE_NO_FIT);
        ASSERT_EQ(joined.error(),
                  lowest < 0 ? "" : "rank " + std::to_string(lowest) + ": " + text_of(lowest));
        pti_clear_error(joined.ctx);
    }
}

TEST(MpiAgree, AFailureThatNobodyHasByItselfIsOneAllTheSame) {
    const Joined joined;
    const int last = world_size() - 1;
    EXPECT_EQ(joined.functions().agree(joined.transport,
                                       world_rank() == last ? PTI_PEER_FAILED : POLYTILE_OK),
              POLYTILE_DEVICE);
    EXPECT_EQ(joined.error(), "rank " + std::to_string(last) + ": another rank had failed");
}

TEST(MpiAgree, LongTextsAreCut) {
    const Joined joined;
    joined.fail(POLYTILE_INVALID, std::string(5000, 'x'));
    EXPECT_EQ(joined.functions().agree(joined.transport, POLYTILE_INVALID), POLYTILE_INVALID);
    EXPECT_EQ(joined.error().substr(0, 10), "rank 0: xx");
    EXPECT_EQ(joined.error().size(), static_cast<size_t>(PTI_ERROR_BYTES) - 1);
}

TEST(MpiCompare, TheSameIsTheSame) {
    const Joined joined;
    EXPECT_EQ(joined.functions().compare(joined.transport, 7, "seven"), POLYTILE_OK);
    EXPECT_EQ(joined.functions().compare(joined.transport, UINT64_MAX, "most"), POLYTILE_OK);
    EXPECT_EQ(joined.error(), "");
}

TEST(MpiCompare, NamesTheFirstRankThatDiffersFromRankZero) {
    const Joined joined;
    if (world_size() == 1)
        GTEST_SKIP() << "one rank never differs";
    Random random(world_seed("MpiCompare.NamesTheFirstRankThatDiffersFromRankZero"));
    for (int64_t round = scaled(30); round > 0; round--) {
        const int stranger = static_cast<int>(random.number(1, world_size() - 1));
        const int number = world_rank() < stranger ? 0 : world_rank();
        const std::string words = "jacobi over 6" + std::to_string(number);
        ASSERT_EQ(joined.functions().compare(joined.transport, static_cast<uint64_t>(number),
                                             words.c_str()),
                  POLYTILE_INVALID);
        const std::string name = std::to_string(stranger);
        ASSERT_EQ(joined.error().find("rank " + name + ": jacobi over 6" + name +
                                      "; rank 0: jacobi over 60; all ranks"),
                  0u)
            << joined.error();
    }
}

TEST(MpiCalls, ErrorsHaveTheTextOfMpi) {
    const Joined joined;
    int word = 0;
    const MPI_Comm comm = pti_mpi_of(joined.transport)->comm;
    EXPECT_EQ(pti_mpi_check(joined.ctx, "MPI_Send(&word)",
                            MPI_Send(&word, 1, MPI_INT, world_size() + 1, 0, comm)),
              POLYTILE_DEVICE);
    EXPECT_EQ(joined.error().find("MPI_Send: "), 0u) << joined.error();
    EXPECT_GT(joined.error().size(), 20u) << joined.error();
}

} // namespace
