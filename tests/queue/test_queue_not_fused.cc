#include "queue/twin.h"
#include "support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

/* Launches that cannot be interleaved, or not many of them: they run one after the other, the log
 * says why, and what they compute stays right. */

namespace {

constexpr int64_t extent = 48;
const std::vector<int64_t> square = {extent, extent};
constexpr int64_t square_bytes = 8 * extent * extent;

const GenericSection at = {{0, 0, 0}, {1, 0, 0}};
const GenericSection turned = {{1, 0, 0}, {0, 0, 0}};
const GenericSection rows_around = {{0, -1, 1}, {1, 0, 0}};

std::string device(int64_t memory_bytes) {
    return "host(memory=" + std::to_string(memory_bytes) + "B,threads=1)";
}

/** Run kernels in turn, a number of times, and return what the log says. */
std::string log_of(Twin *twin, const std::vector<int> &step, int n_steps) {
    testing::internal::CaptureStderr();
    twin->pause();
    for (int k = 0; k < n_steps; k++)
        for (const int kernel : step)
            EXPECT_EQ(twin->launch(kernel), POLYTILE_OK) << twin->error();
    twin->finish();
    return testing::internal::GetCapturedStderr();
}

bool has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

/** Kernels over two squares, a line and one element, and why they are not interleaved. */
struct Case {
    const char *name;
    std::vector<std::vector<Twin::Use>> step;
    const char *reason;
};

void PrintTo(const Case &of, std::ostream *out) {
    *out << of.name;
}

enum { A, B, LINE, ELEMENT };

const Case cases[] = {
    {"Transposition",
     {{{POLYTILE_IN, A, {at}}, {POLYTILE_OUT, B, {turned}}},
      {{POLYTILE_IN, B, {at}}, {POLYTILE_OUT, A, {at}}}},
     "generic does not go along the others' slabs in field0"},
    {"TranspositionBehindOthers",
     {{{POLYTILE_IN, A, {at}}, {POLYTILE_OUT, B, {turned}}},
      {{POLYTILE_IN, B, {at}}, {POLYTILE_OUT, A, {at}}},
      {{POLYTILE_IN, A, {at}}, {POLYTILE_OUT, B, {at}}}},
     "launches 2 to 3 of 12 are interleaved; launch 4 of 12, generic, cannot be interleaved with "
     "those "
     "before: generic does not go along the others' slabs in field1"},
    {"FreshReduction",
     {{{POLYTILE_IN, A, {at}}, {POLYTILE_SUM, LINE, {{{0, 0, 0}}}, true}},
      {{POLYTILE_IN, LINE, {{{0, 0, 0}}}}, {POLYTILE_INOUT, A, {at}}}},
     "generic starts a reduction of field2"},
    {"Residual",
     {{{POLYTILE_IN, A, {rows_around}}, {POLYTILE_OUT, B, {at}}},
      {{POLYTILE_IN, B, {at}}, {POLYTILE_MAX, ELEMENT, {{{-1, 0, 0}}}, true}}},
     "generic starts a reduction of field3"},
    {"WritingWhatOthersNeedWhole",
     {{{POLYTILE_IN, LINE, {{{-1, 0, 0}}}}, {POLYTILE_INOUT, A, {at}}},
      {{POLYTILE_IN, A, {at}}, {POLYTILE_SUM, LINE, {{{0, 0, 0}}}}}},
     "generic writes field2"},
    {"OneElementForAll",
     {{{POLYTILE_IN, A, {at}}, {POLYTILE_SUM, ELEMENT, {{{-1, 0, 0}}}}},
      {{POLYTILE_IN, ELEMENT, {{{-1, 0, 0}}}}, {POLYTILE_INOUT, A, {at}}}},
     "generic does not go along the others' slabs in field3"},
};

void make_fields(Twin *twin) {
    twin->add_field(square, 8);
    twin->add_field(square, 8);
    twin->add_field({extent}, 8);
    twin->add_field({1}, 8);
}

class QueueNotFused : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Chains, QueueNotFused, testing::ValuesIn(cases),
                         [](const auto &of) { return of.param.name; });

/** Four steps of a case on a device of half a square, and what the log says of them. */
std::string log_of_steps(const Case &of) {
    Random random(test_seed("QueueNotFused"));
    Twin twin(device(square_bytes / 2), &random);
    make_fields(&twin);
    std::vector<int> step;
    for (const std::vector<Twin::Use> &uses : of.step)
        step.push_back(twin.add_kernel(2, uses));
    const std::string log = log_of(&twin, step, 4);
    EXPECT_EQ(twin.report().n_launches, twin.n_launched());
    return log;
}

