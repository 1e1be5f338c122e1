#include "report/trace_file.h"
#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

extern "C" {
#include "report/advice.h"
}

/* What a report says of traces that are written by hand. */

namespace {

class Report : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    std::string write(const std::string &text, polytile_format format) {
        polytile_trace *trace = nullptr;
        char *written = nullptr;
        EXPECT_EQ(file.read(ctx, text, &trace), POLYTILE_OK) << polytile_last_error(ctx);
        EXPECT_EQ(polytile_trace_to_string(trace, format, &written), POLYTILE_OK);
        const std::string copy = written == nullptr ? "" : written;
        free(written);
        polytile_trace_destroy(trace);
        return copy;
    }

    using Json = std::unique_ptr<json_t, decltype(&json_decref)>;
    Json json(const TraceFile &of) {
        Json root(json_loads(write(of.text(), POLYTILE_JSON).c_str(), 0, nullptr), json_decref);
        EXPECT_TRUE(root);
        return root;
    }

    /** "RULE of DEVICE" for each advice. */
    std::set<std::string> rules(const TraceFile &of) {
        const Json root = json(of);
        std::set<std::string> found;
        size_t k;
        json_t *advice;
        texts.clear();
        json_array_foreach(json_object_get(root.get(), "advice"), k, advice) {
            found.insert(std::string(json_string_value(json_object_get(advice, "rule"))) + " of " +
                         json_string_value(json_object_get(advice, "device")));
            texts += std::string(json_string_value(json_object_get(advice, "text"))) + "\n";
        }
        return found;
    }

    void expect_rule(const TraceFile &of, const std::string &rule, bool is_there) {
        EXPECT_EQ(rules(of).count(rule + " of cuda:0"), is_there ? 1u : 0u) << rule << "\n"
                                                                            << texts;
    }

    polytile_context *ctx = nullptr;
    TraceFile file;
    std::string texts;
};

double real_of(const json_t *of, const char *key) {
    return json_number_value(json_object_get(of, key));
}

const json_t *first_of(const Report *, const json_t *root, const char *list) {
    return json_array_get(json_object_get(root, list), 0);
}

TEST_F(Report, AddsUpWhatOverlapsOnce) {
    TraceFile of;
    of.device(1, "cuda:0", ", \"limit_bytes\": 1024").run(1, "\"run\": 1, \"bound_bytes\": 60");
    of.slice(1, 0, "upload", "A", 100, 40, 70).slice(1, 1, "launch", "k", 120, 40);
    of.slice(1, 3, "launch", "k", 130, 40).slice(1, 2, "download", "B", 180, 10, 20);
    of.slice(1, 4, "plan", "k", 185, 15);
    const Json root = json(of);
    const json_t *device = first_of(this, root.get(), "devices");
    const std::pair<const char *, double> expected[] = {
        {"span_s", 100}, {"kernels_s", 50}, {"in_s", 40},   {"out_s", 10},        {"link_s", 50},
        {"both_s", 20},  {"plan_s", 15},    {"idle_s", 10}, {"plan_alone_s", 10},
    };
    for (const auto &[key, microseconds] : expected)
        EXPECT_NEAR(real_of(device, key), 1e-6 * microseconds, 1e-12) << key;
    EXPECT_EQ(real_of(device, "in_bytes"), 70);
    EXPECT_EQ(real_of(device, "out_bytes"), 20);
    EXPECT_EQ(real_of(device, "bound_bytes"), 60);
    EXPECT_EQ(real_of(device, "limit_bytes"), 1024);
    EXPECT_EQ(real_of(device, "n_kernels"), 2);
    EXPECT_EQ(real_of(first_of(this, root.get(), "kinds"), "n"), 2) << "the longest is first";
}

