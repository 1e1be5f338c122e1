#include "support/random.h"
#include "support/scale.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

extern "C" {
#include "access/boxes.h"
#include "launch/box_copy.h"
}

namespace {

polytile_range random_range(Random &random, polytile_range within) {
    int64_t step = within.step * random.number(1, 3);
    int64_t lo = within.lo + within.step * random.number(0, pti_range_count(within) - 1);
    return pti_range(lo, random.number(lo, within.hi), step);
}

polytile_domain random_box(Random &random, const polytile_domain &within) {
    polytile_domain box = within;
    for (int d = 0; d < box.n_dims; d++) {
        box.range[d] = random_range(random, within.range[d]);
        if (random.chance(30))
            box.range[d] = within.range[d];
    }
    return box;
}

/** A box of random ranges around another, as an array or a placement has. */
polytile_domain random_hull(Random &random, const polytile_domain &box) {
    polytile_domain hull = box;
    for (int d = 0; d < box.n_dims; d++) {
        polytile_range &range = hull.range[d];
        if (random.chance(50))
            range.step = 1;
        range.lo -= range.step * random.number(0, 2);
        range.hi += range.step * random.number(0, 2);
    }
    return hull;
}

/** Call visit(element) for every element of a box. */
template <class Visit> void for_each_element(const polytile_domain &box, Visit visit) {
    int64_t element[POLYTILE_MAX_DIMS] = {};
    const int64_t n = pti_box_count(&box);
    for (int64_t k = 0; k < n; k++) {
        int64_t rest = k;
        for (int d = box.n_dims - 1; d >= 0; d--) {
            const int64_t count = pti_range_count(box.range[d]);
            element[d] = box.range[d].lo + box.range[d].step * (rest % count);
            rest /= count;
        }
        visit(element);
    }
}

struct Memory {
    explicit Memory(const polytile_domain &hull, int64_t element_bytes, int tag)
        : layout(pti_layout_of(&hull, element_bytes)),
          bytes(static_cast<size_t>(layout.size_bytes)) {
        for (size_t k = 0; k < bytes.size(); k++)
            bytes[k] = static_cast<unsigned char>(k * 7 + static_cast<size_t>(tag));
    }
    pti_image image() { return {bytes.data(), &layout}; }
    unsigned char *at(const int64_t *element) {
        return bytes.data() + pti_layout_offset(&layout, element);
    }

    pti_layout layout;
    std::vector<unsigned char> bytes;
};

void expect_copied(const polytile_domain &box, int64_t element_bytes, Memory to, Memory from,
                   int n_threads) {
    Memory expected = to;
    for_each_element(box, [&](const int64_t *element) {
        std::memcpy(expected.at(element), from.at(element), static_cast<size_t>(element_bytes));
    });
    pti_move move = {&box, element_bytes, to.image(), from.image()};
    pti_box_copy(&move, n_threads);
    EXPECT_EQ(to.bytes, expected.bytes);
}

TEST(BoxCopy, MovesExactlyTheElementsOfTheBox) {
    Random random(test_seed("BoxCopy.MovesExactlyTheElementsOfTheBox"));
    for (int64_t round = 0; round < scaled(5000) && !testing::Test::HasFailure(); round++) {
        polytile_domain whole = {};
        whole.n_dims = static_cast<int>(random.number(1, 5));
        for (int d = 0; d < whole.n_dims; d++)
            whole.range[d] = {random.number(-5, 5), 0, 1};
        for (int d = 0; d < whole.n_dims; d++)
            whole.range[d].hi = whole.range[d].lo + random.number(0, 9 - whole.n_dims);
        const polytile_domain box = random_box(random, whole);
        const int64_t element_bytes = random.one_of({1, 2, 3, 4, 8, 12, 16, 32, 40});
        expect_copied(box, element_bytes, Memory(random_hull(random, box), element_bytes, 1),
                      Memory(random_hull(random, box), element_bytes, 2), 2);
    }
}

TEST(BoxCopy, SharesLargeBoxesBetweenThreads) {
    const struct {
        std::vector<polytile_range> box, to, from;
        int64_t element_bytes;
    } rows[] = {
        {{{0, 999999, 1}}, {{0, 999999, 1}}, {{0, 999999, 1}}, 4},
        {{{3, 1000002, 3}}, {{3, 1000002, 3}}, {{0, 1000002, 1}}, 4},
        {{{3, 1000002, 3}}, {{0, 1000002, 1}}, {{3, 1000002, 3}}, 8},
        {{{1, 900, 1}, {5, 1004, 1}}, {{1, 900, 1}, {5, 1004, 1}}, {{0, 999, 1}, {0, 1999, 1}}, 4},
        {{{0, 2, 1}, {1, 100001, 1}}, {{0, 2, 1}, {0, 100001, 1}}, {{0, 3, 1}, {1, 100001, 1}}, 8},
        {{{0, 999, 1}, {0, 99, 1}, {2, 4, 1}},
         {{0, 999, 1}, {0, 99, 1}, {2, 4, 1}},
         {{0, 999, 1}, {0, 99, 1}, {0, 4, 1}},
         4},
        {{{0, 99999, 1}, {1, 3, 2}}, {{0, 99999, 1}, {1, 3, 2}}, {{0, 99999, 1}, {0, 3, 1}}, 12},
    };
    for (const auto &row : rows) {
        polytile_domain box = {}, to = {}, from = {};
        box.n_dims = to.n_dims = from.n_dims = static_cast<int>(row.box.size());
        for (size_t d = 0; d < row.box.size(); d++) {
            box.range[d] = row.box[d];
            to.range[d] = row.to[d];
            from.range[d] = row.from[d];
        }
        for (int n_threads : {1, 2, 3, 7})
            expect_copied(box, row.element_bytes, Memory(to, row.element_bytes, 1),
                          Memory(from, row.element_bytes, 2), n_threads);
    }
}

TEST(BoxCopy, FillsFromOneElement) {
    const int64_t extents[] = {300, 500};
    const polytile_domain hull = polytile_domain_from_extents(2, extents);
    polytile_domain box = hull;
    box.range[1] = {1, 499, 2};
    Memory memory(hull, 4, 1), expected = memory;
    float element = 2.5f;
    pti_layout everywhere = {};
    everywhere.hull = box;
    pti_move move = {&box, 4, memory.image(), {&element, &everywhere}};
    pti_box_copy(&move, 2);
    for_each_element(box, [&](const int64_t *at) { std::memcpy(expected.at(at), &element, 4); });
    EXPECT_EQ(memory.bytes, expected.bytes);
}

TEST(BoxCopy, LeavesAllAloneForAnEmptyBox) {
    const int64_t extents[] = {4};
    const polytile_domain hull = polytile_domain_from_extents(1, extents);
    expect_copied(pti_box_empty(1), 4, Memory(hull, 4, 1), Memory(hull, 4, 2), 2);
}

} // namespace