TEST_P(QueueNotFused, RunsStepByStepAndTheLogSaysWhy) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    environment.set("POLYTILE_LOG", "info");
    const std::string log = log_of_steps(GetParam());
    EXPECT_TRUE(has(log, "generic: launch")) << log;
    EXPECT_TRUE(has(log, " not fused: ") || has(log, "cannot be interleaved with")) << log;
    EXPECT_TRUE(has(log, GetParam().reason)) << log;
    environment.set("POLYTILE_LOG", nullptr);
    EXPECT_EQ(log_of_steps(GetParam()), "");
}

/** The lines of a log that say which launches are interleaved, or why they are not. */
std::string told_of(const std::string &log) {
    std::string told;
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);)
        if (has(line, "not fused: ") || has(line, " interleaved"))
            told += line + "\n";
    return told;
}

TEST_P(QueueNotFused, APlanOfTheSameLaunchesSaysTheSame) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    Random random(test_seed("QueueNotFused"));
    Twin twin(device(square_bytes / 2), &random);
    make_fields(&twin);
    polytile_launch_options options = {};
    options.plan.strategy = "min-traffic";
    std::vector<int> step;
    for (const std::vector<Twin::Use> &uses : GetParam().step)
        step.push_back(twin.add_kernel(2, uses));
    twin.pause();
    for (int k = 0; k < 4; k++)
        for (const int kernel : step)
            EXPECT_EQ(twin.launch(kernel, twin.widest(kernel), &options), POLYTILE_OK);
    options.plan.limit_bytes = square_bytes / 2;
    testing::internal::CaptureStderr();
    twin.plan(options.plan);
    const std::string planned = told_of(testing::internal::GetCapturedStderr());
    testing::internal::CaptureStderr();
    twin.wait();
    EXPECT_EQ(planned, told_of(testing::internal::GetCapturedStderr()));
    twin.finish();
    EXPECT_NE(planned, "");
}

TEST(QueueNotFused, TheLogNamesTheLaunchThatEndsAChainOfOthers) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    Random random(test_seed("QueueNotFused"));
    Twin twin(device(square_bytes / 2), &random);
    make_fields(&twin);
    const int forth =
        twin.add_kernel(2, {{POLYTILE_IN, A, {rows_around}}, {POLYTILE_OUT, B, {at}}});
    const int back = twin.add_kernel(2, {{POLYTILE_IN, B, {rows_around}}, {POLYTILE_OUT, A, {at}}});
    const int residual =
        twin.add_kernel(2, {{POLYTILE_IN, A, {at}}, {POLYTILE_MAX, ELEMENT, {{{-1, 0, 0}}}, true}});
    const std::string log = log_of(&twin, {forth, back, forth, back, residual}, 2);
    EXPECT_TRUE(
        has(log, "generic: launches 1 to 4 of 10 are interleaved; launch 5 of 10, generic, cannot "
                 "be interleaved with those before: generic starts a reduction of field3"))
        << log;
    EXPECT_TRUE(has(log, "generic: launch 5 of 10, generic, cannot be interleaved with others: "))
        << log;
    EXPECT_TRUE(has(log, "launches 6 to 9 of 10 are interleaved; launch 10 of 10, generic, "))
        << log;
}

/** How many launches of a stencil to and fro, moving as little as may be, go through some memory
 * in one pass, and what the log says. */
struct Passes {
    int64_t memory_bytes, n_per_pass, n_moved_bytes;
    std::string log;
};

constexpr int n_to_and_fro = 12;

Passes run_within(int64_t memory_bytes, Random *random) {
    const std::vector<int64_t> extents = {256, 8};
    Twin twin(device(memory_bytes), random);
    twin.add_field(extents, 8);
    twin.add_field(extents, 8);
    const std::vector<int> step = {
        twin.add_kernel(2, {{POLYTILE_IN, A, {rows_around}}, {POLYTILE_OUT, B, {at}}}),
        twin.add_kernel(2, {{POLYTILE_IN, B, {rows_around}}, {POLYTILE_OUT, A, {at}}})};
    polytile_launch_options options = {};
    options.plan.strategy = "min-traffic";
    testing::internal::CaptureStderr();
    twin.pause();
    for (int l = 0; l < n_to_and_fro; l++)
        EXPECT_EQ(twin.launch(step[l % 2], twin.widest(step[l % 2]), &options), POLYTILE_OK)
            << twin.error();
    options.plan.limit_bytes = memory_bytes;
    const int64_t n_per_pass = twin.plan(options.plan).chain.launches_per_pass;
    twin.finish();
    const polytile_report told = twin.report();
    EXPECT_LE(told.peak_device_bytes, memory_bytes);
    return {memory_bytes, n_per_pass, told.h2d_bytes + told.d2h_bytes,
            testing::internal::GetCapturedStderr()};
}