TEST_F(Report, KnowsABoundOnlyIfAllRunsHaveOne) {
    TraceFile of;
    of.device(1, "cuda:0").slice(1, 0, "upload", "A", 0, 1, 70);
    of.run(1, "\"run\": 1, \"bound_bytes\": 60").run(1, "\"run\": 1, \"bound_bytes\": 60");
    EXPECT_EQ(real_of(first_of(this, json(of).get(), "devices"), "bound_bytes"), 60)
        << "a run stands on each of its tracks";
    of.run(1, "\"run\": 2, \"bound_bytes\": 5");
    EXPECT_EQ(real_of(first_of(this, json(of).get(), "devices"), "bound_bytes"), 65);
    of.run(1, "\"run\": 3");
    const Json root = json(of);
    EXPECT_TRUE(
        json_is_null(json_object_get(first_of(this, root.get(), "devices"), "bound_bytes")));
}

/** Random operations, and the same figures nanosecond by nanosecond. */
TEST_F(Report, AddsUpAsCountingEachMomentDoes) {
    const uint64_t seed = test_seed("Report.AddsUpAsCountingEachMomentDoes");
    std::mt19937_64 random(seed);
    for (int64_t round = 0; round < scaled(60); round++) {
        SCOPED_TRACE("seed " + std::to_string(seed) + " round " + std::to_string(round));
        const char *const works[] = {"launch", "upload", "download", "copy", "plan", "wait"};
        std::vector<unsigned> at(300);
        TraceFile of;
        of.device(1, "cuda:0");
        int first = 300, last = 0;
        for (uint64_t k = 0, n = 1 + random() % 12; k < n; k++) {
            const auto work = static_cast<unsigned>(random() % 6);
            const int begin = static_cast<int>(random() % 200),
                      taken = static_cast<int>(random() % 60);
            of.slice(1, static_cast<int>(work), works[work], "x", begin * 1e-3, taken * 1e-3);
            first = std::min(first, begin);
            last = std::max(last, begin + taken);
            for (int t = begin; t < begin + taken; t++)
                at[static_cast<size_t>(t)] |= 1u << work;
        }
        of.slice(1, 1, "upload", "x", first * 1e-3, 0);
        const Json root = json(of);
        const json_t *device = first_of(this, root.get(), "devices");
        const auto moments = [&](auto holds) {
            return 1e-9 *
                   static_cast<double>(std::count_if(at.begin() + first, at.begin() + last, holds));
        };
        EXPECT_NEAR(real_of(device, "kernels_s"), moments([](unsigned w) { return w & 1; }), 1e-15);
        EXPECT_NEAR(real_of(device, "link_s"), moments([](unsigned w) { return w & 6; }), 1e-15);
        EXPECT_NEAR(real_of(device, "both_s"),
                    moments([](unsigned w) { return (w & 1) && (w & 6); }), 1e-15);
        EXPECT_NEAR(real_of(device, "plan_alone_s"), moments([](unsigned w) { return w == 16; }),
                    1e-15);
        EXPECT_NEAR(real_of(device, "idle_s"), moments([](unsigned w) { return w == 0; }), 1e-15);
        EXPECT_NEAR(real_of(device, "span_s"), 1e-9 * (last - first), 1e-15);
    }
}

TEST_F(Report, CountsTheProgramsOwnWorkForNoDevice) {
    TraceFile of;
    of.device(0, "program").device(1, "cuda:0").slice(1, 1, "launch", "k", 0, 5);
    of.slice(0, 0, "launch", "cuda:0", 0, 1).slice(0, 0, "download", "cuda:0", 2, 1, 5);
    const Json root = json(of);
    EXPECT_EQ(json_array_size(json_object_get(root.get(), "devices")), 1u);
    EXPECT_EQ(real_of(root.get(), "n_operations"), 3);
}

TEST_F(Report, TellsDevicesOfOneTextApart) {
    TraceFile of;
    of.device(1, "host").device(2, "host").slice(1, 1, "launch", "k", 0, 5);
    of.slice(2, 1, "launch", "k", 0, 5);
    const std::string text = write(of.text(), POLYTILE_TEXT);
    EXPECT_NE(text.find("host, 5 us"), std::string::npos) << text;
    EXPECT_NE(text.find("host #2, 5 us"), std::string::npos) << text;
}

