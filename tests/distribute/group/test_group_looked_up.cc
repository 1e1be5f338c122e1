#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "launch/looked_up.h"
#include "support/environment.h"
#include "support/scale.h"

/* Kernels whose subscripts hold elements of index arrays, on queues over several devices. */

namespace {

using looked_up::Arrays;
using looked_up::Kind;
using looked_up::Matrix;

/** Devices without memory of their own, or with little or much of it. */
std::string draw_devices(Random *random) {
    std::string text;
    for (int64_t n = random->number(2, 4); n > 0; n--) {
        text += text.empty() ? "host(threads=1" : ",host(threads=1";
        if (random->chance(70))
            text += ",memory=" + std::to_string(2048 << random->number(0, 7)) + "B";
        text += ")";
    }
    return text;
}

/** Small whole numbers again. */
PT_FUNCTION float remainder_of_8(float value) {
    return value - 8 * floorf(value / 8);
}

/** What a product is becomes what the next one is of. */
POLYTILE_KERNEL(feed, (i), (const float, y, 1), (float, x, 1)) {
    PT_AT(x, i) = remainder_of_8(PT_AT(y, i));
}

/** A queue, a random matrix and a kernel over it, which is launched some times. */
class Launches {
  public:
    explicit Launches(Random *random)
        : kind_(static_cast<Kind>(random->number(0, looked_up::N_KINDS - 1))),
          n_rows_(random->one_of({1, 2, 17, 127, 400})),
          matrix_(n_rows_, random->one_of({1, 5, 97, 300}), random) {
        EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
        arrays_ = new Arrays(ctx_, is_wide_ = random->chance(50));
        before_.assign(matrix_.n_results(kind_), kind_ == looked_up::ENTRIES ? 3.0f : -1.0f);
        result_ = add_arrays(kind_, matrix_, before_, arrays_);
        devices_ = draw_devices(random);
        EXPECT_EQ(polytile_queue_create(ctx_, devices_.c_str(), &queue_), POLYTILE_OK)
            << polytile_last_error(ctx_);
        EXPECT_EQ(polytile_kernel_create(ctx_, looked_up::declarations[kind_],
                                         looked_up::implementations[kind_][is_wide_], &kernel_),
                  POLYTILE_OK);
        EXPECT_EQ(polytile_kernel_create(ctx_, "feed[i]: in y[i]; out x[i]", &feed_kernel, &feed_),
                  POLYTILE_OK);
    }
    Launches(const Launches &) = delete;
    Launches &operator=(const Launches &) = delete;
    ~Launches() {
        polytile_context_destroy(ctx_);
        delete arrays_;
    }

    /** Whether the launches ran. */
    bool run(int n_launches) {
        const int64_t n_threads = matrix_.n_threads(kind_);
        const int n_arrays = static_cast<int>(arrays_->list.size());
        polytile_status status = n_threads > 0 ? POLYTILE_OK : POLYTILE_NO_FIT;
        EXPECT_EQ(polytile_queue_attach(queue_, n_arrays, arrays_->list.data()), POLYTILE_OK);
        for (int k = 0; k < n_launches && status == POLYTILE_OK; k++) {
            status = polytile_queue_launch(queue_, kernel_, POLYTILE_EXTENTS(n_threads), n_arrays,
                                           arrays_->list.data(), nullptr);
            if (status == POLYTILE_OK && kind_ == looked_up::ROWS)
                status = feed();
        }
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_FIT)
            << devices_ << ": " << polytile_last_error(ctx_);
        const polytile_status end = polytile_queue_detach(queue_, n_arrays, arrays_->list.data());
        EXPECT_TRUE(end == POLYTILE_OK || end == POLYTILE_NO_FIT)
            << devices_ << ": " << polytile_last_error(ctx_);
        if (status == POLYTILE_OK)
            status = end;
        std::vector<float> expected = before_;
        for (int k = 0; k < n_launches; k++) {
            expected = expect_result(kind_, matrix_, expected);
            for (int64_t i = 0; i < n_fed() && kind_ == looked_up::ROWS; i++)
                matrix_.x[static_cast<size_t>(i)] =
                    remainder_of_8(expected[static_cast<size_t>(i)]);
        }
        if (status == POLYTILE_OK) {
            EXPECT_EQ(arrays_->read(result_), expected) << devices_ << " kind " << kind_;
        }
        return status == POLYTILE_OK;
    }

  private:
    int64_t n_fed() const { return std::min(n_rows_, static_cast<int64_t>(matrix_.x.size())); }

    polytile_status feed() {
        polytile_array *const arrays[] = {arrays_->list[4], arrays_->list[2]};
        return polytile_queue_launch(queue_, feed_, POLYTILE_EXTENTS(n_fed()), 2, arrays, nullptr);
    }

