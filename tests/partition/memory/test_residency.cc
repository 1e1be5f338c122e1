#include "partition/memory/resident.h"

#include <ctime>

#include "support/scale.h"

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

TEST(Residency, MovesEachElementOnceIfEverythingFits) {
    const std::vector<std::string> domains = {"1000", "1000"};
    Resident resident(2 * 8192, domains);
    CutLaunch there({"blur[i]: in x[i-1:i+1]; out y[i]", "1:998", {{"x", 0}, {"y", 1}}}, domains);
    CutLaunch back({"blur[i]: in x[i-1:i+1]; out y[i]", "1:998", {{"x", 1}, {"y", 0}}}, domains);
    for (int k = 0; k < 50; k++)
        resident.Plan({there.Step(), back.Step()});
    EXPECT_EQ(resident.h2d_bytes, (1000 + 2) * 8);
    EXPECT_EQ(resident.d2h_bytes, 0);
    EXPECT_TRUE(pti_residency_is_dirty(resident.get(), 0));
    resident.Plan({Flush(0), Flush(1)});
    EXPECT_EQ(resident.h2d_bytes, (1000 + 2) * 8);
    EXPECT_EQ(resident.d2h_bytes, 2 * 998 * 8);
    EXPECT_FALSE(pti_residency_is_dirty(resident.get(), 0));
}

/** The kinds of a schedule's operations, in order. */
std::string KindsOf(const pti_schedule &schedule) {
    std::string kinds;
    for (int64_t k = 0; k < schedule.n_ops; k++)
        kinds += schedule.op[k].kind == PTI_LAUNCH   ? 'l'
                 : schedule.op[k].kind == PTI_UPLOAD ? 'u'
                                                     : '?';
    return kinds;
}

/** Of the second array the first launch writes all but the edge, which the second one reads. */
TEST(Residency, TheEdgeThatTheNextLaunchReadsComesBeforeBoth) {
    const std::vector<std::string> domains = {"1000", "1000"};
    const std::string narrow = "blur[i]: in x[i-1:i+1]; out y[i]",
                      wide = "blur[i]: in x[i-20:i+20]; out y[i]";
    const BoxSet fetched({"5:5"});
    const auto kinds = [&](const std::string &declaration, const char *threads, bool fetches) {
        Resident resident(2 * 8192, domains);
        CutLaunch there({declaration.c_str(), threads, {{"x", 0}, {"y", 1}}}, domains);
        CutLaunch back({declaration.c_str(), threads, {{"x", 1}, {"y", 0}}}, domains);
        std::vector<pti_step> steps = {there.Step(), back.Step(), there.Step()};
        if (fetches)
            steps.insert(steps.begin() + 1, Fetch(0, fetched.boxes));
        return KindsOf(*resident.Plan(steps));
    };
    EXPECT_EQ(kinds(narrow, "1:998", false), "uuulll");
    EXPECT_EQ(kinds(narrow, "1:998", true), "uluull") << "something is between";
    EXPECT_EQ(kinds(wide, "20:979", false), "uluull") << "it is no small part";
}

TEST(Residency, WhatIsBroughtIsThereForLaunchesAfterIt) {
    const std::vector<std::string> domains = {"1000", "1000"};
    for (const bool has_run : {false, true}) {
        Resident resident(2 * 8192, domains);
        CutLaunch there({"blur[i]: in x[i-1:i+1]; out y[i]", "1:998", {{"x", 0}, {"y", 1}}},
                        domains);
        const BoxSet halo({"0:9", "990:999"}), all({"0:999"});
        if (has_run)
            resident.Plan({there.Step()});
        EXPECT_EQ(KindsOf(*resident.Plan({Renew(0, halo.boxes), Bring(0, halo.boxes)})), "uu");
        EXPECT_EQ(KindsOf(*resident.Plan({Bring(0, halo.boxes)})), "");
        EXPECT_EQ(KindsOf(*resident.Plan({there.Step()})), has_run ? "l" : "ul");
        EXPECT_EQ(KindsOf(*resident.Plan({Bring(1, all.boxes)})), "uu");
    }
}

