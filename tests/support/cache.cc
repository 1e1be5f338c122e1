#include "support/places.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace {

/** What tests measure is kept in the build directory; nobody's own cache is read or written. */
class BuildCache : public testing::Environment {
  public:
    void SetUp() override { setenv("POLYTILE_CACHE", in_build("cache").c_str(), 1); }
};

const testing::Environment *const build_cache = testing::AddGlobalTestEnvironment(new BuildCache);

} // namespace
