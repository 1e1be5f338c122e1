#include "distribute/mpi/spread_parts.h"

#include <polytile/kernel.h>
#include <polytile/mpi.h>
#include <polytile/polytile.h>

extern "C" {
#include "distribute/mpi/array_open.h"
}

/* Arrays of queues over the ranks, as programs use them. */

namespace {

POLYTILE_KERNEL(add3, (i, j), (const int32_t, u, 2), (int32_t, v, 2)) {
    PT_AT(v, i, j) = PT_AT(u, i - 1, j) + PT_AT(u, i, j) + PT_AT(u, i + 1, j);
}

constexpr const char *add3_declaration = "add3[i, j]: in u[i-1:i+1, j]; out v[i, j]";

/** Elements tell where they are. */
int32_t value_at(int64_t i, int64_t j) {
    return static_cast<int32_t>(1000 * i + 7 * j + 1);
}

void set_value(const int64_t *index, void *element, void *) {
    const int32_t value = value_at(index[0], index[1]);
    std::memcpy(element, &value, sizeof value);
}

/** A queue over all ranks, and arrays of n x m elements of it. */
class Ranks {
  public:
    explicit Ranks(const char *device = "host(threads=1)", int64_t n_rows = 13,
                   int64_t n_columns = 9)
        : n(n_rows), m(n_columns) {
        EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        EXPECT_EQ(polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, device, nullptr, &queue),
                  POLYTILE_OK)
            << error();
        EXPECT_EQ(polytile_kernel_create(ctx, add3_declaration, &add3_kernel, &kernel),
                  POLYTILE_OK);
    }
    ~Ranks() { polytile_context_destroy(ctx); }
    Ranks(const Ranks &) = delete;
    Ranks &operator=(const Ranks &) = delete;

    polytile_array *array(const char *name, const std::string &layout = "block") {
        polytile_array *made = nullptr;
        const int64_t extents[] = {n, m};
        EXPECT_EQ(
            polytile_mpi_array_create(queue, name, POLYTILE_I32, 2, extents, layout.c_str(), &made),
            POLYTILE_OK)
            << error();
        return made;
    }

    /** All rows but the first and the last. */
    void launch(polytile_array *u, polytile_array *v) {
        const polytile_domain threads = {2, {{1, n - 2, 1}, {0, m - 1, 1}}};
        polytile_array *arrays[] = {u, v};
        EXPECT_EQ(polytile_queue_launch(queue, kernel, &threads, 2, arrays, nullptr), POLYTILE_OK)
            << error();
    }

    /** All elements on rank 0; elsewhere none. */
    std::vector<int32_t> gather(polytile_array *array) {
        std::vector<int32_t> all(world_rank() == 0 ? static_cast<size_t>(n * m) : 0);
        EXPECT_EQ(polytile_mpi_array_gather(array, 0, world_rank() == 0 ? all.data() : nullptr),
                  POLYTILE_OK)
            << error();
        return all;
    }

    std::vector<int32_t> values() const {
        std::vector<int32_t> all;
        for (int64_t k = 0; world_rank() == 0 && k < n * m; k++)
            all.push_back(value_at(k / m, k % m));
        return all;
    }

    /** What the kernel makes of elements; rows that it leaves out are zero. */
    std::vector<int32_t> summed(const std::vector<int32_t> &u) const {
        std::vector<int32_t> v(u.size());
        for (int64_t k = m; k < static_cast<int64_t>(u.size()) - m; k++)
            v[k] = u[k - m] + u[k] + u[k + m];
        return v;
    }

    std::string error() const { return polytile_last_error(ctx); }

    int64_t n, m;
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
};

/** Twice, once, twice ... as much as another rank; the first of more than one has nothing. */
std::string weights() {
    std::string text = world_size() == 1 ? "1" : "0";
    for (int rank = 1; rank < world_size(); rank++)
        text += rank % 2 == 0 ? ",1" : ",2";
    return "weighted(" + text + ")";
}

constexpr const char *devices[] = {"host(threads=1)", "host(memory=1MiB,threads=1)",
                                   "host(threads=1),host(memory=1MiB,threads=1)"};
