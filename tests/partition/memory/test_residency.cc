#include "partition/memory/resident.h"

#include <ctime>

/* What moves between launches, what stays, and in which order. */

namespace {

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
