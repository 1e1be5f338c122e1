#include <gtest/gtest.h>

#include <polytile/context.h>
#include <vector>

extern "C" {
#include "base/parallel.h"
}

/* Work in parts. */

namespace {

void count_part(int64_t part, void *user) {
    (*static_cast<std::vector<int> *>(user))[static_cast<size_t>(part)]++;
}

int n_calls;

void run_backwards(int64_t n_parts, pti_part_function *run, void *user) {
    n_calls++;
    for (int64_t part = n_parts - 1; part >= 0; part--)
        run(part, user);
}

TEST(Parallel, EachPartIsDoneOnceWhoeverDoesIt) {
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    for (const int n : {0, 1, 7}) {
        std::vector<int> done(static_cast<size_t>(n));
        pti_run_parts(nullptr, n, count_part, &done);
        pti_run_parts(ctx, n, count_part, &done);
        EXPECT_EQ(done, std::vector<int>(static_cast<size_t>(n), 2));
    }
    n_calls = 0;
    pti_set_parallel(ctx, run_backwards);
    std::vector<int> done(7);
    pti_run_parts(ctx, 7, count_part, &done);
    pti_run_parts(ctx, 1, count_part, &done);
    EXPECT_EQ(n_calls, 1);
    EXPECT_EQ(done, (std::vector<int>{2, 1, 1, 1, 1, 1, 1}));
    polytile_context_destroy(ctx);
}

} // namespace
