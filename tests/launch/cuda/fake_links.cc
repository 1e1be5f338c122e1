#include "launch/cuda/fake_links.h"

#include "support/environment.h"
#include "support/fake_cuda.h"
#include "support/places.h"

#include <gtest/gtest.h>

#include <string>

extern "C" {
#include "launch/device/link_cache.h"
}

namespace {

enum { N_GPUS = 8 };

/** As one machine measured it: copies within host memory. */
const polytile_link typical = {3.4e9, 4.2e9, 2.0e9, 2.1e-6, 6144, 8e-7, 8.0e9, 1e14, 0, 0, {}};

/** GPU k has the UUID of its letter. */
std::string key_of(int gpu, int driver_version) {
    char byte[3];
    std::snprintf(byte, sizeof byte, "%02x", 'A' + gpu);
    std::string key = "GPU";
    for (const int n_bytes : {4, 2, 2, 2, 6}) {
        key += '-';
        for (int k = 0; k < n_bytes; k++)
            key += byte;
    }
    return key + "-" + std::to_string(driver_version);
}

void keep_links(const polytile_link &link, int driver_version) {
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    for (int gpu = 0; gpu < N_GPUS; gpu++)
        pti_link_cache_write(ctx, key_of(gpu, driver_version).c_str(), &link);
    polytile_context_destroy(ctx);
}

/** Links of the driver that FakeCuda has by default, in the cache of all tests. */
class FakeLinks : public testing::Environment {
  public:
    void SetUp() override {
        ::Environment environment;
        environment.set("POLYTILE_CACHE", in_build("cache").c_str());
        keep_links(typical, CUDART_VERSION);
    }
};

const testing::Environment *const fake_links = testing::AddGlobalTestEnvironment(new FakeLinks);

} // namespace

int keep_fake_links(const polytile_link &link) {
    static int n_kept = 0;
    const int driver_version = CUDART_VERSION + ++n_kept;
    keep_links(link, driver_version);
    return driver_version;
}
