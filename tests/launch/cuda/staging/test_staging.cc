#include "launch/cuda/staging/staging_program.h"

namespace {

using namespace staging;

TEST(CudaStaging, GivesWhatTheScheduleSays) {
    Random random(test_seed("CudaStaging.GivesWhatTheScheduleSays"));
    for (int64_t round = 0; round < scaled(400) && !HasFailure(); round++) {
        FakeCuda fake(static_cast<uint64_t>(random.number(0, INT32_MAX)));
        {
            Machine machine(random.one_of({16, 64, 400}));
            std::vector<Arrays> kept;
            for (int k = 0; k < 5 && !HasFailure(); k++) {
                const auto program = random_program(random, random.number(0, 40));
                kept.push_back(random_arrays(random, *program));
                Arrays expected = kept.back();
                program->run_in_order(&expected);
                Execution run(machine, *program, &kept.back(),
                              random_kinds(random, &fake, kept.back()));
                EXPECT_EQ(run.all(), POLYTILE_OK) << machine.error();
                EXPECT_EQ(kept.back(), expected) << "round " << round << ", program " << k;
            }
            EXPECT_EQ(fake.n_pageable_copies(), 0);
        }
        EXPECT_EQ(fake.violations(), "");
        EXPECT_EQ(fake.leaks(), "");
    }
}

/** Elements of 4 bytes, a row of them. */
polytile_domain row_of(int64_t n) {
    return polytile_domain_from_extents(1, &n);
}

TEST(CudaStaging, FillsBuffersForUploadsToCome) {
    FakeCuda fake(1);
    Machine machine(16);
    Program program(row_of(400), 4);
    program.add(PTI_UPLOAD, 0, -1, row_of(4), 16);
    program.add(PTI_LAUNCH, 1, 0, row_of(4), 0);
    program.add(PTI_UPLOAD, 2, -1, row_of(400), 1600);
    Arrays arrays(n_operands, std::vector<unsigned char>(1600));
    Execution run(machine, program, &arrays, pageable);
    ASSERT_EQ(run.begin(), POLYTILE_OK);
    ASSERT_EQ(run.submit(0), POLYTILE_OK);
    EXPECT_GE(machine.cuda->staging->in.n_taken, PTI_RING_BUFFERS);
    EXPECT_EQ(machine.cuda->staging->in.n_passed_on, 1);
    for (int64_t k : {1, 2})
        EXPECT_EQ(run.submit(k), POLYTILE_OK);
    EXPECT_EQ(run.finish(POLYTILE_OK), POLYTILE_OK);
}

TEST(CudaStaging, DoesNotFillBeforeTheDownloadOfWhatItReads) {
    FakeCuda fake(1);
    Machine machine(16);
    Program program(row_of(400), 4);
    program.add(PTI_UPLOAD, 0, -1, row_of(4), 16);
    program.add(PTI_DOWNLOAD, 0, -1, row_of(4), 16);
    program.add(PTI_UPLOAD, 2, -1, row_of(400), 1600);
    Arrays arrays(n_operands, std::vector<unsigned char>(1600));
    Execution run(machine, program, &arrays, pageable);
    ASSERT_EQ(run.begin(), POLYTILE_OK);
    ASSERT_EQ(run.submit(0), POLYTILE_OK);
    EXPECT_EQ(machine.cuda->staging->in.n_taken, 1);
    for (int64_t k : {1, 2})
        EXPECT_EQ(run.submit(k), POLYTILE_OK);
    EXPECT_EQ(run.finish(POLYTILE_OK), POLYTILE_OK);
}

TEST(CudaStaging, TakesALargeDownloadOverWithoutWaiting) {
    FakeCuda fake(1);
    Machine machine(16);
    Program program(row_of(400), 4);
    program.add(PTI_UPLOAD, 0, -1, row_of(400), 1600);
    program.add(PTI_DOWNLOAD, 0, -1, row_of(400), 1600);
    Arrays arrays(n_operands, std::vector<unsigned char>(1600));
    Execution run(machine, program, &arrays, pageable);
    ASSERT_EQ(run.begin(), POLYTILE_OK);
    for (int64_t k : {0, 1})
        ASSERT_EQ(run.submit(k), POLYTILE_OK);
    EXPECT_EQ(pti_n_received(machine.cuda->staging), 1);
    EXPECT_EQ(run.finish(POLYTILE_OK), POLYTILE_OK);
}

/* A launch that overwrites what an earlier, packed download of a pinned array still has to read
 * waits for the last download only, so this one must not overtake the other. */
TEST(CudaStaging, LetsNoDirectDownloadOvertakeAStagedOne) {
    for (uint64_t seed = 0; seed < 40 && !HasFailure(); seed++) {
        FakeCuda fake(seed);
        Machine machine(16);
        Program program(row_of(800), 4);
        polytile_domain odd = row_of(800);
        odd.range[0] = {1, 799, 2};
        program.add(PTI_UPLOAD, 0, -1, row_of(800), 3200);
        program.add(PTI_UPLOAD, 1, -1, row_of(800), 3200);
        program.add(PTI_DOWNLOAD, 0, -1, odd, 1 << 20);
        program.add(PTI_DOWNLOAD, 0, -1, row_of(1), 4);
        program.add(PTI_LAUNCH, 0, 1, row_of(800), 0);
        Random random(seed);
        Arrays arrays = random_arrays(random, program), expected = arrays;
        program.run_in_order(&expected);
        for (const auto &array : arrays)
            fake.host().declare(byte_range(array.data(), array.size()), cudaMemoryTypeHost);
        Execution run(machine, program, &arrays, {PTI_CUDA_PINNED, PTI_CUDA_PINNED});
        EXPECT_EQ(run.all(), POLYTILE_OK) << machine.error();
        EXPECT_EQ(arrays, expected);
    }
}

/** Run a program over pinned memory, the first array pageable if so said; the downloads that were
 * compared with its transfers. */
int64_t looks_of(FakeCuda *fake, const Program &program, pti_cuda_host_memory first) {
    Machine machine(16);
    Random random(1);
    Arrays arrays = random_arrays(random, program), expected = arrays;
    program.run_in_order(&expected);
    const std::vector<pti_cuda_host_memory> kinds = {first, PTI_CUDA_PINNED};
    for (size_t a = 0; a < n_operands; a++) {
        if (kinds[a] == PTI_CUDA_PINNED)
            fake->host().declare(byte_range(arrays[a].data(), arrays[a].size()),
                                 cudaMemoryTypeHost);
    }
    Execution run(machine, program, &arrays, kinds);
    EXPECT_EQ(run.all(), POLYTILE_OK) << machine.error();
    EXPECT_EQ(arrays, expected);
    return machine.cuda->staging->n_looks;
}

polytile_domain element_at(int64_t i) {
    polytile_domain element = row_of(1);
    element.range[0] = {i, i, 1};
    return element;
}

TEST(CudaStaging, ComparesDirectTransfersWithNoDirectDownloads) {
    constexpr int64_t n = 200;
    FakeCuda fake(1);
    Program program(row_of(n), 4);
    for (int64_t k = 0; k < n; k++) {
        program.add(PTI_UPLOAD, 0, -1, element_at(k), 4);
        program.add(PTI_LAUNCH, 1, 0, element_at(k), 0);
        program.add(PTI_DOWNLOAD, 1, -1, element_at(k), 4);
    }
    EXPECT_LE(looks_of(&fake, program, PTI_CUDA_PAGEABLE), n);
}

/* Packed uploads of an array whose elements before them were downloaded directly. */
TEST(CudaStaging, ComparesAnUploadWithABoundedNumberOfDownloads) {
    constexpr int64_t n = 6 * PTI_MOST_LOOKS;
    FakeCuda fake(1);
    Program program(row_of(n + 10), 4);
    polytile_domain odd = row_of(n);
    odd.range[0] = {n + 1, n + 9, 2};
    for (int64_t k = 0; k < n; k++) {
        program.add(PTI_UPLOAD, 0, -1, odd, 1 << 20);
        program.add(PTI_DOWNLOAD, 0, -1, element_at(k), 4);
    }
    const int64_t n_looks = looks_of(&fake, program, PTI_CUDA_PINNED);
    EXPECT_GT(n_looks, n);
    EXPECT_LE(n_looks, n * PTI_MOST_LOOKS);
}

} // namespace