constexpr const char *layouts[] = {"block", "block(dim=1)", "cyclic(2)", "weighted"};

TEST(MpiArrays, AreZeroAtFirst) {
    Ranks ranks;
    polytile_array *u = ranks.array("u");
    EXPECT_EQ(ranks.gather(u), std::vector<int32_t>(world_rank() == 0 ? 13 * 9 : 0));
    EXPECT_EQ(polytile_array_get_data(u), nullptr);
}

/** Rows so far apart share lines of the caches, and columns take long to pack. */
TEST(MpiArrays, HaveNoRowsAMultipleOf512BytesApartWhereTheyAreCut) {
    const Ranks ranks;
    for (int64_t each = 240; each <= 250 && world_size() > 1; each++) {
        const int64_t extents[] = {3, each * world_size()};
        polytile_array *u = nullptr;
        ASSERT_EQ(polytile_mpi_array_create(ranks.queue, "u", POLYTILE_I32, 2, extents,
                                            "block(dim=1)", &u),
                  POLYTILE_OK)
            << ranks.error();
        const polytile_array *member = pti_group_find(pti_group_of(ranks.queue), u)->member[0];
        const polytile_range row = member->domain.range[1];
        const int64_t row_bytes = (row.hi - row.lo + 1) * 4;
        EXPECT_TRUE(row_bytes % 512 != 0 || row_bytes == extents[1] * 4) << each << " each";
    }
}

TEST(MpiArrays, AreFilledAndGathered) {
    for (const char *layout : layouts) {
        Ranks ranks;
        polytile_array *u =
            ranks.array("u", std::string(layout) == "weighted" ? weights() : layout);
        ASSERT_EQ(polytile_mpi_array_fill(u, set_value, nullptr), POLYTILE_OK) << ranks.error();
        EXPECT_EQ(ranks.gather(u), ranks.values()) << layout;
    }
}

TEST(MpiArrays, HaveDisjointBoxesThatMakeUpTheWhole) {
    for (const char *layout : {"block", "cyclic(2)"}) {
        Ranks ranks;
        polytile_array *u = ranks.array("u", layout);
        std::vector<int> n_owners(static_cast<size_t>(ranks.n * ranks.m));
        for (int k = 0; k < polytile_mpi_array_count_boxes(u); k++) {
            const polytile_domain box = polytile_mpi_array_get_box(u, k);
            for (int64_t i = box.range[0].lo; i <= box.range[0].hi; i++)
                for (int64_t j = box.range[1].lo; j <= box.range[1].hi; j++)
                    n_owners[static_cast<size_t>(i * ranks.m + j)]++;
        }
        MPI_Allreduce(MPI_IN_PLACE, n_owners.data(), static_cast<int>(n_owners.size()), MPI_INT,
                      MPI_SUM, MPI_COMM_WORLD);
        EXPECT_EQ(n_owners, std::vector<int>(n_owners.size(), 1));
        const polytile_domain none =
            polytile_mpi_array_get_box(u, polytile_mpi_array_count_boxes(u));
        EXPECT_TRUE(pti_box_is_empty(&none));
    }
}

/** Launches see what the program writes, and the program what launches write, on devices with
 * memory of their own, too. */
TEST(MpiArrays, AreTheSameForLaunchesAndForTheProgram) {
    for (const char *device : devices) {
        Ranks ranks(device);
        polytile_array *u = ranks.array("u"), *v = ranks.array("v");
        std::vector<int32_t> expected = ranks.values();
        ASSERT_EQ(polytile_mpi_array_fill(u, set_value, nullptr), POLYTILE_OK);
        ranks.launch(u, v);
        EXPECT_EQ(ranks.gather(v), ranks.summed(expected));
        for (int32_t &value : expected)
            value = value * 3 + 5;
        ASSERT_EQ(polytile_mpi_array_scatter(u, 0, expected.data()), POLYTILE_OK);
        ranks.launch(u, v);
        EXPECT_EQ(ranks.gather(v), ranks.summed(expected));
        EXPECT_EQ(ranks.gather(u), expected);
    }
}

