#include "support/elements.h"
#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

extern "C" {
#include "launch/host/slices.h"
}

namespace {

polytile_domain random_box(Random &random) {
    polytile_domain box = {};
    box.n_dims = static_cast<int>(random.number(1, 4));
    for (int d = 0; d < box.n_dims; d++) {
        const int64_t lo = random.number(-5, 5), step = random.number(1, 3);
        box.range[d] = {
            lo, lo + step * (random.chance(30) ? 0 : random.number(0, 40 >> box.n_dims)), step};
    }
    if (random.chance(50))
        box.range[0].hi =
            box.range[0].lo + box.range[0].step * random.number(0, 2000 >> 2 * box.n_dims);
    return box;
}

std::vector<Point> sorted(std::vector<Point> points) {
    std::sort(points.begin(), points.end());
    return points;
}

/** A launch in place whose body notes the boxes that it runs, and may cancel. */
class Slices {
  public:
    explicit Slices(bool combines) : combines_(combines) {
        device_.cancel = &device_.runs;
        pti_cancel_note(&device_.runs, 1);
        device_.cancel_number = 1;
        execution_.device = &device_;
        execution_.progress.due_s = INFINITY; /* no terminal */
        shared_ = pti_host_slices_begin(&execution_);
        launch_.slices = &shared_;
        running = this;
    }

    void run(const polytile_domain &box) {
        pti_host_slices_run(&launch_, &box, nullptr, 0, combines_, note);
    }
    void go_in_one() { launch_.slices = nullptr; }
    const pti_host_slices &shared() const { return shared_; }

    std::vector<polytile_domain> boxes;
    size_t cancels_in = 0; /* the box of this number, from 1 */

  private:
    static void note(const pti_sub_kernel *, const polytile_domain *threads, const polytile_view *,
                     int) {
        running->boxes.push_back(*threads);
        if (running->boxes.size() == running->cancels_in)
            pti_cancel_ask(&running->device_.runs);
    }

    static Slices *running;
    const bool combines_;
    polytile_device device_ = {};
    pti_execution execution_ = {};
    pti_host_slices shared_ = {};
    pti_sub_kernel launch_ = {};
};

Slices *Slices::running = nullptr;

TEST(HostSlices, RunEachThreadOnce) {
    Random random(test_seed("HostSlices.RunEachThreadOnce"));
    for (int64_t round = 0; round < scaled(100); round++) {
        const polytile_domain box = random_box(random);
        Slices slices(random.chance(50));
        slices.run(box);
        std::vector<Point> ran, wanted;
        for (const polytile_domain &slice : slices.boxes)
            for_each_point(slice, [&](const Point &point) { ran.push_back(point); });
        for_each_point(box, [&](const Point &point) { wanted.push_back(point); });
        ASSERT_EQ(sorted(ran), wanted) << text_of(box);
        ASSERT_EQ(slices.shared().n_done, pti_box_count(&box) == 1 ? 0 : pti_box_count(&box));
        ASSERT_FALSE(slices.shared().is_cancelled);
    }
}

polytile_domain box_of(int64_t rows, int64_t columns) {
    const int64_t extents[] = {rows, columns};
    return polytile_domain_from_extents(2, extents);
}

TEST(HostSlices, OfUnknownLengthBeginSmall) {
    Slices slices(false);
    slices.run(box_of(100000, 64));
    EXPECT_EQ(pti_box_count(&slices.boxes.front()), 1024);
    EXPECT_GT(slices.boxes.size(), 1u);
    EXPECT_EQ(pti_box_count(&slices.boxes.back()) % 64, 0);
}

/** The same slices whatever time they take, so that sums stay the same. */
TEST(HostSlices, ThatCombineAreEqualAndLarge) {
    for (const int64_t columns : {1, 1000, 1 << 24}) {
        const polytile_domain box = box_of(3000, columns);
        Slices slices(true);
        slices.run(box);
        EXPECT_LE(slices.boxes.size(), 256u);
        for (size_t k = 0; k + 1 < slices.boxes.size(); k++) {
            EXPECT_EQ(pti_box_count(&slices.boxes[k]), pti_box_count(&slices.boxes[0]));
            EXPECT_GE(pti_box_count(&slices.boxes[k]), 1 << 22);
        }
    }
}

TEST(HostSlices, WithoutAnyALaunchRunsInOneGo) {
    Slices slices(false);
    slices.go_in_one();
    slices.run(box_of(100000, 64));
    EXPECT_EQ(slices.boxes.size(), 1u);
}

TEST(HostSlices, LeaveTheRestOutOnceTheRunIsCancelled) {
    Slices slices(false);
    slices.cancels_in = 2;
    slices.run(box_of(100000, 64));
    EXPECT_EQ(slices.boxes.size(), 2u);
    EXPECT_TRUE(slices.shared().is_cancelled);
    EXPECT_EQ(slices.shared().n_done,
              pti_box_count(&slices.boxes[0]) + pti_box_count(&slices.boxes[1]));
}

} // namespace
