#include "partition/memory/resident.h"

#include <chrono>
#include <functional>

#include "support/scale.h"

extern "C" {
#include "partition/memory/resident_image.h"
}

namespace {

bool SameBox(const polytile_domain &a, const polytile_domain &b) {
    bool same = a.n_dims == b.n_dims;
    for (int d = 0; d < a.n_dims && same; d++)
        same = a.range[d].lo == b.range[d].lo && a.range[d].hi == b.range[d].hi &&
               a.range[d].step == b.range[d].step;
    return same;
}

bool SameSet(const pti_boxes &a, const pti_boxes &b) {
    return std::equal(a.box, a.box + a.n_boxes, b.box, b.box + b.n_boxes, SameBox);
}

bool SameHolding(const pti_holding &a, const pti_holding &b) {
    return a.placement == b.placement && SameSet(a.valid, b.valid) && SameSet(a.dirty, b.dirty);
}

bool SamePlacement(const pti_placement &a, const pti_placement &b) {
    return a.operand == b.operand && a.offset_bytes == b.offset_bytes &&
           SameBox(a.layout.hull, b.layout.hull);
}

bool SameOp(const pti_op &a, const pti_op &b) {
    return a.kind == b.kind && a.launch == b.launch && a.superblock == b.superblock &&
           a.placement == b.placement && a.source_placement == b.source_placement &&
           a.first_wait == b.first_wait && a.n_waits == b.n_waits && a.bytes == b.bytes &&
           SameBox(a.box, b.box);
}

bool SameLaunch(const pti_schedule_launch &a, const pti_schedule_launch &b) {
    return a.call.instance == b.call.instance && a.first_superblock == b.first_superblock &&
           a.n_superblocks == b.n_superblocks && a.first_placement == b.first_placement &&
           std::equal(a.call.array, a.call.array + a.call.instance->n_operands, b.call.array);
}

bool SameInvalidation(const pti_invalidation &a, const pti_invalidation &b) {
    return a.operand == b.operand && a.first_op == b.first_op && SameSet(a.boxes, b.boxes);
}

template <class T, class Same>
bool SameList(const T *a, int64_t n_a, const T *b, int64_t n_b, Same same) {
    return std::equal(a, a + n_a, b, b + n_b, same);
}

/** What differs between two schedules of residencies with the same arrays; "" if nothing. */
std::string DifferenceOf(const pti_schedule &a, const pti_schedule &b) {
    const int64_t n_arrays = a.instance->n_operands;
    if (std::string(a.instance->kernel_name) != b.instance->kernel_name)
        return "names";
    if (!SameList(a.launch, a.n_launches, b.launch, b.n_launches, SameLaunch))
        return "launches";
    if (!SameList(a.superblock, a.n_superblocks, b.superblock, b.n_superblocks, SameBox))
        return "superblocks";
    if (!SameList(a.placement, a.n_placements, b.placement, b.n_placements, SamePlacement))
        return "placements";
    if (!std::equal(a.launch_placement, a.launch_placement + a.n_launch_placements,
                    b.launch_placement, b.launch_placement + b.n_launch_placements))
        return "launches' placements";
    if (!SameList(a.op, a.n_ops, b.op, b.n_ops, SameOp))
        return "operations";
    if (!std::equal(a.wait, a.wait + a.n_waits, b.wait, b.wait + b.n_waits))
        return "waits";
    if (!SameList(a.invalidation, a.n_invalidations, b.invalidation, b.n_invalidations,
                  SameInvalidation))
        return "invalidations";
    if (!SameList(a.before, a.n_before, b.before, b.n_before, SameHolding))
        return "what is resident before";
    if (!SameList(a.after, a.n_after, b.after, b.n_after, SameHolding))
        return "what is resident after";
    if ((a.unwritten == nullptr) != (b.unwritten == nullptr) ||
        (a.unwritten != nullptr &&
         !SameList(a.unwritten, n_arrays, b.unwritten, n_arrays, SameSet)))
        return "what is unwritten";
    return a.arena_bytes == b.arena_bytes ? "" : "arenas";
}

int64_t Hits(Resident *resident) {
    return pti_residency_n_hits(resident->get());
}

/** A launch that keeps its number as long as it is cut in the same way. */
struct NumberedLaunch {
    std::unique_ptr<CutLaunch> launch;
    int64_t serial;
};

/** Two residencies, of which one keeps plans, go through the same. */
class Twins {
  public:
    Twins(int64_t arena_bytes, const std::vector<bool> &internal, int64_t most_bytes,
          Random *random)
        : keeping_(arena_bytes, some_domains, internal),
          plain_(arena_bytes, some_domains, internal), memory_(2 * arena_bytes),
          internal_(internal), random_(random) {
        pti_residency_limit_plans(keeping_.get(), most_bytes);
        pti_residency_limit_plans(plain_.get(), 0);
        keeping_.get()->plans.cheap_superblocks = 0;
        for (size_t a = 0; a < some_domains.size(); a++) {
            host_.emplace_back(domain_of(some_domains[a]));
            for (uint64_t &element : host_.back().element)
                element = static_cast<uint64_t>(random->number(1, 1000000));
            right_.push_back(host_.back());
            if (internal[a])
                std::fill(right_.back().element.begin(), right_.back().element.end(), 0);
        }
    }

