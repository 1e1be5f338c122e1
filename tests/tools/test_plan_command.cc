#include "support/xml.h"
#include "tools/command.h"

/* polytile plan. */

namespace {

int64_t sum_of_transfers(const Json &root, const char *list) {
    int64_t bytes = 0;
    size_t k, t;
    json_t *superblock, *transfer;
    json_array_foreach(json_object_get(root.get(), "superblocks"), k, superblock)
        json_array_foreach(json_object_get(superblock, list), t, transfer) bytes +=
        json_integer_value(json_object_get(transfer, "bytes"));
    return bytes;
}

TEST_F(Command, PlansWithinTheLimitAsJson) {
    Json root = run_json("plan " + add +
                         "--domain 1000 --limit 4KiB --strategy min-kernels "
                         "--buffers 1 --block 10 " +
                         add_arrays);
    EXPECT_EQ(number(root, "kernels"), 3);
    EXPECT_EQ(number(root, "buffers"), 1);
    EXPECT_EQ(number(root, "limit_bytes"), 4096);
    EXPECT_LE(number(root, "peak_device_bytes"), 4096);
    EXPECT_EQ(number(root, "h2d_bytes"), 8000);
    EXPECT_EQ(number(root, "d2h_bytes"), 4000);
    EXPECT_EQ(number(root, "lower_bound_bytes"), 12000);
    EXPECT_EQ(sum_of_transfers(root, "uploads"), 8000);
    EXPECT_EQ(sum_of_transfers(root, "downloads"), 4000);
}

TEST_F(Command, PlansForTheThreadsThatFillADevice) {
    const std::string rows = "plan --kernel 'rows[i]: in A[i, :]; out s[i]' --domain 65536 --array "
                             "A:f32:65536x32768 s:f32:65536 --limit 1GiB ";
    EXPECT_LT(number(run_json(rows + "--fill-threads 270336"), "kernels"),
              number(run_json(rows), "kernels") / 2);
}

TEST_F(Command, TellsHowFarFromTheBoundAPlanIs) {
    const std::string matmul =
        "plan --kernel 'f[i, j, k]: in P[k, i], Q[k, j]; out sum R[j, i]' --domain 512x512x512 "
        "--array P:f32:512x512 Q:f32:512x512 R:f32:512x512 --limit 64KiB ";
    Json root = run_json(matmul);
    EXPECT_EQ(number(root, "bound_bytes"), INT64_C(4) * 2 * 512 * 512 * 512 / 128);
    EXPECT_EQ(number(root, "lower_bound_h2d_bytes"), number(root, "bound_bytes") - 4 * 512 * 512);
    EXPECT_STREQ(json_string_value(json_object_get(root.get(), "bound")),
                 "matmul-like (P, Q, R): 2 m n k / sqrt(S) words, S = 16384 words of the limit");
    EXPECT_DOUBLE_EQ(json_real_value(json_object_get(root.get(), "h2d_over_bound")),
                     static_cast<double>(number(root, "h2d_bytes")) /
                         static_cast<double>(number(root, "bound_bytes")));
    Shell::Result text = run(matmul);
    EXPECT_NE(text.out.find(" times 8 MiB, matmul-like (P, Q, R): "), std::string::npos)
        << text.out;
}

/* By which scripts/compare-plans compares two builds: those under "# Refusals" are refused. */
TEST_F(Command, PlansEachCaseByWhichBuildsAreCompared) {
    std::ifstream cases(in_source("bench/plans/cases"));
    bool is_refused = false;
    int n_planned = 0, n_refused = 0;
    for (std::string line; std::getline(cases, line);) {
        if (line[0] == '#') {
            is_refused = line == "# Refusals";
            continue;
        }
        const Shell::Result result = run("plan " + line);
        EXPECT_EQ(result.exit_code != 0, is_refused) << line << "\n" << result.err;
        EXPECT_EQ(result.err.empty(), !is_refused) << line << "\n" << result.err;
        (is_refused ? n_refused : n_planned)++;
    }
    EXPECT_GE(n_planned, 70);
    EXPECT_GE(n_refused, 5);
}

TEST_F(Command, SaysNothingOfABoundInPlace) {
    Json root = run_json("plan " + add + add_arrays + "--domain 1000");
    EXPECT_EQ(number(root, "bound_bytes"), 0);
    EXPECT_STREQ(json_string_value(json_object_get(root.get(), "bound")), "");
    EXPECT_TRUE(json_is_null(json_object_get(root.get(), "h2d_over_bound")));
    EXPECT_EQ(run("plan " + add + add_arrays + "--domain 1000").out.find("\n  uploads"),
              std::string::npos);
}

TEST_F(Command, TakesDomainsFromZeroOrWithBothEnds) {
    const struct {
        const char *domain;
        int64_t lo, hi;
    } cases[] = {{"50x60", 0, 49},  {"1:98,1:98", 1, 98},    {"1:98x60", 1, 98},
                 {"98,1:9", 0, 97}, {"' 3:4 , 5:6 '", 3, 4}, {"0:0x1", 0, 0}};
    for (const auto &c : cases) {
        Json root = run_json("plan " + jacobi + jacobi_arrays + "--domain " + c.domain);
        json_t *domain = json_object_get(root.get(), "domain");
        EXPECT_EQ(json_integer_value(json_array_get(json_object_get(domain, "lo"), 0)), c.lo);
        EXPECT_EQ(json_integer_value(json_array_get(json_object_get(domain, "hi"), 0)), c.hi);
    }
}

TEST_F(Command, TakesNegativeIndicesOfThreadsAndArrays) {
    Json root = run_json("plan --kernel 'f[i]: in x[i]; out y[i]' --domain -5:4 "
                         "--array x:f64:-5:9 y:i16:-10:10 --limit 1KiB");
    EXPECT_EQ(number(root, "h2d_bytes"), 80);
    EXPECT_EQ(number(root, "d2h_bytes"), 20);
}

TEST_F(Command, MatchesArraysByName) {
    Json root = run_json("plan " + add +
                         "--domain=10 --limit=1KiB --array z:u8:10 --array "
                         "y:12:10 x:f64:10");
    EXPECT_EQ(number(root, "h2d_bytes"), 10 * (12 + 8));
    EXPECT_EQ(number(root, "d2h_bytes"), 10);
}

TEST_F(Command, TakesParameters) {
    Json root = run_json("plan --kernel 'odd[i]: in x[m:n-1:2]; out y[i]' --domain 10 --limit 1KiB "
                         "--array x:f32:100 y:f32:10 --param n=20 m=1");
    EXPECT_EQ(number(root, "h2d_bytes"), 40);
}

TEST_F(Command, NeedsNoValuesOfParametersThatNoSubscriptUses) {
    const std::string saxpy = " --kernel 'saxpy[i](f32 a, u64 m): in x[i+n]; inout y[i]' --domain "
                              "10 --array x:f32:100 y:f32:10 --param n=20";
    const char *const given[] = {
        "", " a=2.5", " a=-1e-3", " a=3", " a=inf", " m=007", " m=18446744073709551615"};
    for (const char *values : given)
        for (const char *word : {"plan", "check"}) {
            Shell::Result result = run(word + saxpy + values);
            EXPECT_EQ(result.exit_code, 0) << values << result.err;
        }
    const struct {
        const char *values, *says;
    } refused[] = {
        {" b=2.5", "saxpy: there is no parameter b in the declaration, but it is given 2.5"},
        {" a=1e39", "saxpy: parameter a is f32, in which 1e+39 would be infinite"},
        {" m=2.5", "saxpy: parameter m is u64 and cannot hold 2.5"},
        {" m=-1", "saxpy: parameter m is u64 and cannot hold -1"},
        {" a=x", "--param a=x: it is not of the form NAME=INTEGER or NAME=REAL"},
        {" a=", "--param a=: it is not of the form NAME=INTEGER or NAME=REAL"},
        {" a=1e999", "--param a=1e999: it is not of the form"},
        {" a=2.5f", "--param a=2.5f: it is not of the form"},
    };
    for (const auto &row : refused) {
        Shell::Result result = run("plan" + saxpy + row.values);
        EXPECT_EQ(result.exit_code, 2) << row.values;
        EXPECT_NE(result.err.find(row.says), std::string::npos) << result.err;
    }
}

TEST_F(Command, TakesSizesInBinaryUnits) {
    const struct {
        const char *limit;
        int64_t bytes;
    } cases[] = {{"4096B", 4096},
                 {"4097B", 4097},
                 {"1.5KiB", 1536},
                 {"64MiB", INT64_C(64) << 20},
                 {"0.5GiB", INT64_C(1) << 29},
                 {"3TiB", INT64_C(3) << 40}};
    for (const auto &c : cases) {
        Json root = run_json("plan " + add + "--domain 100 " +
                             "--array x:u8:100 y:u8:100 z:u8:100 "
                             "--limit " +
                             c.limit);
        EXPECT_EQ(number(root, "limit_bytes"), c.bytes) << c.limit;
    }
}

TEST_F(Command, PlansInPlaceWithoutALimit) {
    Json root = run_json("plan " + add + add_arrays + "--domain 1000");
    EXPECT_TRUE(json_is_true(json_object_get(root.get(), "in_place")));
    EXPECT_EQ(number(root, "h2d_bytes"), 0);
    EXPECT_EQ(number(root, "kernels"), 1);
}

TEST_F(Command, PlansStepsToAndFroInOnePass) {
    const std::string steps = "plan " + jacobi + jacobi_arrays +
                              "--domain 1:98,1:98 --limit 32KiB --strategy min-traffic "
                              "--steps 10 --swap A=B --scratch B ";
    Json root = run_json(steps);
    EXPECT_EQ(number(root, "launches"), 10);
    EXPECT_EQ(number(root, "passes"), 1);
    EXPECT_EQ(number(root, "launches_per_pass"), 10);
    EXPECT_GT(number(root, "slab"), 0);
    EXPECT_EQ(number(root, "h2d_bytes"), 4 * 100 * 100) << "with the corners";
    EXPECT_EQ(number(root, "d2h_bytes"), 4 * 98 * 100) << "whole rows";
    EXPECT_EQ(sum_of_transfers(root, "uploads"), number(root, "h2d_bytes"));
    EXPECT_EQ(sum_of_transfers(root, "downloads"), number(root, "d2h_bytes"));
    json_t *second = json_array_get(json_object_get(root.get(), "superblocks"), 1);
    EXPECT_EQ(json_integer_value(json_object_get(second, "launch")), 1);
    EXPECT_TRUE(json_is_null(json_object_get(root.get(), "not_fused")));
    Shell::Result text = run(steps);
    EXPECT_NE(text.out.find("10 of jacobi; 1 pass over the data, of 10\n"), std::string::npos)
        << text.out;
    Json apart = run_json(steps + "--launches-per-pass 1");
    EXPECT_EQ(number(apart, "passes"), 10);
    EXPECT_STREQ(json_string_value(json_object_get(apart.get(), "not_fused")),
                 "one launch a pass was asked for");
}

TEST_F(Command, PlansSeveralKernelsAStepEachWithItsDomainAndParameters) {
    Json root = run_json("plan --kernel 'up[i]: in x[i-m:i+m]; out y[i]' --domain 2:97 "
                         "--kernel 'down[i]: in y[i]; inout x[i]' --domain 5:94 --param m=2 "
                         "--array x:f64:100 y:f64:100 --scratch y --steps 3 --limit 700B");
    EXPECT_EQ(number(root, "launches"), 6);
    EXPECT_STREQ(json_string_value(json_object_get(root.get(), "kernel")), "up");
    EXPECT_STREQ(json_string_value(json_object_get(root.get(), "launched")), "up, down");
}

TEST_F(Command, ShowsWhereOneChainEndsAndTheNextBegins) {
    const std::string keep = "--kernel 'keep[i, j]: in B[i, j]; out A[i, j]' ";
    std::string steps = "plan ";
    for (int n = 0; n < 4; n++)
        steps += jacobi + keep;
    steps += "--kernel 'residual[i, j]: in A[i, j], B[i, j]; out max R[0]' " + jacobi_arrays +
             "R:f32:1 --domain 1:98,1:98 --limit 32KiB --strategy min-traffic --steps 2 ";
    Shell::Result text = run(steps);
    const std::string ends = "residual, cannot be interleaved with those before: residual starts a "
                             "reduction of R\n";
    EXPECT_NE(text.out.find("chain        launches 1 to 8 of 18 are interleaved; launch 9 of 18, " +
                            ends),
              std::string::npos)
        << text.out << text.err;
    EXPECT_NE(text.out.find("launches 10 to 17 of 18 are interleaved; launch 18 of 18, " + ends),
              std::string::npos)
        << text.out;
    Json root = run_json(steps);
    json_t *third = json_array_get(json_object_get(root.get(), "portions"), 2);
    EXPECT_EQ(json_integer_value(json_object_get(third, "first")), 9);
    EXPECT_EQ(json_integer_value(json_object_get(third, "launches")), 8);
    EXPECT_TRUE(json_is_true(json_object_get(third, "fused")));
}

TEST_F(Command, DrawsAPlanBesideItsText) {
    Shell::Result result =
        run("plan " + jacobi + jacobi_arrays + "--domain 1:98,1:98 --limit 8KiB --svg plan.svg");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("jacobi over [1:98, 1:98]"), std::string::npos);
    EXPECT_EQ(xml_error(shell_.read("plan.svg")), "");
}

