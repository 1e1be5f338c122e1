#include "tools/command.h"

/* What all subcommands have in common, and polytile devices. */

namespace {

TEST_F(Command, SaysWhatNothingFits) {
    Shell::Result result = run("plan " + add + add_arrays + "--domain 1000 --limit 8B");
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find("8 B"), std::string::npos) << result.err;
}

TEST_F(Command, RefusesWrongUsageAndNamesIt) {
    const std::string good = "plan " + add + "--domain 1000 ";
    const struct {
        std::string arguments, named;
    } cases[] = {
        {"", "Usage"},
        {"draw", "no command \"draw\""},
        {"''", "no command \"\""},
        {"plan", "--kernel is missing"},
        {"plan " + add, "--domain is missing"},
        {good, "x is missing"},
        {good + "--array x:f32:1000 y:f32:1000", "z is missing"},
        {good + add_arrays + "w:f32:1000", "w: add has no such array"},
        {good + add_arrays + "--array x:f32:9", "x is given twice"},
        {"plan " + add + add_arrays + "--domain 10x10", "--domain has 2 dimensions"},
        {good + add_arrays + "--domain 10", "--domain is given 2 times, and --kernel 1 time;"},
        {good + add_arrays + "--block 4x4", "--block has 2 extents"},
        {good + add_arrays + "--block 0", "the extent 0 is less than 1"},
        {good + add_arrays + "--block 1:2", "extents such as 32x8"},
        {good + "--array x:f33:1000", "no type f33"},
        {good + "--array x", "NAME:TYPE:DOMAIN"},
        {good + "--array x::9", "NAME:TYPE:DOMAIN"},
        {good + "--array x:f32:", "it ends where a number is expected"},
        {good + "--array x:f32:-4", "less than 1"},
        {good + "--array x:f32:-9223372036854775808", "less than 1"},
        {good + "--domain 10q", "\"q\" is not understood"},
        {good + "--domain 3:1", "3:1 is empty"},
        {good + "--domain 99999999999999999999", "64-bit"},
        {good + "--domain 1x1x1x1x1x1x1x1x1", "more than 8 dimensions"},
        {good + "--limit 3GB", "--limit 3GB"},
        {good + "--limit -1", "--limit -1"},
        {good + "--limit 0", "--limit 0"},
        {good + "--limit 0.3B", "--limit 0.3B"},
        {good + "--limit 1.2.3KiB", "--limit 1.2.3KiB"},
        {good + "--limit 64", "--limit 64: it has no unit: 64MiB? (64B for bytes)"},
        {good + "--limit 64M", "--limit 64M: it has no unit that is known: 64MiB?"},
        {good + "--limit 1e9", "--limit 1e9"},
        {good + "--limit 0x10", "--limit 0x10"},
        {good + "--limit 9999999TiB", "--limit 9999999TiB"},
        {good + "--buffers 4", "--buffers 4"},
        {good + "--fill-threads 0", "--fill-threads 0: use a number from 1 to "},
        {good + "--param n", "NAME=INTEGER"},
        {good + "--param n=1 n=2", "n is given twice"},
        {good + "--frobnicate", "no option --frobnicate"},
        {good + "-x", "no option -x"},
        {good + "--json=1", "--json takes no value"},
        {good + "--limit", "--limit needs a value"},
        {good + "word", "\"word\""},
        {good + add_arrays + "-- word", "\"word\""},
        {good + add_arrays + "--strategy fastest", "fastest"},
        {good + add_arrays + "--param n=1", "n"},
        {"plan --kernel 'add[i' --domain 1", "^"},
        {good + add_arrays + "--steps 0", "--steps 0"},
        {good + add_arrays + "--steps x", "--steps x"},
        {good + add_arrays + "--swap x", "two names"},
        {good + add_arrays + "--swap x=x", "two names"},
        {good + add_arrays + "--swap x=w", "--swap w"},
        {good + "--array x:f32:1000 y:f64:1000 z:f32:1000 --swap x=y",
         "--swap x=y: --array x:f32:1000 and --array y:f64:1000 differ in their type"},
        {good + "--array x:f32:1000 y:f32:2000 z:f32:1000 --swap x=z y=x",
         "--swap y=x: --array y:f32:2000 and --array x:f32:1000 differ in their domain"},
        {good + "--array x:f32:1000 y:f32:1:1000 z:f32:1000 --swap x=y", "differ in their domain"},
        {good + add_arrays + "--scratch w", "--scratch w"},
        {good + add_arrays + "--launches-per-pass 0", "--launches-per-pass 0"},
        {good + add_arrays + add + add + "--domain 10", "--domain is given 2 times"},
        {"check " + add + add_arrays + "--domain 10 --steps 0", "--steps 0"},
        {"check " + add + add_arrays + "--domain 10 --scratch w", "--scratch w"},
        {good + add_arrays + "--ranks 0", "--ranks 0"},
        {good + add_arrays + "--ranks many", "--ranks many"},
        {good + add_arrays + "--ranks 4 --grid 3x1", "the grid has 3 ranks, but 4"},
        {good + add_arrays + "--ranks 4 --grid 2+2", "grid \"2+2\""},
        {good + add_arrays + "--ranks 4 --layout round", "give one of block, block(dim=0), cyclic"},
        {good + add_arrays + "--ranks 4 --layout 'weighted(1,2)'", "2 weights"},
        {good + add_arrays + "--ranks 4 --launches-per-exchange 0", "--launches-per-exchange 0"},
        {good + add_arrays + "--grid 2x2", "--grid is of plans over ranks"},
        {good + add_arrays + "--layout block", "--layout is of plans over ranks"},
        {"devices --frobnicate", "--frobnicate"},
        {"devices host", "\"host\""},
        {"report", "no trace is named"},
        {"report a b", "\"b\""},
        {"report a --output x --output y", "--output is given twice"},
        {"report /dev/null", "/dev/null: the file ends before its first event"},
    };
    for (const auto &c : cases) {
        Shell::Result result = run(c.arguments);
        EXPECT_EQ(result.exit_code, 2) << c.arguments;
        EXPECT_EQ(result.out, "") << c.arguments;
        EXPECT_NE(result.err.find(c.named), std::string::npos) << c.arguments << "\n" << result.err;
    }
}