/** A rank's elements, read box by box, changed and put back. */
void add_to_all(polytile_array *u, int32_t summand) {
    int n_boxes = polytile_mpi_array_count_boxes(u), most = world_most(n_boxes);
    for (int k = 0; k < most; k++) {
        const polytile_domain box = polytile_mpi_array_get_box(u, k);
        std::vector<int32_t> elements(static_cast<size_t>(pti_box_count(&box)));
        ASSERT_EQ(polytile_mpi_array_get(u, &box, elements.data()), POLYTILE_OK);
        for (int32_t &element : elements)
            element += summand;
        ASSERT_EQ(polytile_mpi_array_put(u, &box, elements.data()), POLYTILE_OK);
    }
}

TEST(MpiArrays, AreGotAndPutBoxByBox) {
    for (const char *device : devices) {
        Ranks ranks(device);
        polytile_array *u = ranks.array("u"), *v = ranks.array("v");
        ASSERT_EQ(polytile_mpi_array_fill(u, set_value, nullptr), POLYTILE_OK);
        ranks.launch(u, v);
        add_to_all(u, 4);
        std::vector<int32_t> expected = ranks.values();
        for (int32_t &value : expected)
            value += 4;
        EXPECT_EQ(ranks.gather(u), expected);
        ranks.launch(u, v);
        EXPECT_EQ(ranks.gather(v), ranks.summed(expected));
    }
}

/** The hull of what a rank owns, if that is all its own: across its boxes. */
TEST(MpiArrays, AreGotAcrossTheBoxesOfARank) {
    Ranks ranks;
    polytile_array *u = ranks.array("u", "cyclic(1)");
    ASSERT_EQ(polytile_mpi_array_fill(u, set_value, nullptr), POLYTILE_OK);
    const polytile_domain whole = *polytile_array_get_domain(u);
    std::vector<int32_t> all(static_cast<size_t>(ranks.n * ranks.m));
    const polytile_status status = polytile_mpi_array_get(u, &whole, all.data());
    EXPECT_EQ(status, world_size() == 1 ? POLYTILE_OK : POLYTILE_INVALID);
    EXPECT_EQ(ranks.error(), world_size() == 1
                                 ? ""
                                 : "rank 0: array u: this rank does not own all of [0:12, 0:8]; "
                                   "polytile_mpi_array_get_box() tells what it owns");
    if (world_size() == 1) {
        EXPECT_EQ(all, ranks.values());
    }
}

TEST(MpiArrays, WithABoxThatIsWrongOnOneRankChangeOnNone) {
    Ranks ranks;
    polytile_array *u = ranks.array("u");
    const int last = world_size() - 1;
    polytile_domain box = polytile_mpi_array_get_box(u, 0);
    std::vector<int32_t> ones(static_cast<size_t>(pti_box_count(&box)), 1);
    if (world_rank() == last)
        box.range[0] = {0, 100, 1};
    EXPECT_EQ(polytile_mpi_array_put(u, &box, ones.data()), POLYTILE_INVALID);
    EXPECT_EQ(ranks.error().substr(0, 7), "rank " + std::to_string(last) + ":") << ranks.error();
    EXPECT_EQ(ranks.gather(u), std::vector<int32_t>(world_rank() == 0 ? 13 * 9 : 0));
    EXPECT_TRUE(polytile_array_is_complete(u));
    EXPECT_EQ(polytile_mpi_array_put(u, nullptr, nullptr), POLYTILE_OK) << ranks.error();
}

TEST(MpiArrays, OfMoreRanksThanElementsAreAsAnyOther) {
    Ranks ranks("host(threads=1)", 3, 1);
    polytile_array *u = ranks.array("u"), *v = ranks.array("v");
    ASSERT_EQ(polytile_mpi_array_fill(u, set_value, nullptr), POLYTILE_OK);
    ranks.launch(u, v);
    EXPECT_EQ(ranks.gather(v), ranks.summed(ranks.values()));
}

