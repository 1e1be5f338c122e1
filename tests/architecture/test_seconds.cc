#include "support/places.h"
#include "support/shell.h"

#include <gtest/gtest.h>

/* The table of docs/testing.md is what tests/seconds_by_file makes of a run's times. */

namespace {

const char times[] = R"(<testsuite name="all">
<testcase name="Seconds.OfAFileAreSummed" classname="x" time="0.75" status="run"/>
<testcase name="Rows/Seconds.OfAFileAreSummed/3" classname="x" time="1.5" status="run"/>
<testcase name="Seconds.AreOfTimesThatAreThere" classname="x" time="0.25" status="run"/>
<testcase name="Nowhere.Is" classname="x" time="0.125" status="run"/>
</testsuite>
)";

TEST(Seconds, OfAFileAreSummed) {
    Shell shell;
    shell.write("times.xml", times);
    const Shell::Result result =
        shell.run("'" + in_source("tests/seconds_by_file") + "' times.xml");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "| `tests/architecture/test_seconds.cc` | 3 | 2.5 |\n"
                          "| `Nowhere.*` | 1 | 0.1 |\n"
                          "| 0 other files | 0 | 0.0 |\n");
}

TEST(Seconds, AreOfTimesThatAreThere) {
    const Shell shell;
    for (const char *name : {"nowhere.xml", "no/where.xml", "."}) {
        const Shell::Result result =
            shell.run("'" + in_source("tests/seconds_by_file") + "' " + name);
        EXPECT_EQ(result.exit_code, 2) << name;
        EXPECT_EQ(result.out, "") << name;
        EXPECT_NE(result.err.find("cannot be read"), std::string::npos) << result.err;
    }
}

} // namespace
