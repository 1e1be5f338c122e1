#include <cstdlib>
#include <gtest/gtest.h>

namespace {

/** What tests measure is kept in the build directory; nobody's own cache is read or written. */
class BuildCache : public testing::Environment {
  public:
    void SetUp() override { setenv("POLYTILE_CACHE", POLYTILE_BINARY_DIR "/cache", 1); }
};

const testing::Environment *const build_cache = testing::AddGlobalTestEnvironment(new BuildCache);

} // namespace