TEST(MpiArrays, WrittenByLaunchesAreReadBackInAnotherLayout) {
    const SharedDirectory directory;
    const std::string path = directory.file("v.npy");
    Ranks ranks(devices[1]);
    polytile_array *u = ranks.array("u"), *v = ranks.array("v", "cyclic(3)");
    polytile_array *w = ranks.array("w", "block(dim=1)"), *x = ranks.array("x");
    ASSERT_EQ(polytile_mpi_array_fill(u, set_value, nullptr), POLYTILE_OK);
    ranks.launch(u, v);
    ASSERT_EQ(polytile_mpi_array_write(v, path.c_str()), POLYTILE_OK) << ranks.error();
    ASSERT_EQ(polytile_mpi_array_read(w, path.c_str()), POLYTILE_OK) << ranks.error();
    ranks.launch(w, x);
    EXPECT_EQ(ranks.gather(x), ranks.summed(ranks.summed(ranks.values())));
}

TEST(MpiArrays, ThatCannotBeReadStayAsTheyAre) {
    const SharedDirectory directory;
    Ranks ranks;
    polytile_array *u = ranks.array("u");
    ASSERT_EQ(polytile_mpi_array_fill(u, set_value, nullptr), POLYTILE_OK);
    EXPECT_EQ(polytile_mpi_array_read(u, directory.file("none.npy").c_str()), POLYTILE_IO);
    EXPECT_EQ(polytile_mpi_array_read(u, ""), POLYTILE_INVALID);
    EXPECT_EQ(polytile_mpi_array_write(u, nullptr), POLYTILE_INVALID);
    EXPECT_EQ(polytile_mpi_array_fill(u, nullptr, nullptr), POLYTILE_INVALID);
    EXPECT_TRUE(polytile_array_is_complete(u));
    EXPECT_EQ(ranks.gather(u), ranks.values());
}

/** As when a disk fails in the middle of reading. */
/** However long they are. */
TEST(MpiArrays, AreOnlyWrittenByAllRanksUnderOneName) {
    Ranks ranks;
    polytile_array *u = ranks.array("u");
    const std::string folder = "/tmp/" + std::string(250, 'd') + "/";
    const std::string path = folder + (world_rank() == 0 ? "a.npy" : "b.npy");
    const polytile_status expected = world_size() == 1 ? POLYTILE_IO : POLYTILE_INVALID;
    EXPECT_EQ(polytile_mpi_array_write(u, path.c_str()), expected) << ranks.error();
    EXPECT_EQ(polytile_mpi_array_read(u, path.c_str()), expected) << ranks.error();
    const std::string same = "all ranks must make the same calls";
    EXPECT_EQ(ranks.error().find(same) != std::string::npos, world_size() > 1) << ranks.error();
}

TEST(MpiArrays, ThatAreReplacedInPartAreIncompleteUntilTheyAreReplacedWhole) {
    Ranks ranks;
    polytile_array *u = ranks.array("u");
    pti_open_array open;
    ASSERT_EQ(pti_array_open(u, PTI_ARRAY_REPLACES, "read", &open), POLYTILE_OK);
    pti_fail(ranks.ctx, POLYTILE_IO, "rank 0: u.npy: cannot read: it is broken");
    EXPECT_EQ(pti_array_close(&open, POLYTILE_IO, true, nullptr), POLYTILE_IO);
    EXPECT_EQ(ranks.error(), "rank 0: u.npy: cannot read: it is broken; array u is incomplete");
    EXPECT_FALSE(polytile_array_is_complete(u));
    ASSERT_EQ(polytile_mpi_array_fill(u, set_value, nullptr), POLYTILE_OK) << ranks.error();
    EXPECT_TRUE(polytile_array_is_complete(u));
    EXPECT_EQ(ranks.gather(u), ranks.values());
}

TEST(MpiArrays, WithOtherCallsOnSomeRanksAreRefusedWithBoth) {
    if (world_size() == 1)
        return;
    Ranks ranks;
    polytile_array *u = ranks.array("u"), *v = ranks.array("v");
    const bool is_last = world_rank() == world_size() - 1;
    EXPECT_EQ(polytile_mpi_array_fill(is_last ? v : u, set_value, nullptr), POLYTILE_INVALID);
    EXPECT_NE(ranks.error().find("polytile_mpi_array_fill() of v"), std::string::npos)
        << ranks.error();
    EXPECT_NE(ranks.error().find("polytile_mpi_array_fill() of u"), std::string::npos)
        << ranks.error();
    EXPECT_EQ(polytile_mpi_array_fill(u, set_value, nullptr), POLYTILE_OK) << ranks.error();
}