    void Run(const std::vector<pti_step> &steps, const polytile_link *link) {
        const pti_schedule *kept = keeping_.Plan(steps, link);
        const pti_schedule *planned = plain_.Plan(steps, link);
        if (n_moved() == 0) {
            ASSERT_EQ(DifferenceOf(*kept, *planned), "");
        }
        ASSERT_EQ(memory_.Run(*kept, &host_, random_), "");
        for (const pti_step &step : steps)
            if (step.kind == PTI_STEP_LAUNCH)
                run_at_once(*step.call.instance,
                            std::vector<int>(step.call.array,
                                             step.call.array + step.call.instance->n_operands),
                            &right_);
        for (int a = 0; a < static_cast<int>(some_domains.size()) && n_moved() == 0; a++)
            ASSERT_EQ(pti_residency_is_dirty(keeping_.get(), a),
                      pti_residency_is_dirty(plain_.get(), a));
        ASSERT_LE(keeping_.get()->plans.bytes, std::max<int64_t>(most_bytes(), 1));
    }

    void FlushAll() {
        std::vector<pti_step> flushes;
        for (int a = 0; a < static_cast<int>(some_domains.size()); a++)
            flushes.push_back(Flush(a));
        Run(flushes, nullptr);
    }

    /** Everything that may happen between windows. */
    void Disturb(int64_t arena_bytes) {
        FlushAll();
        const int a = static_cast<int>(random_->number(0, 7));
        const int64_t kind = random_->number(0, 2);
        for (Resident *resident : {&keeping_, &plain_}) {
            if (kind == 0)
                pti_residency_forget(resident->get());
            else if (kind == 1)
                pti_residency_resize(resident->get(), arena_bytes);
            else
                AddAgain(resident, a);
        }
        if (kind == 2 && internal_[static_cast<size_t>(a)])
            std::fill(right_[static_cast<size_t>(a)].element.begin(),
                      right_[static_cast<size_t>(a)].element.end(), 0);
    }

    void ExpectRight() {
        for (size_t a = 0; a < host_.size(); a++) {
            if (!internal_[a]) {
                ASSERT_EQ(host_[a].element, right_[a].element) << "array " << a;
            }
        }
    }

    int64_t n_hits() { return Hits(&keeping_); }
    int64_t n_moved() { return keeping_.get()->plans.n_moved; }
    int64_t bytes() { return keeping_.h2d_bytes + keeping_.d2h_bytes; }
    int64_t plain_bytes() { return plain_.h2d_bytes + plain_.d2h_bytes; }
    int64_t n_plain_hits() { return Hits(&plain_); }

  private:
    int64_t most_bytes() { return keeping_.get()->plans.most_bytes; }

    void AddAgain(Resident *resident, int a) {
        static char name[] = "again";
        const pti_resident_array array = {name,
                                          POLYTILE_F64,
                                          8,
                                          domain_of(some_domains[static_cast<size_t>(a)]),
                                          internal_[static_cast<size_t>(a)],
                                          false,
                                          {}};
        pti_residency_remove(resident->get(), a);
        ASSERT_EQ(pti_residency_add(resident->get(), &array), a);
    }

    Resident keeping_, plain_;
    ResidentMemory memory_;
    std::vector<bool> internal_;
    std::vector<HostArray> host_, right_;
    Random *random_;
};

/** Elements that come to the host, and are taken from there then. */
struct Exchange {
    int array;
    bool renews;
    std::unique_ptr<BoxSet> set;

