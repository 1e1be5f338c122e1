#include "support/box_memory.h"
#include "support/elements.h"
#include "support/scale.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

extern "C" {
#include "access/set/boxes.h"
#include "launch/host/copy/box_copy.h"
#include "launch/host/copy/copiers.h"
}

namespace {

/** Two threads that sleep between copies, beside the calling one; for all tests. */
struct SharedCopiers {
    SharedCopiers() {
        polytile_context_create(&ctx);
        EXPECT_EQ(pti_copiers_create(ctx, 2, &copiers), POLYTILE_OK);
    }
    ~SharedCopiers() {
        pti_copiers_destroy(copiers);
        polytile_context_destroy(ctx);
    }
    SharedCopiers(const SharedCopiers &) = delete;
    SharedCopiers &operator=(const SharedCopiers &) = delete;

    polytile_context *ctx = nullptr;
    pti_copiers *copiers = nullptr;
};

void copy_by_copiers(const pti_move &move) {
    static const SharedCopiers shared;
    pti_copiers_copy(shared.copiers, &move);
}

void expect_copied(const polytile_domain &box, int64_t element_bytes, Memory to, Memory from,
                   int n_threads) {
    Memory expected = to, other = to;
    for_each_point(box, [&](const Point &point) {
        std::memcpy(expected.at(point), from.at(point), static_cast<size_t>(element_bytes));
    });
    pti_move move = {&box, element_bytes, to.image(), from.image()};
    pti_box_copy(&move, n_threads);
    EXPECT_EQ(to.bytes, expected.bytes);
    move.to = other.image();
    copy_by_copiers(move);
    EXPECT_EQ(other.bytes, expected.bytes);
}

TEST(BoxCopy, MovesExactlyTheElementsOfTheBox) {
    Random random(test_seed("BoxCopy.MovesExactlyTheElementsOfTheBox"));
    for (int64_t round = 0; round < scaled(5000) && !testing::Test::HasFailure(); round++) {
        const polytile_domain box = random_box(random, 5);
        const int64_t element_bytes = random.one_of({1, 2, 3, 4, 8, 12, 16, 32, 40});
        expect_copied(box, element_bytes, Memory(random_hull(random, box), element_bytes, 1),
                      Memory(random_hull(random, box), element_bytes, 2), 2);
    }
}

/** Elements that move along their own memory arrive as if all were read before any is written. */
TEST(BoxCopy, MovesElementsAlongTheirOwnMemory) {
    Random random(test_seed("BoxCopy.MovesElementsAlongTheirOwnMemory"));
    int64_t n_overlapping = 0;
    for (int64_t round = 0; round < scaled(3000) && !testing::Test::HasFailure(); round++) {
        const int n_dims = static_cast<int>(random.number(1, 3));
        const int along = static_cast<int>(random.number(0, n_dims - 1));
        polytile_domain from = {}, to, box;
        from.n_dims = n_dims;
        for (int d = 0; d < n_dims; d++)
            from.range[d] = {0, random.number(1, 9), 1};
        const int64_t distance = random.number(-9, 9);
        to = from;
        to.range[along].lo += distance;
        to.range[along].hi += distance;
        if (!pti_box_intersect(&from, &to, &box))
            continue;
        const int64_t element_bytes = random.one_of({1, 4, 12});
        Memory source(from, element_bytes, 1), expected(to, element_bytes, 1);
        Memory before = source;
        expected.bytes = before.bytes;
        for_each_point(box, [&](const Point &point) {
            std::memcpy(expected.at(point), before.at(point), static_cast<size_t>(element_bytes));
        });
        const pti_memory_layout layout = pti_memory_layout_of(&to, element_bytes);
        pti_move move = {&box, element_bytes, {source.bytes.data(), &layout}, source.image()};
        ASSERT_EQ(move.to.base, move.from.base);
        pti_box_copy(&move, static_cast<int>(random.number(1, 2)));
        EXPECT_EQ(source.bytes, expected.bytes);
        std::copy(before.bytes.begin(), before.bytes.end(), source.bytes.begin());
        copy_by_copiers(move);
        EXPECT_EQ(source.bytes, expected.bytes);
        n_overlapping += distance != 0;
    }
    EXPECT_GE(n_overlapping, least_count(scaled(3000), 0.45));
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

TEST(BoxCopy, MovesLargeBoxesAlongTheirOwnMemory) {
    const int64_t n = 1000000;
    for (int64_t distance : {-300000, -1, 1, 300000}) {
        polytile_domain from = polytile_domain_from_extents(1, &n), to = from, box;
        to.range[0].lo += distance;
        to.range[0].hi += distance;
        ASSERT_TRUE(pti_box_intersect(&from, &to, &box));
        Memory memory(from, 4, 1), expected = memory;
        const unsigned char *first = memory.bytes.data() + 4 * std::max<int64_t>(0, distance);
        std::memmove(expected.bytes.data() + 4 * std::max<int64_t>(0, -distance), first,
                     static_cast<size_t>(4 * (n - std::abs(distance))));
        const pti_memory_layout layout = pti_memory_layout_of(&to, 4);
        copy_by_copiers({&box, 4, {memory.bytes.data(), &layout}, memory.image()});
        EXPECT_EQ(memory.bytes, expected.bytes) << distance;
    }
}

TEST(BoxCopy, FillsFromOneElement) {
    const int64_t extents[] = {300, 500};
    const polytile_domain hull = polytile_domain_from_extents(2, extents);
    polytile_domain box = hull;
    box.range[1] = {1, 499, 2};
    Memory memory(hull, 4, 1), expected = memory;
    float element = 2.5f;
    pti_memory_layout everywhere = {};
    everywhere.hull = box;
    pti_move move = {&box, 4, memory.image(), {&element, &everywhere}};
    pti_box_copy(&move, 2);
    for_each_point(box, [&](const Point &point) { std::memcpy(expected.at(point), &element, 4); });
    EXPECT_EQ(memory.bytes, expected.bytes);
}

TEST(BoxCopy, LeavesAllAloneForAnEmptyBox) {
    const int64_t extents[] = {4};
    const polytile_domain hull = polytile_domain_from_extents(1, extents);
    expect_copied(pti_box_empty(1), 4, Memory(hull, 4, 1), Memory(hull, 4, 2), 2);
}

} // namespace
