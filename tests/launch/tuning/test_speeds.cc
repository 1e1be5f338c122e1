#include "distribute/policy/units.h"
#include "support/environment.h"

#include <filesystem>
#include <fstream>

extern "C" {
#include "launch/tuning/speeds.h"
}

namespace {

namespace fs = std::filesystem;

/** A cache of its own, that is removed in the end. */
class Cache {
  public:
    explicit Cache(const char *keeps) : folder_(fs::temp_directory_path() / "speeds-XXXXXX") {
        std::string path = folder_.string();
        EXPECT_NE(mkdtemp(path.data()), nullptr);
        folder_ = path;
        environment_.set("POLYTILE_CACHE", path.c_str());
        environment_.set("POLYTILE_SPEEDS", keeps);
    }
    ~Cache() { fs::remove_all(folder_); }
    /** The only file; empty: there is none. */
    fs::path file() const {
        fs::path found;
        for (const auto &entry : fs::directory_iterator(folder_))
            found = entry.path();
        return found;
    }

  private:
    fs::path folder_;
    Environment environment_;
};

void keep(uint64_t key, double rows_per_s) {
    const Context ctx = make_context();
    pti_speeds_keep(ctx.get(), key, rows_per_s);
    EXPECT_EQ(pti_speeds_find(ctx.get(), key), rows_per_s);
}

double find(uint64_t key) {
    const Context ctx = make_context();
    return pti_speeds_find(ctx.get(), key);
}

TEST(Speeds, AreKeptForLaterContextsWhereThatIsAsked) {
    const Cache cache("1");
    EXPECT_EQ(find(1), 0);
    EXPECT_TRUE(cache.file().empty());
    keep(1, 0.125);
    keep(UINT64_MAX, 3e9);
    EXPECT_EQ(find(1), 0.125);
    EXPECT_EQ(find(UINT64_MAX), 3e9);
    keep(1, 7);
    EXPECT_EQ(find(1), 7);
    EXPECT_EQ(find(UINT64_MAX), 3e9);
    EXPECT_EQ(find(2), 0);
}

TEST(Speeds, StayWithTheContextOtherwise) {
    const Cache cache(nullptr);
    keep(1, 5);
    EXPECT_EQ(find(1), 0);
    EXPECT_TRUE(cache.file().empty());
}

TEST(Speeds, OfADamagedFileAreIgnoredAndReplaced) {
    const Cache cache("1");
    for (const char *text :
         {"", "{", "[]", "{\"speeds\": 1}", "{\"speeds\": [{\"key\": \"x\", \"rows_per_s\": 1}]}",
          "{\"speeds\": [{\"key\": \"1\", \"rows_per_s\": 2}, {\"key\": \"2\"}]}",
          "{\"speeds\": [{\"key\": \"1\", \"rows_per_s\": -1}]}",
          "{\"speeds\": [{\"key\": \"11111111111111111\", \"rows_per_s\": 1}]}"}) {
        keep(3, 4);
        std::ofstream(cache.file()) << text;
        testing::internal::CaptureStderr();
        EXPECT_EQ(find(1), 0) << text;
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_NE(said.find("the speeds are ignored, since "), std::string::npos) << said;
        testing::internal::CaptureStderr();
        keep(1, 6);
        testing::internal::GetCapturedStderr();
        EXPECT_EQ(find(1), 6) << text;
        EXPECT_EQ(find(3), 0) << text;
    }
}

TEST(Speeds, AreNoMoreThanAFileHasRoomFor) {
    const Cache cache("1");
    {
        const Context ctx = make_context();
        for (uint64_t key = 1; key <= PTI_MOST_SPEEDS + 3; key++)
            pti_speeds_keep(ctx.get(), key, static_cast<double>(key));
    }
    EXPECT_EQ(find(3), 0);
    EXPECT_EQ(find(4), 4);
    EXPECT_EQ(find(PTI_MOST_SPEEDS + 3), PTI_MOST_SPEEDS + 3);
}

} // namespace