/** The launches that an operation waits for. */
std::vector<int64_t> LaunchesWaitedFor(const pti_schedule &schedule, const pti_op &op) {
    std::vector<int64_t> found;
    for (int w = 0; w < op.n_waits; w++)
        if (schedule.op[schedule.wait[op.first_wait + w]].kind == PTI_LAUNCH)
            found.push_back(schedule.wait[op.first_wait + w]);
    return found;
}

TEST(Residency, SuperblocksInLanesWaitForNoneOfTheirLaunchWhereAllFits) {
    const std::vector<std::string> domains = {"1000", "1000"};
    CutLaunch square({"square[i]: in x[i]; out y[i]", "1000", {{"x", 0}, {"y", 1}}}, domains);
    square.CutInPieces(50);
    square.n_lanes = 4;
    Resident resident(64000, domains);
    const pti_schedule *schedule = resident.Plan({square.Step(), Flush(1)});
    std::map<int, int> n_launches;
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op &op = schedule->op[k];
        if (op.kind != PTI_LAUNCH && op.kind != PTI_UPLOAD)
            continue;
        EXPECT_TRUE(LaunchesWaitedFor(*schedule, op).empty()) << k;
        n_launches[op.lane] += op.kind == PTI_LAUNCH;
    }
    EXPECT_EQ(n_launches, (std::map<int, int>{{0, 5}, {1, 5}, {2, 5}, {3, 5}}));
}

TEST(Residency, LaunchesInLanesWaitForTheOneBeforeAndAreRejectedWithoutThat) {
    const std::vector<std::string> domains = {"1000", "1000"};
    CutLaunch square({"square[i]: in x[i]; out y[i]", "1000", {{"x", 0}, {"y", 1}}}, domains);
    CutLaunch back({"back[i]: in y[i-1:i+1]; out x[i]", "1000", {{"x", 0}, {"y", 1}}}, domains);
    square.CutInPieces(50);
    back.CutInPieces(90);
    square.n_lanes = 4;
    back.n_lanes = 3;
    Resident resident(64000, domains);
    const pti_schedule *schedule = resident.Plan({square.Step(), back.Step(), Flush(0), Flush(1)});
    int n_rejected = 0; /* later ones of a lane come after what its first one waited for */
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        pti_op &op = schedule->op[k];
        pti_text why = {};
        if (op.kind != PTI_LAUNCH || LaunchesWaitedFor(*schedule, op).empty())
            continue;
        EXPECT_EQ(op.launch, 1);
        const int n_waits = op.n_waits;
        op.n_waits = 0;
        const bool is_rejected = !pti_schedule_check(schedule, &why);
        n_rejected += is_rejected;
        EXPECT_EQ(is_rejected, why.data != nullptr && std::string(why.data).find(
                                                          "may run beside") != std::string::npos);
        op.n_waits = n_waits;
        pti_text_free(&why);
    }
    EXPECT_GE(n_rejected, 3);
}

/** Sweeps over data twice the arena; how many times fewer bytes move than of all in each sweep. */
double TimesFewer(const Kernel &there, const Kernel &back, const std::vector<std::string> &domains,
                  int64_t threads_each, int64_t arena_bytes, int64_t sweep_bytes, bool together) {
    const int n_sweeps = 60;
    Resident resident(arena_bytes, domains);
    CutLaunch forth(there, domains), again(back, domains);
    forth.CutInPieces(threads_each);
    again.CutInPieces(threads_each);
    std::vector<pti_step> steps;
    for (int k = 0; k < n_sweeps; k++) {
        steps.push_back(k % 2 == 0 ? forth.Step() : again.Step());
        if (!together) {
            resident.Plan(steps);
            steps.clear();
        }
    }
    for (int a = 0; a < static_cast<int>(domains.size()); a++)
        steps.push_back(Flush(a));
    resident.Plan(steps);
    return static_cast<double>(n_sweeps * sweep_bytes) /
           static_cast<double>(resident.h2d_bytes + resident.d2h_bytes);
}

/** Planned together, sweeps need not bring back what the next one overwrites. Planned alone, what a
 * sweep of ping-pong read is as new as what it wrote, and is brought back before its place is
 * taken.
 */
