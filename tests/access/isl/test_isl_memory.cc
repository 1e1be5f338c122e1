#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "access/isl/isl_memory.h"
#include "access/isl/relations.h"
}
#include <isl/val.h>
#include <polytile/polytile.h>

/* GMP without memory: isl's integers come from a reserve, and what is computed ends. The calls of
 * the C library fail in tests/faults. */

namespace {

void *no_memory(size_t) {
    return nullptr;
}

void *no_more_memory(void *, size_t) {
    return nullptr;
}

/** While it lives no memory is left for GMP's numbers. */
class NoMemory {
  public:
    NoMemory() : before_(pti_isl_memory_source) {
        pti_isl_memory_source = {no_memory, no_more_memory};
    }
    ~NoMemory() { pti_isl_memory_source = before_; }
    NoMemory(const NoMemory &) = delete;
    NoMemory &operator=(const NoMemory &) = delete;

  private:
    pti_isl_source before_;
};

/** Without GMP's header the library cannot keep its numbers from ending the process. */
class IslMemory : public testing::Test {
  protected:
    void SetUp() override {
        if (!pti_isl_memory_is_protected())
            GTEST_SKIP() << "built without GMP's header";
    }
};

/** 2^bits, which takes memory of GMP's. */
isl_val *power(isl_ctx *isl, int bits) {
    return isl_val_2exp(isl_val_int_from_si(isl, bits));
}

TEST_F(IslMemory, NumbersGrowInTheReserveAndKeepTheirValue) {
    isl_ctx *isl = pti_isl_open();
    isl_val *expected = power(isl, 4000);
    isl_val *grown = isl_val_int_from_si(isl, 1);
    {
        const NoMemory nowhere;
        pti_isl_begin(isl);
        isl_ctx_set_max_operations(isl, 0);
        for (int k = 0; k < 4000 && grown != nullptr; k++) {
            grown = isl_val_mul_ui(grown, 2);
            isl_ctx_set_max_operations(isl, 0);
        }
        EXPECT_TRUE(pti_isl_memory_ran_out());
        EXPECT_GT(pti_isl_memory_get_taken_bytes(), 500u);
    }
    EXPECT_EQ(isl_val_eq(grown, expected), isl_bool_true);
    isl_val_free(grown);
    isl_val_free(expected);
    pti_isl_close(isl);
    EXPECT_EQ(pti_isl_memory_get_taken_bytes(), 0u) << "all of it is back";
}

TEST_F(IslMemory, AComputationWithoutItEndsAsOneWithoutMemory) {
    isl_ctx *isl = pti_isl_open();
    isl_val *one = isl_val_int_from_si(isl, 1);
    pti_isl_begin(isl);
    {
        const NoMemory nowhere;
        isl_val *first = power(isl, 500), *second = power(isl, 500);
        EXPECT_EQ(second, nullptr);
        isl_val_free(first);
        isl_val_free(second);
    }
    EXPECT_TRUE(pti_isl_lacked_memory(isl));
    EXPECT_FALSE(pti_isl_gave_up(isl)) << "it was not too involved";
    pti_isl_begin(isl);
    EXPECT_FALSE(pti_isl_lacked_memory(isl)) << "the next one has memory again";
    isl_val *later = power(isl, 500);
    EXPECT_NE(later, nullptr);
    isl_val_free(later);
    isl_val_free(one);
    pti_isl_close(isl);
}

TEST_F(IslMemory, AContextThatEndedIsNotTouched) {
    isl_ctx *isl = pti_isl_open(), *other = isl_ctx_alloc();
    pti_isl_begin(isl);
    std::thread(pti_isl_close, isl).join();
    const NoMemory nowhere;
    isl_val *value = power(other, 500);
    EXPECT_NE(value, nullptr) << "a program's own computations go on";
    isl_val_free(value);
    isl_ctx_free(other);
}

TEST_F(IslMemory, IsSharedByThreads) {
    pti_isl_close(pti_isl_open());
    {
        const NoMemory nowhere;
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; t++)
            threads.emplace_back([t] {
                isl_ctx *isl = isl_ctx_alloc();
                for (int k = 0; k < 200; k++)
                    isl_val_free(power(isl, 64 * (t + 1) * (k % 7 + 1)));
                isl_ctx_free(isl);
            });
        for (std::thread &thread : threads)
            thread.join();
    }
    EXPECT_EQ(pti_isl_memory_get_taken_bytes(), 0u);
    EXPECT_GT(pti_isl_memory_get_peak_bytes(), 0u);
}

TEST_F(IslMemory, AKernelThatLacksItIsNotMade) {
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    const char *text = "any[i, j]: in {[i, j] -> A[a, b] : a = i and 0 <= b <= j}; out B[i, j]";
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    {
        const NoMemory nowhere;
        EXPECT_EQ(polytile_kernel_create(ctx, text, nullptr, &kernel), POLYTILE_NO_MEMORY);
        EXPECT_NE(std::string(polytile_last_error(ctx)).find("any"), std::string::npos);
    }
    EXPECT_EQ(polytile_kernel_create(ctx, text, nullptr, &kernel), POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_context_destroy(ctx);
}

} // namespace