TEST_F(Command, ShowsWhatATerminalWouldObeyAsBytes) {
    const std::string escape = "\x1b[2J", shown = "\\x1b[2J";
    const std::string good = "plan " + add + "--domain 1000 " + add_arrays;
    for (const std::string &arguments :
         {escape, "plan --" + escape, good + "'" + escape + "'", good + "--limit '" + escape + "'",
          good + "--domain '" + escape + "'", good + "--array 'w" + escape + ":f32:9'",
          good + "--array w:f32" + escape + ":9", good + "--param '" + escape + "=1'",
          good + "--strategy '" + escape + "'", good + "--svg '/nowhere/" + escape + "'",
          "plan --kernel 'k[i" + escape + "]: in x[i]' --domain 9 --array x:f32:9"}) {
        Shell::Result result = run(arguments);
        EXPECT_NE(result.exit_code, 0) << arguments;
        EXPECT_NE(result.err.find(shown), std::string::npos) << arguments << "\n" << result.err;
        EXPECT_EQ(result.err.find('\x1b'), std::string::npos) << arguments;
    }
}

TEST_F(Command, FailsWhenItCannotWrite) {
    const std::string good = "plan " + add + add_arrays + "--domain 1000 ";
    const struct {
        std::string arguments, named;
    } cases[] = {
        {good + ">/dev/full", "standard output"},
        {good + "--json >/dev/full", "standard output"},
        {good + "--svg no/such/directory.svg", "no/such/directory.svg"},
        {good + "--svg /dev/full", "/dev/full"},
        {"--help >/dev/full", "standard output"},
        {"--version >/dev/full", "standard output"},
        {"plan --help >/dev/full", "standard output"},
        {"check " + add + add_arrays + "--domain 1000 >/dev/full", "standard output"},
    };
    for (const auto &c : cases) {
        Shell::Result result = run(c.arguments);
        EXPECT_EQ(result.exit_code, 1) << c.arguments;
        EXPECT_NE(result.err.find(c.named), std::string::npos) << c.arguments << "\n" << result.err;
    }
}

TEST_F(Command, HelpsOnStandardOutput) {
    for (const char *arguments : {"--help", "-h", "plan --help", "check --help", "devices --help",
                                  "plan --limit 1MiB --help"}) {
        Shell::Result result = run(arguments);
        EXPECT_EQ(result.exit_code, 0) << arguments;
        EXPECT_EQ(result.out.substr(0, 15), "Usage: polytile") << arguments;
        EXPECT_EQ(result.err, "") << arguments;
    }
    EXPECT_EQ(run("--version").out.substr(0, 9), "polytile ");
}

TEST_F(Command, ListsDevices) {
    Json root = run_json("devices");
    json_t *devices = json_object_get(root.get(), "devices");
    ASSERT_GE(json_array_size(devices), 1u);
    json_t *host = json_array_get(devices, 0);
    EXPECT_STREQ(json_string_value(json_object_get(host, "device")), "host");
    EXPECT_GT(json_integer_value(json_object_get(host, "memory_bytes")), 0);
    EXPECT_GT(json_number_value(json_object_get(host, "upload_bytes_per_s")), 0);
    EXPECT_GT(json_number_value(json_object_get(host, "download_bytes_per_s")), 0);
    const std::string text = run("devices").out;
    EXPECT_EQ(text.substr(0, 6), "host: ");
    json_t *absent = json_object_get(root.get(), "absent");
    const bool has_cuda = text.find("\ncuda:") != std::string::npos;
    ASSERT_EQ(json_array_size(absent), has_cuda ? 0u : 1u) << text;
    EXPECT_EQ(text.find("\nno cuda: ") != std::string::npos, !has_cuda) << text;
    if (has_cuda)
        return;
    const json_t *reason = json_object_get(json_array_get(absent, 0), "reason");
    EXPECT_NE(text.find(json_string_value(reason)), std::string::npos) << text;
    EXPECT_NE(text.find("use host"), std::string::npos) << text;
}

} // namespace