TEST_F(Command, PlansOverRanks) {
    const std::string over = "plan " + jacobi + jacobi_arrays + "--domain 1:98,1:98 --limit 8KiB ";
    Json root = run_json(over + "--ranks 4 --grid 4x1");
    EXPECT_EQ(number(root, "ranks"), 4);
    EXPECT_STREQ(json_string_value(json_object_get(root.get(), "layout")), "block");
    EXPECT_EQ(json_integer_value(json_array_get(json_object_get(root.get(), "grid"), 0)), 4);
    EXPECT_EQ(number(root, "exchange_bytes"), 6 * 98 * 4);
    json_t *members = json_object_get(root.get(), "members");
    ASSERT_EQ(json_array_size(members), 4u);
    json_t *planned = json_array_get(members, static_cast<size_t>(number(root, "planned_rank")));
    EXPECT_EQ(json_integer_value(json_object_get(planned, "h2d_bytes")), number(root, "h2d_bytes"));
    EXPECT_EQ(json_integer_value(json_object_get(planned, "kernels")), number(root, "kernels"));
    EXPECT_EQ(sum_of_transfers(root, "uploads"), number(root, "h2d_bytes"));
    EXPECT_LE(number(root, "peak_device_bytes"), 8192);
    Shell::Result text = run(over + "--ranks 3 --layout 'weighted(2,1,1)' --svg ranks.svg");
    EXPECT_NE(text.out.find("jacobi over 3 ranks, 3x1, weighted(2,1,1)\n"), std::string::npos)
        << text.out << text.err;
    EXPECT_NE(text.out.find("Rank 0, which has the most to do:"), std::string::npos) << text.out;
    EXPECT_EQ(xml_error(shell_.read("ranks.svg")), "");
}