TEST(Residency, SweepsOverTwiceTheArenaMoveHalf) {
    const int64_t piece = 20480, n = 64 * piece, bytes = n * 8;
    const std::vector<std::string> one = {std::to_string(n)};
    const std::vector<std::string> two = {std::to_string(n), std::to_string(n)};
    const std::string all = std::to_string(n), inner = "1:" + std::to_string(n - 2);
    const Kernel increase = {"increase[i]: inout x[i]", all.c_str(), {{"x", 0}}};
    const Kernel copy = {"copy[i]: in x[i]; out y[i]", all.c_str(), {{"x", 0}, {"y", 1}}};
    const char *blur = "blur[i]: in x[i-1:i+1]; out y[i]";
    const Kernel there = {blur, inner.c_str(), {{"x", 0}, {"y", 1}}};
    const Kernel back = {blur, inner.c_str(), {{"x", 1}, {"y", 0}}};
    for (bool together : {false, true}) {
        SCOPED_TRACE(together ? "in one window" : "each alone");
        EXPECT_GE(TimesFewer(increase, increase, one, piece / 2, bytes / 2, 2 * bytes, together),
                  1.9);
        const double copies = TimesFewer(copy, copy, two, piece, bytes, 2 * bytes, together);
        const double blurs = TimesFewer(there, back, two, piece, bytes, 2 * bytes, together);
        std::printf("copies move %.1f times less, ping-pong %.1f times\n", copies, blurs);
        EXPECT_GE(copies, together ? 8 : 1.9);
        EXPECT_GE(blurs, together ? 4 : 1.7);
    }
}

/** update A -> B and copy B -> A over the interior, n_sweeps of both: the bytes that move. */
int64_t BytesOfTwoKernels(int n_sweeps, int64_t n_rows, int64_t rows_each, int64_t arena_bytes,
                          bool together) {
    const std::string rows = std::to_string(n_rows), grid = rows + "x100";
    const std::vector<std::string> domains = {grid, grid};
    const std::string inner = "1:" + std::to_string(n_rows - 2) + ", 1:98";
    Resident resident(arena_bytes, domains, {false, true});
    CutLaunch update({"update[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
                      inner.c_str(),
                      {{"A", 0}, {"B", 1}}},
                     domains);
    CutLaunch copy({"copy[i, j]: in B[i, j]; out A[i, j]", inner.c_str(), {{"A", 0}, {"B", 1}}},
                   domains);
    update.CutInPieces(rows_each);
    copy.CutInPieces(rows_each);
    std::vector<pti_step> steps;
    for (int k = 0; k < n_sweeps; k++) {
        steps.insert(steps.end(), {update.Step(), copy.Step()});
        if (!together) {
            resident.Plan(steps);
            steps.clear();
        }
    }
    steps.push_back(Flush(0));
    steps.push_back(Drop(1));
    resident.Plan(steps);
    return resident.h2d_bytes + resident.d2h_bytes;
}

/** Of two ping-pong arrays only one is worth keeping: the other is overwritten unread. */
TEST(Residency, UpdateAndCopyOverTwiceTheArenaMoveLittle) {
    const int64_t rows_each = 40, n_rows = 64 * rows_each, array_bytes = n_rows * 100 * 8;
    const int n_sweeps = 30;
    const double all_bytes = 4.0 * n_sweeps * static_cast<double>(array_bytes);
    double times_fewer[2];
    for (bool together : {false, true})
        times_fewer[together] =
            all_bytes / static_cast<double>(
                            BytesOfTwoKernels(n_sweeps, n_rows, rows_each, array_bytes, together));
    std::printf("move %.1f times less in windows of one sweep, %.1f times in one of all\n",
                times_fewer[false], times_fewer[true]);
    EXPECT_GE(times_fewer[false], 1.9);
    EXPECT_GE(times_fewer[true], 4);
}

