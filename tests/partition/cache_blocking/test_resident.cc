#include "partition/skew/skewed.h"

#include "support/scale.h"

extern "C" {
#include "partition/cache_blocking/resident.h"
}

namespace {

/** A device that holds all arrays, and the same arrays where launches run at once. */
class Whole {
  public:
    Whole(const std::vector<std::string> &domains, const std::vector<bool> &internal,
          Random *random)
        : resident_(1 << 20, domains, internal), memory_(1 << 20), internal_(internal),
          random_(random) {
        for (size_t a = 0; a < domains.size(); a++) {
            host_.emplace_back(domain_of(domains[a]));
            for (uint64_t &element : host_.back().element)
                element = static_cast<uint64_t>(random->number(1, 1000000));
            right_.push_back(host_.back());
            if (internal[a])
                std::fill(right_.back().element.begin(), right_.back().element.end(), 0);
        }
    }

    /** The launches from one on that may be interleaved. */
    int FindChain(const std::vector<const CutLaunch *> &launches, size_t first, pti_chain *chain) {
        cut_.clear();
        for (size_t l = first; l < launches.size(); l++)
            cut_.push_back({{&launches[l]->instance(), launches[l]->array.data()}, 0, 0});
        pti_text why = {};
        EXPECT_EQ(pti_chain_find(pti_residency_arrays(resident_.get()),
                                 static_cast<int>(cut_.size()), cut_.data(), chain, &why),
                  POLYTILE_OK);
        pti_text_free(&why);
        return chain->n_launches;
    }

    const pti_schedule *Plan(const std::vector<pti_step> &steps) { return resident_.Plan(steps); }
    void Run(const pti_schedule &schedule) {
        ASSERT_EQ(memory_.Run(schedule, &host_, random_), "");
    }
    void RunAtOnce(const CutLaunch &launch) {
        run_at_once(launch.instance(), launch.array, &right_);
    }

    /** Bring everything to the host and compare. */
    void ExpectRight() {
        std::vector<pti_step> flushes;
        for (size_t a = 0; a < host_.size(); a++)
            flushes.push_back(Flush(static_cast<int>(a)));
        Run(*Plan(flushes));
        for (size_t a = 0; a < host_.size(); a++)
            if (!internal_[a]) {
                ASSERT_EQ(host_[a].element, right_[a].element) << "array " << a;
            }
    }

  private:
    Resident resident_;
    ResidentMemory memory_;
    std::vector<bool> internal_;
    Random *random_;
    std::vector<HostArray> host_, right_;
    std::vector<pti_cut_launch> cut_;
};

/** Plan a chain's launches one after the other, cut them in slabs of any shape, and run that. */
void RunInSlabs(Whole *whole, const pti_chain &chain, const std::vector<pti_step> &steps,
                Random *random) {
    const pti_schedule *apart = whole->Plan(steps);
    ASSERT_TRUE(pti_blocking_suits_resident(apart));
    pti_skew_shape shape = {};
    shape.n_per_pass = static_cast<int>(random->number(2, chain.n_launches));
    shape.n_passes = (chain.n_launches + shape.n_per_pass - 1) / shape.n_per_pass;
    shape.slab = random->number(1, 12);
    shape.n_per_lap = INT64_MAX;
    pti_schedule *slabs = pti_blocking_build_resident(apart, &chain, &shape);
    ASSERT_NE(slabs, nullptr);
    EXPECT_EQ(Objection(slabs), "");
    EXPECT_EQ(pti_schedule_peak_bytes(slabs), pti_schedule_peak_bytes(apart));
    const pti_traffic traffic = pti_schedule_traffic(slabs), expected = pti_schedule_traffic(apart);
    EXPECT_EQ(traffic.h2d_bytes, expected.h2d_bytes);
    EXPECT_EQ(traffic.d2h_bytes, expected.d2h_bytes);
    whole->Run(*slabs);
    pti_schedule_free(slabs);
}

/** Random launches; chains among them in slabs. Returns how many of those there were. */
int64_t TryRandomLaunches(Random *random) {
    std::vector<bool> internal;
    for (size_t a = 0; a < some_domains.size(); a++)
        internal.push_back(random->chance(25));
    Whole whole(some_domains, internal, random);
    std::vector<std::unique_ptr<CutLaunch>> made;
    std::vector<const CutLaunch *> launches;
    const auto n_kernels = static_cast<int64_t>(some_kernels.size());
    const int64_t first_kernel = random->number(0, n_kernels - 2);
    for (int64_t n = random->number(2, 12); n > 0; n--) {
        const int64_t k = random->chance(80) ? first_kernel + random->number(0, 1)
                                             : random->number(0, n_kernels - 1);
        made.push_back(
            std::make_unique<CutLaunch>(some_kernels[static_cast<size_t>(k)], some_domains));
        if (random->chance(30))
            made.back()->CutAtRandom(random);
        launches.push_back(made.back().get());
    }
    int64_t n_chains = 0;
    for (size_t at = 0; at < launches.size() && !testing::Test::HasFailure();) {
        pti_chain chain = {};
        const int n_found = whole.FindChain(launches, at, &chain);
        const bool in_slabs = n_found >= 2 && random->chance(80);
        const size_t n_run = in_slabs ? static_cast<size_t>(n_found) : 1;
        std::vector<pti_step> steps;
        for (size_t l = at; l < at + n_run; l++) {
            steps.push_back(made[l]->Step());
            whole.RunAtOnce(*launches[l]);
        }
        if (in_slabs)
            RunInSlabs(&whole, chain, steps, random);
        else
            whole.Run(*whole.Plan(steps));
        n_chains += in_slabs;
        pti_chain_free(&chain);
        at += n_run;
    }
    whole.ExpectRight();
    return n_chains;
}

TEST(SkewResident, GivesWhatLaunchAfterLaunchGives) {
    const uint64_t seed = test_seed("SkewResident.GivesWhatLaunchAfterLaunchGives");
    const int64_t n_rounds = scaled(2000);
    int64_t n_chains = 0;
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        SCOPED_TRACE(round);
        Random random(seed + static_cast<uint64_t>(round));
        n_chains += TryRandomLaunches(&random) > 0;
    }
    EXPECT_GE(n_chains, least_count(n_rounds, 0.65));
    RecordProperty("n_chains", static_cast<int>(n_chains));
}

TEST(SkewResident, RefusesSchedulesThatMoveSomethingBetweenLaunches) {
    const std::vector<std::string> domains = {"64", "64"};
    CutLaunch there({"blur[i]: in x[i-1:i+1]; out y[i]", "1:62", {{"x", 0}, {"y", 1}}}, domains);
    CutLaunch back({"blur[i]: in x[i-1:i+1]; out y[i]", "1:62", {{"x", 1}, {"y", 0}}}, domains);
    Resident whole(1 << 20, domains), tight(768, domains);
    EXPECT_TRUE(pti_blocking_suits_resident(whole.Plan({there.Step(), back.Step()})));
    EXPECT_FALSE(pti_blocking_suits_resident(whole.Plan({there.Step(), Flush(1)})));
    for (CutLaunch *launch : {&there, &back})
        launch->CutInPieces(8);
    EXPECT_FALSE(
        pti_blocking_suits_resident(tight.Plan({there.Step(), back.Step(), there.Step()})));
}

} // namespace