/* Advice, each on both sides of its threshold. */

constexpr double short_us = 1e6 * PTI_SHORT_KERNEL_S;

TraceFile &add_kernels(TraceFile &of, int n, double taken_us) {
    of.device(1, "cuda:0", ", \"limit_bytes\": 67108864");
    for (int k = 0; k < n; k++)
        of.slice(1, 1, "launch", "jacobi", k * taken_us, taken_us);
    return of;
}

TEST_F(Report, AdvisesALargerLimitWhereKernelsAreShort) {
    TraceFile brief, longer, few, whole;
    const std::string cut = "\"run\": 1, \"launches\": 1, \"superblocks\": 100";
    expect_rule(add_kernels(brief, PTI_FEW_OPERATIONS, short_us - 1).run(1, cut), "short kernels",
                true);
    EXPECT_NE(texts.find("10 kernels of jacobi take 49 us each"), std::string::npos) << texts;
    EXPECT_NE(texts.find("raise the limit (now 64 MiB)"), std::string::npos) << texts;
    expect_rule(add_kernels(longer, PTI_FEW_OPERATIONS, short_us + 1).run(1, cut), "short kernels",
                false);
    expect_rule(add_kernels(few, PTI_FEW_OPERATIONS - 1, short_us - 1).run(1, cut), "short kernels",
                false);
    add_kernels(whole, PTI_FEW_OPERATIONS, short_us - 1);
    expect_rule(whole.run(1, "\"run\": 1, \"launches\": 10, \"superblocks\": 10"), "short kernels",
                true);
    EXPECT_NE(texts.find("each launch is one sub-kernel already"), std::string::npos) << texts;
    EXPECT_EQ(texts.find("raise the limit"), std::string::npos) << texts;
}

/** What starting a kernel and a copy cost is said of GPUs. */
TEST_F(Report, DoesNotMindShortWorkOfAHost) {
    TraceFile of;
    of.device(1, "host(memory=8MiB)");
    for (int k = 0; k < 20; k++)
        of.slice(1, 1, "launch", "k", 10 * k, 9).slice(1, 0, "upload", "A", 10 * k + 9, 1, 64);
    EXPECT_EQ(rules(of), std::set<std::string>{"body of host(memory=8MiB)"});
    EXPECT_NE(texts.find("more threads"), std::string::npos) << texts;
}

TEST_F(Report, SaysWhereNoDeviceIsInATrace) {
    TraceFile of;
    of.device(0, "program").slice(0, 0, "wait", "all", 0, 5);
    EXPECT_NE(write(of.text(), POLYTILE_TEXT).find("No device is in this trace."),
              std::string::npos);
}

TEST_F(Report, DoesNotMindShortKernelsThatTakeLittleTime) {
    TraceFile of;
    add_kernels(of, PTI_FEW_OPERATIONS, 1)
        .slice(1, 1, "launch", "large", 100, 10 / PTI_SMALL_SHARE);
    expect_rule(of, "short kernels", false);
}

/** Kernels and uploads of 100 us each, of which so many microseconds overlap. */
TraceFile &add_pair(TraceFile &of, double common_us) {
    return of.device(1, "cuda:0")
        .slice(1, 0, "upload", "A", 0, 100, 1 << 22)
        .slice(1, 1, "launch", "k", 100 - common_us, 100);
}

TEST_F(Report, AdvisesMoreBuffersWhereCopiesAndKernelsTakeTurns) {
    TraceFile apart, together, one;
    expect_rule(add_pair(apart, 100 * PTI_HARDLY_OVERLAPS - 1), "no overlap", true);
    EXPECT_NE(texts.find("n_buffers"), std::string::npos) << texts;
    expect_rule(add_pair(together, 100 * PTI_HARDLY_OVERLAPS + 1), "no overlap", false);
    expect_rule(add_pair(one, 0).run(1, "\"run\": 1, \"launches\": 1, \"superblocks\": 1"),
                "no overlap", true);
    EXPECT_NE(texts.find("one superblock"), std::string::npos) << texts;
}

