#include "support/fake_cuda.h"
#include "soak/place.h"

#include <gtest/gtest.h>

namespace {

/** Kernels are known by their user pointers, of which each has its own, else by their functions. */
class FakeGpu : public Place {
  public:
    explicit FakeGpu(uint64_t seed) : cuda_(seed) {}

    std::string device(int64_t memory_bytes) const override {
        return "cuda:0(memory=" + std::to_string(memory_bytes) + "B)";
    }
    TwinPlace hooks() override {
        TwinPlace place;
        place.prepare = [this](polytile_implementation *implementation) {
            implementation->cuda = implementation->user != nullptr
                                       ? implementation->user
                                       : reinterpret_cast<const void *>(implementation->host);
            cuda_.add_kernel(implementation->cuda, *implementation);
        };
        return place;
    }
    void expect_nothing_left() override {
        EXPECT_EQ(cuda_.n_pending(), 0);
        EXPECT_EQ(cuda_.violations(), "");
        EXPECT_EQ(cuda_.leaks(), "");
    }

  private:
    FakeCuda cuda_;
};

} // namespace

std::unique_ptr<Place> make_fake_cuda(uint64_t seed) {
    return std::make_unique<FakeGpu>(seed);
}