/** Only the hull of what it writes is known: it is read whole, and comes to the host whole. */
/** As a product whose vector stays, and was made from an array that is never used again. */
TEST(Residency, WhatIsUsedOnceLeavesNoHolesBetweenWhatStays) {
    const int64_t rows_each = 32, n_rows = 64 * rows_each, n_sweeps = 6;
    const int64_t vector_bytes = n_rows * 8, matrix_bytes = 16 * vector_bytes;
    const int64_t part_bytes = matrix_bytes / 4, piece_bytes = 16 * rows_each * 8;
    const std::string rows = std::to_string(n_rows);
    const std::vector<std::string> domains = {rows, rows, std::to_string(16 * n_rows)};
    CutLaunch begin({"begin[i]: in b[i]; out r[i]", rows.c_str(), {{"b", 0}, {"r", 1}}}, domains);
    CutLaunch sweep(
        {"sweep[i]: in V[16*i:16*i+15]; inout r[i]", rows.c_str(), {{"V", 2}, {"r", 1}}}, domains);
    CutLaunch step({"step[i]: inout r[i]", rows.c_str(), {{"r", 1}}}, domains);
    for (CutLaunch *launch : {&begin, &sweep, &step})
        launch->CutInPieces(rows_each);
    Resident resident(vector_bytes + part_bytes, domains);
    std::vector<pti_step> steps = {begin.Step()};
    for (int64_t k = 0; k < n_sweeps; k++) {
        steps.push_back(sweep.Step());
        steps.push_back(step.Step());
    }
    resident.Plan(steps);
    EXPECT_EQ(resident.d2h_bytes, 0);
    EXPECT_LE(resident.h2d_bytes,
              vector_bytes + matrix_bytes +
                  (n_sweeps - 1) * (matrix_bytes - part_bytes + 3 * piece_bytes));
}

TEST(Residency, PartialOperandsGoOnFromWhatWasThere) {
    const std::vector<std::string> domains = {"100x100", "100x100"};
    CutLaunch diagonal({"diagonal[i]: out A[i, i]", "100", {{"A", 0}}}, domains);
    CutLaunch fill({"fill[i, j]: in B[i, j]; out A[i, j]", "100x100", {{"A", 0}, {"B", 1}}},
                   domains);
    ASSERT_TRUE(diagonal.instance().operand[0].partial);
    diagonal.CutInPieces(70);
    fill.CutInPieces(25);
    const int64_t arena_bytes = 60000;
    Resident resident(arena_bytes, domains);
    ResidentMemory memory(arena_bytes);
    std::vector<HostArray> host = {HostArray(domain_of("100x100")),
                                   HostArray(domain_of("100x100"))};
    std::vector<HostArray> right = host;
    Random random(test_seed("Residency.PartialOperandsGoOnFromWhatWasThere"));
    for (CutLaunch *launch : {&fill, &diagonal})
        run_at_once(launch->instance(), launch->array, &right);
    const pti_schedule *schedule =
        resident.Plan({fill.Step(), diagonal.Step(), Flush(0), Flush(1)});
    ASSERT_EQ(memory.Run(*schedule, &host, &random), "");
    EXPECT_EQ(host[0].element, right[0].element);
}

TEST(Residency, SchedulesHaveTheNameOfEachKernelOnce) {
    const std::vector<std::string> domains = {"60"};
    const auto increment = [&](const std::string &name) {
        return CutLaunch({(name + "[i]: inout x[i]").c_str(), "60", {{"x", 0}}}, domains);
    };
    CutLaunch both = increment("scale_and_add"), add = increment("add"), scale = increment("scale");
    Resident resident(10000, domains);
    EXPECT_STREQ(resident.Plan({both.Step(), add.Step(), scale.Step(), add.Step(), both.Step()})
                     ->instance->kernel_name,
                 "scale_and_add, add, scale");
    EXPECT_STREQ(resident.Plan({Flush(0)})->instance->kernel_name, "arrays");
}

