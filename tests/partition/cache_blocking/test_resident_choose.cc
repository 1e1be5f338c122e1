#include "partition/skew/skewed.h"

extern "C" {
#include "partition/cache_blocking/resident.h"
}

namespace {

/** A device whose cache is small, and much faster than its memory; launches cost nothing. */
polytile_link FastCache(double cache_bytes) {
    polytile_link link = polytile_link_default;
    link.kernel_accesses_per_s = 0;
    link.launch_latency_s = 0;
    link.kernel_bytes_per_s = 1e9;
    link.cache_bytes_per_s = 1e11;
    link.cache_bytes = cache_bytes;
    return link;
}

/** 32 steps to and fro between two fields of 256 x 64 elements of eight bytes, 128 KiB each. */
class CacheBlocking : public testing::Test {
  protected:
    CacheBlocking() : skewed({"256x64", "256x64"}, {step(0, 1), step(1, 0)}) {
        for (int k = 0; k < n_steps; k++)
            skewed.Add(k % 2);
        EXPECT_EQ(skewed.Find(), "");
    }

    static Kernel step(int from, int to) {
        return {"jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
                "1:254, 1:62",
                {{"A", from}, {"B", to}}};
    }

    /** Whether slabs are chosen; why not is in `why`. */
    bool choose(const polytile_link &link, int64_t most_per_pass = 0) {
        pti_skew_request request = skewed.Request(0);
        pti_text text = {};
        request.link = &link;
        request.most_per_pass = most_per_pass;
        const bool is_chosen = pti_blocking_choose_resident(&request, &shape, &text);
        why = text.data == nullptr ? "" : text.data;
        pti_text_free(&text);
        return is_chosen;
    }

    static bool may_pay(const polytile_link &link) {
        pti_blocking_bound bound = {};
        for (int k = 0; k < n_steps; k++)
            pti_blocking_bound_add(&bound, &link, 2 * 128 << 10);
        return pti_blocking_bound_may_pay(&bound);
    }

    static constexpr int n_steps = 32;
    Skewed skewed;
    pti_skew_shape shape = {};
    std::string why;
};

TEST_F(CacheBlocking, TakesSlabsWhoseBandsStayInTheCache) {
    const polytile_link link = FastCache(64 << 10);
    EXPECT_TRUE(may_pay(link));
    ASSERT_TRUE(choose(link)) << why;
    EXPECT_GT(shape.n_per_pass, 2);
    EXPECT_EQ(shape.h2d_bytes + shape.d2h_bytes, 0);
    EXPECT_LE(2 * 64 * 8 * (shape.slab + shape.n_per_pass), 48 << 10);
    ASSERT_TRUE(choose(link, 3)) << why;
    EXPECT_LE(shape.n_per_pass, 3);
}

TEST_F(CacheBlocking, RefusesWhereLaunchesCostMoreThanTheCacheSaves) {
    polytile_link link = FastCache(64 << 10);
    link.launch_latency_s = 100e-6;
    EXPECT_FALSE(may_pay(link));
    EXPECT_FALSE(choose(link));
    EXPECT_NE(why.find("slabs of jacobi that stay in its cache would take"), std::string::npos)
        << why;
}

TEST_F(CacheBlocking, RefusesWhereTheCacheIsNoFasterOrHoldsAllOrTooLittle) {
    polytile_link slow = FastCache(64 << 10);
    slow.cache_bytes_per_s = 1.05 * slow.kernel_bytes_per_s;
    EXPECT_FALSE(may_pay(slow));
    EXPECT_FALSE(choose(slow));
    polytile_link unknown = FastCache(0);
    EXPECT_FALSE(may_pay(unknown));
    EXPECT_FALSE(choose(unknown));
    EXPECT_FALSE(may_pay(FastCache(1 << 20)));
    for (const double cache_bytes : {1e3, 1e6}) {
        EXPECT_FALSE(choose(FastCache(cache_bytes)));
        EXPECT_NE(why.find("or not the rows that two launches of jacobi need"), std::string::npos)
            << why;
    }
}

} // namespace
