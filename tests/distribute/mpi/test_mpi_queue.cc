#include "distribute/mpi/joined.h"

#include <polytile/kernel.h>
#include <polytile/mpi.h>
#include <polytile/polytile.h>

#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "distribute/mpi/transport_mpi.h"
}

namespace {

POLYTILE_KERNEL(total, (i), (const uint32_t, x, 1), (uint32_t, s, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(x, i));
}

POLYTILE_KERNEL(edges, (i), (const uint32_t, x, 1), (uint32_t, y, 2), (uint32_t, s, 1)) {
    PT_AT(y, i, 0) = PT_AT(y, i, 1) = PT_AT(x, i);
    PT_SUM(PT_AT(s, i), PT_AT(x, i));
    PT_SUM(PT_AT(s, i + 1), PT_AT(x, i));
}

POLYTILE_KERNEL(columns, (i, j), (uint32_t, s, 1), (uint32_t, y, 1)) {
    PT_SUM(PT_AT(s, 4 * i), 1);
    PT_AT(y, i + 4 * j) = static_cast<uint32_t>(100 * i + j);
}

class MpiQueue : public testing::Test {
  protected:
    MpiQueue() { EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    ~MpiQueue() override { polytile_context_destroy(ctx); }

    polytile_status open(const polytile_share_options *options, const char *device = "host") {
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
    polytile_share_options options = {};
    options.grid = grid.c_str();
    EXPECT_EQ(open(&options), POLYTILE_OK) << error();
}

TEST_F(MpiQueue, RanksMayHaveDifferentDevices) {
    EXPECT_EQ(open(nullptr, world_rank() == 0 ? "host" : "host(memory=64KiB)"), POLYTILE_OK)
        << error();
}

TEST_F(MpiQueue, TakesSeveralDevicesARank) {
    EXPECT_EQ(open(nullptr, world_rank() == 0 ? "host,host(memory=1MiB)" : "host+host"),
              POLYTILE_OK)
        << error();
}

TEST_F(MpiQueue, TakesAsManyDevicesOfEachRank) {
    if (world_size() > 1)
        expect_refused(open(nullptr, world_rank() == 1 ? "host,host" : "host"), POLYTILE_INVALID,
                       "rank 1: 2 devices a rank");
    expect_refused(open(nullptr, "host,,host"), POLYTILE_INVALID,
                   "rank 0: devices \"host,,host\": number 2 of 3 in the list is empty");
}

TEST_F(MpiQueue, NeedsAGridOfItsRanks) {
    polytile_share_options options = {};
    options.grid = "3x17";
    expect_refused(open(&options, "host,host"), POLYTILE_INVALID,
                   "grid \"3x17\" has 51 devices, the communicator has " +
                       std::to_string(2 * world_size()));
    options.grid = "3x17";
    expect_refused(open(&options), POLYTILE_INVALID,
                   "grid \"3x17\" has 51 ranks, the communicator has " +
                       std::to_string(world_size()));
    options.grid = "4*2";
    expect_refused(open(&options), POLYTILE_INVALID, "grid \"4*2\": write numbers of ranks");
}

TEST_F(MpiQueue, NeedsALayoutThatIsKnown) {
    polytile_share_options options = {};
    options.layout = "hexagons";
    expect_refused(open(&options), POLYTILE_INVALID, "distribution \"hexagons\": give one of");
}

TEST_F(MpiQueue, WeighsAsManyPartsAsItsGridHasFirst) {
    polytile_share_options options = {};
    options.layout = "weighted(1,1,1,1,1,1,1,1,1)";
    expect_refused(open(&options), POLYTILE_INVALID, "weighted: 9 weights are given for");
    const std::string grid = "1x" + std::to_string(world_size());
    options.grid = grid.c_str();
    options.layout = "weighted";
    EXPECT_EQ(open(&options), POLYTILE_OK) << error();
}

TEST_F(MpiQueue, NeedsANumberOfLaunches) {
    polytile_share_options options = {};
    options.launches_per_exchange = -2;
    expect_refused(open(&options), POLYTILE_INVALID, "launches_per_exchange is -2");
}

TEST_F(MpiQueue, NeedsTheSameOptionsOnAllRanks) {
    if (world_size() == 1)
        return;
    polytile_share_options options = {};
    options.launches_per_exchange = world_rank() == world_size() - 1 ? 3 : 0;
    expect_refused(
        open(&options), POLYTILE_INVALID,
        "rank " + std::to_string(world_size() - 1) +
            ": 1 device a rank, grid default, layout default, policy default, "
            "launches_per_exchange 3; rank 0: 1 device a rank, grid default, layout default, "
            "policy default, launches_per_exchange 0");
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
    ASSERT_EQ(pti_mpi_balance_load(joined.transport, &member, nullptr, &distribution), POLYTILE_OK)
        << joined.error();
    ASSERT_EQ(distribution.n_weights, world_size());
    double heaviest = 0;
    for (int rank = 0; rank < world_size(); rank++)
        heaviest = std::max(heaviest, distribution.weight[rank]);
    EXPECT_EQ(heaviest, 16);
    EXPECT_TRUE(world_size() == 1 || distribution.weight[0] < heaviest);
    const pti_member_grid one_part = {2, {1, world_size()}};
    ASSERT_EQ(pti_mpi_balance_load(joined.transport, &member, &one_part, &distribution),
              POLYTILE_OK);
    EXPECT_EQ(distribution.n_weights, world_size());
    const pti_member_grid row = {2, {world_size(), 1}};
    ASSERT_EQ(pti_mpi_balance_load(joined.transport, &member, &row, &distribution), POLYTILE_OK);
    EXPECT_EQ(distribution.n_weights, world_size());
}

/** A rank's threads are many boxes then, each of which is a launch of its own. */
TEST_F(MpiQueue, ASumFromTheIdentityTakesInAllThreadsOfACyclicLayout) {
    polytile_share_options options = {};
    options.layout = "cyclic(1)";
    const int64_t n = 40, one = 1;
    std::vector<uint32_t> x_memory(n), s_memory(1, 77);
    for (uint32_t k = 0; k < n; k++)
        x_memory[k] = k + 1;
    polytile_array *x = nullptr, *s = nullptr;
    polytile_kernel *kernel = nullptr;
    ASSERT_EQ(open(&options), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_U32, 1, &n, x_memory.data(), &x), POLYTILE_OK);
    EXPECT_EQ(polytile_array_wrap(ctx, "s", POLYTILE_U32, 1, &one, s_memory.data(), &s),
              POLYTILE_OK);
    EXPECT_EQ(
        polytile_kernel_create(ctx, "total[i]: in x[i]; out sum s[0]", &total_kernel, &kernel),
        POLYTILE_OK);
    EXPECT_EQ(polytile_queue_attach(queue, POLYTILE_ARRAYS(x, s)), POLYTILE_OK) << error();
    for (int k = 0; k < 2; k++)
        EXPECT_EQ(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(n), POLYTILE_ARRAYS(x, s),
                                        nullptr),
                  POLYTILE_OK)
            << error();
    EXPECT_EQ(polytile_queue_detach(queue, POLYTILE_ARRAYS(x, s)), POLYTILE_OK) << error();
    EXPECT_EQ(s_memory[0], static_cast<uint32_t>(n * (n + 1) / 2));
}

/** Each of those launches reduces into other elements: what one made is counted once. */
TEST_F(MpiQueue, SumsFromTheIdentityIntoDifferentElementsAreOfACyclicLayout) {
    polytile_share_options options = {};
    options.layout = "cyclic(1)";
    constexpr int64_t n = 40;
    const int64_t n_sums = n + 1, extents[] = {n, 2};
    std::vector<uint32_t> x_memory(n), y_memory(2 * n), s_memory(n + 1, 77), expected(n + 1, 0);
    for (uint32_t k = 0; k < n; k++) {
        x_memory[k] = k + 1;
        expected[k] += k + 1;
        expected[k + 1] += k + 1;
    }
    polytile_array *x = nullptr, *y = nullptr, *s = nullptr;
    polytile_kernel *kernel = nullptr;
    ASSERT_EQ(open(&options), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_U32, 1, extents, x_memory.data(), &x),
              POLYTILE_OK);
    EXPECT_EQ(polytile_array_wrap(ctx, "y", POLYTILE_U32, 2, extents, y_memory.data(), &y),
              POLYTILE_OK);
    EXPECT_EQ(polytile_array_wrap(ctx, "s", POLYTILE_U32, 1, &n_sums, s_memory.data(), &s),
              POLYTILE_OK);
    EXPECT_EQ(polytile_kernel_create(ctx, "edges[i]: in x[i]; out y[i, :]; out sum s[i:i+1]",
                                     &edges_kernel, &kernel),
              POLYTILE_OK);
    EXPECT_EQ(polytile_queue_attach(queue, POLYTILE_ARRAYS(x, y, s)), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(n), POLYTILE_ARRAYS(x, y, s),
                                    nullptr),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(polytile_queue_detach(queue, POLYTILE_ARRAYS(x, y, s)), POLYTILE_OK) << error();
    EXPECT_EQ(s_memory, expected);
}