TEST(Residency, DroppedArraysAreNotDownloaded) {
    const std::vector<std::string> domains = {"1000", "1000", "1000"};
    CutLaunch copy({"copy[i]: in x[i]; out y[i]", "1000", {{"x", 0}, {"y", 1}}}, domains);
    CutLaunch other({"copy[i]: in x[i]; out y[i]", "1000", {{"x", 0}, {"y", 2}}}, domains);
    for (const int64_t arena_bytes : {8192 * 2, 8192 * 3}) {
        Resident resident(arena_bytes, domains);
        const pti_schedule *schedule = resident.Plan({copy.Step(), Drop(1), other.Step()});
        EXPECT_TRUE(schedule->dropped[1] && !schedule->dropped[0]);
        EXPECT_EQ(resident.d2h_bytes, 0);
        EXPECT_FALSE(pti_residency_is_dirty(resident.get(), 1));
        EXPECT_TRUE(pti_residency_is_dirty(resident.get(), 2));
    }
}

TEST(Residency, OfAnArrayThatIsFlushedNothingIsDiscarded) {
    const std::vector<std::string> domains = {"1000", "1000", "1000"};
    CutLaunch copy({"copy[i]: in x[i]; out y[i]", "1000", {{"x", 0}, {"y", 1}}}, domains);
    CutLaunch other({"copy[i]: in x[i]; out y[i]", "1000", {{"x", 0}, {"y", 2}}}, domains);
    Resident resident(8192 * 2, domains);
    resident.Plan({copy.Step(), other.Step(), Flush(1), copy.Step(), Drop(1), Drop(2)});
    EXPECT_EQ(resident.d2h_bytes, 8000);
}

TEST(Residency, WhatIsForgottenIsBroughtAgain) {
    const std::vector<std::string> domains = {"1000", "1000"};
    CutLaunch add({"add[i]: in x[i]; inout y[i]", "1000", {{"x", 0}, {"y", 1}}}, domains);
    Resident resident(8192 * 2, domains, {false, true});
    resident.Plan({add.Step()});
    EXPECT_EQ(resident.h2d_bytes, 8000);
    EXPECT_TRUE(pti_residency_is_dirty(resident.get(), 1));
    pti_residency_forget(resident.get());
    EXPECT_FALSE(pti_residency_is_dirty(resident.get(), 1));
    const pti_schedule *schedule = resident.Plan({add.Step()});
    EXPECT_EQ(schedule->n_before, 0);
    EXPECT_EQ(pti_boxes_count(&schedule->unwritten[1]), 1000)
        << "of internal arrays nothing is left";
    EXPECT_EQ(resident.h2d_bytes, 2 * 8000);
}

TEST(Residency, AnEmptyArenaIsResized) {
    const std::vector<std::string> domains = {"1000", "1000"};
    CutLaunch copy({"copy[i]: in x[i]; out y[i]", "1000", {{"x", 0}, {"y", 1}}}, domains);
    Resident resident(8192, domains);
    EXPECT_FALSE(pti_residency_all_fit(resident.get()));
    const pti_step step = copy.Step();
    pti_schedule *schedule = nullptr;
    EXPECT_EQ(pti_residency_plan(resident.get(), 1, &step, nullptr, &schedule), POLYTILE_NO_FIT);
    EXPECT_EQ(schedule, nullptr);
    pti_residency_resize(resident.get(), 8192 * 2);
    EXPECT_TRUE(pti_residency_all_fit(resident.get()));
    EXPECT_EQ(resident.Plan({copy.Step(), Flush(0), Flush(1)})->arena_bytes, 8192 * 2);
    pti_residency_resize(resident.get(), 8192);
    copy.CutInPieces(300);
    EXPECT_EQ(resident.Plan({copy.Step()})->arena_bytes, 8192);
}

