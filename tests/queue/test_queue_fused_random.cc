#include "queue/random_program.h"
#include "support/environment.h"
#include "support/scale.h"

#include <algorithm>
#include <gtest/gtest.h>

/* Random programs on queues whose devices hold a part of the data, or all of it: loops over steps
 * of random kernels, most of which may be interleaved, with other launches, waits and visits of the
 * program in between. */

namespace {

/** The checker would object to most of what goes wrong before it shows: it is on in half of
 * them. */
TEST(QueueFusedRandom, ProgramsGiveWhatPlainLoopsGive) {
    Environment environment;
    const uint64_t seed = test_seed("QueueFusedRandom.ProgramsGiveWhatPlainLoopsGive");
    const int64_t n_rounds = scaled(200), n_most = 8 * n_rounds;
    int64_t n_interleaved = 0, n_launched = 0, n_run = 0;
    const auto goes_on = [&] {
        return n_run < n_rounds || (n_interleaved == 0 && n_rounds >= 50 && n_run < n_most);
    };
    for (; goes_on() && !HasFailure(); n_run++) {
        SCOPED_TRACE(seed + static_cast<uint64_t>(n_run));
        Random random(seed + static_cast<uint64_t>(n_run));
        environment.set("POLYTILE_CHECK", random.chance(50) ? "plan" : "");
        RandomProgram program(&random);
        const int64_t memory_bytes = program.some_memory();
        const std::string threads = random.chance(85) ? "1" : "2";
        const RandomProgram::Told told = program.run("host(memory=" + std::to_string(memory_bytes) +
                                                         "B,threads=" + threads + ")",
                                                     memory_bytes);
        EXPECT_LE(told.peak_device_bytes, memory_bytes);
        n_interleaved += told.h2d_bytes < told.least_upload_bytes;
        n_launched += told.n_launched;
    }
    std::printf(
        "%lld programs of %.1f launches each, %lld moved less than launch after launch can\n",
        static_cast<long long>(n_run), static_cast<double>(n_launched) / static_cast<double>(n_run),
        static_cast<long long>(n_interleaved));
    EXPECT_GE(n_interleaved, least_count(n_run, 0.045));
}

/* Launches over parts of arrays, of which others are newer on the host, or zero and nowhere. */

/** A kernel, over a random part of the threads that it may have. */
struct Part {
    int kernel;
    polytile_domain threads;
};

Part any_part(const Twin &twin, const std::vector<int> &kernels, Random *random) {
    const int kernel =
        kernels[static_cast<size_t>(random->number(0, static_cast<int64_t>(kernels.size()) - 1))];
    Part part = {kernel, twin.widest(kernel)};
    for (int d = 0; d < part.threads.n_dims; d++) {
        polytile_range &range = part.threads.range[d];
        if (random->chance(60)) {
            const int64_t a = random->number(range.lo, range.hi);
            const int64_t b = random->number(range.lo, range.hi);
            range.lo = std::min(a, b);
            range.hi = std::max(a, b);
        }
    }
    return part;
}

void launch_part(Twin *twin, const Part &part) {
    const polytile_status status = twin->launch(part.kernel, part.threads);
    EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_FIT) << twin->error();
}

/** Kernels that read one of three fields and write another. */
std::vector<int> make_pairs(Twin *twin, const int (&field)[3], Random *random) {
    std::vector<int> kernels;
    for (int k = 0; k < 4; k++) {
        const int64_t from = random->number(0, 2), to = (from + random->number(1, 2)) % 3;
        const int64_t i = random->number(0, 1), j = random->number(0, 1);
        const polytile_role role = random->chance(70) ? POLYTILE_OUT : POLYTILE_INOUT;
        kernels.push_back(
            twin->add_kernel(2, {{POLYTILE_IN, field[from], {{{0, -i, i}, {1, -j, j}}}},
                                 {role, field[to], {{{0, 0, 0}, {1, 0, 0}}}}}));
    }
    return kernels;
}

void try_parts(Random *random) {
    const std::vector<int64_t> extents = {random->number(20, 90), random->number(2, 5)};
    const int64_t data_bytes = 3 * 8 * extents[0] * extents[1];
    const int64_t memory_bytes = std::max<int64_t>(1600, data_bytes / random->number(1, 5));
    Twin twin("host(threads=1,memory=" + std::to_string(memory_bytes) + "B)", random);
    const int field[] = {twin.add_field(extents, 8), twin.add_internal(extents, 8),
                         random->chance(50) ? twin.add_internal(extents, 8)
                                            : twin.add_field(extents, 8)};
    const std::vector<int> kernels = make_pairs(&twin, field, random);
    for (int loop = 0; loop < 3; loop++) {
        std::vector<Part> step;
        for (int k = 0; k < 3; k++)
            step.push_back(any_part(twin, kernels, random));
        twin.pause();
        for (int n = loop == 0 ? 1 : 5; n > 0; n--)
            for (const Part &part : step)
                launch_part(&twin, part);
        if (random->chance(60))
            twin.wait();
    }
    twin.finish();
}

/** Without the checker, which would object to most of what goes wrong here before it shows. */
TEST(QueueFusedRandom, WhatAProgramDoesNotTouchStaysAsItIs) {
    const uint64_t seed = test_seed("QueueFusedRandom.WhatAProgramDoesNotTouchStaysAsItIs");
    for (int64_t round = 0; round < scaled(1000) && !HasFailure(); round++) {
        SCOPED_TRACE(seed + static_cast<uint64_t>(round));
        Random random(seed + static_cast<uint64_t>(round));
        try_parts(&random);
    }
}

} // namespace
