#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/kernel_pair.h>

#include <array>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

/* What GPUs combine with, on the host: threads stand for the lanes of warps, which meet wherever
 * lanes of a warp do. */

namespace {

enum { LANES = 4, WARPS = 3, N_ELEMENTS = 3 };

class Warp {
  public:
    explicit Warp(unsigned lanes) : n_lanes(lanes) {}

    /** Gives a lane's value; returns those of all lanes when all have come. */
    std::array<uint64_t, LANES> exchange(unsigned lane, uint64_t value) {
        std::unique_lock<std::mutex> lock(mutex_);
        given_[lane] = value;
        const uint64_t round = round_;
        if (++n_given_ == n_lanes) {
            n_given_ = 0;
            shown_ = given_;
            round_++;
            all_.notify_all();
        } else {
            all_.wait(lock, [&] { return round_ != round; });
        }
        return shown_;
    }

    const unsigned n_lanes;

  private:
    std::mutex mutex_;
    std::condition_variable all_;
    std::array<uint64_t, LANES> given_ = {}, shown_ = {};
    unsigned n_given_ = 0;
    uint64_t round_ = 0;
};

thread_local Warp *warp;
thread_local unsigned lane_of_thread;

/* CUDA's functions. */

unsigned __activemask() {
    return (1u << warp->n_lanes) - 1;
}

int __popc(unsigned bits) {
    return __builtin_popcount(bits);
}

int __ffs(unsigned bits) {
    return __builtin_ffs(static_cast<int>(bits));
}

void __threadfence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

template <class T> T __shfl_sync(unsigned, T value, int from) {
    return static_cast<T>(warp->exchange(lane_of_thread, value)[static_cast<size_t>(from)]);
}

unsigned __ballot_sync(unsigned, unsigned is_true) {
    const auto all = warp->exchange(lane_of_thread, is_true != 0);
    unsigned bits = 0;
    for (unsigned lane = 0; lane < warp->n_lanes; lane++)
        bits |= static_cast<unsigned>(all[lane]) << lane;
    return bits;
}

int __any_sync(unsigned lanes, int is_true) {
    return __ballot_sync(lanes, is_true != 0) != 0;
}

void __match_all_sync(unsigned, unsigned long long value, int *is_same) {
    const auto all = warp->exchange(lane_of_thread, value);
    *is_same = 1;
    for (unsigned lane = 0; lane < warp->n_lanes; lane++)
        *is_same = *is_same && all[lane] == value;
}

template <class T> T atomicCAS(T *at, T expected, T wanted) {
    __atomic_compare_exchange_n(at, &expected, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}

template <class T> T atomicExch(T *at, T value) {
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);
}

template <class T, class F> T update(T *at, F changed) {
    T seen, wanted;
    __atomic_load(at, &seen, __ATOMIC_SEQ_CST);
    do {
        wanted = changed(seen);
    } while (
        !__atomic_compare_exchange(at, &seen, &wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return seen;
}

template <class T> T atomicAdd(T *at, T value) {
    return update(at, [=](T seen) { return seen + value; });
}

template <class T> T atomicMin(T *at, T value) {
    return update(at, [=](T seen) { return value < seen ? value : seen; });
}

template <class T> T atomicMax(T *at, T value) {
    return update(at, [=](T seen) { return value > seen ? value : seen; });
}

#define __CUDA_ARCH__ 700
#define __device__
#define __forceinline__ inline
#define asm(text) lane = lane_of_thread
#include <polytile/kernel_atomic.h>
#undef asm
#undef __CUDA_ARCH__

/** What a lane does in a step: a value for an element. */
template <class T> struct Step {
    int element;
    T value;
};

/** A step a lane and step; in some all lanes of a warp have one element. */
template <class T, class Draw>
std::vector<std::vector<Step<T>>> draw_steps(Random &random, int n_steps, Draw draw) {
    std::vector<std::vector<Step<T>>> steps(LANES * WARPS);
    for (int step = 0; step < n_steps; step++)
        for (int w = 0; w < WARPS; w++) {
            const bool is_shared = random.number(0, 1) == 0;
            const auto shared = static_cast<int>(random.number(0, N_ELEMENTS - 1));
            for (int lane = 0; lane < LANES; lane++)
                steps[static_cast<size_t>(w * LANES + lane)].push_back(
                    {is_shared ? shared : static_cast<int>(random.number(0, N_ELEMENTS - 1)),
                     draw()});
        }
    return steps;
}

/** Run all lanes side by side, in warps of as many lanes. */
template <class Steps, class F>
void run_lanes(const Steps &steps, unsigned n_lanes, const F &combine) {
    std::vector<std::unique_ptr<Warp>> warps;
    std::vector<std::thread> threads;
    for (size_t w = 0; w < steps.size() / n_lanes; w++)
        warps.push_back(std::make_unique<Warp>(n_lanes));
    for (size_t t = 0; t < steps.size(); t++)
        threads.emplace_back([&, t] {
            warp = warps[t / n_lanes].get();
            lane_of_thread = static_cast<unsigned>(t % n_lanes);
            for (const auto &step : steps[t])
                combine(step);
        });
    for (std::thread &thread : threads)
        thread.join();
}

/** Whether a is taken where b stands. */
template <class T> bool wins(bool is_most, const pt_indexed<T> &a, const pt_indexed<T> &b) {
    const bool a_is_number = a.value == a.value, b_is_number = b.value == b.value;
    if (a_is_number != b_is_number)
        return a_is_number;
    if (a_is_number && a.value != b.value)
        return is_most ? a.value > b.value : a.value < b.value;
    return a.index < b.index;
}

template <class Verb, class T>
void expect_ends(Random &random, bool is_most, const std::vector<T> &values, T worst) {
    for (unsigned n_lanes : {1u, unsigned{LANES}}) {
        int64_t index = 1000;
        const auto steps = draw_steps<pt_indexed<T>>(random, static_cast<int>(scaled(60)), [&] {
            const auto k = random.number(0, static_cast<int64_t>(values.size()) - 1);
            return pt_indexed<T>{values[static_cast<size_t>(k)],
                                 index-- * (random.number(0, 9) == 0 ? -1 : 1)};
        });
        pt_indexed<T> found[N_ELEMENTS], expected[N_ELEMENTS];
        for (int e = 0; e < N_ELEMENTS; e++)
            found[e] = expected[e] = {worst, std::numeric_limits<int64_t>::max()};
        for (const auto &lane : steps)
            for (const auto &step : lane)
                if (wins(is_most, step.value, expected[step.element]))
                    expected[step.element] = step.value;
        run_lanes(steps, n_lanes, [&](const Step<pt_indexed<T>> &step) {
            pt_combine_indexed<Verb>(&found[step.element], step.value.value, step.value.index);
        });
        for (int e = 0; e < N_ELEMENTS; e++) {
            EXPECT_EQ(std::memcmp(&found[e].value, &expected[e].value, sizeof(T)), 0);
            EXPECT_EQ(found[e].index, expected[e].index);
        }
    }
}

TEST(KernelAtomic, EndsAreThoseOfALoopWhoeverComesFirst) {
    Random random(test_seed("KernelAtomic.EndsAreThoseOfALoopWhoeverComesFirst"));
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> floats = {0.0f, -0.0f, 1, 2, 2.5f, NAN, -3};
    for (int64_t round = 0; round < scaled(4) && !HasFailure(); round++) {
        expect_ends<pt_argmax, float>(random, true, floats, -inf);
        expect_ends<pt_argmin, float>(random, false, floats, inf);
        expect_ends<pt_argmin, double>(random, false, {1e300, -1, NAN, -1e300, 7}, inf);
        expect_ends<pt_argmax, int8_t>(random, true, {-128, -1, 0, 1, 127}, -128);
        expect_ends<pt_argmin, uint64_t>(random, false, {5, 1, 9, ~uint64_t{0}}, ~uint64_t{0});
    }
}

TEST(KernelAtomic, ANumberIsTakenOverTheNaNThatIsHeld) {
    for (unsigned n_lanes : {1u, unsigned{LANES}}) {
        const std::vector<std::vector<Step<float>>> steps(LANES, {{0, -7.0f}});
        pt_indexed<float> held = {NAN, 3};
        run_lanes(steps, n_lanes, [&](const Step<float> &step) {
            pt_combine_indexed<pt_argmax>(&held, step.value, 40 - lane_of_thread);
        });
        EXPECT_EQ(held.value, -7.0f);
        EXPECT_EQ(held.index, n_lanes == 1 ? 40 : 40 - (LANES - 1));
    }
}

/** Sums of small integers, and products of units, are exact in any order. */
template <class R> void expect_complex(Random &random) {
    using Complex = pt_complex<R>;
    const Complex units[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    for (unsigned n_lanes : {1u, unsigned{LANES}}) {
        Complex sum[N_ELEMENTS] = {}, product[N_ELEMENTS], sums[N_ELEMENTS] = {},
                products[N_ELEMENTS];
        for (int e = 0; e < N_ELEMENTS; e++)
            product[e] = products[e] = Complex(1, 0);
        const auto steps = draw_steps<Complex>(random, static_cast<int>(scaled(60)),
                                               [&] { return units[random.number(0, 3)]; });
        for (const auto &lane : steps)
            for (const auto &step : lane) {
                sums[step.element] += step.value;
                products[step.element] *= step.value;
            }
        run_lanes(steps, n_lanes, [&](const Step<Complex> &step) {
            pt_combine<pt_sum>(&sum[step.element], step.value);
            pt_combine<pt_prod>(&product[step.element], step.value);
        });
        for (int e = 0; e < N_ELEMENTS; e++) {
            EXPECT_EQ(sum[e], sums[e]);
            EXPECT_EQ(product[e], products[e]);
        }
    }
}

TEST(KernelAtomic, ComplexSumsAndProductsAreThoseOfALoop) {
    Random random(test_seed("KernelAtomic.ComplexSumsAndProductsAreThoseOfALoop"));
    for (int64_t round = 0; round < scaled(4) && !HasFailure(); round++) {
        expect_complex<float>(random);
        expect_complex<double>(random);
    }
}

} // namespace
