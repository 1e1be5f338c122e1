#include "queue/twin.h"
#include "support/random_chain.h"
#include "support/scale.h"

#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>
#include <set>

/* A queue runs what a plan of the same launches records: one engine walks over both. Only where
 * launches that run one after the other are cut alike: a queue cuts them as they come, like the
 * last one over the same data. */

namespace {

/** Data that are worth fusing, and no more. */
RandomChainShape long_shape() {
    RandomChainShape shape;
    shape.times_longer = 30;
    return shape;
}

/** A random program, whose fields stand in the order of their first use, as a plan has them. */
class Program {
  public:
    explicit Program(Random *random) : chain_(random, long_shape()) {
        const std::vector<RandomChain::Launch> step = chain_.step();
        for (int64_t n = random->number(2, 12); n > 0; n--)
            launches_.insert(launches_.end(), step.begin(), step.end());
        for (const RandomChain::Launch &launch : launches_)
            add_kernel(launch.kernel);
    }

    int64_t data_bytes() const { return chain_.data_bytes(); }

    /** Whether each launch shares an array, directly or through others, with those that are
     * detached in the end: a queue that waits for these takes no others. */
    bool is_related() const {
        std::set<int> reached;
        for (const int field : fields_)
            if (!chain_.fields()[static_cast<size_t>(field)].is_internal)
                reached.insert(field);
        for (size_t n = 0; n != reached.size();) {
            n = reached.size();
            for (const int kernel : kernels_)
                spread(chain_.kernels()[static_cast<size_t>(kernel)].uses, &reached);
        }
        return reached.size() == fields_.size();
    }

    /** Whether all launches were taken. */
    bool launch(Twin *twin) const {
        for (const int field : fields_) {
            const RandomChain::Field &of = chain_.fields()[static_cast<size_t>(field)];
            of.is_internal ? twin->add_internal(of.extents, of.element_bytes)
                           : twin->add_field(of.extents, of.element_bytes);
        }
        for (const int kernel : kernels_)
            twin->add_kernel(chain_.kernels()[static_cast<size_t>(kernel)].n_indices,
                             uses_of(kernel));
        bool is_taken = true;
        for (const RandomChain::Launch &launch : launches_)
            is_taken = is_taken && twin->launch(place_of(kernels_, launch.kernel),
                                                launch.threads) == POLYTILE_OK;
        return is_taken;
    }

  private:
    static void spread(const std::vector<FieldUse> &uses, std::set<int> *reached) {
        const bool is_reached = std::any_of(uses.begin(), uses.end(), [&](const FieldUse &use) {
            return reached->count(use.field) > 0;
        });
        for (const FieldUse &use : uses)
            if (is_reached)
                reached->insert(use.field);
    }
    static int place_of(const std::vector<int> &list, int number) {
        return static_cast<int>(std::find(list.begin(), list.end(), number) - list.begin());
    }
    static void add_once(std::vector<int> *list, int number) {
        if (place_of(*list, number) == static_cast<int>(list->size()))
            list->push_back(number);
    }
    void add_kernel(int kernel) {
        add_once(&kernels_, kernel);
        for (const FieldUse &use : chain_.kernels()[static_cast<size_t>(kernel)].uses)
            add_once(&fields_, use.field);
    }
    std::vector<FieldUse> uses_of(int kernel) const {
        std::vector<FieldUse> uses = chain_.kernels()[static_cast<size_t>(kernel)].uses;
        for (FieldUse &use : uses)
            use.field = place_of(fields_, use.field);
        return uses;
    }

    RandomChain chain_;
    std::vector<RandomChain::Launch> launches_;
    std::vector<int> kernels_, fields_;
};

/** How a queue cuts a program's launches, that are queued together. */
Twin::Cuts cuts_of(const Program &program, const std::string &device, Random *random) {
    Twin twin(device, random);
    twin.pause();
    program.launch(&twin);
    twin.wait();
    return twin.cuts();
}

TEST(QueuePlanned, RandomProgramsMoveWhatTheirPlanSaysByteByByte) {
    const uint64_t seed = test_seed("QueuePlanned.RandomProgramsMoveWhatTheirPlanSaysByteByByte");
    const int64_t n_rounds = 40 + scaled(260);
    int n_compared = 0, n_fused = 0;
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        SCOPED_TRACE(seed + static_cast<uint64_t>(round));
        Random random(seed + static_cast<uint64_t>(round));
        const Program program(&random);
        polytile_plan_options options = {};
        options.link = &polytile_link_default;
        options.limit_bytes =
            program.data_bytes() / random.one_of({1, 2, 3, 4, 6, 8}) + random.number(1, 4) * 1024;
        const std::string device =
            "host(threads=1,memory=" + std::to_string(options.limit_bytes) + "B)";
        Twin twin(device, &random);
        twin.pause();
        if (!program.is_related() || !program.launch(&twin))
            continue;
        Twin::Cuts cuts;
        const Twin::Planned planned = twin.plan(options, &cuts);
        if (planned.is_refused || (!cuts.empty() && cuts != cuts_of(program, device, &random)))
            continue;
        for (int field = 0; field < twin.n_fields(); field++)
            if (twin.is_internal(field))
                twin.drop(field);
        twin.finish_at_once();
        const polytile_report told = twin.report();
        EXPECT_EQ(told.n_kernels, planned.summary.n_kernels);
        EXPECT_EQ(told.h2d_bytes, planned.summary.h2d_bytes);
        EXPECT_EQ(told.d2h_bytes, planned.summary.d2h_bytes);
        n_compared++;
        n_fused += planned.chain.slab_threads > 0;
    }
    std::printf("%d programs compared, %d of them fused\n", n_compared, n_fused);
    EXPECT_GE(n_compared, least_count(n_rounds, 0.75));
    EXPECT_GE(n_fused, least_count(n_compared, 0.2));
}

} // namespace
