#include "tools/command.h"

/* polytile report. */

namespace {

const char trace_text[] =
    "{\"traceEvents\": [{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": "
    "{\"name\": "
    "\"polytile cuda:0\\u001b[2J\"}}, {\"ph\": \"X\", \"cat\": \"launch\", \"name\": \"launch k\", "
    "\"ts\": 1.5, \"dur\": 2000, \"pid\": 1, \"tid\": 1}]}";

TEST_F(Command, ReportsATrace) {
    shell_.write("t.json", trace_text);
    Json root = run_json("report t.json");
    const json_t *device = json_array_get(json_object_get(root.get(), "devices"), 0);
    EXPECT_EQ(real_of(device, "kernels_s"), .002);
    const Shell::Result told = run("report t.json --output t.html");
    EXPECT_EQ(told.exit_code, 0) << told.err;
    EXPECT_NE(told.out.find("kernels 100 % of the time"), std::string::npos) << told.out;
    EXPECT_EQ(told.out.find('\x1b'), std::string::npos) << told.out;
    EXPECT_EQ(shell_.read("t.html").rfind("<!DOCTYPE html>", 0), 0u);
}

TEST_F(Command, ReportsWhatItCannotReadOrWrite) {
    const struct {
        std::string arguments;
        int exit_code;
        std::string named;
    } cases[] = {
        {"report /no/such.json", 1, "/no/such.json: cannot open"},
        {"report t.json --output /no/such/t.html", 1, "cannot create /no/such/t.html"},
        {"report t.json --output /dev/full", 1, "cannot write /dev/full"},
        {"report t.json --output ./t.json", 2, "./t.json is the trace itself"},
        {"report t.json > /dev/full", 1, "cannot write to standard output"},
        {"report cut.json", 2, "cut.json: the file ends behind event 1"},
    };
    const std::string text = trace_text;
    shell_.write("t.json", text);
    shell_.write("cut.json", text.substr(0, text.size() - 20));
    for (const auto &c : cases) {
        const Shell::Result result = run(c.arguments);
        EXPECT_EQ(result.exit_code, c.exit_code) << c.arguments;
        EXPECT_NE(result.err.find(c.named), std::string::npos) << c.arguments << "\n" << result.err;
    }
    EXPECT_EQ(shell_.read("t.json"), text);
}

} // namespace