    Exchange(const std::vector<bool> &internal, Random *random)
        : array(static_cast<int>(random->number(0, 7))),
          renews(!internal[static_cast<size_t>(array)] && random->chance(60)),
          set(std::make_unique<BoxSet>()) {
        for (int64_t n = random->number(1, 2); n > 0; n--) {
            polytile_domain box = domain_of(some_domains[static_cast<size_t>(array)]);
            polytile_range &range = box.range[random->number(0, box.n_dims - 1)];
            range.lo = random->number(range.lo, range.hi);
            range.hi = random->number(range.lo, range.hi);
            set->Add(box);
        }
    }

    void Append(std::vector<pti_step> *steps) const {
        steps->push_back(Fetch(array, set->boxes));
        if (renews)
            steps->push_back(Renew(array, set->boxes));
    }
};

struct Sums {
    int64_t n_hits, n_moved, bytes, plain_bytes;
};

/** Few windows again and again. */
void CompareWithPlanningAnew(Random *random, Sums *sums) {
    std::vector<NumberedLaunch> launches;
    std::vector<bool> internal;
    int64_t need_bytes = 256, all_bytes = 0, n_serials = 0;
    for (const std::string &text : some_domains) {
        const polytile_domain domain = domain_of(text);
        all_bytes += (pti_box_count(&domain) * 8 + 255) / 256 * 256;
        internal.push_back(random->chance(25));
    }
    for (int64_t n = random->number(1, 5); n > 0; n--) {
        const Kernel &kernel = some_kernels[static_cast<size_t>(
            random->number(0, static_cast<int64_t>(some_kernels.size()) - 1))];
        launches.push_back({std::make_unique<CutLaunch>(kernel, some_domains), ++n_serials});
        launches.back().launch->CutAtRandom(random);
        need_bytes = std::max(need_bytes, launches.back().launch->NeedBytes());
    }
    std::vector<Exchange> exchanges;
    for (int e = 0; e < 3; e++)
        exchanges.emplace_back(internal, random);
    const int first_exchange = 1000;
    std::vector<std::vector<int>> windows; /* launches, exchanges, or ~array to flush */
    for (int64_t n = random->number(1, 3); n > 0; n--) {
        windows.emplace_back();
        for (int64_t s = random->number(1, 3); s > 0; s--) {
            if (random->chance(30))
                windows.back().push_back(first_exchange + static_cast<int>(random->number(0, 2)));
            windows.back().push_back(random->chance(10)
                                         ? ~static_cast<int>(random->number(0, 7))
                                         : static_cast<int>(random->number(
                                               0, static_cast<int64_t>(launches.size()) - 1)));
        }
    }
    const int64_t arena_bytes =
        random->chance(20) ? need_bytes : random->number(need_bytes, all_bytes + need_bytes);
    Twins twins(arena_bytes, internal, random->one_of({PTI_RESIDENT_PLANS_BYTES, 100000, 1 << 20}),
                random);
    const polytile_link *link = random->chance(50) ? &polytile_link_default : nullptr;
    const bool in_turn = random->chance(70);
    for (size_t k = 0; k < 40 && !testing::Test::HasFatalFailure(); k++) {
        const size_t w =
            in_turn
                ? k % windows.size()
                : static_cast<size_t>(random->number(0, static_cast<int64_t>(windows.size()) - 1));
        std::vector<pti_step> steps;
        for (int s : windows[w]) {
            if (s >= first_exchange)
                exchanges[static_cast<size_t>(s - first_exchange)].Append(&steps);
            else
                steps.push_back(s < 0 ? Flush(~s)
                                      : launches[static_cast<size_t>(s)].launch->Step(
                                            launches[static_cast<size_t>(s)].serial));
        }
        twins.Run(steps, link);
        if (random->chance(3))
            twins.Disturb(random->number(need_bytes, arena_bytes));
        if (random->chance(3)) {
            NumberedLaunch &cut = launches[static_cast<size_t>(
                random->number(0, static_cast<int64_t>(launches.size()) - 1))];
            std::reverse(cut.launch->superblocks.begin(), cut.launch->superblocks.end());
            cut.serial = random->chance(80) ? ++n_serials : 0;
        }
    }
    twins.FlushAll();
    twins.ExpectRight();
    EXPECT_EQ(twins.n_plain_hits(), 0);
    sums->n_hits += twins.n_hits();
    sums->n_moved += twins.n_moved();
    sums->bytes += twins.bytes();
    sums->plain_bytes += twins.plain_bytes();
}

TEST(ResidentCache, GivesTheSchedulesOfPlanningAnew) {
    const uint64_t seed = test_seed("ResidentCache.GivesTheSchedulesOfPlanningAnew");
    const int64_t fewest_for_averages = 20;
    const int64_t n_rounds = std::max(scaled(60), fewest_for_averages);
    Sums sums = {};
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        SCOPED_TRACE(round);
        Random random(seed + static_cast<uint64_t>(round));
        CompareWithPlanningAnew(&random, &sums);
    }
    const double n = static_cast<double>(n_rounds);
    const double ratio = static_cast<double>(sums.bytes) / static_cast<double>(sums.plain_bytes);
    std::printf("%.1f of about 40 windows were kept, %.1f of them moved; %.4f of the bytes\n",
                static_cast<double>(sums.n_hits) / n, static_cast<double>(sums.n_moved) / n, ratio);
    EXPECT_GT(sums.n_hits, 5 * n_rounds);
    EXPECT_LT(ratio, 1.05);
}