    Kind kind_;
    int64_t n_rows_;
    Matrix matrix_;
    bool is_wide_ = false;
    size_t result_ = 0;
    std::string devices_;
    std::vector<float> before_;
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
    polytile_kernel *kernel_ = nullptr, *feed_ = nullptr;
    Arrays *arrays_ = nullptr;
};

TEST(GroupLookedUp, EqualsPlainLoops) {
    const uint64_t seed = test_seed("GroupLookedUp");
    Random random(seed);
    Environment environment;
    int64_t n_run = 0;
    for (int64_t round = 0; round < scaled(150) && !testing::Test::HasFailure(); round++) {
        environment.set("POLYTILE_CHECK", random.chance(20) ? "plan,access" : "plan");
        n_run += Launches(&random).run(static_cast<int>(random.number(1, 3)));
    }
    EXPECT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    EXPECT_GE(n_run, least_count(scaled(150), 0.5)) << "seed " << seed;
}

enum { N_TURNED = 97 };

POLYTILE_KERNEL(turn, (e), (int32_t, K, 1)) {
    PT_AT(K, e) = (PT_AT(K, e) * 3 + 1) % N_TURNED;
}

POLYTILE_KERNEL(pick, (e), (const float, x, 1), (const int32_t, K, 1), (float, z, 1)) {
    PT_AT(z, e) += PT_AT(x, PT_AT(K, e));
}

/** Each pick looks up what the turn before it left. */
TEST(GroupLookedUp, WhatEarlierLaunchesWriteIsHomeBeforeItIsLookedUp) {
    Random random(test_seed("GroupLookedUp.Written"));
    for (int64_t round = scaled(60); round > 0 && !testing::Test::HasFailure(); round--) {
        const int64_t n = random.one_of({1, 2, 50, 700}), n_picks = random.number(1, 4);
        const std::string devices = draw_devices(&random);
        std::vector<float> x(N_TURNED), z(static_cast<size_t>(n)), expected(z);
        std::vector<int32_t> K(z.size());
        for (float &value : x)
            value = static_cast<float>(random.number(-8, 8));
        for (int32_t &index : K)
            index = static_cast<int32_t>(random.number(0, N_TURNED - 1));
        std::vector<int32_t> turned = K;
        polytile_context *ctx = nullptr;
        polytile_queue *queue = nullptr;
        polytile_kernel *turn = nullptr, *pick = nullptr;
        polytile_array *of_x = nullptr, *of_K = nullptr, *of_z = nullptr;
        const int64_t n_x = N_TURNED;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        ASSERT_EQ(polytile_queue_create(ctx, devices.c_str(), &queue), POLYTILE_OK);
        ASSERT_EQ(polytile_kernel_create(ctx, "turn[e]: inout K[e]", &turn_kernel, &turn),
                  POLYTILE_OK);
        ASSERT_EQ(
            polytile_kernel_create(ctx, "pick[e]: in x[K[e]]; inout z[e]", &pick_kernel, &pick),
            POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &n_x, x.data(), &of_x),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "K", POLYTILE_I32, 1, &n, K.data(), &of_K), POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "z", POLYTILE_F32, 1, &n, z.data(), &of_z), POLYTILE_OK);
        polytile_array *const all[] = {of_x, of_K, of_z};
        ASSERT_EQ(polytile_queue_attach(queue, 3, all), POLYTILE_OK);
        polytile_status status = POLYTILE_OK;
        for (int64_t k = 0; k < n_picks && status == POLYTILE_OK; k++) {
            for (int64_t t = random.number(0, 2); t > 0 && status == POLYTILE_OK; t--) {
                status = polytile_queue_launch(queue, turn, POLYTILE_EXTENTS(n), 1, &of_K, nullptr);
                for (int32_t &index : turned)
                    index = (index * 3 + 1) % N_TURNED;
            }
            if (status == POLYTILE_OK)
                status = polytile_queue_launch(queue, pick, POLYTILE_EXTENTS(n), 3, all, nullptr);
            for (size_t e = 0; e < z.size(); e++)
                expected[e] += x[static_cast<size_t>(turned[e])];
        }
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_FIT) << polytile_last_error(ctx);
        const polytile_status end = polytile_queue_detach(queue, 3, all);
        EXPECT_EQ(end, POLYTILE_OK) << polytile_last_error(ctx);
        if (status == POLYTILE_OK) {
            EXPECT_EQ(z, expected) << devices;
            EXPECT_EQ(K, turned) << devices;
        }
        polytile_context_destroy(ctx);
    }
}

} // namespace
