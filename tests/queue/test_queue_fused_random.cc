#include "queue/twin.h"
#include "support/environment.h"
#include "support/scale.h"

#include <algorithm>
#include <gtest/gtest.h>

/* Random programs on queues whose devices hold a part of the data: loops over random kernels, most
 * of which may take turns, with other launches, waits and visits of the program in between. */

namespace {

const polytile_role accumulating[] = {POLYTILE_SUM, POLYTILE_PROD, POLYTILE_MIN, POLYTILE_MAX};

class RandomProgram {
  public:
    explicit RandomProgram(Random *random)
        : random_(random), most_per_pass_(random->chance(20) ? random->number(1, 6) : 0) {
        n_dims_ = static_cast<int>(random->number(1, 3));
        const int64_t most = n_dims_ == 1 ? 500 : n_dims_ == 2 ? 22 : 8;
        is_square_ = random->chance(30);
        for (int d = 0; d < n_dims_; d++)
            extents_.push_back(is_square_ && d > 0 ? extents_[0]
                                                   : random->number(most / 2 + 1, most));
        if (!is_square_)
            extents_[0] *= 3;
        plan_fields();
    }

    int64_t data_bytes() const {
        int64_t sum = 0;
        for (const Planned &field : planned_) {
            int64_t n_bytes = field.element_bytes;
            for (const int64_t extent : field.extents)
                n_bytes *= extent;
            sum += n_bytes;
        }
        return sum;
    }

    /** Room for two pieces of each field, however small. */
    int64_t least_bytes() const { return 768 * static_cast<int64_t>(planned_.size()); }

