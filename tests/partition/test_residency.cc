#include "partition/resident.h"

#include <ctime>

#include "support/scale.h"

namespace {

/** One residency with random windows, run on bytes and at once. */
void CompareWithRunningAtOnce(Random *random) {
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
    for (size_t k = 0; k < launches.size();) {
        std::vector<pti_step> steps;
        for (int64_t n = random->number(1, 5); n > 0 && k < launches.size(); n--, k++) {
            steps.push_back(launches[k]->Step());
            run_at_once(launches[k]->instance(), launches[k]->array, &right);
            if (random->chance(15))
                steps.push_back(Flush(static_cast<int>(random->number(0, 7))));
            drop_some(k + 1, &steps);
        }
        const pti_schedule *schedule = resident.Plan(steps, link);
        ASSERT_EQ(memory.Run(*schedule, &host, random), "");
    }
    std::vector<pti_step> flushes;
    for (int a = 0; a < 8; a++)
        flushes.push_back(Flush(a));
    EXPECT_FALSE(std::any_of(flushes.begin(), flushes.end(), [&](const pti_step &step) {
        return dropped[static_cast<size_t>(step.dropped)] &&
               pti_residency_is_dirty(resident.get(), step.dropped);
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
        CompareWithRunningAtOnce(&random);
        if (HasFailure())
            break;
    }
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
 * sweep of ping-pong read is as new as what it wrote, and is brought back before its place is taken.
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

/** Of two arrays that take turns only one is worth keeping: the other is overwritten unread. */
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

/** Only the hull of what it writes is known: it is read whole, and comes home whole. */
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
    const pti_schedule *schedule = nullptr;
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
    const pti_resident_array again = {name, POLYTILE_F64, 8, domain_of("1000"), true, false};
    EXPECT_EQ(pti_residency_add(resident.get(), &again), 1);
    const pti_resident_array next = {name, POLYTILE_F64, 8, domain_of("10"), false, false};
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
