#include "distribute/mpi/spread_parts.h"

#include <polytile/polytile.h>

#include <csignal>
#include <sys/resource.h>

/* Files that all ranks write and read together. */

namespace {

namespace fs = std::filesystem;

/** The bytes of the file that one process writes. */
std::string written_by_one(const SpreadShape &shape, const std::string &path,
                           const std::vector<char> &elements) {
    std::string bytes;
    if (path.substr(path.size() - 4) == ".npy") {
        polytile_context *ctx = nullptr;
        polytile_array *array = nullptr;
        const std::string alone = path + std::to_string(world_rank()) + ".alone";
        const polytile_domain domain = polytile_domain_from_extents(
            static_cast<int>(shape.extents.size()), shape.extents.data());
        EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        EXPECT_EQ(polytile_npy_create(ctx, "u", alone.c_str(), shape.type, &domain, &array),
                  POLYTILE_OK);
        std::memcpy(polytile_array_get_data(array), elements.data(), elements.size());
        polytile_context_destroy(ctx);
        return bytes_of(alone);
    }
    return std::string(elements.begin(), elements.end());
}

std::vector<std::string> names_in(const fs::path &directory) {
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(directory))
        names.push_back(entry.path().filename().string());
    return names;
}

/* MPI's own waiting takes a core: with more ranks than cores each of these takes long. */

TEST(MpiFiles, AreThoseThatOneProcessWritesAndReadBackInAnyLayout) {
    Random random(world_seed("MpiFiles.AreThoseThatOneProcessWritesAndReadBackInAnyLayout"));
    const Joined joined;
    const SharedDirectory directory;
    for (int64_t round = scaled(world_size() > 4 ? 1 : 6); round > 0; round--) {
        SpreadShape shape = random_shape(random);
        const std::string path =
            directory.file(std::to_string(round) + (random.chance(50) ? ".npy" : ".bin"));
        Spread u(joined, shape);
        const std::vector<char> elements = spread_elements(u.array->n_bytes);
        u.set(elements);
        u.limit_rounds(random);
        ASSERT_EQ(pti_spread_write(&u.spread, path.c_str()), POLYTILE_OK) << joined.error();
        ASSERT_EQ(bytes_of(path), written_by_one(shape, path, elements)) << shape.layout;
        ASSERT_FALSE(fs::exists(path + ".part"));
        shape.layout = random_layout(random, static_cast<int>(shape.extents.size()));
        Spread v(joined, shape);
        v.limit_rounds(random);
        bool has_begun = false;
        ASSERT_EQ(pti_spread_read(&v.spread, path.c_str(), &has_begun), POLYTILE_OK)
            << joined.error();
        ASSERT_TRUE(has_begun);
        ASSERT_TRUE(v.holds(elements)) << shape.layout;
    }
}

/** Which MPI may take for the name of a file system. */
TEST(MpiFiles, MayHaveColonsInTheirNames) {
    const Joined joined;
    const SharedDirectory directory;
    Spread u(joined, {});
    const std::string path = directory.file("at 20:15.npy");
    bool has_begun = false;
    ASSERT_EQ(pti_spread_write(&u.spread, path.c_str()), POLYTILE_OK) << joined.error();
    ASSERT_EQ(pti_spread_read(&u.spread, path.c_str(), &has_begun), POLYTILE_OK) << joined.error();
}

TEST(MpiFiles, InADirectoryThatIsMissingFailOnAllRanks) {
    const Joined joined;
    const SharedDirectory directory;
    const Spread u(joined, {});
    const std::string path = directory.file("missing/u.npy");
    EXPECT_EQ(pti_spread_write(&u.spread, path.c_str()), POLYTILE_IO);
    EXPECT_EQ(joined.error(),
              "rank 0: " + path + ".part: cannot create: No such file or directory");
}

TEST(MpiFiles, ThatOneRankCannotOpenFailOnAllRanksBeforeAnythingIsRead) {
    const Joined joined;
    const SharedDirectory directory;
    Spread u(joined, {});
    const int last = world_size() - 1;
    const std::string path = directory.file("u.npy");
    const std::string other = directory.file("other.npy");
    ASSERT_EQ(pti_spread_write(&u.spread, path.c_str()), POLYTILE_OK);
    bool has_begun = true;
    EXPECT_EQ(pti_spread_read(&u.spread, (world_rank() == last ? other : path).c_str(), &has_begun),
              POLYTILE_IO);
    EXPECT_EQ(joined.error(), "rank " + std::to_string(last) + ": " + other +
                                  ": cannot open: No such file or directory");
    EXPECT_FALSE(has_begun);
    EXPECT_TRUE(u.is_untouched());
}

