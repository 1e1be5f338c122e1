#include "partition/memory/resident.h"
#include "support/scale.h"

/* Residencies beside which others read and write the host's memory: random windows against
 * launches that run at once, fetches, and invalidations. */

namespace {

/** Some elements of an array, in a few boxes. */
std::unique_ptr<BoxSet> SomeElements(const polytile_domain &domain, Random *random) {
    auto set = std::make_unique<BoxSet>();
    for (int64_t n = random->number(1, 3); n > 0; n--) {
        polytile_domain box = domain;
        for (int d = 0; d < box.n_dims; d++) {
            box.range[d].lo = random->number(domain.range[d].lo, domain.range[d].hi);
            box.range[d].hi = random->number(box.range[d].lo, domain.range[d].hi);
        }
        set->Add(box);
    }
    return set;
}

/** Fetches and invalidations of elements of random arrays, beside what they should give. */
class Exchanges {
  public:
    Exchanges(std::vector<HostArray> *host, std::vector<HostArray> *right,
              std::vector<bool> *dropped, const std::vector<bool> &internal, Random *random)
        : host_(host), right_(right), dropped_(dropped), internal_(internal), random_(random) {}

    /** In a window: what was fetched is no newer on the device, so that it may come back. */
    void Among(std::vector<pti_step> *steps) {
        const int a = AnyArray();
        if (a < 0 || !random_->chance(30))
            return;
        const pti_boxes &boxes = SomeOf(a);
        steps->push_back(Fetch(a, boxes));
        if (!internal_[static_cast<size_t>(a)] && random_->chance(50))
            steps->push_back(Renew(a, boxes));
    }

    /** At the end of a window: elements of which the host will get others before the next. */
    void AtTheEnd(std::vector<pti_step> *steps) {
        renewed_ = random_->chance(50) ? AnyArray() : -1;
        if (renewed_ < 0)
            return;
        boxes_ = &SomeOf(renewed_);
        is_fetched_ = random_->chance(50);
        steps->push_back(is_fetched_ ? Fetch(renewed_, *boxes_) : Renew(renewed_, *boxes_));
    }

    /** After it: compare what was fetched; change it, and begin the next window with that. */
    void Behind(pti_residency *residency, std::vector<pti_step> *steps) {
        if (renewed_ < 0)
            return;
        HostArray &host = (*host_)[static_cast<size_t>(renewed_)];
        HostArray &right = (*right_)[static_cast<size_t>(renewed_)];
        const pti_boxes *unwritten = pti_residency_unwritten(residency, renewed_);
        for (int k = 0; k < boxes_->n_boxes; k++)
            for_each_point(boxes_->box[k], [&](const Point &point) {
                polytile_domain element = boxes_->box[k];
                for (int d = 0; d < element.n_dims; d++)
                    element.range[d] = {point[static_cast<size_t>(d)],
                                        point[static_cast<size_t>(d)], 1};
                if (is_fetched_ && !pti_boxes_meet(unwritten, &element)) {
                    EXPECT_EQ(host.at(point), right.at(point)) << "fetched of " << renewed_;
                }
                host.at(point) = right.at(point) =
                    static_cast<uint64_t>(random_->number(1, 1000000));
            });
        steps->push_back(Renew(renewed_, *boxes_));
    }

  private:
    int AnyArray() {
        const int64_t a = random_->number(0, static_cast<int64_t>(dropped_->size()) - 1);
        return (*dropped_)[static_cast<size_t>(a)] ? -1 : static_cast<int>(a);
    }
    const pti_boxes &SomeOf(int array) {
        sets_.push_back(SomeElements((*host_)[static_cast<size_t>(array)].domain, random_));
        return sets_.back()->boxes;
    }

