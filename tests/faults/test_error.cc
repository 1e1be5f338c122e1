#include "faults/inject.h"

#include <gtest/gtest.h>

extern "C" {
#include "base/context.h"
}
#include <polytile/polytile.h>

namespace {

TEST(Errors, AreKeptAndToldAgainWithoutMemory) {
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    pti_error first = {};
    faults_arm(FAULTS_MEMORY, 1, true);
    pti_error_keep(&first, ctx, pti_fail_memory(ctx, "A", 4096));
    pti_error_keep(&first, ctx, pti_fail(ctx, POLYTILE_IO, "another"));
    const polytile_status status = pti_error_restore(ctx, &first);
    const int64_t n_allocations = faults_disarm();
    EXPECT_EQ(n_allocations, 0);
    EXPECT_EQ(status, POLYTILE_NO_MEMORY);
    EXPECT_STREQ(polytile_last_error(ctx), "A: cannot allocate 4 KiB of host memory; free some");
    polytile_context_destroy(ctx);
}

} // namespace