TEST_F(Report, SaysThatTheHostWithALimitIsAStandIn) {
    TraceFile of;
    of.device(1, "host(memory=8MiB)")
        .slice(1, 0, "upload", "A", 0, 50)
        .slice(1, 1, "launch", "k", 50, 50);
    EXPECT_EQ(rules(of), std::set<std::string>{"stand-in of host(memory=8MiB)"});
}

/** A link that is busy for a part of 1000 us, and kernels for another. */
TraceFile &add_link(TraceFile &of, double link, double kernels) {
    return of.device(1, "cuda:0")
        .slice(1, 0, "upload", "A", 0, 1000 * link, 1 << 20)
        .slice(1, 1, "launch", "k", 1000 - 1000 * kernels, 1000 * kernels);
}

TEST_F(Report, AdvisesMoreWorkOnWhatIsThereWhereTheLinkIsTheLimit) {
    TraceFile busy, idler, computing, tight, loose;
    expect_rule(add_link(busy, PTI_BUSY_LINK + .01, .4), "link", true);
    EXPECT_NE(texts.find("put launches into one queue"), std::string::npos) << texts;
    expect_rule(add_link(idler, PTI_BUSY_LINK - .01, .4), "link", false);
    expect_rule(add_link(computing, PTI_BUSY_LINK + .01, PTI_IDLE_KERNELS + .01), "link", false);
    add_link(tight, .9, .4).run(1, "\"run\": 1, \"bound_bytes\": 1048576");
    expect_rule(tight, "link", true);
    EXPECT_NE(texts.find("1.00 times the lower bound"), std::string::npos) << texts;
    expect_rule(add_link(loose, .9, .4).run(1, "\"run\": 1, \"bound_bytes\": 524288"), "link",
                false);
}

TEST_F(Report, AdvisesFewerBytesAboveTheBound) {
    TraceFile above, near;
    const auto bound = [](double ratio) {
        return "\"run\": 1, \"bound_bytes\": " +
               std::to_string(static_cast<int64_t>((1 << 20) / ratio));
    };
    expect_rule(add_link(above, .5, .5).run(1, bound(PTI_ABOVE_BOUND + .01)), "bound", true);
    EXPECT_NE(texts.find("1 MiB moved, 1.26 times what"), std::string::npos) << texts;
    expect_rule(add_link(near, .5, .5).run(1, bound(PTI_ABOVE_BOUND - .01)), "bound", false);
}

TraceFile &add_copies(TraceFile &of, const char *work, int64_t bytes, double taken_us) {
    of.device(1, "cuda:0",
              ", \"upload_bytes_per_s\": 50000000000, \"download_bytes_per_s\": 20000000000");
    for (int k = 0; k < PTI_FEW_OPERATIONS; k++)
        of.slice(1, 0, work, "A", k * taken_us, taken_us, bytes);
    return of;
}

TEST_F(Report, AdvisesLargerCopies) {
    TraceFile small, large;
    expect_rule(add_copies(small, "upload", PTI_SMALL_COPY_BYTES - 1, 10), "small copies", true);
    EXPECT_NE(texts.find("10 uploads of A move"), std::string::npos) << texts;
    expect_rule(add_copies(large, "upload", PTI_SMALL_COPY_BYTES, 10), "small copies", false);
}

