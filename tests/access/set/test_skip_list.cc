extern "C" {
#include "access/set/skip_list.h"
}

#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <vector>

namespace {

/** Lists whose boxes take common numbers, with the leaps from each box. */
struct Lists {
    struct Entry {
        polytile_domain box;
        size_t list;
        int64_t next = -1, first_skip;
        int n_skips;
    };
    std::vector<Entry> entries;
    pti_skip_list skips = {};

    ~Lists() { pti_skip_list_free(&skips); }
};

polytile_domain DrawBox(Random &random, int64_t around, int64_t width) {
    polytile_domain box = {};
    box.n_dims = 2;
    const int64_t lo = around + random.number(-width, width), column = random.number(0, 40);
    box.range[0] = {lo, lo + random.number(0, width), 1};
    box.range[1] = {column, column + random.number(0, 9), 1};
    return box;
}

void Fill(Lists &made, Random &random, size_t n_lists, int64_t n_boxes) {
    std::vector<pti_skip_builder> lists(n_lists);
    std::vector<int64_t> newest(n_lists, -1);
    ASSERT_TRUE(pti_skip_list_reserve(&made.skips, n_boxes, static_cast<int>(n_lists)));
    for (int64_t k = 0; k < n_boxes; k++) {
        Lists::Entry entry = {};
        entry.list = static_cast<size_t>(random.number(0, static_cast<int64_t>(n_lists) - 1));
        entry.box = DrawBox(random, k % 700, random.one_of({1, 5, 30}));
        entry.next = -1;
        entry.first_skip = made.skips.n_skips;
        entry.n_skips = pti_skip_list_add(&made.skips, &lists[entry.list], k, &entry.box);
        if (newest[entry.list] >= 0)
            made.entries[static_cast<size_t>(newest[entry.list])].next = k;
        newest[entry.list] = k;
        made.entries.push_back(entry);
    }
    ASSERT_LE(made.skips.n_skips, made.skips.capacity);
}

bool Meets(const polytile_domain &a, const polytile_domain &b) {
    polytile_domain common;
    return pti_box_intersect(&a, &b, &common);
}

/** The first box of a list from one on that meets another; *n_steps: how many were looked at. */
int64_t Find(const Lists &lists, int64_t from, const polytile_domain &box, bool skip,
             int64_t *n_steps) {
    int64_t k = from;
    for (*n_steps = 0; k >= 0 && !Meets(lists.entries[static_cast<size_t>(k)].box, box);
         ++*n_steps) {
        const Lists::Entry &entry = lists.entries[static_cast<size_t>(k)];
        k = skip ? pti_skip_list_over(&lists.skips.skip[entry.first_skip], entry.n_skips, &box,
                                      entry.next)
                 : entry.next;
    }
    return k;
}

TEST(ResidentLeaps, ASearchFindsTheBoxThatOneStepByStepFinds) {
    Random random(test_seed("ResidentLeaps"));
    for (int64_t round = 0; round < scaled(200); round++) {
        Lists lists;
        Fill(lists, random, static_cast<size_t>(random.number(1, 3)), random.number(1, 2000));
        for (int search = 0; search < 50; search++) {
            const int64_t from = random.number(0, static_cast<int64_t>(lists.entries.size()) - 1);
            const polytile_domain box = DrawBox(random, random.number(0, 700), 3);
            int64_t n_steps, n_skips;
            const int64_t found = Find(lists, from, box, false, &n_steps);
            ASSERT_EQ(Find(lists, from, box, true, &n_skips), found);
            ASSERT_LE(n_skips, n_steps);
        }
    }
}

TEST(ResidentLeaps, ALongListIsPassedInFewSteps) {
    Lists lists;
    pti_skip_builder list = {};
    constexpr int64_t n_boxes = 1 << 17;
    ASSERT_TRUE(pti_skip_list_reserve(&lists.skips, n_boxes, 1));
    for (int64_t k = 0; k < n_boxes; k++) {
        Lists::Entry entry = {};
        entry.box.n_dims = 1;
        entry.box.range[0] = {k, k, 1};
        entry.next = k + 1 < n_boxes ? k + 1 : -1;
        entry.first_skip = lists.skips.n_skips;
        entry.n_skips = pti_skip_list_add(&lists.skips, &list, k, &entry.box);
        lists.entries.push_back(entry);
    }
    polytile_domain last = lists.entries.back().box;
    int64_t n_steps;
    EXPECT_EQ(Find(lists, 1, last, true, &n_steps), n_boxes - 1);
    EXPECT_LE(n_steps, 200);
}

} // namespace