TEST_F(Command, PlansOverTheDevicesOfOneProcess) {
    const std::string over = "plan " + jacobi + jacobi_arrays + "--domain 1:98,1:98 --steps 2 ";
    Json root = run_json(over + "--swap A=B --device 'host(memory=8KiB),host(memory=8KiB)'");
    EXPECT_EQ(number(root, "ranks"), 0);
    EXPECT_EQ(json_array_size(json_object_get(root.get(), "devices")), 2u);
    EXPECT_EQ(number(root, "exchange_bytes"), 2 * 98 * 4) << "what the first step wrote";
    EXPECT_EQ(number(root, "message_bytes"), 0);
    EXPECT_EQ(number(root, "limit_bytes"), 8192);
    const json_t *second = json_array_get(json_object_get(root.get(), "supersteps"), 1);
    const json_t *flow = json_array_get(json_object_get(second, "before"), 0);
    EXPECT_STREQ(json_string_value(json_object_get(flow, "by")), "host memory");
    Shell::Result text =
        run(over + "--swap A=B --limit 8KiB --device cuda:0,cuda:1,cuda:2 --svg devices.svg");
    EXPECT_NE(text.out.find("jacobi over 3 devices, 3x1, block\n"), std::string::npos)
        << text.out << text.err;
    EXPECT_NE(text.out.find("launch 1  before: 1 to 0: 392 B, 0 to 1: 392 B, "), std::string::npos)
        << text.out;
    EXPECT_EQ(xml_error(shell_.read("devices.svg")), "");
}