TEST_F(Report, AdvisesPinnedMemoryWhereTheLinkIsSlowerThanMeasured) {
    const int64_t bytes = PTI_LARGE_COPY_BYTES;
    const auto taken_us = [&](double gigabytes_a_second) {
        return static_cast<double>(bytes) / (1e3 * gigabytes_a_second);
    };
    TraceFile slow, fast, down, brief;
    expect_rule(add_copies(slow, "upload", bytes, taken_us(50 * PTI_SLOW_LINK - .1)), "slow link",
                true);
    EXPECT_NE(texts.find("24.9 GB/s, and this link reached 50 GB/s"), std::string::npos) << texts;
    expect_rule(add_copies(fast, "upload", bytes, taken_us(50 * PTI_SLOW_LINK + .1)), "slow link",
                false);
    expect_rule(add_copies(down, "download", bytes, taken_us(20 * PTI_SLOW_LINK + .1)), "slow link",
                false);
    expect_rule(add_copies(brief, "upload", bytes - 1, taken_us(1)), "slow link", false);
}

TEST_F(Report, AdvisesLessPlanning) {
    for (const double more : {.01, -.01}) {
        TraceFile of;
        const double plan_us = 1000 * (PTI_LONG_PLANNING + more);
        of.device(1, "cuda:0").slice(1, 4, "plan", "k", 0, plan_us);
        of.slice(1, 1, "launch", "k", plan_us, 1000 - plan_us);
        expect_rule(of, "planning", more > 0);
        EXPECT_EQ(texts.find("polytile_plan_create"), std::string::npos) << "of a queue";
    }
    TraceFile beside;
    beside.device(1, "cuda:0")
        .slice(1, 4, "plan", "k", 0, 1000)
        .slice(1, 1, "launch", "k", 0, 1000);
    expect_rule(beside, "planning", false);
}

TEST_F(Report, AdvisesQueuesWhereNothingRuns) {
    for (const double more : {.01, -.01}) {
        TraceFile of;
        const double idle_us = 1000 * (PTI_LONG_IDLE + more);
        of.device(1, "cuda:0").slice(1, 1, "launch", "k", 0, 100);
        of.slice(1, 1, "launch", "k", 100 + idle_us, 900 - idle_us);
        expect_rule(of, "idle", more > 0);
    }
}

TEST_F(Report, AdvisesOtherSharesWhereDevicesAreUneven) {
    for (const double more : {.01, -.01}) {
        TraceFile of;
        const double most = PTI_UNEVEN + more;
        of.device(1, "cuda:0").slice(1, 1, "launch", "k", 0, 1000 * most);
        of.device(2, "cuda:1").slice(2, 1, "launch", "k", 0, 1000 * (2 - most));
        EXPECT_EQ(rules(of).count("balance of all devices"), more > 0 ? 1u : 0u) << texts;
    }
}

TEST_F(Report, SaysWhereOnlyTheBodyIsLeft) {
    TraceFile of, mixed;
    add_kernels(of, 1, 1000);
    EXPECT_EQ(rules(of), std::set<std::string>{"body of cuda:0"});
    add_link(mixed, .3, .8);
    EXPECT_EQ(rules(mixed), std::set<std::string>{});
    EXPECT_NE(write(mixed.text(), POLYTILE_TEXT).find("Nothing stands out."), std::string::npos);
}

TEST_F(Report, SaysThatOnlyABodyIsLeftWhereNoOtherRuleSpeaks) {
    TraceFile of;
    add_kernels(of, 100, 15);
    EXPECT_EQ(rules(of), std::set<std::string>{"short kernels of cuda:0"});
}

/* Files that are no traces. */