TEST(Residency, RemovedPositionsAreGivenAgain) {
    const std::vector<std::string> domains = {"1000", "1000", "1000"};
    CutLaunch copy({"copy[i]: in x[i]; out y[i]", "1000", {{"x", 0}, {"y", 2}}}, domains);
    CutLaunch to_new({"copy[i]: in x[i]; out y[i]", "1000", {{"x", 0}, {"y", 1}}}, domains);
    Resident resident(8192 * 3, domains);
    pti_residency_remove(resident.get(), 1);
    EXPECT_STREQ(resident.Plan({copy.Step()})->instance->operand[1].name, "");
    char name[] = "again";
    const pti_resident_array again = {name, POLYTILE_F64, 8, domain_of("1000"), true, false, {}};
    EXPECT_EQ(pti_residency_add(resident.get(), &again), 1);
    const pti_resident_array next = {name, POLYTILE_F64, 8, domain_of("10"), false, false, {}};
    EXPECT_EQ(pti_residency_add(resident.get(), &next), 3);
    const pti_schedule *schedule = resident.Plan({to_new.Step()});
    EXPECT_STREQ(schedule->instance->operand[1].name, "again");
    EXPECT_EQ(pti_boxes_count(&schedule->unwritten[1]), 1000);
    EXPECT_EQ(resident.h2d_bytes, 8000);
}

/** Of this process alone, however busy the machine is. */
double Seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

template <class Act> double SecondsEach(int times, Act act) {
    const double start_s = Seconds();
    for (int k = 0; k < times; k++)
        act();
    return (Seconds() - start_s) / times;
}

/** Between what is read others may be writing what they own. */
TEST(Residency, OneUploadAroundSeveralBoxesBringsNothingThatOthersWrite) {
    const std::vector<std::string> domains = {"100", "100"};
    CutLaunch ends({"ends[i]: in x[i], x[i+90]; out y[i]", "10", {{"x", 0}, {"y", 1}}}, domains);
    polytile_link slow_to_begin = {};
    slow_to_begin.transfer_latency_s = 1;
    slow_to_begin.upload_bytes_per_s = slow_to_begin.duplex_bytes_per_s = 1e9;
    Resident alone(1 << 20, domains);
    alone.Plan({ends.Step()}, &slow_to_begin);
    EXPECT_EQ(alone.h2d_bytes, 100 * 8) << "one upload is faster";
    Resident owner(1 << 20, domains, {}, domain_of("100"));
    owner.Plan({ends.Step()}, &slow_to_begin);
    EXPECT_EQ(owner.h2d_bytes, 100 * 8);
    for (const char *exclusive : {"0:98", "50:99", "0:-1"}) {
        Resident shared(1 << 20, domains, {}, domain_of(exclusive));
        shared.Plan({ends.Step()}, &slow_to_begin);
        EXPECT_EQ(shared.h2d_bytes, 20 * 8) << exclusive;
    }
}

TEST(Residency, PlansInMicroseconds) {
    const std::vector<std::string> domains = {"1310720", "1310720"};
    const Kernel copy = {"copy[i]: in x[i]; out y[i]", "1310720", {{"x", 0}, {"y", 1}}};
    const char *blur = "blur[i]: in x[i-1:i+1]; out y[i]";
    CutLaunch pieces(copy, domains), whole(copy, domains);
    CutLaunch there({blur, "1:1310718", {{"x", 0}, {"y", 1}}}, domains);
    CutLaunch back({blur, "1:1310718", {{"x", 1}, {"y", 0}}}, domains);
    for (CutLaunch *cut : {&pieces, &there, &back})
        cut->CutInPieces(10240);
    Resident small(1310720 * 8, domains), large(4 * 1310720 * 8, domains);
    large.Plan({whole.Step()});
    const int n_plans = 50;
    std::vector<pti_step> window;
    for (int k = 0; k < n_plans; k++)
        window.push_back(k % 2 == 0 ? there.Step() : back.Step());
    const double alone_s =
        SecondsEach(n_plans, [&] { small.Plan({pieces.Step()}, &polytile_link_default, false); });
    const double window_s =
        SecondsEach(1, [&] { small.Plan(window, &polytile_link_default, false); });
    const double resident_s =
        SecondsEach(n_plans, [&] { large.Plan({whole.Step()}, &polytile_link_default, false); });
    std::printf("%.2f us a superblock alone, %.2f us in a window, %.2f us a resident launch\n",
                alone_s / 128 * 1e6, window_s / n_plans / 128 * 1e6, resident_s * 1e6);
    EXPECT_LT(alone_s / 128, 1e-3);
    EXPECT_LT(window_s / n_plans / 128, 1e-3);
    EXPECT_LT(resident_s, 1e-3);
}

} // namespace