TEST_F(Command, PlansWhatLinkedDevicesPull) {
    const std::string over = "plan " + jacobi + jacobi_arrays + "--domain 1:98,1:98 --steps 300 " +
                             "--swap A=B --limit 1MiB --device cuda:0,cuda:1 ";
    Json apart = run_json(over), linked = run_json(over + "--linked");
    EXPECT_EQ(number(apart, "pulled_bytes"), 0);
    EXPECT_GT(number(linked, "exchange_bytes"), 0);
    EXPECT_EQ(number(linked, "pulled_bytes"), number(linked, "exchange_bytes"));
    const json_t *second = json_array_get(json_object_get(linked.get(), "supersteps"), 1);
    const json_t *flow = json_array_get(json_object_get(second, "before"), 0);
    EXPECT_STREQ(json_string_value(json_object_get(flow, "by")), "pull");
    Shell::Result text = run(over + "--linked");
    EXPECT_NE(text.out.find(" pulled from the memory of linked devices\n"), std::string::npos)
        << text.out << text.err;
    EXPECT_EQ(text.out.find("by the host's memory"), std::string::npos) << text.out;
}

TEST_F(Command, RefusesDevicesThatAreNotLinked) {
    const std::string over = "plan " + jacobi + jacobi_arrays + "--domain 1:98,1:98 --limit 1MiB ";
    const struct {
        const char *devices, *said;
    } cases[] = {
        {"--linked", "--linked is of plans over devices; give --device cuda:0,cuda:1"},
        {"--linked --device cuda:0", "1 linked device: there are 2 to 8"},
        {"--linked --device cuda:0,host --layout block", "host is not linked: it has no memory"},
        {"--linked --ranks 2", "linked devices of 2 ranks"},
        {"--linked --ranks 2 --device cuda:0+cuda:1", "linked devices of 2 ranks"},
    };
    for (const auto &of : cases) {
        Shell::Result refused = run(over + of.devices);
        EXPECT_EQ(refused.exit_code, 2) << of.devices;
        EXPECT_NE(refused.err.find(of.said), std::string::npos) << refused.err;
    }
}