TEST(QueueNotFused, LessMemoryMeansFewerStepsAPassAndThenOneForAReason) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("QueueNotFused"));
    std::vector<Passes> all;
    for (const int64_t memory_bytes : {5120, 4096, 3072, 2048, 1536, 1024, 800, 640})
        all.push_back(run_within(memory_bytes, &random));
    EXPECT_EQ(all.front().n_per_pass, n_to_and_fro);
    EXPECT_EQ(all.back().n_per_pass, 1);
    int n_between = 0;
    for (size_t k = 0; k < all.size(); k++) {
        const Passes &of = all[k];
        SCOPED_TRACE(of.memory_bytes);
        char size[32];
        const std::string reason = std::string(" of 12 are not fused: ") +
                                   polytile_size_format(of.memory_bytes, size) +
                                   " does not hold the rows that two launches of generic need";
        const bool is_told = has(of.log, reason);
        n_between += of.n_per_pass > 1 && of.n_per_pass < n_to_and_fro;
        EXPECT_EQ(is_told, of.n_per_pass == 1) << of.log;
        EXPECT_TRUE(k == 0 || of.n_per_pass <= all[k - 1].n_per_pass);
        EXPECT_TRUE(k == 0 || of.n_moved_bytes >= all[k - 1].n_moved_bytes);
    }
    EXPECT_GE(n_between, 2);
}

TEST(QueueNotFused, StrategiesOfFewestKernelsRunEachLaunchByItself) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    Random random(test_seed("QueueNotFused"));
    for (const char *strategy : {"min-kernels", "paper"}) {
        SCOPED_TRACE(strategy);
        Twin twin(device(5120), &random);
        twin.add_field({256, 8}, 8);
        twin.add_field({256, 8}, 8);
        const int forth =
            twin.add_kernel(2, {{POLYTILE_IN, A, {rows_around}}, {POLYTILE_OUT, B, {at}}});
        const int back =
            twin.add_kernel(2, {{POLYTILE_IN, B, {rows_around}}, {POLYTILE_OUT, A, {at}}});
        polytile_launch_options options = {};
        testing::internal::CaptureStderr();
        twin.pause();
        for (int l = 0; l < 12; l++) {
            const int kernel = l % 2 == 0 ? forth : back;
            options.plan.strategy = l < 8 ? strategy : "min-time";
            EXPECT_EQ(twin.launch(kernel, twin.widest(kernel), &options), POLYTILE_OK);
        }
        twin.finish();
        const std::string log = testing::internal::GetCapturedStderr();
        EXPECT_TRUE(has(log, "launches 1 to 8 of 12 are not fused: strategy " +
                                 std::string(strategy) + " runs each launch by itself"))
            << log;
        EXPECT_FALSE(has(log, "launches 9 to 12 of 12 are not fused")) << log;
    }
}

int count_of(const std::string &text, const std::string &part) {
    int n = 0;
    for (size_t k = text.find(part); k != std::string::npos; k = text.find(part, k + 1))
        n++;
    return n;
}

/** A cache that is fast, and holds nothing. */
polytile_link link_of_small_cache() {
    polytile_link link = polytile_link_default;
    link.cache_bytes = 64;
    link.cache_bytes_per_s = 100 * link.kernel_bytes_per_s;
    link.launch_latency_s = 1e-12;
    return link;
}

/** What is said of launches says that they are looked at. */
TEST(QueueNotFused, LaunchesThatStayAreLookedAtOnce) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    Random random(test_seed("QueueNotFused"));
    const polytile_link link = link_of_small_cache();
    Twin twin(device(8 * square_bytes), &random);
    make_fields(&twin);
    const int forth =
        twin.add_kernel(2, {{POLYTILE_IN, A, {rows_around}}, {POLYTILE_OUT, B, {at}}});
    const int back = twin.add_kernel(2, {{POLYTILE_IN, B, {rows_around}}, {POLYTILE_OUT, A, {at}}});
    polytile_launch_options options = {};
    options.plan.link = &link;
    testing::internal::CaptureStderr();
    for (const int n_rounds : {2, 2, 3, 2, 3}) {
        twin.pause();
        for (int k = 0; k < n_rounds; k++)
            for (const int kernel : {forth, back})
                EXPECT_EQ(twin.launch(kernel, twin.widest(kernel), &options), POLYTILE_OK);
        twin.wait();
    }
    twin.finish();
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_EQ(count_of(log, "launches 1 to 4 of 4 are not fused: "), 1) << log;
    EXPECT_EQ(count_of(log, "launches 1 to 6 of 6 are not fused: "), 1) << log;
}

} // namespace
