#include "partition/window/random_steps.h"
#include "support/scale.h"

extern "C" {
#include "partition/window/engine.h"
}

namespace {

/** A batch as it was handed on. */
struct Taken {
    int first, n_steps, first_launch, n_launches;
    bool is_flush, is_chain, streams, has_schedule;
};

/** Plans the batches of some steps, and remembers them. */
class Recorder {
  public:
    explicit Recorder(RandomSteps *steps) : steps_(steps) {}
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

    RandomSteps *steps_;
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
        RandomSteps steps(&random, random.one_of({1, 2, 2, 3, 4, 6}));
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
        RandomSteps steps(&random, 0);
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
        RandomSteps steps(&random, random.one_of({0, 2, 4}));
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
