#include "queue/twin.h"
#include "support/environment.h"
#include "support/random_chain.h"
#include "support/scale.h"

#include <algorithm>
#include <gtest/gtest.h>

/* Random programs on queues whose devices hold a part of the data, or all of it: loops over steps of
 * random kernels, most of which may take turns, with other launches, waits and visits of the program
 * in between. */

namespace {

constexpr int64_t padding_bytes = 256; /* arrays begin at multiples of it */

RandomChainShape shape_of_programs() {
    RandomChainShape shape;
    shape.most_along[0] = 300;
    shape.most_along[1] = 16;
    shape.most_along[2] = 8;
    shape.times_longer = 6;
    return shape;
}

/** A cache of a part of the data, so fast that slabs pay wherever everything fits. */
polytile_link cached_link(int64_t cache_bytes) {
    polytile_link link = polytile_link_default;
    link.cache_bytes = static_cast<double>(cache_bytes);
    link.cache_bytes_per_s = 100 * link.kernel_bytes_per_s;
    link.kernel_accesses_per_s = 0;
    link.launch_latency_s = 1e-12;
    return link;
}

class RandomProgram {
  public:
    explicit RandomProgram(Random *random)
        : random_(random), chain_(random, shape_of_programs()),
          most_per_pass_(random->chance(20) ? random->number(1, 6) : 0),
          link_(cached_link(chain_.data_bytes() / random->number(2, 8))),
          has_link_(random->chance(25)) {}

    /** Whether everything is to fit the device, but not its cache. */
    bool has_link() const { return has_link_; }

    int64_t data_bytes() const { return chain_.data_bytes(); }
    int64_t padded_bytes() const { return data_bytes() + padding_bytes * chain_.n_used(); }
    /** Room for a piece or two of each field, however small. */
    int64_t least_bytes() const {
        return random_->number(2, 4) * padding_bytes * std::max<int64_t>(3, chain_.n_used());
    }

    /** Run it on a device of some memory; true if launches were certainly interleaved. */
    bool run(int64_t memory_bytes) {
        const std::string memory = std::to_string(memory_bytes) + "B";
        const std::string threads = random_->chance(85) ? "1" : "2";
        Twin twin("host(memory=" + memory + ",threads=" + threads + ")", random_);
        for (const RandomChain::Field &field : chain_.fields())
            field.is_internal ? twin.add_internal(field.extents, field.element_bytes)
                              : twin.add_field(field.extents, field.element_bytes);
        for (const RandomChain::Kernel &kernel : chain_.kernels())
            twin.add_kernel(kernel.n_indices, kernel.uses);
        for (int64_t n = random_->number(0, 2); n > 0; n--)
            launch(&twin, chain_.first());
        for (int64_t part = random_->number(1, 3); part > 0; part--) {
            loop(&twin, part == 1);
            visit(&twin);
        }
        twin.finish();
        const polytile_queue_report told = twin.report();
        EXPECT_LE(told.peak_device_bytes, memory_bytes);
        n_launched = twin.n_launched();
        return told.h2d_bytes < twin.least_upload_bytes(memory_bytes);
    }

    int64_t n_launched = 0;

  private:
    void launch(Twin *twin, const RandomChain::Launch &which) {
        const int64_t block[] = {random_->one_of({1, 2}), random_->one_of({1, 4}), 1};
        polytile_plan_options options = {};
        if (random_->chance(90))
            options.block = block;
        if (random_->chance(20))
            options.strategy = "min-traffic";
        if (has_link_)
            options.link = &link_;
        options.launches_per_pass = random_->chance(1) ? random_->number(1, 6) : most_per_pass_;
        const polytile_status status = twin->launch(which.kernel, which.threads, &options);
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_FIT)
            << chain_.text_of(which) << "\n"
            << twin->error();
    }

    /** The same step several times, seldom disturbed. Behind the last loop internal fields may go. */
    void loop(Twin *twin, bool is_last) {
        const std::vector<RandomChain::Launch> step = chain_.step();
        if (random_->chance(85))
            twin->pause();
        for (int64_t n = random_->number(2, 9); n > 0; n--) {
            for (const RandomChain::Launch &which : step)
                launch(twin, which);
            if (random_->chance(10))
                visit(twin);
        }
        for (int field = 0; is_last && field < twin->n_fields(); field++)
            if (twin->is_internal(field) && random_->chance(40))
                twin->renew(field);
        twin->resume();
    }

    void visit(Twin *twin) {
        const int field = static_cast<int>(random_->number(0, twin->n_fields() - 1));
        const int64_t what = random_->number(0, 5);
        if (what == 0)
            twin->wait();
        else if (what == 1)
            twin->wait_for(field);
        else if (what == 2)
            twin->renew(field);
        else if (what == 3)
            launch(twin, chain_.any());
        else if (what == 4)
            twin->pause();
        else
            twin->resume();
    }

    Random *random_;
    RandomChain chain_;
    int64_t most_per_pass_; /* of most launches; 0: chosen */
    polytile_link link_;
    bool has_link_;
};

int64_t some_memory(const RandomProgram &program, Random *random) {
    const int64_t share = program.has_link() ? 1 : random->one_of({1, 2, 2, 3, 3, 4, 5, 6, 8, 12});
    return std::max(program.least_bytes(),
                    share == 1 ? program.padded_bytes() : program.data_bytes() / share);
}

/** The checker would object to most of what goes wrong before it shows: it is on in half of them. */
TEST(QueueFusedRandom, ProgramsGiveWhatPlainLoopsGive) {
    Environment environment;
    const uint64_t seed = test_seed("QueueFusedRandom.ProgramsGiveWhatPlainLoopsGive");
    const int64_t n_rounds = scaled(200);
    int64_t n_interleaved = 0, n_launched = 0;
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        SCOPED_TRACE(seed + static_cast<uint64_t>(round));
        Random random(seed + static_cast<uint64_t>(round));
        environment.set("POLYTILE_CHECK", random.chance(50) ? "plan" : "");
        RandomProgram program(&random);
        n_interleaved += program.run(some_memory(program, &random));
        n_launched += program.n_launched;
    }
    std::printf(
        "%lld programs of %.1f launches each, %lld moved less than launch after launch can\n",
        static_cast<long long>(n_rounds),
        static_cast<double>(n_launched) / static_cast<double>(n_rounds),
        static_cast<long long>(n_interleaved));
    EXPECT_GE(n_interleaved, n_rounds / 60);
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