/** Sweeps over data twice the arena, each alone: after how many all further ones are hits. */
int FirstOfAllHits(const Kernel &there, const Kernel &back, const std::vector<std::string> &domains,
                   int64_t threads_each, int64_t arena_bytes) {
    const int n_sweeps = 40;
    Resident resident(arena_bytes, domains);
    CutLaunch forth(there, domains), again(back, domains);
    forth.CutInPieces(threads_each);
    again.CutInPieces(threads_each);
    int first = 0;
    for (int k = 0; k < n_sweeps; k++) {
        const int64_t n_hits = Hits(&resident);
        resident.Plan({k % 2 == 0 ? forth.Step(1) : again.Step(2)});
        if (Hits(&resident) == n_hits)
            first = k + 1;
    }
    return first;
}

const int64_t n_elements = 64 * 1024;
const std::string all_elements = std::to_string(n_elements);
const std::vector<std::string> one_array = {all_elements},
                               two_arrays = {all_elements, all_elements};
const Kernel increase = {"increase[i]: inout x[i]", all_elements.c_str(), {{"x", 0}}};
const Kernel copy = {"copy[i]: in x[i]; out y[i]", all_elements.c_str(), {{"x", 0}, {"y", 1}}};

TEST(ResidentCache, FindsSweepsThatRepeatThemselves) {
    const std::string inner = "1:" + std::to_string(n_elements - 2);
    const char *blur = "blur[i]: in x[i-1:i+1]; out y[i]";
    const Kernel there = {blur, inner.c_str(), {{"x", 0}, {"y", 1}}};
    const Kernel back = {blur, inner.c_str(), {{"x", 1}, {"y", 0}}};
    const int64_t bytes = n_elements * 8;
    EXPECT_LE(FirstOfAllHits(increase, increase, one_array, 1024, bytes / 2), 4);
    EXPECT_LE(FirstOfAllHits(copy, copy, two_arrays, 1024, bytes), 6);
    EXPECT_LE(FirstOfAllHits(there, back, two_arrays, 1024, bytes), 10);
    const int64_t eighth = n_elements / PTI_CHEAP_SUPERBLOCKS;
    EXPECT_LE(FirstOfAllHits(increase, increase, one_array, eighth, bytes), 3);
    EXPECT_LE(FirstOfAllHits(copy, copy, two_arrays, eighth, 2 * bytes), 3);
    EXPECT_LE(FirstOfAllHits(there, back, two_arrays, eighth, 2 * bytes), 12);
}