    /** Run it on a device of some memory; true if launches were certainly interleaved. */
    bool run(int64_t memory_bytes) {
        const std::string memory = std::to_string(memory_bytes) + "B";
        const std::string threads = random_->chance(85) ? "1" : "2";
        Twin twin("host(memory=" + memory + ",threads=" + threads + ")", random_);
        make_fields(&twin);
        make_kernels(&twin);
        for (int64_t part = random_->number(1, 3); part > 0; part--) {
            loop(&twin);
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
    struct Planned {
        std::vector<int64_t> extents;
        int64_t element_bytes;
        bool is_internal;
    };

    /** Those of all dimensions first, then those of one, then one of one element. */
    void plan_fields() {
        n_whole_ = static_cast<int>(random_->number(2, 4));
        for (int f = 0; f < n_whole_; f++)
            planned_.push_back({extents_, random_->one_of({1, 2, 4, 8}), random_->chance(30)});
        for (int d = 0; d < n_dims_; d++)
            planned_.push_back(
                {{extents_[static_cast<size_t>(d)]}, random_->one_of({1, 4}), random_->chance(20)});
        planned_.push_back({{1}, 8, false});
    }
    int line(int dim) const { return n_whole_ + dim; }
    int single() const { return n_whole_ + n_dims_; }

    void make_fields(Twin *twin) const {
        for (const Planned &field : planned_)
            field.is_internal ? twin->add_internal(field.extents, field.element_bytes)
                              : twin->add_field(field.extents, field.element_bytes);
    }

    GenericWindow window(int index, int64_t reach) {
        const int64_t a = random_->number(-reach, reach), b = random_->number(-reach, reach);
        return {index, std::min(a, b), std::max(a, b)};
    }

    GenericSection around(int64_t reach) {
        GenericSection section;
        for (int d = 0; d < n_dims_; d++)
            section.push_back(window(d, reach));
        return section;
    }

    /** Around a thread; now and then with two indices in each other's places, or all along one. */
    GenericSection read() {
        GenericSection section = around(n_dims_ < 3 ? 2 : 1);
        if (is_square_ && n_dims_ > 1 && random_->chance(8))
            std::swap(section[0], section[1]);
        if (random_->chance(4))
            section[static_cast<size_t>(random_->number(0, n_dims_ - 1))] = {-1, 0, 0};
        return section;
    }

    /** Read some fields around a thread, write another at it. */
    std::vector<Twin::Use> stencil() {
        const int written = static_cast<int>(random_->number(0, n_whole_ - 1));
        std::vector<Twin::Use> uses;
        for (int f = 0; f < n_whole_; f++) {
            if (f == written)
                uses.push_back(
                    {random_->chance(65) ? POLYTILE_OUT : POLYTILE_INOUT, f, {around(0)}});
            else if (random_->chance(n_whole_ == 2 ? 90 : 60))
                uses.push_back({POLYTILE_IN, f, {read()}});
            if (f != written && !uses.empty() && uses.back().field == f && random_->chance(40))
                uses.back().sections.push_back(around(1));
        }
        if (random_->chance(25)) {
            const int d = static_cast<int>(random_->number(0, n_dims_ - 1));
            uses.push_back({POLYTILE_IN, line(d), {{window(d, 1)}}});
        }
        return uses;
    }

    /** Combine a field into a line of it, or into one element. */
    std::vector<Twin::Use> reduction() {
        const int d = static_cast<int>(random_->number(0, n_dims_ - 1));
        const int from = static_cast<int>(random_->number(0, n_whole_ - 1));
        const polytile_role role = accumulating[random_->number(0, 3)];
        const bool is_fresh = random_->chance(30);
        Twin::Use result = {role, line(d), {{{d, 0, 0}}}, is_fresh};
        if (random_->chance(20))
            result = {role, single(), {{{-1, 0, 0}}}, is_fresh};
        return {{POLYTILE_IN, from, {around(1)}}, result};
    }

    void make_kernels(Twin *twin) {
        kernels_.clear();
        for (int64_t n = random_->number(1, 5); n > 0; n--)
            kernels_.push_back(
                twin->add_kernel(n_dims_, random_->chance(85) ? stencil() : reduction()));
    }

    /** All threads, or a part of them. */
    polytile_domain choose_threads(const Twin &twin, int kernel) {
        polytile_domain threads = twin.widest(kernel);
        const bool is_whole = random_->chance(70);
        for (int d = 0; d < threads.n_dims && !is_whole; d++) {
            polytile_range &range = threads.range[d];
            range.lo += random_->number(0, (range.hi - range.lo) / 4);
            range.hi -= random_->number(0, (range.hi - range.lo) / 4);
        }
        return threads;
    }

    void launch(Twin *twin, int kernel, const polytile_domain &threads) {
        const int64_t block[] = {random_->one_of({1, 2}), random_->one_of({1, 4}), 1};
        polytile_plan_options options = {};
        if (random_->chance(90))
            options.block = block;
        if (random_->chance(20))
            options.strategy = "min-traffic";
        options.launches_per_pass = random_->chance(1) ? random_->number(1, 6) : most_per_pass_;
        const polytile_status status = twin->launch(kernel, threads, &options);
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_FIT) << twin->error();
    }

    int any_kernel() {
        return kernels_[static_cast<size_t>(
            random_->number(0, static_cast<int64_t>(kernels_.size()) - 1))];
    }

    /** Steps of the same launches, seldom disturbed. */
    void loop(Twin *twin) {
        struct Part {
            int kernel;
            polytile_domain threads;
        };
        std::vector<Part> step;
        for (int64_t n = random_->number(1, 4); n > 0; n--) {
            const int kernel = any_kernel();
            step.push_back({kernel, choose_threads(*twin, kernel)});
        }
        if (random_->chance(70))
            twin->pause();
        for (int64_t n = random_->number(2, 9); n > 0; n--) {
            for (const Part &part : step)
                launch(twin, part.kernel, part.threads);
            if (random_->chance(10))
                visit(twin);
        }
        twin->resume();
    }

    void visit(Twin *twin) {
        const int field = static_cast<int>(random_->number(0, twin->n_fields() - 1));
        const int64_t what = random_->number(0, 4);
        if (what == 0)
            twin->wait();
        else if (what == 1)
            twin->wait_for(field);
        else if (what == 2 && !twin->is_internal(field))
            twin->renew(field);
        else if (what == 3)
            launch_any(twin);
        else
            twin->pause();
    }

    void launch_any(Twin *twin) {
        const int kernel = any_kernel();
        launch(twin, kernel, choose_threads(*twin, kernel));
    }

    Random *random_;
    int64_t most_per_pass_; /* of most launches; 0: chosen */
    int n_dims_;
    bool is_square_;
    std::vector<int64_t> extents_;
    std::vector<Planned> planned_;
    int n_whole_ = 0;
    std::vector<int> kernels_;
};

TEST(QueueFusedRandom, ProgramsGiveWhatPlainLoopsGive) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    const uint64_t seed = test_seed("QueueFusedRandom.ProgramsGiveWhatPlainLoopsGive");
    const int64_t n_rounds = scaled(300);
    int64_t n_interleaved = 0, n_launched = 0;
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        SCOPED_TRACE(seed + static_cast<uint64_t>(round));
        Random random(seed + static_cast<uint64_t>(round));
        RandomProgram program(&random);
        const int64_t share = random.one_of({1, 2, 3, 4, 5, 6, 8, 12});
        n_interleaved += program.run(std::max(program.least_bytes(), program.data_bytes() / share));
        n_launched += program.n_launched;
    }
    std::printf(
        "%lld programs of %.1f launches each, %lld moved less than launch after launch can\n",
        static_cast<long long>(n_rounds),
        static_cast<double>(n_launched) / static_cast<double>(n_rounds),
        static_cast<long long>(n_interleaved));
    EXPECT_GE(n_interleaved, n_rounds / 12);
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