    std::vector<HostArray> *host_, *right_;
    std::vector<bool> *dropped_;
    std::vector<bool> internal_;
    Random *random_;
    std::vector<std::unique_ptr<BoxSet>> sets_;
    int renewed_ = -1;
    bool is_fetched_ = false;
    const pti_boxes *boxes_ = nullptr;
};

/** One residency with random windows, run on bytes and at once. */
void CompareWithRunningAtOnce(Random *random, bool exchanges) {
    std::vector<std::unique_ptr<CutLaunch>> launches;
    std::vector<bool> internal;
    int64_t need_bytes = 256, all_bytes = 0;
    for (const std::string &text : some_domains) {
        const polytile_domain domain = domain_of(text);
        all_bytes += (pti_box_count(&domain) * 8 + 255) / 256 * 256;
        internal.push_back(random->chance(25));
    }
    for (int64_t n = random->number(1, 14); n > 0; n--) {
        const Kernel &kernel = some_kernels[static_cast<size_t>(
            random->number(0, static_cast<int64_t>(some_kernels.size()) - 1))];
        launches.push_back(std::make_unique<CutLaunch>(kernel, some_domains));
        launches.back()->CutAtRandom(random);
        need_bytes = std::max(need_bytes, launches.back()->NeedBytes());
    }
    const int64_t arena_bytes =
        random->chance(20) ? need_bytes : random->number(need_bytes, all_bytes + need_bytes);
    Resident resident(arena_bytes, some_domains, internal);
    ResidentMemory memory(arena_bytes);
    std::vector<HostArray> host, right;
    for (size_t a = 0; a < some_domains.size(); a++) {
        host.emplace_back(domain_of(some_domains[a]));
        for (uint64_t &element : host.back().element)
            element = static_cast<uint64_t>(random->number(1, 1000000));
        right.push_back(host.back());
        if (internal[a])
            std::fill(right.back().element.begin(), right.back().element.end(), 0);
    }
    const polytile_link *link = random->chance(50) ? &polytile_link_default : nullptr;
    std::vector<bool> dropped(some_domains.size());
    const auto drop_some = [&](size_t next_launch, std::vector<pti_step> *steps) {
        for (size_t a = 0; a < dropped.size(); a++)
            if (!dropped[a] && random->chance(20) &&
                std::all_of(
                    launches.begin() + static_cast<std::ptrdiff_t>(next_launch), launches.end(),
                    [&](const auto &launch) { return !launch->Uses(static_cast<int>(a)); })) {
                steps->push_back(Drop(static_cast<int>(a)));
                dropped[a] = true;
            }
    };
    Exchanges exchange(&host, &right, &dropped, internal, random);
    for (size_t k = 0; k < launches.size();) {
        std::vector<pti_step> steps;
        if (exchanges)
            exchange.Behind(resident.get(), &steps);
        for (int64_t n = random->number(1, 5); n > 0 && k < launches.size(); n--, k++) {
            steps.push_back(launches[k]->Step());
            run_at_once(launches[k]->instance(), launches[k]->array, &right);
            if (random->chance(15))
                steps.push_back(Flush(static_cast<int>(random->number(0, 7))));
            drop_some(k + 1, &steps);
            if (exchanges)
                exchange.Among(&steps);
        }
        if (exchanges)
            exchange.AtTheEnd(&steps);
        const pti_schedule *schedule = resident.Plan(steps, link);
        ASSERT_EQ(memory.Run(*schedule, &host, random), "");
    }
    std::vector<pti_step> flushes;
    if (exchanges)
        exchange.Behind(resident.get(), &flushes);
    for (int a = 0; a < 8; a++)
        flushes.push_back(Flush(a));
    EXPECT_FALSE(std::any_of(flushes.begin(), flushes.end(), [&](const pti_step &step) {
        return step.kind == PTI_STEP_FLUSH && dropped[static_cast<size_t>(step.position)] &&
               pti_residency_is_dirty(resident.get(), step.position);
    }));
    const pti_schedule *schedule = resident.Plan(flushes, link);
    ASSERT_EQ(memory.Run(*schedule, &host, random), "");
    EXPECT_EQ(schedule->n_after, 0);
    for (size_t a = 0; a < host.size(); a++) {
        if (!internal[a] && !dropped[a]) {
            ASSERT_EQ(host[a].element, right[a].element) << "array " << a;
        }
    }
}

TEST(Residency, GivesWhatRunningEveryLaunchAtOnceGives) {
    const uint64_t seed = test_seed("Residency.GivesWhatRunningEveryLaunchAtOnceGives");
    for (int64_t round = 0; round < scaled(400); round++) {
        SCOPED_TRACE(round);
        Random random(seed + static_cast<uint64_t>(round));
        CompareWithRunningAtOnce(&random, false);
        if (HasFailure())
            break;
    }
}

TEST(Residency, GivesTheSameWithFetchesAndInvalidations) {
    const uint64_t seed = test_seed("Residency.GivesTheSameWithFetchesAndInvalidations");
    for (int64_t round = 0; round < scaled(600); round++) {
        SCOPED_TRACE(round);
        Random random(seed + static_cast<uint64_t>(round));
        CompareWithRunningAtOnce(&random, true);
        if (HasFailure())
            break;
    }
}

TEST(Residency, FetchesMoveWhatIsNewerOnceAndKeepIt) {
    const std::vector<std::string> domains = {"100", "100"};
    Resident resident(1 << 20, domains);
    CutLaunch copy({"copy[i]: in x[i]; out y[i]", "10:89", {{"x", 0}, {"y", 1}}}, domains);
    const BoxSet ends({"0:19", "80:99"}), all({"0:99"});
    resident.Plan({copy.Step(), Fetch(0, all.boxes), Fetch(1, ends.boxes)});
    EXPECT_EQ(resident.d2h_bytes, 20 * 8) << "of x nothing, of y what was written";
    EXPECT_TRUE(pti_residency_is_dirty(resident.get(), 1));
    resident.Plan({Fetch(1, ends.boxes)});
    EXPECT_EQ(resident.d2h_bytes, 20 * 8);
    resident.Plan({Fetch(1, all.boxes), copy.Step()});
    EXPECT_EQ(resident.d2h_bytes, 80 * 8);
    EXPECT_EQ(resident.h2d_bytes, 80 * 8);
}

TEST(Residency, InvalidatedElementsAreUploadedAgainAndNeverComeBack) {
    const std::vector<std::string> domains = {"100"};
    Resident resident(1 << 20, domains);
    CutLaunch increase({"increase[i]: inout x[i]", "100", {{"x", 0}}}, domains);
    const BoxSet ends({"0:0", "99:99"}), all({"0:99"});
    resident.Plan({increase.Step()});
    resident.Plan({Renew(0, ends.boxes), increase.Step()});
    EXPECT_EQ(resident.h2d_bytes, 102 * 8);
    EXPECT_EQ(resident.d2h_bytes, 0);
    resident.Plan({Renew(0, ends.boxes), Flush(0)});
    EXPECT_EQ(resident.d2h_bytes, 98 * 8);
    resident.Plan({increase.Step(), Renew(0, all.boxes)});
    EXPECT_FALSE(pti_residency_is_dirty(resident.get(), 0));
}

TEST(Residency, InvalidatedElementsOfInternalArraysCountAsWritten) {
    const std::vector<std::string> domains = {"100", "100"};
    Resident resident(1 << 20, domains, {true, false});
    CutLaunch copy({"copy[i]: in x[i]; out y[i]", "100", {{"x", 0}, {"y", 1}}}, domains);
    const BoxSet some({"10:19"});
    resident.Plan({Renew(0, some.boxes), copy.Step()});
    EXPECT_EQ(resident.h2d_bytes, 10 * 8);
    pti_residency_forget(resident.get());
    EXPECT_EQ(pti_boxes_count(pti_residency_unwritten(resident.get(), 0)), 90);
}

/** The checker sees what a invalidation makes old, and that nothing is old without one. */
TEST(Residency, InvalidationsAreChecked) {
    const std::vector<std::string> domains = {"100"};
    Resident resident(1 << 20, domains);
    CutLaunch increase({"increase[i]: inout x[i]", "100", {{"x", 0}}}, domains);
    const BoxSet first({"0:0"});
    const pti_schedule *schedule =
        resident.Plan({increase.Step(), Renew(0, first.boxes), increase.Step()});
    ASSERT_EQ(schedule->n_invalidations, 1);
    const auto says = [](const pti_schedule &of) {
        pti_text why = {};
        const bool holds = pti_schedule_check(&of, &why);
        const std::string text = holds ? "" : why.data;
        pti_text_free(&why);
        return text;
    };
    pti_schedule without = *schedule;
    without.n_invalidations = 0;
    EXPECT_NE(says(without).find("the host's version is out of date"), std::string::npos);
    pti_invalidation changed = schedule->invalidation[0];
    pti_schedule with = *schedule;
    with.invalidation = &changed;
    changed.first_op = schedule->n_ops;
    EXPECT_NE(says(with).find("the host's version is out of date"), std::string::npos);
    changed.first_op++;
    EXPECT_NE(says(with).find("out of order or not there"), std::string::npos);
    changed = schedule->invalidation[0];
    changed.operand = 1;
    EXPECT_NE(says(with).find("which there is not"), std::string::npos);
    const BoxSet more({"0:1"}), outside({"0:100"});
    changed = schedule->invalidation[0];
    changed.boxes = more.boxes;
    EXPECT_NE(says(with).find("is read but its newest version is not all there"),
              std::string::npos);
    changed.boxes = outside.boxes;
    EXPECT_NE(says(with).find("is not in array0"), std::string::npos);
}

/** Two rows a step come and two go, whatever lies between, and nothing is planned for that. */
TEST(Residency, StencilStepsThatExchangeRowsMoveThoseAndAreKept) {
    const std::vector<std::string> domains = {"100x50", "100x50"};
    Resident resident(1 << 20, domains);
    const char *star = "star[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";
    CutLaunch there({star, "1:98, 1:48", {{"A", 0}, {"B", 1}}}, domains);
    CutLaunch back({star, "1:98, 1:48", {{"A", 1}, {"B", 0}}}, domains);
    const BoxSet sent({"1:1, 1:48", "98:98, 1:48"}), received({"0:0, 0:49", "99:99, 0:49"});
    const BoxSet others({"1:1, 1:47", "98:98, 1:47"});
    const auto step = [&](bool is_there, const BoxSet &fetched) {
        resident.Plan({Renew(is_there ? 0 : 1, received.boxes),
                       is_there ? there.Step(1) : back.Step(2),
                       Fetch(is_there ? 1 : 0, fetched.boxes)});
    };
    for (int k = 0; k < 10; k++)
        step(k % 2 == 0, sent);
    const int64_t n_hits = pti_residency_n_hits(resident.get());
    resident.h2d_bytes = resident.d2h_bytes = 0;
    for (int k = 0; k < 10; k++)
        step(k % 2 == 0, sent);
    EXPECT_EQ(resident.h2d_bytes, 10 * 2 * 48 * 8);
    EXPECT_EQ(resident.d2h_bytes, 10 * 2 * 48 * 8);
    EXPECT_EQ(pti_residency_n_hits(resident.get()) - n_hits, 10);
    resident.d2h_bytes = 0;
    step(true, others);
    EXPECT_EQ(resident.d2h_bytes, 2 * 47 * 8) << "of other elements it is another plan";
}

} // namespace
