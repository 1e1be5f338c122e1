#include "launch/cuda/staging/staging_program.h"

namespace {

using namespace staging;

TEST(CudaStaging, ComesToRestAfterAnyCallFails) {
    Random random(test_seed("CudaStaging.ComesToRestAfterAnyCallFails"));
    for (int64_t round = 0; round < scaled(3) && !HasFailure(); round++) {
        FakeCuda fake(static_cast<uint64_t>(random.number(0, INT32_MAX)));
        FailingApi failing;
        Machine machine(16);
        const auto program = random_program(random, 20);
        const Arrays before = random_arrays(random, *program);
        Arrays arrays = before, expected = before;
        program->run_in_order(&expected);
        Execution run(machine, *program, &arrays, pageable);
        std::string failed = "none yet";
        for (int64_t n = 1; !failed.empty() && !HasFailure(); n += random.number(1, 20)) {
            failing.let_fail(n);
            const polytile_status status = run.all();
            failed = failing.failed();
            failing.stop();
            if (status == POLYTILE_OK)
                continue;
            EXPECT_EQ(status, POLYTILE_DEVICE) << failed;
            EXPECT_NE(std::string(machine.error()).find(failed), std::string::npos)
                << machine.error();
            run.start_again(before, &arrays);
            EXPECT_EQ(run.all(), POLYTILE_OK) << "after " << failed << ": " << machine.error();
            EXPECT_EQ(arrays, expected) << "after " << failed;
            run.start_again(before, &arrays);
        }
    }
}

/** Another runtime that pins no more than so much at once: while it lives, devices that are opened
 * use it. */
class LockLimit {
  public:
    explicit LockLimit(size_t most_bytes) {
        inner_ = pti_cuda_current_api;
        most_bytes_ = most_bytes;
        table_ = *inner_;
        table_.cudaHostRegister = host_register;
        pti_cuda_current_api = &table_;
    }
    ~LockLimit() { pti_cuda_current_api = inner_; }
    LockLimit(const LockLimit &) = delete;
    LockLimit &operator=(const LockLimit &) = delete;

  private:
    static cudaError_t host_register(void *memory, size_t n_bytes, unsigned flags) {
        return n_bytes > most_bytes_ ? cudaErrorMemoryAllocation
                                     : inner_->cudaHostRegister(memory, n_bytes, flags);
    }

    static inline const pti_cuda_api *inner_;
    static inline size_t most_bytes_;
    pti_cuda_api table_;
};

TEST(CudaStaging, UsesSmallerRingsWhereLessCanBePinned) {
    Random random(test_seed("CudaStaging.UsesSmallerRingsWhereLessCanBePinned"));
    for (const int n_buffers : {16, 8, 4}) {
        FakeCuda fake(1);
        const LockLimit limit(static_cast<size_t>(2 * n_buffers * 64 + 63));
        {
            Machine machine(64);
            ASSERT_NE(machine.cuda->staging, nullptr);
            EXPECT_EQ(machine.cuda->staging->in.n_buffers, n_buffers);
            EXPECT_EQ(machine.cuda->staging->out.n_buffers, n_buffers);
            for (int k = 0; k < 20 && !HasFailure(); k++) {
                const auto program = random_program(random, 40);
                Arrays arrays = random_arrays(random, *program), expected = arrays;
                program->run_in_order(&expected);
                Execution run(machine, *program, &arrays, pageable);
                EXPECT_EQ(run.all(), POLYTILE_OK) << machine.error();
                EXPECT_EQ(arrays, expected) << n_buffers << " buffers, program " << k;
            }
        }
        EXPECT_EQ(fake.n_pageable_copies(), 0);
        EXPECT_EQ(fake.violations(), "");
        EXPECT_EQ(fake.leaks(), "");
    }
}

TEST(CudaStaging, SaysWhatLimitsThePinningOfBuffers) {
    FakeCuda fake(1);
    const LockLimit limit(2 * 4 * 64 - 1);
    Machine machine(64, POLYTILE_DEVICE);
    const std::string error = machine.error();
    EXPECT_EQ(machine.cuda->staging, nullptr);
    for (const char *part :
         {"cuda:0: buffers of 512 B", "cudaHostRegister", "(ulimit -l) is ", "raise it"})
        EXPECT_NE(error.find(part), std::string::npos) << error;
    EXPECT_EQ(machine.cuda->api->cudaGetLastError(), cudaSuccess);
}

TEST(CudaStaging, LeavesNothingWhenItCannotBeCreated) {
    FakeCuda fake(1);
    {
        FailingApi failing;
        Machine machine(16);
        std::string failed = "none yet";
        const std::string leaks = fake.leaks();
        for (int64_t n = 1; !failed.empty(); n++) {
            pti_staging *staging = nullptr;
            failing.let_fail(n);
            const polytile_status status = pti_staging_create(machine.cuda, 64, &staging);
            failed = failing.failed();
            const bool is_created = failed.empty() || failed == "cudaHostRegister";
            EXPECT_EQ(status, is_created ? POLYTILE_OK : POLYTILE_DEVICE) << failed;
            EXPECT_EQ(staging != nullptr, is_created) << failed;
            pti_staging_destroy(staging);
            EXPECT_EQ(fake.leaks(), leaks) << failed;
        }
    }
    EXPECT_EQ(fake.leaks(), "");
}

} // namespace
