#include "launch/kernels.h"
#include "support/random.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace {

constexpr int64_t height = 37, width = 53;

polytile_view view_of(std::vector<float> &memory) {
    polytile_view view = {};
    view.origin = memory.data();
    view.stride_bytes[0] = width * static_cast<int64_t>(sizeof(float));
    view.stride_bytes[1] = sizeof(float);
    view.resident = {2, {{0, height - 1, 1}, {0, width - 1, 1}}};
    return view;
}

/** Fractions, whose rounding tells whether products and sums were joined. */
TEST(KernelHost, BodiesGiveTheSameBitsWhateverVectorsTheProcessorHas) {
    Random random(test_seed("KernelHost"));
    std::vector<float> from(height * width), narrow(height * width), chosen, wide;
    for (float &element : from)
        element = static_cast<float>(random.number(1, 1 << 24)) / 1e5f;
    chosen = wide = narrow;
    const polytile_domain threads = {2, {{1, height - 2, 1}, {1, width - 2, 1}}};
    const auto run = [&](auto body, std::vector<float> &to) {
        const polytile_view views[] = {view_of(from), view_of(to)};
        body(&threads, views);
    };
    run(jacobi_contiguous, narrow);
    run([](const polytile_domain *box,
           const polytile_view *views) { jacobi_kernel.host(box, views, nullptr); },
        chosen);
    EXPECT_EQ(std::memcmp(narrow.data(), chosen.data(), narrow.size() * sizeof(float)), 0);
    if (PT_IS_WIDE) {
        run(jacobi_wide, wide);
        EXPECT_EQ(std::memcmp(narrow.data(), wide.data(), narrow.size() * sizeof(float)), 0);
    }
}

} // namespace
