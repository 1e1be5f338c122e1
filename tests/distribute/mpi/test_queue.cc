#include "distribute/mpi/joined.h"

#include <polytile/mpi.h>
#include <polytile/polytile.h>

#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "distribute/mpi/speed.h"
}

namespace {

class MpiQueue : public testing::Test {
  protected:
    MpiQueue() { EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    ~MpiQueue() override { polytile_context_destroy(ctx); }

    polytile_status open(const polytile_mpi_options *options, const char *device = "host") {
        return polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, device, options, &queue);
    }
    void expect_refused(polytile_status status, polytile_status expected, const std::string &text) {
        EXPECT_EQ(status, expected);
        EXPECT_EQ(error().substr(0, text.size()), text);
        EXPECT_EQ(queue, nullptr);
    }
    std::string error() const { return polytile_last_error(ctx); }

    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
};

TEST_F(MpiQueue, IsOfAllRanksAndOneDeviceEach) {
    ASSERT_EQ(open(nullptr, "host(memory=1MiB)"), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_device_get_limit(polytile_queue_get_device(queue)), 1 << 20);
    polytile_queue_destroy(queue);
    const std::string grid = "1x" + std::to_string(world_size());
    polytile_mpi_options options = {};
    options.grid = grid.c_str();
    EXPECT_EQ(open(&options), POLYTILE_OK) << error();
}

TEST_F(MpiQueue, RanksMayHaveDifferentDevices) {
    EXPECT_EQ(open(nullptr, world_rank() == 0 ? "host" : "host(memory=64KiB)"), POLYTILE_OK)
        << error();
}

TEST_F(MpiQueue, NeedsAGridOfItsRanks) {
    polytile_mpi_options options = {};
    options.grid = "3x17";
    expect_refused(open(&options), POLYTILE_INVALID,
                   "grid \"3x17\" has 51 ranks, the communicator has " +
                       std::to_string(world_size()));
    options.grid = "4*2";
    expect_refused(open(&options), POLYTILE_INVALID, "grid \"4*2\": write numbers of ranks");
}

TEST_F(MpiQueue, NeedsALayoutThatIsKnown) {
    polytile_mpi_options options = {};
    options.layout = "hexagons";
    expect_refused(open(&options), POLYTILE_INVALID, "distribution \"hexagons\": give one of");
}

TEST_F(MpiQueue, WeighsAsManyPartsAsItsGridHasFirst) {
    polytile_mpi_options options = {};
    options.layout = "weighted(1,1,1,1,1,1,1,1,1)";
    expect_refused(open(&options), POLYTILE_INVALID, "weighted: 9 weights are given for");
    const std::string grid = "1x" + std::to_string(world_size());
    options.grid = grid.c_str();
    options.layout = "weighted";
    EXPECT_EQ(open(&options), POLYTILE_OK) << error();
}

TEST_F(MpiQueue, NeedsANumberOfLaunches) {
    polytile_mpi_options options = {};
    options.launches_per_exchange = -2;
    expect_refused(open(&options), POLYTILE_INVALID, "launches_per_exchange is -2");
}

TEST_F(MpiQueue, NeedsTheSameOptionsOnAllRanks) {
    if (world_size() == 1)
        return;
    polytile_mpi_options options = {};
    options.launches_per_exchange = world_rank() == world_size() - 1 ? 3 : 0;
    expect_refused(open(&options), POLYTILE_INVALID,
                   "rank " + std::to_string(world_size() - 1) +
                       ": grid default, layout default, launches_per_exchange 3; rank 0: grid "
                       "default, layout default, launches_per_exchange 0");
}

TEST_F(MpiQueue, IsNowhereWhereADeviceCannotBeOpened) {
    const int last = world_size() - 1;
    expect_refused(open(nullptr, world_rank() == last ? "abacus" : "host"), POLYTILE_INVALID,
                   "rank " + std::to_string(last) + ": ");
    EXPECT_NE(error().find("abacus"), std::string::npos) << error();
    expect_refused(open(nullptr, world_rank() == 0 ? nullptr : "host"), POLYTILE_INVALID,
                   "rank 0: ");
}

TEST_F(MpiQueue, NeedsACommunicatorAndAPlace) {
    expect_refused(polytile_mpi_queue_create(ctx, MPI_COMM_NULL, "host", nullptr, &queue),
                   POLYTILE_INVALID, "the communicator is MPI_COMM_NULL");
    expect_refused(polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, "host", nullptr, nullptr),
                   POLYTILE_INVALID, "creating a queue needs a place");
    EXPECT_EQ(polytile_mpi_queue_create(nullptr, MPI_COMM_WORLD, "host", nullptr, &queue),
              POLYTILE_INVALID);
}