/** What a rank writes of others' elements lies in steps: it sends them in the order in which their
 * owners receive them. */
TEST_F(MpiQueue, ElementsInStepsComeHomeInTheirOrder) {
    constexpr uint32_t n = 48, n_columns = 4;
    const int64_t extents[] = {4 * n_columns}, elements[] = {n_columns * n};
    std::vector<uint32_t> s_memory(4 * n_columns, 7), y_memory(n_columns * n, 7), expected;
    for (uint32_t at = 0; at < n_columns * n; at++)
        expected.push_back(100 * (at % n_columns) + at / n_columns);
    polytile_array *s = nullptr, *y = nullptr;
    polytile_kernel *kernel = nullptr;
    ASSERT_EQ(open(nullptr), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_array_wrap(ctx, "s", POLYTILE_U32, 1, extents, s_memory.data(), &s),
              POLYTILE_OK);
    EXPECT_EQ(polytile_array_wrap(ctx, "y", POLYTILE_U32, 1, elements, y_memory.data(), &y),
              POLYTILE_OK);
    EXPECT_EQ(polytile_kernel_create(ctx, "columns[i, j]: sum s[4*i]; out y[i + 4*j]",
                                     &columns_kernel, &kernel),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(polytile_queue_attach(queue, POLYTILE_ARRAYS(s, y)), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(n_columns, n),
                                    POLYTILE_ARRAYS(s, y), nullptr),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(polytile_queue_detach(queue, POLYTILE_ARRAYS(s, y)), POLYTILE_OK) << error();
    EXPECT_EQ(y_memory, expected);
    EXPECT_EQ(s_memory[4], 7 + n);
}

} // namespace