TEST_F(Command, PlansOverRanksOfSeveralDevices) {
    const std::string over = "plan " + jacobi + jacobi_arrays + "--domain 1:98,1:98 --ranks 2 ";
    Json root = run_json(over + "--grid 4x1 --device host+host");
    EXPECT_EQ(number(root, "ranks"), 2);
    EXPECT_EQ(number(root, "exchange_bytes"), 6 * 98 * 4);
    EXPECT_EQ(number(root, "message_bytes"), 2 * 98 * 4);
    const json_t *third = json_array_get(json_object_get(root.get(), "members"), 2);
    EXPECT_EQ(json_integer_value(json_object_get(third, "rank")), 1);
    EXPECT_EQ(json_integer_value(json_object_get(third, "device")), 0);
    Shell::Result text = run(over + "--grid 4x1 --device host+host --svg levels.svg");
    EXPECT_NE(text.out.find("jacobi over 2 ranks of 2 devices, 4x1, block\n"), std::string::npos)
        << text.out << text.err;
    EXPECT_NE(text.out.find("1.0 to 0.1: 392 B"), std::string::npos) << text.out;
    EXPECT_EQ(xml_error(shell_.read("levels.svg")), "");
    Shell::Result listed = run(over + "--device host,host");
    EXPECT_EQ(listed.exit_code, 2);
    EXPECT_NE(listed.err.find("write + between those of a rank"), std::string::npos) << listed.err;
}

TEST_F(Command, PlansOverRanksThatHaveAllOfEachArray) {
    const std::string over = "plan " + jacobi + jacobi_arrays + "--domain 1:98,1:98 --grid 2x1 ";
    Json root = run_json(over + "--ranks 2 --attached");
    EXPECT_EQ(number(root, "exchange_bytes"), 98 * 98 * 4) << "half of B each way, in the end";
    Shell::Result text = run(over + "--ranks 2 --attached");
    EXPECT_NE(text.out.find("  launch 0  nothing\n  at the end  1 to 0: "), std::string::npos)
        << text.out;
}

TEST_F(Command, PlansForOneDeviceByItsText) {
    const std::string one = "plan " + add + add_arrays + "--domain 1000 ";
    Json by_text = run_json(one + "--device 'cuda:3(memory=4KiB)'");
    Json by_limit = run_json(one + "--limit 4KiB");
    for (const char *key : {"kernels", "limit_bytes", "h2d_bytes", "d2h_bytes"})
        EXPECT_EQ(number(by_text, key), number(by_limit, key)) << key;
    EXPECT_EQ(json_object_get(by_text.get(), "ranks"), nullptr);
}

TEST_F(Command, PlansStepsOverRanksWithFewExchanges) {
    const std::string steps = "plan " + jacobi + jacobi_arrays +
                              "--domain 1:98,1:98 --limit 32KiB --steps 10 --swap A=B --scratch B "
                              "--ranks 2 ";
    Json often = run_json(steps + "--launches-per-exchange 1");
    EXPECT_EQ(number(often, "exchanges"), 10);
    Json root = run_json(steps + "--launches-per-exchange 4");
    EXPECT_LE(number(root, "launches_per_exchange"), 4);
    EXPECT_LT(number(root, "exchanges"), 10);
    EXPECT_EQ(number(root, "launches"), number(root, "launches_per_exchange"));
}

} // namespace
