#include <gtest/gtest.h>
#include <polytile/polytile.h>

#include <cstdint>
#include <string>
#include <vector>

/* Launchers of the host that are called round by round. */

namespace {

struct Rounds {
    polytile_device *device = nullptr;
    int64_t n_rounds = 0;      /* until the number is 0; 0: it never is */
    int64_t cancels_after = 0; /* so many rounds; 0: not */
    int32_t goes_on = 1;
    std::vector<bool> were_first;
};

/** Adds 1 to the sum of each thread; the first round begins it. */
int add_one(const polytile_sub_kernel *launch) {
    auto *of = static_cast<Rounds *>(launch->user);
    const polytile_view *sum = &launch->views[0];
    for (int64_t i = launch->threads->range[0].lo; i <= launch->threads->range[0].hi; i++) {
        auto *at = reinterpret_cast<int32_t *>(static_cast<char *>(sum->origin) +
                                               i * sum->stride_bytes[0]);
        *at = (launch->is_first ? 0 : *at) + 1;
    }
    of->were_first.push_back(launch->is_first);
    const int64_t n_done = launch->repetition->round + 1;
    of->goes_on = n_done != of->n_rounds;
    launch->repetition->condition = &of->goes_on;
    if (n_done == of->cancels_after)
        polytile_device_cancel(of->device);
    return 0;
}

class Launcher : public testing::Test {
  protected:
    static constexpr int64_t n = 10;

    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_status run(const char *device_text, Rounds *of) {
        const polytile_domain threads = {1, {{0, n - 1, 1}}};
        polytile_implementation implementation = {};
        polytile_kernel *kernel = nullptr;
        polytile_array *array = nullptr;
        implementation.host_launcher = add_one;
        implementation.user = of;
        EXPECT_EQ(polytile_device_open(ctx, device_text, &of->device), POLYTILE_OK);
        EXPECT_EQ(polytile_kernel_create(ctx, "add[i]: out sum y[i]", &implementation, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        EXPECT_EQ(polytile_array_wrap(ctx, "y", POLYTILE_I32, 1, &n, sums.data(), &array),
                  POLYTILE_OK);
        return polytile_run(of->device, kernel, &threads, POLYTILE_ARRAYS(array), nullptr);
    }

    polytile_context *ctx = nullptr;
    std::vector<int32_t> sums = std::vector<int32_t>(n, 77);
};

/** Sums hold the identity before the first round alone. */
TEST_F(Launcher, IsFirstInTheFirstRoundAlone) {
    for (const char *device : {"host(threads=2)", "host(memory=64KiB)"}) {
        Rounds of;
        of.n_rounds = 5;
        ASSERT_EQ(run(device, &of), POLYTILE_OK) << polytile_last_error(ctx);
        ASSERT_EQ(of.were_first.size() % 5, 0u);
        for (size_t k = 0; k < of.were_first.size(); k++)
            EXPECT_TRUE(k % 5 == 0 || !of.were_first[k]) << k;
        for (int32_t sum : sums)
            EXPECT_EQ(sum, 5);
    }
}

TEST_F(Launcher, ThatNeverEndsIsCancelled) {
    for (const char *device : {"host(threads=2)", "host(memory=64KiB)"}) {
        Rounds of;
        of.cancels_after = 3;
        EXPECT_EQ(run(device, &of), POLYTILE_CANCELLED);
        EXPECT_NE(std::string(polytile_last_error(ctx)).find("after 3 rounds"), std::string::npos)
            << polytile_last_error(ctx);
        EXPECT_EQ(of.were_first.size(), 3u);
    }
}

} // namespace