/** A launch of one superblock is planned sooner than what is resident is looked at. */
TEST(ResidentCache, KeepsCheapWindowsThatComeOften) {
    Resident resident(n_elements * 8, one_array);
    CutLaunch launch(increase, one_array);
    for (int k = 1; k < PTI_CHEAP_TIMES; k++) {
        resident.Plan({launch.Step(1)});
        EXPECT_EQ(resident.get()->plans.n_transitions, 0);
        EXPECT_EQ(resident.get()->plans.at, nullptr);
    }
    resident.Plan({launch.Step(1)});
    EXPECT_EQ(resident.get()->plans.n_transitions, 1);
    EXPECT_EQ(Hits(&resident), 0);
    for (int k = 0; k < 4; k++)
        resident.Plan({launch.Step(1)});
    EXPECT_GE(Hits(&resident), 3);
    const int64_t n_hits = Hits(&resident);
    resident.Plan({launch.Step(2)});
    resident.Plan({Flush(0)});
    EXPECT_EQ(Hits(&resident), n_hits) << "of another window";
    resident.Plan({launch.Step(1)});
    EXPECT_GT(resident.get()->plans.n_transitions, 0) << "an empty device is another snapshot";
}

/** A residency of sweeps that are hits. */
class ResidentCacheHits : public testing::Test {
  protected:
    ResidentCacheHits() : resident(n_elements * 4, one_array), launch(increase, one_array) {
        launch.CutInPieces(1024);
        for (int k = 0; k < 10; k++)
            resident.Plan({launch.Step(1)});
        EXPECT_TRUE(IsHit({launch.Step(1)}));
    }

    bool IsHit(const std::vector<pti_step> &steps, const polytile_link *link = nullptr) {
        const int64_t n_hits = Hits(&resident);
        resident.Plan(steps, link);
        return Hits(&resident) > n_hits;
    }

    Resident resident;
    CutLaunch launch;
};

TEST_F(ResidentCacheHits, AreOfTheSameStepsAndLink) {
    EXPECT_FALSE(IsHit({launch.Step(1), launch.Step(1)}));
    for (int k = 0; k < 10; k++)
        resident.Plan({launch.Step(1)});
    EXPECT_TRUE(IsHit({launch.Step(1)}));
    EXPECT_FALSE(IsHit({launch.Step(2)})) << "another launch";
    EXPECT_FALSE(IsHit({launch.Step(0)})) << "without a number";
    EXPECT_FALSE(IsHit({launch.Step(0)}));
    EXPECT_FALSE(IsHit({launch.Step(1)}, &polytile_link_default));
    polytile_link slow = polytile_link_default;
    slow.upload_bytes_per_s /= 2;
    for (int k = 0; k < 10; k++)
        resident.Plan({launch.Step(1)}, &polytile_link_default);
    EXPECT_TRUE(IsHit({launch.Step(1)}, &polytile_link_default));
    EXPECT_FALSE(IsHit({launch.Step(1)}, &slow));
    EXPECT_FALSE(IsHit({Flush(0)}));
}

TEST_F(ResidentCacheHits, EndWithWhatTheyDependOn) {
    static char name[] = "another";
    const pti_resident_array another = {name, POLYTILE_F64, 8, domain_of("1000"), false, false, {}};
    const std::vector<std::function<void(pti_residency *)>> changes = {
        [&](pti_residency *of) { EXPECT_EQ(pti_residency_add(of, &another), 1); },
        [](pti_residency *of) { pti_residency_resize(of, n_elements * 4 + 4096); },
        [](pti_residency *of) { pti_residency_forget(of); },
        [](pti_residency *of) { pti_residency_limit_plans(of, 1 << 20); }};
    for (const auto &change : changes) {
        resident.Plan({Flush(0)});
        change(resident.get());
        EXPECT_EQ(resident.get()->plans.n_transitions, 0);
        EXPECT_FALSE(IsHit({launch.Step(1)}));
        for (int k = 0; k < 10; k++)
            resident.Plan({launch.Step(1)});
        EXPECT_TRUE(IsHit({launch.Step(1)}));
    }
}

/** An array that comes again at its position goes on with the plans that there were, and so does
 * one of its shape; of any other shape it does not. */
