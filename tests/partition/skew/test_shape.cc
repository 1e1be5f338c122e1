#include "partition/skew/blurs.h"

/* The shape of slabs and passes that is chosen. */

namespace {

using namespace blurs;

/** The shape of eight blurs in room enough; cache_bytes: 0, there is none. */
pti_skew_shape ShapeOfBlurs(double cache_bytes, bool in_turn) {
    Skewed skewed(two_lines, {there, back});
    for (int step = 0; step < 8; step++)
        skewed.Add(step % 2);
    EXPECT_EQ(skewed.Find(), "");
    polytile_link link = polytile_link_default;
    link.cache_bytes = cache_bytes;
    link.cache_bytes_per_s = cache_bytes > 0 ? link.kernel_bytes_per_s : 0;
    pti_skew_request request = skewed.Request(800);
    request.link = &link;
    request.one_after_other = in_turn;
    pti_skew_shape shape = {};
    pti_text why = {};
    EXPECT_TRUE(pti_skew_choose(&request, &shape, &why));
    pti_text_free(&why);
    return shape;
}

TEST(Skew, SlabsRunAbreastUnlessLaunchersRunThemOrOneDrivesTheOtherFromTheCache) {
    const pti_skew_shape shape = ShapeOfBlurs(0, false);
    ASSERT_GT(shape.n_per_lap, 1);
    EXPECT_TRUE(shape.concurrent);
    EXPECT_FALSE(ShapeOfBlurs(0, true).concurrent);
    const double slab_bytes = 2 * 8 * static_cast<double>(shape.slab), ends_bytes = 2 * 8;
    const double share = 0.65;
    const pti_skew_shape one_fits = ShapeOfBlurs((1.5 * slab_bytes + ends_bytes) / share, false);
    EXPECT_EQ(one_fits.slab, shape.slab);
    EXPECT_FALSE(one_fits.concurrent);
    EXPECT_TRUE(ShapeOfBlurs((2.5 * slab_bytes + ends_bytes) / share, false).concurrent);
    EXPECT_TRUE(ShapeOfBlurs((0.5 * slab_bytes + ends_bytes) / share, false).concurrent);
}

/** Whether so many launches are interleaved in so much memory. */
bool AreFused(int n_launches, int64_t arena_bytes) {
    Skewed skewed(planes, {blur_there, blur_back});
    skewed.MakeScratch(1);
    for (int step = 0; step < n_launches; step++)
        skewed.Add(step % 2);
    EXPECT_EQ(skewed.Find(), "");
    const pti_skew_request request = skewed.Request(arena_bytes);
    pti_skew_shape shape;
    pti_text why = {};
    const bool are_fused = pti_skew_choose(&request, &shape, &why);
    pti_text_free(&why);
    return are_fused;
}

TEST(Skew, OddNumbersOfLaunchesAreCutIntoPairsToo) {
    int64_t arena_bytes = 1024;
    while (!AreFused(4, arena_bytes))
        arena_bytes += 256;
    for (const int n_launches : {3, 5, 7})
        EXPECT_TRUE(AreFused(n_launches, arena_bytes)) << n_launches;
}

} // namespace
