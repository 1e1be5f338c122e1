#include "report/reports.h"
#include "support/random.h"
#include "support/scale.h"

#include <random>

/* Traces that a report reads, or refuses. */

namespace {

using namespace reports;

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

} // namespace
