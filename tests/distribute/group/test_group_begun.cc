#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "distribute/exchange/superstep.h"
}

/* Launches of a list of devices that run before the program waits for them. */

namespace {

POLYTILE_KERNEL(mix, (i), (const uint32_t, x, 1), (uint32_t, y, 1)) {
    PT_AT(y, i) = 3 * PT_AT(y, i) + PT_AT(x, i - 1) + PT_AT(x, i + 1) + 1;
}

POLYTILE_KERNEL(double_all, (i), (uint32_t, y, 1)) {
    PT_AT(y, i) *= 2;
}

constexpr int64_t n_elements = 97;
constexpr int n_first = PTI_SUPERSTEP_LAUNCHES + 1; /* as many as let the first ones begin */

/** A kernel's host function that counts its calls. */
class Counted {
  public:
    Counted() : implementation_(double_all_kernel) {
        implementation_.user = this;
        implementation_.host = [](const polytile_domain *threads, const polytile_view *views,
                                  void *user) {
            static_cast<Counted *>(user)->n_calls++;
            double_all_kernel.host(threads, views, nullptr);
        };
    }
    const polytile_implementation *implementation() const { return &implementation_; }

    std::atomic<int> n_calls{0};

  private:
    polytile_implementation implementation_;
};

/** Whether any call comes within some seconds. */
bool is_called(const Counted &counted, std::chrono::milliseconds within) {
    const auto end = std::chrono::steady_clock::now() + within;
    while (counted.n_calls == 0 && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return counted.n_calls > 0;
}

class GroupBegun : public testing::Test {
  protected:
    GroupBegun() : memory_(n_elements, 1) {
        EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
        EXPECT_EQ(polytile_queue_create(ctx_, "host(threads=1),host(threads=1)", &queue_),
                  POLYTILE_OK);
        EXPECT_EQ(polytile_kernel_create(ctx_, "double_all[i]: inout y[i]",
                                         counted_.implementation(), &kernel_),
                  POLYTILE_OK);
        EXPECT_EQ(polytile_array_wrap(ctx_, "y", POLYTILE_U32, 1, &n_elements, memory_.data(), &y_),
                  POLYTILE_OK);
        EXPECT_EQ(polytile_queue_attach(queue_, 1, &y_), POLYTILE_OK);
    }
    ~GroupBegun() override { polytile_context_destroy(ctx_); }

    void Launch(int n_launches) {
        for (int k = 0; k < n_launches; k++)
            ASSERT_EQ(polytile_queue_launch(queue_, kernel_, POLYTILE_EXTENTS(n_elements),
                                            POLYTILE_ARRAYS(y_), nullptr),
                      POLYTILE_OK)
                << polytile_last_error(ctx_);
    }
    void ExpectDoubled(int n_launches) {
        EXPECT_EQ(polytile_queue_detach(queue_, 1, &y_), POLYTILE_OK) << polytile_last_error(ctx_);
        for (const uint32_t element : memory_)
            ASSERT_EQ(element, n_launches < 32 ? 1U << n_launches : 0);
    }

    Counted counted_;
    std::vector<uint32_t> memory_;
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
    polytile_kernel *kernel_ = nullptr;
    polytile_array *y_ = nullptr;
};

TEST_F(GroupBegun, ManyLaunchesBeginBeforeTheProgramWaits) {
    Launch(n_first);
    EXPECT_TRUE(is_called(counted_, std::chrono::seconds(60)));
    ExpectDoubled(n_first);
}

TEST_F(GroupBegun, FewWaitForThosePlannedWithThem) {
    Launch(n_first - 1);
    EXPECT_FALSE(is_called(counted_, std::chrono::milliseconds(30)));
    ExpectDoubled(n_first - 1);
}

TEST_F(GroupBegun, NoneBeginsWhileTheQueueIsPaused) {
    polytile_queue_pause(queue_);
    Launch(n_first + 10);
    EXPECT_FALSE(is_called(counted_, std::chrono::milliseconds(30)));
    ExpectDoubled(n_first + 10);
}

/** What is cancelled between the first launches and the rest is so as a whole. */
TEST_F(GroupBegun, CancellingReachesThoseThatHaveNotBegun) {
    Launch(n_first + 50);
    polytile_queue_cancel(queue_);
    EXPECT_EQ(polytile_queue_wait(queue_), POLYTILE_CANCELLED);
    Launch(3);
    EXPECT_NE(polytile_queue_wait(queue_), POLYTILE_CANCELLED);
}

TEST_F(GroupBegun, ProgressCountsThoseThatRun) {
    Launch(n_first);
    EXPECT_TRUE(is_called(counted_, std::chrono::seconds(60)));
    EXPECT_LT(polytile_queue_get_progress(queue_).fraction, 1.0);
    ExpectDoubled(n_first);
    EXPECT_EQ(polytile_queue_get_progress(queue_).fraction, 1.0);
}

/* Random programs of many launches, with calls between them that change the queue's arrays. */

/** A program, and what plain loops make of it. */
class LongProgram {
  public:
    LongProgram(const std::string &devices, Random *random) : random_(random) {
        EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
        EXPECT_EQ(polytile_queue_create(ctx_, devices.c_str(), &queue_), POLYTILE_OK)
            << polytile_last_error(ctx_);
        EXPECT_EQ(
            polytile_kernel_create(ctx_, "mix[i]: in x[i-1:i+1]; inout y[i]", &mix_kernel, &mix_),
            POLYTILE_OK);
        EXPECT_EQ(
            polytile_kernel_create(ctx_, "double_all[i]: inout y[i]", &double_all_kernel, &double_),
            POLYTILE_OK);
        for (size_t a = 0; a < n_arrays; a++)
            Wrap(a);
    }
    ~LongProgram() { polytile_context_destroy(ctx_); }
    LongProgram(const LongProgram &) = delete;
    LongProgram &operator=(const LongProgram &) = delete;

    void Run(int64_t n_launches) {
        for (int64_t k = 0; k < n_launches && !testing::Test::HasFailure(); k++) {
            Launch();
            if (random_->chance(1))
                DoAnother();
        }
        for (size_t a = 0; a < n_arrays; a++)
            DetachAndCompare(a);
    }

  private:
    static constexpr size_t n_arrays = 3;

    size_t DrawArray() { return static_cast<size_t>(random_->number(0, n_arrays - 1)); }

    void Wrap(size_t a) {
        for (uint32_t &element : plain_[a])
            element = static_cast<uint32_t>(random_->number(0, 1000));
        used_[a] = plain_[a];
        const std::string name = "a" + std::to_string(a);
        EXPECT_EQ(polytile_array_wrap(ctx_, name.c_str(), POLYTILE_U32, 1, &n_elements,
                                      used_[a].data(), &array_[a]),
                  POLYTILE_OK);
        EXPECT_EQ(polytile_queue_attach(queue_, 1, &array_[a]), POLYTILE_OK)
            << polytile_last_error(ctx_);
    }

    void DetachAndCompare(size_t a) {
        ASSERT_EQ(polytile_queue_detach(queue_, 1, &array_[a]), POLYTILE_OK)
            << polytile_last_error(ctx_);
        EXPECT_EQ(used_[a], plain_[a]) << "array " << a;
        polytile_array_destroy(array_[a]);
    }

    void Launch() {
        const size_t x = DrawArray(), y = DrawArray();
        const polytile_domain inside = {1, {{1, n_elements - 2, 1}}};
        if (x == y) {
            EXPECT_EQ(polytile_queue_launch(queue_, double_, POLYTILE_EXTENTS(n_elements),
                                            POLYTILE_ARRAYS(array_[y]), nullptr),
                      POLYTILE_OK)
                << polytile_last_error(ctx_);
            for (uint32_t &element : plain_[y])
                element *= 2;
            return;
        }
        EXPECT_EQ(polytile_queue_launch(queue_, mix_, &inside,
                                        POLYTILE_ARRAYS(array_[x], array_[y]), nullptr),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
        for (size_t i = 1; i + 1 < n_elements; i++)
            plain_[y][i] = 3 * plain_[y][i] + plain_[x][i - 1] + plain_[x][i + 1] + 1;
    }

    /** An array comes or goes, is waited for, or the report is asked for. */
    void DoAnother() {
        const size_t a = DrawArray();
        polytile_array *made = nullptr;
        switch (random_->number(0, 4)) {
        case 0:
            DetachAndCompare(a);
            return Wrap(a);
        case 1:
            EXPECT_EQ(random_->chance(50) ? polytile_queue_wait_for(queue_, array_[a])
                                          : polytile_queue_wait(queue_),
                      POLYTILE_OK)
                << polytile_last_error(ctx_);
            return;
        case 2:
            EXPECT_EQ(polytile_queue_create_array(queue_, "t", POLYTILE_U32, 1, &n_elements, &made),
                      POLYTILE_OK)
                << polytile_last_error(ctx_);
            return polytile_array_destroy(made);
        case 3: {
            polytile_report report;
            return polytile_queue_get_report(queue_, random_->chance(50), &report);
        }
        default:
            polytile_queue_pause(queue_);
            Launch();
            polytile_queue_resume(queue_);
        }
    }

    Random *random_;
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
    polytile_kernel *mix_ = nullptr, *double_ = nullptr;
    std::array<std::array<uint32_t, n_elements>, n_arrays> plain_, used_;
    std::array<polytile_array *, n_arrays> array_;
};

TEST(GroupBegunRandom, ResultsAreThoseOfRunningInOrder) {
    Random random(test_seed("GroupBegunRandom.ResultsAreThoseOfRunningInOrder"));
    for (int64_t round = 0; round < scaled(20) && !HasFailure(); round++)
        for (const char *devices :
             {"host(threads=1),host(threads=1)", "host(threads=1),host(threads=1,memory=2KiB)",
              "host(memory=1KiB,threads=1),host(memory=1KiB,threads=1),host(threads=1)"})
            LongProgram(devices, &random).Run(random.number(100, 1200));
}

} // namespace