TEST_F(MpiQueue, IsMadeByTheThreadThatInitializedMpi) {
    std::thread other([&] {
        expect_refused(open(nullptr), POLYTILE_INVALID,
                       "MPI was initialized with MPI_THREAD_FUNNELED, and this is another thread");
    });
    other.join();
}

TEST_F(MpiQueue, IsNotOfTwoGroups) {
    if (world_size() == 1)
        return;
    MPI_Comm half, both;
    const int side = world_rank() % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &both);
    expect_refused(polytile_mpi_queue_create(ctx, both, "host", nullptr, &queue), POLYTILE_INVALID,
                   "the communicator joins two groups");
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

TEST_F(MpiQueue, MayBeOfSomeRanks) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, 0, &half);
    EXPECT_EQ(polytile_mpi_queue_create(ctx, half, "host", nullptr, &queue), POLYTILE_OK)
        << error();
    polytile_queue_destroy(queue);
    MPI_Comm_free(&half);
}

/** MPICH makes the same; Open MPI at times a longer one, as 12x6 of 72 ranks. */
TEST(MpiGrid, IsAsBalancedAsMpiMakesIt) {
    for (int n_ranks = 1; n_ranks <= 300; n_ranks++)
        for (int n_dims = 1; n_dims <= 4; n_dims++) {
            std::vector<int> extents(static_cast<size_t>(n_dims), 0);
            MPI_Dims_create(n_ranks, n_dims, extents.data());
            const pti_member_grid grid = pti_member_grid_balanced(n_ranks, n_dims);
            ASSERT_LE(std::vector<int>(grid.extent, grid.extent + grid.n_dims), extents)
                << n_ranks << " ranks in " << n_dims << " dimensions";
        }
}

/** A device that goes through its memory in tiny superblocks is the slower one. */
TEST_F(MpiQueue, PartsAreAsHeavyAsTheirSlowestRankIsFast) {
    const Joined joined;
    const bool is_slow = world_rank() == 0;
    polytile_queue *member = nullptr;
    ASSERT_EQ(polytile_queue_create(joined.ctx, is_slow ? "host(memory=4KiB)" : "host", &member),
              POLYTILE_OK);
    pti_distribution distribution;
    ASSERT_EQ(pti_mpi_weigh(joined.transport, member, nullptr, &distribution), POLYTILE_OK)
        << joined.error();
    ASSERT_EQ(distribution.n_weights, world_size());
    double heaviest = 0;
    for (int rank = 0; rank < world_size(); rank++)
        heaviest = std::max(heaviest, distribution.weight[rank]);
    EXPECT_EQ(heaviest, 16);
    EXPECT_TRUE(world_size() == 1 || distribution.weight[0] < heaviest);
    const pti_member_grid one_part = {2, {1, world_size()}};
    ASSERT_EQ(pti_mpi_weigh(joined.transport, member, &one_part, &distribution), POLYTILE_OK);
    EXPECT_EQ(distribution.n_weights, world_size());
    const pti_member_grid row = {2, {world_size(), 1}};
    ASSERT_EQ(pti_mpi_weigh(joined.transport, member, &row, &distribution), POLYTILE_OK);
    EXPECT_EQ(distribution.n_weights, world_size());
}

} // namespace