/** A new file beside an old one that a rank sees under another name: as on machines of their
 * own. */
TEST(MpiFiles, ThatOneRankCannotWriteLeaveTheOldFile) {
    const Joined joined;
    const SharedDirectory directory;
    Spread u(joined, {});
    const int last = world_size() - 1;
    const std::string path = directory.file("u.bin");
    ASSERT_EQ(pti_spread_write(&u.spread, path.c_str()), POLYTILE_OK);
    const std::string old = bytes_of(path);
    u.set(spread_elements(u.array->n_bytes));
    const std::string mine = world_rank() == last ? directory.file("missing/u.bin") : path;
    EXPECT_EQ(pti_spread_write(&u.spread, mine.c_str()), POLYTILE_IO);
    EXPECT_EQ(joined.error().substr(0, 7), "rank " + std::to_string(last) + ":");
    world_most(0);
    EXPECT_EQ(bytes_of(path), old);
    EXPECT_EQ(names_in(directory.path), std::vector<std::string>{"u.bin"});
}

/** The most bytes that this process writes to a file: as if its disk were full from there. */
class FullDisk {
  public:
    explicit FullDisk(rlim_t n_bytes) {
        std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &former_);
        const rlimit limit = {n_bytes, former_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() {
        setrlimit(RLIMIT_FSIZE, &former_);
        std::signal(SIGXFSZ, SIG_DFL);
    }
    FullDisk(const FullDisk &) = delete;
    FullDisk &operator=(const FullDisk &) = delete;

  private:
    rlimit former_ = {};
};

/* A rank that writes for itself: what others write for it does not meet its limit. With Open MPI's
 * own files the first rank may write for all. */
#ifdef ROMIO_VERSION
int rank_that_writes() {
    return world_size() - 1;
}
#else
int rank_that_writes() {
    return 0;
}
#endif

TEST(MpiFiles, OnAFullDiskFailOnAllRanksAndAreRemoved) {
    const Joined joined;
    const SharedDirectory directory;
    Spread u(joined, {POLYTILE_F64, {1000, 8}, "block(dim=0)"});
    u.spread.round_bytes = 8 << 10;
    const std::string path = directory.file("u.npy");
    {
        const FullDisk full(world_rank() == rank_that_writes() ? 50000 : RLIM_INFINITY);
        EXPECT_EQ(pti_spread_write(&u.spread, path.c_str()), POLYTILE_IO);
    }
    EXPECT_EQ(joined.error().substr(0, 7), "rank " + std::to_string(rank_that_writes()) + ":")
        << joined.error();
    world_most(0);
    EXPECT_TRUE(fs::is_empty(directory.path));
    EXPECT_EQ(pti_spread_write(&u.spread, path.c_str()), POLYTILE_OK) << joined.error();
}

TEST(MpiFiles, OfAnotherShapeAreRefusedBeforeAnythingIsRead) {
    const Joined joined;
    const SharedDirectory directory;
    const Spread u(joined, {POLYTILE_F32, {3, 5}, "block"});
    Spread v(joined, {POLYTILE_F32, {5, 3}, "block"});
    const std::string path = directory.file("u.npy");
    ASSERT_EQ(pti_spread_write(&u.spread, path.c_str()), POLYTILE_OK);
    bool has_begun = true;
    EXPECT_EQ(pti_spread_read(&v.spread, path.c_str(), &has_begun), POLYTILE_INVALID);
    EXPECT_EQ(joined.error(), "rank 0: " + path + ": holds f32 of 3x5, array u is f32 of 5x3");
    EXPECT_FALSE(has_begun);
}

TEST(MpiFiles, ThatAreTruncatedAreRefused) {
    const Joined joined;
    const SharedDirectory directory;
    Spread u(joined, {POLYTILE_F32, {3, 5}, "block"});
    const std::string path = directory.file("u.npy");
    ASSERT_EQ(pti_spread_write(&u.spread, path.c_str()), POLYTILE_OK);
    if (world_rank() == 0)
        fs::resize_file(path, fs::file_size(path) - 1);
    world_most(0);
    bool has_begun = true;
    EXPECT_EQ(pti_spread_read(&u.spread, path.c_str(), &has_begun), POLYTILE_IO);
    EXPECT_EQ(joined.error(), "rank 0: " + path +
                                  ": is truncated: its header says 60 bytes of elements, the file "
                                  "has 59");
    EXPECT_FALSE(has_begun);
}

} // namespace