TEST(MpiArrays, ThatOneRankCannotMakeAreMadeOnNone) {
    Ranks ranks;
    const int64_t extents[] = {0, 5};
    polytile_array *u = nullptr;
    EXPECT_EQ(polytile_mpi_array_create(ranks.queue, "u", POLYTILE_F32, 2, extents, nullptr, &u),
              POLYTILE_INVALID);
    EXPECT_EQ(u, nullptr);
    EXPECT_EQ(ranks.error(),
              "rank 0: array u: dimension 0 has no elements; each extent must be at least 1");
    EXPECT_EQ(polytile_mpi_array_create(ranks.queue, "u", POLYTILE_F32, 2, extents, "striped", &u),
              POLYTILE_INVALID);
    EXPECT_NE(ranks.error().find("striped"), std::string::npos) << ranks.error();
    const int64_t sound[] = {4, 5};
    const std::string many = weights().substr(0, weights().size() - 1) + ",3)";
    EXPECT_EQ(polytile_mpi_array_create(ranks.queue, "u", POLYTILE_F32, 2, sound, many.c_str(), &u),
              POLYTILE_INVALID);
    EXPECT_EQ(ranks.error(), "rank 0: weighted: " + std::to_string(world_size() + 1) +
                                 " weights are given for " + std::to_string(world_size()) +
                                 " parts; give one for each part");
    EXPECT_EQ(u, nullptr);
    EXPECT_EQ(ranks.gather(ranks.array("u")), std::vector<int32_t>(world_rank() == 0 ? 13 * 9 : 0));
}

TEST(MpiArrays, ThatAreRefusedBehindLaunchesLeaveThemAlone) {
    Ranks ranks;
    polytile_array *u = ranks.array("u"), *v = ranks.array("v"), *w = nullptr;
    ASSERT_EQ(polytile_mpi_array_fill(u, set_value, nullptr), POLYTILE_OK);
    ranks.launch(u, v);
    const int64_t extents[] = {4, 5};
    const std::string many = weights().substr(0, weights().size() - 1) + ",3)";
    EXPECT_EQ(
        polytile_mpi_array_create(ranks.queue, "w", POLYTILE_F32, 2, extents, many.c_str(), &w),
        POLYTILE_INVALID);
    EXPECT_NE(ranks.error().find("weights are given"), std::string::npos) << ranks.error();
    EXPECT_EQ(ranks.gather(v), ranks.summed(ranks.values()));
}

TEST(MpiArrays, ThatAreAttachedAreNotSpread) {
    Ranks ranks;
    std::vector<float> memory(12);
    polytile_array *x = nullptr;
    const int64_t extents[] = {12};
    ASSERT_EQ(polytile_array_wrap(ranks.ctx, "x", POLYTILE_F32, 1, extents, memory.data(), &x),
              POLYTILE_OK);
    EXPECT_EQ(polytile_mpi_array_fill(x, set_value, nullptr), POLYTILE_INVALID);
    EXPECT_EQ(ranks.error(), "array x: is not spread over the ranks of a communicator; "
                             "polytile_mpi_array_create() makes arrays that are");
    ASSERT_EQ(polytile_queue_attach(ranks.queue, 1, &x), POLYTILE_OK);
    EXPECT_EQ(polytile_mpi_array_fill(x, set_value, nullptr), POLYTILE_INVALID);
    EXPECT_EQ(polytile_mpi_array_count_boxes(x), 0);
}

TEST(MpiArrays, NeedAQueueOverACommunicator) {
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_array *u = nullptr;
    const int64_t extents[] = {5};
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    for (const char *device : {"host(threads=1)", "host(threads=1),host(threads=1)"}) {
        ASSERT_EQ(polytile_queue_create(ctx, device, &queue), POLYTILE_OK);
        EXPECT_EQ(polytile_mpi_array_create(queue, "u", POLYTILE_F32, 1, extents, nullptr, &u),
                  POLYTILE_INVALID);
        EXPECT_NE(std::string(polytile_last_error(ctx)).find("is not over a communicator"),
                  std::string::npos)
            << polytile_last_error(ctx);
    }
    polytile_context_destroy(ctx);
}

