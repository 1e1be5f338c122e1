#include "support/chain_launch.h"
#include "support/random.h"
#include "support/random_chain.h"
#include "support/scale.h"

extern "C" {
#include "partition/window/engine.h"
#include "partition/window/plan_chain.h"
}

#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace {

polytile_type unsigned_of(int64_t n_bytes) {
    return n_bytes == 1   ? POLYTILE_U8
           : n_bytes == 2 ? POLYTILE_U16
           : n_bytes == 4 ? POLYTILE_U32
                          : POLYTILE_U64;
}

/** Random launches, as steps over a device of some memory; or, without memory, in place. */
class Steps {
  public:
    Steps(Random *random, int64_t share) : chain_(random, longer()) {
        polytile_context_create(&ctx_);
        for (const RandomChain::Field &field : chain_.fields())
            add_array(field);
        for (const RandomChain::Kernel &kernel : chain_.kernels())
            add_kernel(kernel);
        const std::vector<RandomChain::Launch> step = chain_.step();
        for (int64_t n = random->number(1, 8); n > 0; n--) {
            for (const RandomChain::Launch &which : step)
                add_launch(which);
            if (random->chance(20))
                add_launch(chain_.any());
        }
        options_.limit_bytes = share == 0 ? 0 : chain_.data_bytes() / share + 1024;
        make_window();
    }
    ~Steps() {
        pti_residency_free(window.residency);
        pti_launches_free(&bound_);
        free(step_);
        polytile_context_destroy(ctx_);
    }
    Steps(const Steps &) = delete;
    Steps &operator=(const Steps &) = delete;

    polytile_status cut() {
        return is_cut_++ == 0 ? pti_plan_cut_kinds(&request_, &bound_) : POLYTILE_OK;
    }
    /** Of a launch by itself, where it runs in place. */
    const pti_schedule *in_place(int step) const { return asked_[size_t(step)].in_place; }

    pti_step_window window = {};

