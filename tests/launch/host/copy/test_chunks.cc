#include "support/elements.h"
#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>

extern "C" {
#include "access/set/boxes.h"
#include "launch/host/copy/chunks.h"
}

namespace {

polytile_domain random_box(Random &random) {
    polytile_domain box = {};
    box.n_dims = static_cast<int>(random.number(1, 5));
    for (int d = 0; d < box.n_dims; d++) {
        const int64_t lo = random.number(-5, 5), step = random.number(1, 3);
        box.range[d] = {lo, lo + step * random.number(0, 11 - 2 * box.n_dims), step};
    }
    return box;
}

std::vector<Point> points_of(const polytile_domain &box) {
    std::vector<Point> points;
    for_each_point(box, [&](const Point &point) { points.push_back(point); });
    return points;
}

std::vector<Point> points_of(const pti_chunks &chunks) {
    std::vector<Point> points;
    for (int64_t k = 0; k < chunks.n_chunks; k++) {
        const std::vector<Point> piece = points_of(pti_chunks_get(&chunks, k));
        points.insert(points.end(), piece.begin(), piece.end());
    }
    return points;
}

struct Cut {
    polytile_domain box;
    int64_t element_bytes;
    int64_t max_bytes;
    pti_chunks chunks;
};

/** Call expect(cut) for random boxes and limits, until one fails. */
template <class Expect> void for_random_cuts(const char *test, Expect expect) {
    Random random(test_seed(test));
    for (int64_t round = 0; round < scaled(3000) && !testing::Test::HasFailure(); round++) {
        Cut cut = {random_box(random), random.one_of({1, 2, 4, 8, 12}), random.number(1, 600), {}};
        cut.chunks = pti_chunks_of(&cut.box, cut.element_bytes, cut.max_bytes);
        SCOPED_TRACE(text_of(cut.box) + ", elements of " + std::to_string(cut.element_bytes) +
                     " bytes, at most " + std::to_string(cut.max_bytes));
        expect(cut);
    }
}

/* Every element once, in the box's own order: so the pieces are disjoint and cover, too. */
TEST(Chunks, FollowEachOtherInCOrder) {
    for_random_cuts("Chunks.FollowEachOtherInCOrder",
                    [](const Cut &cut) { EXPECT_EQ(points_of(cut.chunks), points_of(cut.box)); });
}

TEST(Chunks, HoldTheLimitOrAreOneElement) {
    for_random_cuts("Chunks.HoldTheLimitOrAreOneElement", [](const Cut &cut) {
        for (int64_t k = 0; k < cut.chunks.n_chunks; k++) {
            const polytile_domain piece = pti_chunks_get(&cut.chunks, k);
            const int64_t count = pti_box_count(&piece);
            EXPECT_GE(count, 1);
            EXPECT_TRUE(count == 1 || count * cut.element_bytes <= cut.max_bytes) << text_of(piece);
        }
    });
}

TEST(Chunks, AreMoreThanHalfFullOnAverage) {
    for_random_cuts("Chunks.AreMoreThanHalfFullOnAverage", [](const Cut &cut) {
        const int64_t n_bytes = pti_box_count(&cut.box) * cut.element_bytes;
        EXPECT_LT((cut.chunks.n_chunks - 1) * cut.max_bytes, 2 * n_bytes);
    });
}

TEST(Chunks, OfOneRowDifferByLessThanTheirNumber) {
    Random random(test_seed("Chunks.OfOneRowDifferByLessThanTheirNumber"));
    for (int64_t round = 0; round < scaled(1000) && !HasFailure(); round++) {
        const int64_t extents[] = {random.number(1, 1000)};
        const polytile_domain box = polytile_domain_from_extents(1, extents);
        const pti_chunks chunks = pti_chunks_of(&box, 4, random.number(4, 500));
        const polytile_domain first = pti_chunks_get(&chunks, 0);
        const polytile_domain last = pti_chunks_get(&chunks, chunks.n_chunks - 1);
        EXPECT_LT(pti_box_count(&first) - pti_box_count(&last), chunks.n_chunks);
    }
}

TEST(Chunks, AreAsFewAsTheWayOfCuttingAllows) {
    const struct {
        std::vector<int64_t> extents;
        int64_t max_bytes, n_chunks;
        int dim;
    } rows[] = {
        {{100}, 400, 1, 0},       {{100}, 399, 2, 0},       {{100}, 200, 2, 0},
        {{10, 10}, 400, 1, 0},    {{10, 10}, 199, 3, 0},    {{10, 10}, 40, 10, 0},
        {{10, 10}, 39, 20, 1},    {{4, 10, 10}, 200, 8, 1}, {{4, 10, 10}, 399, 8, 1},
        {{4, 10, 10}, 3, 400, 2}, {{1, 1, 7}, 8, 4, 2},
    };
    for (const auto &row : rows) {
        const polytile_domain box =
            polytile_domain_from_extents(static_cast<int>(row.extents.size()), row.extents.data());
        const pti_chunks chunks = pti_chunks_of(&box, 4, row.max_bytes);
        EXPECT_EQ(chunks.n_chunks, row.n_chunks) << text_of(box) << " by " << row.max_bytes;
        EXPECT_EQ(chunks.dim, row.dim) << text_of(box) << " by " << row.max_bytes;
    }
}

TEST(Chunks, OfAnEmptyBoxAreNone) {
    const polytile_domain empty = pti_box_empty(3);
    EXPECT_EQ(pti_chunks_of(&empty, 4, 100).n_chunks, 0);
}

} // namespace