TEST_F(Report, SaysWhatIsWrongOfAFile) {
    const std::string good =
        "{\"ph\": \"X\", \"name\": \"launch k\", \"cat\": \"launch\", \"ts\": 1, "
        "\"dur\": 2, \"pid\": 1, \"tid\": 1}";
    const auto list = [](const std::string &events) {
        return "{\"traceEvents\": [" + events + "]}";
    };
    const auto with = [&](const std::string &from, const std::string &to) {
        std::string changed = good;
        return list(changed.replace(changed.find(from), from.size(), to));
    };
    const struct {
        std::string text, says;
    } cases[] = {
        {"", "ends before its first event; it is empty"},
        {"  \n", "it is empty"},
        {"no trace", "byte 0 is \"n\", where an object of JSON is expected"},
        {std::string(1, '\0'), "byte 0 is \"NUL\""},
        {"\x1f\x8b", "where an object of JSON is expected"},
        {"17", "is no trace"},
        {"{}", "a member's name"},
        {"{\"a\": 1}", "no list \"traceEvents\""},
        {"{\"a\" 1}", "where a colon is expected"},
        {"{\"a\": }", "where a value is expected"},
        {"{\"a\": 1 \"b\": 2}", "where a comma is expected"},
        {"{\"traceEvents\": 17}", "no list \"traceEvents\""},
        {"{\"traceEvents\": {}}", "no list \"traceEvents\""},
        {list(""), "has no operations"},
        {"[]", "has no operations"},
        {list("17"), "where an event, an object of JSON, is expected"},
        {list(good + " " + good), "where a comma, or the end of the events, is expected"},
        {list(good) + "x", "where the end is expected"},
        {"{\"traceEvents\": [" + good, "ends behind event 1; it was cut off"},
        {"{\"traceEvents\": [" + good + ",\n{\"ph\": \"X", "ends behind event 1; it was cut off"},
        {"{\"traceEvents\": [" + good + "]", "ends behind event 1"},
        {list("{\"ph\": X}"), "event 1 is no JSON"},
        {list("{}"), "event 1 (\"\") has no phase"},
        {with("\"ts\": 1, ", ""), "event 1 (\"launch k\") has no ts, a number of microseconds"},
        {with("\"ts\": 1", "\"ts\": \"1\""), "has no ts"},
        {with("\"dur\": 2, ", ""), "has no dur"},
        {with("\"dur\": 2", "\"dur\": -2"), "has a negative duration"},
        {with("\"dur\": 2", "\"dur\": 1e300"), "has a dur out of range: 1e+300 us"},
        {with("\"ts\": 1", "\"ts\": -1e16"), "has a ts out of range"},
        {with("\"pid\": 1, ", ""), "has no process: pid"},
        {with("\"pid\": 1", "\"pid\": \"one\""), "has no process: pid"},
        {with(", \"tid\": 1", ""), "has no thread: tid"},
        {list("{\"name\": \"" + std::string(1 << 20, 'x') + "\"}"),
         "event 1 has more than 1048576 bytes"},
    };
    for (const auto &c : cases) {
        polytile_trace *trace = nullptr;
        EXPECT_EQ(file.read(ctx, c.text, &trace), POLYTILE_INVALID) << c.text.substr(0, 200);
        EXPECT_EQ(trace, nullptr);
        EXPECT_NE(std::string(polytile_last_error(ctx)).find(c.says), std::string::npos)
            << c.text.substr(0, 200) << "\n"
            << polytile_last_error(ctx);
    }
}

TEST_F(Report, ReadsOtherTracesOfTheFormat) {
    const std::string events =
        "[{\"ph\": \"X\", \"name\": \"f\", \"ts\": -5.5, \"dur\": 2, \"pid\": 7, "
        "\"tid\": 8}, {\"ph\": \"C\", \"name\": \"n\"}, {\"ph\": \"i\"}]";
    for (const std::string &text : {events, "{\"a\": [1, {\"b\": \"]}\\\"\"}], \"traceEvents\": " +
                                                events + ", \"c\": -1.5e3, \"d\": null }"}) {
        const std::string said = write(text, POLYTILE_TEXT);
        EXPECT_NE(said.find("1 operation in 2 us"), std::string::npos) << said;
    }
}