TEST_F(ResidentCacheHits, StayWhileAnArrayIsAway) {
    static char name[] = "another";
    pti_residency *of = resident.get();
    const pti_resident_array same = {name,  POLYTILE_F64, 8, domain_of(all_elements),
                                     false, true,         {}};
    const pti_resident_array other = {name,  POLYTILE_F32, 4, domain_of(all_elements),
                                      false, true,         {}};
    const std::vector<pti_step> there_and_home = {launch.Step(1), Flush(0)};
    for (int k = 0; k < 10; k++)
        resident.Plan(there_and_home);
    EXPECT_TRUE(IsHit(there_and_home));
    for (int k = 0; k < 3; k++) {
        pti_residency_remove(of, 0);
        EXPECT_TRUE(pti_residency_all_fit(of)) << "nothing is there";
        EXPECT_EQ(pti_residency_add(of, &same), 0);
        EXPECT_TRUE(pti_residency_all_fit(of)) << "no launch uses it yet";
        pti_residency_use(of, 0);
        EXPECT_FALSE(pti_residency_all_fit(of));
        EXPECT_TRUE(IsHit(there_and_home));
    }
    pti_residency_remove(of, 0);
    EXPECT_GT(of->plans.n_transitions, 0);
    EXPECT_EQ(pti_residency_add(of, &other), 0);
    EXPECT_EQ(of->plans.n_transitions, 0);
    pti_residency_remove(of, 0);
    EXPECT_EQ(pti_residency_add(of, &same), 0);
    EXPECT_FALSE(IsHit(there_and_home));
    for (int k = 0; k < 10; k++)
        resident.Plan(there_and_home);
    EXPECT_TRUE(IsHit(there_and_home));
    pti_resident_array shared = same;
    shared.exclusive = domain_of("0:99");
    pti_residency_remove(of, 0);
    EXPECT_EQ(pti_residency_add(of, &shared), 0);
    EXPECT_EQ(of->plans.n_transitions, 0) << "others write some of it";
}

/** What is resident after a hit is what is changed next. */
TEST_F(ResidentCacheHits, LeaveWhatIsResident) {
    EXPECT_TRUE(pti_residency_is_dirty(resident.get(), 0));
    const int64_t d2h_bytes = resident.d2h_bytes;
    const pti_schedule *schedule = resident.Plan({Flush(0)});
    EXPECT_GT(schedule->n_before, 0);
    EXPECT_EQ(schedule->n_after, 0);
    EXPECT_GT(resident.d2h_bytes, d2h_bytes);
    EXPECT_FALSE(pti_residency_is_dirty(resident.get(), 0));
}

/** More windows than are kept: those used last stay. */
TEST(ResidentCache, LetsTheLeastRecentlyUsedGo) {
    Resident resident(n_elements * 8, one_array);
    CutLaunch launch(increase, one_array);
    launch.CutInPieces(n_elements / PTI_CHEAP_SUPERBLOCKS);
    resident.Plan({launch.Step(1)});
    for (int64_t k = 1; k <= 3 * PTI_MAX_TRANSITIONS; k++) {
        resident.Plan({launch.Step(k)});
        const int64_t n_hits = Hits(&resident);
        resident.Plan({launch.Step(1)});
        EXPECT_EQ(Hits(&resident), n_hits + 1);
        EXPECT_LE(resident.get()->plans.n_transitions, PTI_MAX_TRANSITIONS);
    }
}

TEST(ResidentCache, KeepsWithinItsBytes) {
    const int64_t pieces_bytes = 400000;
    Resident resident(n_elements * 4, one_array);
    CutLaunch launch(increase, one_array);
    launch.CutInPieces(1024);
    for (const int64_t most_bytes : {int64_t{0}, int64_t{1000}, pieces_bytes, 4 * pieces_bytes}) {
        pti_residency_limit_plans(resident.get(), most_bytes);
        for (int64_t k = 0; k < 30; k++) {
            resident.Plan({launch.Step(1 + k % 3)});
            EXPECT_LE(resident.get()->plans.bytes, most_bytes);
        }
    }
    EXPECT_GT(resident.get()->plans.n_transitions, 1);
}

double Seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

TEST(ResidentCache, HitsTakeMicroseconds) {
    const int n_plans = 1000;
    Resident resident(n_elements * 4, one_array);
    CutLaunch launch(increase, one_array);
    launch.CutInPieces(256);
    for (int k = 0; k < 10; k++)
        resident.Plan({launch.Step(1)});
    const pti_step step = launch.Step(1);
    pti_schedule *schedule = nullptr;
    const double start_s = Seconds();
    for (int k = 0; k < n_plans; k++)
        pti_residency_plan(resident.get(), 1, &step, nullptr, &schedule);
    const double each_s = (Seconds() - start_s) / n_plans;
    std::printf("%.2f us a launch of %lld superblocks\n", each_s * 1e6,
                static_cast<long long>(schedule->n_superblocks));
    EXPECT_LT(each_s, 1e-4);
}

} // namespace