  private:
    static RandomChainShape longer() {
        RandomChainShape shape;
        shape.times_longer = 30;
        return shape;
    }
    void add_array(const RandomChain::Field &field) {
        polytile_domain box = {};
        for (const int64_t extent : field.extents)
            box.range[box.n_dims++] = {0, extent - 1, 1};
        const std::string name = "field" + std::to_string(arrays_.size());
        arrays_.push_back(nullptr);
        EXPECT_EQ(polytile_array_describe(ctx_, name.c_str(), unsigned_of(field.element_bytes),
                                          &box, &arrays_.back()),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
        if (field.is_internal)
            scratch_.push_back(arrays_.back());
    }
    void add_kernel(const RandomChain::Kernel &kernel) {
        const polytile_implementation body = kernel.generic.implementation();
        kernels_.push_back(nullptr);
        operands_.emplace_back();
        for (const FieldUse &use : kernel.uses)
            operands_.back().push_back(arrays_[size_t(use.field)]);
        EXPECT_EQ(polytile_kernel_create(ctx_, kernel.generic.declaration().c_str(), &body,
                                         &kernels_.back()),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
    }
    void add_launch(const RandomChain::Launch &which) {
        launches_.push_back(chain_launch(kernels_[size_t(which.kernel)], which.threads,
                                         operands_[size_t(which.kernel)].data()));
    }
    void make_window() {
        request_ = {ctx_,
                    int(launches_.size()),
                    launches_.data(),
                    int(scratch_.size()),
                    scratch_.data(),
                    &options_};
        ASSERT_EQ(pti_launches_bind(&request_, &bound_), POLYTILE_OK) << polytile_last_error(ctx_);
        step_ = pti_plan_make_steps(&bound_, &window.n_steps);
        const bool in_place = options_.limit_bytes == 0;
        window.n_steps = in_place ? bound_.n_launches : window.n_steps;
        for (int l = 0; l < bound_.n_launches; l++)
            asked_.push_back({&options_, step_[l].call,
                              pti_asked_touched_bytes(step_[l].call.instance), true, PTI_TILES_NONE,
                              true, in_place ? &marker_ : nullptr});
        window.step = step_;
        window.asked = asked_.data();
        window.arrays = bound_.arrays;
        window.memory_bytes = in_place ? chain_.data_bytes() / 4 : options_.limit_bytes;
        window.core_bytes = in_place ? window.memory_bytes / 2 : 0;
        window.n_workers = 2;
        window.residency =
            in_place ? nullptr : pti_plan_make_residency(&bound_, options_.limit_bytes);
    }

    RandomChain chain_;
    polytile_context *ctx_ = nullptr;
    polytile_plan_options options_ = {};
    std::vector<polytile_array *> arrays_, scratch_;
    std::vector<polytile_kernel *> kernels_;
    std::vector<std::vector<polytile_array *>> operands_;
    std::vector<polytile_chain_launch> launches_;
    std::vector<pti_asked> asked_;
    pti_chain_request request_ = {};
    pti_launches bound_ = {};
    pti_step *step_ = nullptr;
    pti_schedule marker_ = {};
    int is_cut_ = 0;
};

/** A batch as it was handed on. */
struct Taken {
    int first, n_steps, first_launch, n_launches;
    bool is_flush, is_chain, streams, has_schedule;
};

/** Plans the batches of some steps, and remembers them. */
class Recorder {
  public:
    explicit Recorder(Steps *steps) : steps_(steps) {}
    ~Recorder() { pti_fusion_group_free(&group_); }
    Recorder(const Recorder &) = delete;
    Recorder &operator=(const Recorder &) = delete;

    polytile_status run() {
        const pti_consumer consumer = {this, find_group, cut, take, explain};
        return pti_engine_run(&steps_->window, 0, &consumer);
    }

    std::vector<Taken> taken;
    int n_left = -1; /* batches until one fails; -1: none does */

  private:
    static polytile_status find_group(void *of, const pti_step_window *window, int first,
                                      pti_fusion_group **group) {
        Recorder *self = static_cast<Recorder *>(of);
        pti_fusion_group_free(&self->group_);
        *group = &self->group_;
        EXPECT_EQ(window->step[first].kind, PTI_STEP_LAUNCH);
        return pti_fusion_group_find(window, first, &self->group_);
    }
    static polytile_status cut(void *of) { return static_cast<Recorder *>(of)->steps_->cut(); }
    static polytile_status take(void *of, pti_batch *batch) {
        Recorder *self = static_cast<Recorder *>(of);
        if (self->n_left-- == 0)
            return POLYTILE_DEVICE;
        const polytile_status status = pti_batch_plan(batch);
        if (status != POLYTILE_OK)
            return status;
        EXPECT_EQ(pti_batch_interleave(batch), POLYTILE_OK);
        const bool is_flush = batch->step != batch->window->step + batch->first;
        self->taken.push_back({batch->first, batch->n_steps, batch->first_launch, batch->n_launches,
                               is_flush, batch->group != nullptr, pti_batch_streams(batch),
                               batch->schedule != nullptr});
        if (self->steps_->window.residency == nullptr && batch->group == nullptr) {
            EXPECT_EQ(batch->schedule, self->steps_->in_place(batch->first));
        }
        return POLYTILE_OK;
    }
    static polytile_status explain(void *, const pti_batch *, polytile_status status) {
        return status;
    }

    Steps *steps_;
    pti_fusion_group group_ = {};
};

/** Flushes apart, batches follow one another, none is empty, and each has a schedule. */
void expect_complete(const Recorder &recorder, const pti_step_window &window) {
    int next = 0, n_launches = 0;
    for (const Taken &batch : recorder.taken) {
        EXPECT_TRUE(batch.has_schedule);
        EXPECT_EQ(batch.first, next);
        EXPECT_EQ(batch.first_launch, n_launches);
        EXPECT_GT(batch.n_steps, 0);
        next += batch.is_flush ? 0 : batch.n_steps;
        n_launches += batch.n_launches;
    }
    EXPECT_EQ(next, window.n_steps);
}

void expect_flushes(const std::vector<Taken> &taken) {
    for (size_t k = 0; k < taken.size(); k++) {
        const bool has_flush_before = k > 0 && taken[k - 1].is_flush;
        EXPECT_EQ(taken[k].streams, has_flush_before) << "batch " << k;
        EXPECT_TRUE(!taken[k].is_flush || taken[k].n_launches == 0);
    }
}

TEST(Engine, HandsOnEveryStepOnceAndBringsAllHomeBeforeChainsThatStream) {
    const uint64_t seed =
        test_seed("Engine.HandsOnEveryStepOnceAndBringsAllHomeBeforeChainsThatStream");
    const int64_t n_rounds = 60 + scaled(240);
    int64_t n_chains = 0, n_single = 0;
    for (int64_t round = 0; round < n_rounds && !testing::Test::HasFailure(); round++) {
        SCOPED_TRACE(seed + static_cast<uint64_t>(round));
        Random random(seed + static_cast<uint64_t>(round));
        Steps steps(&random, random.one_of({1, 2, 2, 3, 4, 6}));
        Recorder recorder(&steps);
        const polytile_status status = recorder.run();
        if (status == POLYTILE_NO_FIT)
            continue;
        EXPECT_EQ(status, POLYTILE_OK);
        expect_complete(recorder, steps.window);
        expect_flushes(recorder.taken);
        for (const Taken &batch : recorder.taken)
            (batch.is_chain ? n_chains : n_single)++;
    }
    EXPECT_GE(n_chains, least_count(n_rounds, 0.1));
    EXPECT_GE(n_single, least_count(n_rounds, 0.3));
}

TEST(Engine, HandsOnLaunchesInPlaceOneByOneButForChains) {
    const uint64_t seed = test_seed("Engine.HandsOnLaunchesInPlaceOneByOneButForChains");
    for (int64_t round = 0; round < scaled(300) && !testing::Test::HasFailure(); round++) {
        SCOPED_TRACE(seed + static_cast<uint64_t>(round));
        Random random(seed + static_cast<uint64_t>(round));
        Steps steps(&random, 0);
        Recorder recorder(&steps);
        EXPECT_EQ(recorder.run(), POLYTILE_OK);
        expect_complete(recorder, steps.window);
        for (const Taken &batch : recorder.taken) {
            EXPECT_FALSE(batch.is_flush || batch.streams);
            EXPECT_TRUE(batch.is_chain || batch.n_steps == 1);
        }
    }
}

TEST(Engine, StopsAtTheBatchThatFails) {
    const uint64_t seed = test_seed("Engine.StopsAtTheBatchThatFails");
    int n_failed = 0;
    for (int64_t round = 0; round < 100 && !testing::Test::HasFailure(); round++) {
        SCOPED_TRACE(seed + static_cast<uint64_t>(round));
        Random random(seed + static_cast<uint64_t>(round));
        Steps steps(&random, random.one_of({0, 2, 4}));
        Recorder recorder(&steps);
        recorder.n_left = static_cast<int>(random.number(0, 3));
        const size_t n_taken = static_cast<size_t>(recorder.n_left);
        if (recorder.run() != POLYTILE_DEVICE)
            continue;
        EXPECT_EQ(recorder.taken.size(), n_taken);
        n_failed++;
    }
    EXPECT_GE(n_failed, least_count(100, 0.35));
}

TEST(Engine, WithoutStepsNothingIsHandedOn) {
    pti_step_window window = {};
    const pti_consumer consumer = {};
    EXPECT_EQ(pti_engine_run(&window, 0, &consumer), POLYTILE_OK);
}

TEST(Engine, BatchesHaveNoMoreSuperblocksThanAreAllowedUnlessOneLaunchHasMore) {
    const std::vector<int64_t> n_superblocks = {PTI_PLAN_SUPERBLOCKS - 1, 1, 1,
                                                3 * PTI_PLAN_SUPERBLOCKS, 1};
    std::vector<pti_partition> partitions(n_superblocks.size());
    std::vector<pti_step> steps(n_superblocks.size());
    for (size_t k = 0; k < n_superblocks.size(); k++) {
        partitions[k].n_superblocks = n_superblocks[k];
        steps[k].kind = PTI_STEP_LAUNCH;
        steps[k].partition = &partitions[k];
    }
    EXPECT_EQ(pti_batch_find_end(steps.data(), 0, 5), 2);
    EXPECT_EQ(pti_batch_find_end(steps.data(), 2, 5), 3);
    EXPECT_EQ(pti_batch_find_end(steps.data(), 3, 5), 4);
    EXPECT_EQ(pti_batch_find_end(steps.data(), 4, 5), 5);
}

} // namespace