/** A trace is cut anywhere, or a byte of it changed: it is read, or refused with a sentence. */
TEST_F(Report, RefusesDamagedTracesWithASentence) {
    TraceFile of;
    of.device(1, "cuda:0", ", \"limit_bytes\": 4").run(1, "\"run\": 1, \"bound_bytes\": 6");
    of.slice(1, 0, "upload", "A", 1, 2, 3).slice(1, 1, "launch", "k", 3, 4);
    const std::string whole = of.text();
    const uint64_t seed = test_seed("Report.RefusesDamagedTracesWithASentence");
    std::mt19937_64 random(seed);
    for (int64_t round = 0; round < scaled(300); round++) {
        const size_t k = random() % (whole.size() - 3);
        std::string changed = whole;
        changed[k] = static_cast<char>(random() % 256);
        for (const std::string &text : {whole.substr(0, k), changed}) {
            polytile_trace *trace = nullptr;
            char *page = nullptr;
            const polytile_status status = file.read(ctx, text, &trace);
            EXPECT_EQ(status == POLYTILE_OK, trace != nullptr) << "seed " << seed << "\n" << text;
            if (status == POLYTILE_OK) {
                EXPECT_EQ(polytile_trace_to_string(trace, POLYTILE_HTML, &page), POLYTILE_OK);
            } else {
                EXPECT_EQ(status, POLYTILE_INVALID);
                EXPECT_NE(std::string(polytile_last_error(ctx)).find(file.path), std::string::npos);
            }
            free(page);
            polytile_trace_destroy(trace);
        }
    }
}

/* The page. */

std::string data_of(const std::string &page) {
    const std::string before = "const data = ", behind = ";\nconst digits";
    const size_t begin = page.find(before) + before.size();
    return page.substr(begin, page.find(behind) - begin);
}

TEST_F(Report, IsAPageThatLoadsNothing) {
    TraceFile of;
    of.device(1, "cuda:0").slice(1, 1, "launch", "</script><script>alert(1)//", 0, 5);
    const std::string page = write(of.text(), POLYTILE_HTML);
    for (const char *link : {"http:", "https:", "src=", "<link", "@import", "url(", "fetch("})
        EXPECT_EQ(page.find(link), std::string::npos) << link;
    EXPECT_EQ(page.find("alert(1)", 0), page.rfind("alert(1)"))
        << "the name stands in the data alone";
    EXPECT_EQ(page.find("</script><script>"), std::string::npos);
    const Json data(json_loads(data_of(page).c_str(), 0, nullptr), json_decref);
    ASSERT_TRUE(data);
    const json_t *kind =
        json_array_get(json_object_get(json_object_get(data.get(), "trace"), "kinds"), 0);
    EXPECT_STREQ(json_string_value(json_object_get(kind, "name")), "</script><script>alert(1)//");
    const json_t *track = first_of(this, data.get(), "tracks");
    const json_t *slice = json_array_get(json_object_get(track, "slices"), 0);
    EXPECT_EQ(json_integer_value(json_array_get(slice, 1)), 5000);
}

TEST_F(Report, StaysSmallWhateverTheNumberOfOperations) {
    TraceFile of;
    const int n = 60000;
    std::string text = "[";
    for (int k = 0; k < n; k++)
        text += std::string(k == 0 ? "" : ",") + "{\"ph\":\"X\",\"cat\":\"" +
                (k % 2 == 0 ? "launch" : "upload") +
                "\",\"name\":\"x\",\"ts\":" + std::to_string(k) +
                ",\"dur\":" + (k < n / 2 ? "1" : "2") +
                ",\"pid\":1,\"tid\":" + std::to_string(k % 2) + "}";
    const std::string page = write(text + "]", POLYTILE_HTML);
    EXPECT_LT(page.size(), 200000u);
    const Json data(json_loads(data_of(page).c_str(), 0, nullptr), json_decref);
    ASSERT_TRUE(data);
    const json_t *track = first_of(this, data.get(), "tracks");
    const std::string busy = json_string_value(json_object_get(track, "busy"));
    EXPECT_EQ(busy.size(), 16384u);
    EXPECT_EQ(busy[busy.size() - 100], '-') << "always busy";
    EXPECT_NE(busy[100], '-') << "half busy";
    EXPECT_NE(busy[100], 'A');
}

} // namespace