TEST(MpiArrays, CanEndBeforeTheirQueue) {
    Ranks ranks;
    polytile_array *u = ranks.array("u"), *v = ranks.array("v");
    ASSERT_EQ(polytile_mpi_array_fill(u, set_value, nullptr), POLYTILE_OK);
    ranks.launch(u, v);
    polytile_array_destroy(u);
    EXPECT_EQ(ranks.gather(v), ranks.summed(ranks.values()));
}

/** Arrays and what they should hold, all of it on every rank. */
class RandomProgram {
  public:
    RandomProgram(const char *device, Random &random)
        : ranks_(device, random.number(3, 20), random.number(1, 12)), random_(random) {
        for (const char *name : {"u", "v", "w"}) {
            arrays_.push_back(ranks_.array(name, random_layout(random, 2)));
            expected_.emplace_back(static_cast<size_t>(ranks_.n * ranks_.m));
        }
    }

    void run(int64_t n_steps) {
        using Step = void (RandomProgram::*)();
        const Step steps[] = {&RandomProgram::launch,  &RandomProgram::launch,
                              &RandomProgram::launch,  &RandomProgram::fill,
                              &RandomProgram::scatter, &RandomProgram::add,
                              &RandomProgram::gather};
        for (; n_steps > 0 && !testing::Test::HasFailure(); n_steps--)
            (this->*steps[random_.number(0, 6)])();
        for (size_t k = 0; k < arrays_.size() && !testing::Test::HasFailure(); k++)
            compare(k);
    }

  private:
    size_t any() { return static_cast<size_t>(random_.number(0, 2)); }

    void launch() {
        const size_t u = any(), v = (u + static_cast<size_t>(random_.number(1, 2))) % 3;
        ranks_.launch(arrays_[u], arrays_[v]);
        const std::vector<int32_t> sums = ranks_.summed(expected_[u]);
        std::copy(sums.begin() + ranks_.m, sums.end() - ranks_.m, expected_[v].begin() + ranks_.m);
    }
    void fill() {
        const size_t u = any();
        ASSERT_EQ(polytile_mpi_array_fill(arrays_[u], set_value, nullptr), POLYTILE_OK)
            << ranks_.error();
        for (int64_t k = 0; k < ranks_.n * ranks_.m; k++)
            expected_[u][k] = value_at(k / ranks_.m, k % ranks_.m);
    }
    void scatter() {
        const size_t u = any();
        const int root = static_cast<int>(random_.number(0, world_size() - 1));
        for (int32_t &element : expected_[u])
            element = static_cast<int32_t>(random_.number(0, 1000));
        ASSERT_EQ(polytile_mpi_array_scatter(arrays_[u], root,
                                             world_rank() == root ? expected_[u].data() : nullptr),
                  POLYTILE_OK)
            << ranks_.error();
    }
    void add() {
        const size_t u = any();
        add_to_all(arrays_[u], 5);
        for (int32_t &element : expected_[u])
            element += 5;
    }
    void gather() { compare(any()); }

    void compare(size_t u) {
        const std::vector<int32_t> all = ranks_.gather(arrays_[u]);
        ASSERT_TRUE(world_rank() != 0 || all == expected_[u]);
    }

    Ranks ranks_;
    Random &random_;
    std::vector<polytile_array *> arrays_;
    std::vector<std::vector<int32_t>> expected_;
};

TEST(MpiArrays, AreWhatOneProcessMakesOfThem) {
    Random random(world_seed("MpiArrays.AreWhatOneProcessMakesOfThem"));
    for (int64_t round = scaled(world_size() > 4 ? 1 : 3); round > 0 && !HasFailure(); round--)
        for (const char *device :
             {devices[0], devices[1], devices[2], "host(memory=1500B,threads=1)"})
            RandomProgram(device, random).run(25);
}

} // namespace
