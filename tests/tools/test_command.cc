#include "support/places.h"
#include "support/shell.h"
#include "support/xml.h"

#include <gtest/gtest.h>
#include <jansson.h>
#include <memory>

namespace {

const std::string command = in_build("tools/polytile ");
const std::string add = "--kernel 'add[i]: in x[i], y[i]; out z[i]' ";
const std::string jacobi = "--kernel 'jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]' ";
const std::string add_arrays = "--array x:f32:1000 y:f32:1000 z:f32:1000 ";
const std::string jacobi_arrays = "--array A:f32:100x100 --array B:f32:100x100 ";

using Json = std::unique_ptr<json_t, decltype(&json_decref)>;

class Command : public testing::Test {
  protected:
    void SetUp() override {
        if (access(in_build("tools/polytile").c_str(), X_OK) != 0)
            GTEST_SKIP() << "this build has no command";
    }

    Shell::Result run(const std::string &arguments) const {
        return shell_.run(command + arguments);
    }

    Json run_json(const std::string &arguments) const {
        Shell::Result result = run(arguments + " --json");
        EXPECT_EQ(result.exit_code, 0) << result.err;
        json_error_t error;
        Json root(json_loads(result.out.c_str(), 0, &error), json_decref);
        EXPECT_TRUE(root) << error.text << "\n" << result.out;
        return root;
    }

    Shell shell_;
};

int64_t number(const Json &root, const char *key) {
    EXPECT_TRUE(json_is_integer(json_object_get(root.get(), key))) << key;
    return json_integer_value(json_object_get(root.get(), key));
}

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
    const std::string ends = "residual, cannot take turns with those before: residual starts a "
                             "reduction of R\n";
    EXPECT_NE(
        text.out.find("chain        launches 1 to 8 of 18 take turns; launch 9 of 18, " + ends),
        std::string::npos)
        << text.out << text.err;
    EXPECT_NE(text.out.find("launches 10 to 17 of 18 take turns; launch 18 of 18, " + ends),
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

TEST_F(Command, ProvesADeclaration) {
    Shell::Result result = run("check " + jacobi + jacobi_arrays + "--domain 1:98,1:98");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out.substr(0, 29), "ok: jacobi over [1:98, 1:98]:");
    EXPECT_EQ(result.err, "");
    Json root = run_json("check " + jacobi + jacobi_arrays + "--domain 1:98,1:98 --limit 1B");
    EXPECT_TRUE(json_is_true(json_object_get(root.get(), "ok")));
}

TEST_F(Command, ShowsTheWitnessOfAConflict) {
    for (const char *name : {"check ", "plan --limit 1KiB "}) {
        Shell::Result result =
            run(name + std::string("--kernel 'smooth[i]: in A[i-1:i+1]; out A[i]' --domain 1:98 "
                                   "--array A:f32:100"));
        EXPECT_EQ(result.exit_code, 2);
        EXPECT_EQ(result.out, "");
        EXPECT_NE(result.err.find("A["), std::string::npos) << result.err;
    }
}

/** Two kernels a step, of which the second reads of y one element more at each end when wide. */
std::string up_and_down(bool wide) {
    return std::string("check --kernel 'up[i]: in x[i-m:i+m]; out y[i]' --domain 2:97 ") +
           "--kernel 'down[i]: in y[i-1:i+1]; inout x[i]' --domain " + (wide ? "2:97" : "3:96") +
           " --param m=2 --array x:f64:100 y:f64:100 --scratch y --steps 3 ";
}

TEST_F(Command, ProvesThatWhatIsReadWasWrittenBefore) {
    Shell::Result result = run(up_and_down(false));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out.find("ok: up over [2:97], down over [3:96], 3 times: every section"), 0u)
        << result.out;
    EXPECT_NE(result.out.find("each element that a launch reads has a value by then"),
              std::string::npos);
    Json root = run_json(up_and_down(false));
    EXPECT_TRUE(json_is_true(json_object_get(root.get(), "ok")));
    EXPECT_EQ(number(root, "launches"), 6);
    result = run(up_and_down(true));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find("launch 2 of 6: down: thread [2] reads y[1] (in y[i-1:i+1]), but y "
                              "has no contents at the start"),
              std::string::npos)
        << result.err;
}

TEST_F(Command, HasTheWitnessAsData) {
    const struct {
        std::string arguments, witness;
    } cases[] = {
        {up_and_down(true), R"({"kind": "uninitialised", "launch": 1, "kernel": "down", )"
                            R"("threads": [[2]], "array": "y", "operand": "y", "element": [1]})"},
        {"check --kernel 'f[i]: in x[i+9]; out y[i]' --domain 10 --array x:f32:10 y:f32:10",
         R"({"kind": "outside", "launch": 0, "kernel": "f", "threads": [[1]], "array": "x", )"
         R"("operand": "x", "element": [10]})"},
        {"check --kernel 'f[i]: in x[i]; out y[0]' --domain 2 --array x:f32:9 y:f32:9",
         R"({"kind": "conflict", "launch": 0, "kernel": "f", "threads": [[0], [1]], )"
         R"("array": "y", "operand": "y", "element": [0]})"},
        {"check --kernel 'f[i]: in x[i-1:i+1]; out y[i]' --domain 1:8 --steps 3 --swap x=y "
         "--array x:f32:10 y:f32:10 --scratch y",
         R"({"kind": "uninitialised", "launch": 1, "kernel": "f", "threads": [[1]], )"
         R"("array": "y", "operand": "x", "element": [0]})"},
        {"check --kernel 'f[i]: in x[i]; out y[i]' --domain 9 --param n=1 --array x:f32:9 y:f32:9",
         "null"},
    };
    for (const auto &c : cases) {
        Shell::Result result = run(c.arguments + " --json");
        EXPECT_EQ(result.exit_code, 2) << c.arguments;
        Json root(json_loads(result.out.c_str(), 0, nullptr), json_decref);
        Json expected(json_loads(c.witness.c_str(), JSON_DECODE_ANY, nullptr), json_decref);
        ASSERT_TRUE(root && expected) << result.out << result.err;
        EXPECT_TRUE(json_is_false(json_object_get(root.get(), "ok")));
        EXPECT_TRUE(json_equal(json_object_get(root.get(), "witness"), expected.get()))
            << result.out;
        const std::string error = json_string_value(json_object_get(root.get(), "error"));
        EXPECT_EQ(result.err, "polytile check: " + error + "\n");
    }
}

TEST_F(Command, SaysAsJsonWhyThereIsNothingToCheck) {
    const std::string kernel = "check --kernel 'f[i]: in x[i]; out y[i]' ";
    const std::string arrays = "--array x:f32:9 y:f32:9 ";
    for (const std::string &arguments :
         {kernel + arrays, kernel + arrays + "--domain 9 --bogus", kernel + "--domain 9",
          "check --kernel 'f[i: in x[i]; out y[i]' --domain 9 " + arrays,
          "check --kernel 'f[i]: in \xff[i]' --domain 9 " + arrays,
          kernel + arrays + "--domain 9 --param \xff=1", std::string("check word")}) {
        Shell::Result result = run(arguments + " --json");
        EXPECT_EQ(result.exit_code, 2) << arguments;
        Json root(json_loads(result.out.c_str(), 0, nullptr), json_decref);
        ASSERT_TRUE(root) << arguments << "\n" << result.out << result.err;
        EXPECT_TRUE(json_is_false(json_object_get(root.get(), "ok")));
        EXPECT_TRUE(json_is_null(json_object_get(root.get(), "witness")));
        const std::string error = json_string_value(json_object_get(root.get(), "error"));
        EXPECT_FALSE(error.empty());
        const bool is_plain = arguments.find('\xff') == std::string::npos;
        EXPECT_TRUE(!is_plain || result.err.find("polytile check: " + error + "\n") == 0)
            << result.err;
    }
}

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

double real_of(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

/** A NumPy file of costs. */
class CostsFile {
  public:
    explicit CostsFile(const std::vector<double> &costs) {
        std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" +
                             std::to_string(costs.size()) + ",), }";
        header += std::string(117 - header.size(), ' ') + "\n";
        std::ofstream file(path, std::ios::binary);
        file.write("\x93NUMPY\x01\x00\x76\x00", 10);
        file << header;
        file.write(reinterpret_cast<const char *>(costs.data()),
                   static_cast<std::streamsize>(costs.size() * sizeof(double)));
    }
    ~CostsFile() { unlink(path.c_str()); }
    CostsFile(const CostsFile &) = delete;
    CostsFile &operator=(const CostsFile &) = delete;

    const std::string path = "/tmp/polytile-costs-" + std::to_string(getpid()) + ".npy";
};

TEST_F(Command, SimulatesPoliciesOnUnitsOfGivenSpeeds) {
    Json root = run_json("policies --speeds 8,1,1 --nodes 1,2 --rows 1000 --policy equal "
                         "--policy 'equal(node)' --policy 'weighted(8,1,1)' --policy weighted");
    EXPECT_EQ(real_of(root.get(), "lower_bound_s"), 100);
    const double makespans[] = {333, 250, 100, 100};
    const int64_t rows_of_first[] = {334, 500, 800, 800};
    const json_t *policies = json_object_get(root.get(), "policies");
    ASSERT_EQ(json_array_size(policies), 4u);
    for (size_t k = 0; k < 4; k++) {
        const json_t *policy = json_array_get(policies, k);
        EXPECT_EQ(real_of(policy, "makespan_s"), makespans[k]);
        EXPECT_EQ(real_of(policy, "pieces"), 3);
        const json_t *first = json_array_get(json_object_get(policy, "units"), 0);
        EXPECT_EQ(json_integer_value(json_object_get(first, "rows")), rows_of_first[k]);
        EXPECT_EQ(real_of(first, "busy_s"), static_cast<double>(rows_of_first[k]) / 8);
    }
}

TEST_F(Command, SimulatesCostsOfAFile) {
    const CostsFile costs({4, 1, 1, 1, 1});
    Json root = run_json("policies --speeds 1,1 --costs " + costs.path + " --policy 'self(1)'");
    EXPECT_EQ(real_of(root.get(), "lower_bound_s"), 4);
    const json_t *policy = json_array_get(json_object_get(root.get(), "policies"), 0);
    EXPECT_EQ(real_of(policy, "makespan_s"), 4);
}

TEST_F(Command, RefusesCostsThatAreNone) {
    const CostsFile costs({4, -1});
    const Shell::Result wrong = run("policies --speeds 1,1 --costs " + costs.path);
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_NE(wrong.err.find("row 1 costs -1"), std::string::npos) << wrong.err;
}

TEST_F(Command, DrawsWhoRanWhatWhen) {
    ASSERT_EQ(run("policies --speeds 4,1 --rows 100 --svg who.svg").exit_code, 0);
    EXPECT_EQ(xml_error(shell_.read("who.svg")), "");
}

TEST_F(Command, RefusesToSimulateWhatIsIncomplete) {
    for (const char *arguments :
         {"", "--speeds 1,1", "--speeds 1,1 --rows 0", "--speeds 1, --rows 3", "--rows 3",
          "--speeds 1,0 --rows 3", "--speeds 1,1 --rows 3 --policy fair",
          "--speeds 1,1 --rows 3 --nodes 1", "--speeds 1,1 --rows 3 --nodes 1.5,1",
          "--speeds 1,1 --rows 3 --costs x.npy", "--speeds 1,1 --costs nowhere.npy",
          "--speeds 1,1 --rows 3 more", "--speeds", "--fast"})
        EXPECT_EQ(run(std::string("policies ") + arguments).exit_code, 2) << arguments;
    EXPECT_EQ(run("policies --help").exit_code, 0);
}

/** A file of a text, in a directory that ends with the process. */
class TextFile {
  public:
    TextFile(const char *name, const std::string &text)
        : path("/tmp/polytile-" + std::string(name) + "-" + std::to_string(getpid())) {
        std::ofstream(path) << text;
    }
    ~TextFile() { unlink(path.c_str()); }
    TextFile(const TextFile &) = delete;
    TextFile &operator=(const TextFile &) = delete;

    const std::string path;
};

const char pipeline_text[] =
    "digraph { { node [type=f32, extents=\"1000x1000\"]; m0; m1; m2 }\n"
    "i1 [kernel=\"i[x,y]: in a[x,y]; out b[x,y]\", on=g0, seconds=\"1ms\"];\n"
    "i2 [kernel=\"i[x,y]: in a[x,y]; out b[x,y]\", seconds=\"3ms\"];\n"
    "m0 -> i1 [as=a]; i1 -> m1 [as=b]; m1 -> i2 [as=a]; i2 -> m2 [as=b]; }";

const char machine_text[] =
    "digraph { g0 [device=\"cuda:0(memory=1GiB)\"]; g1 [device=\"cuda:1\"]; "
    "g0 -> g1 [bandwidth=\"50GB/s\"] }";

TEST_F(Command, PlansAGraphForAMachine) {
    const TextFile graph("graph.dot", pipeline_text), machine("machine.dot", machine_text);
    Json root = run_json("graph " + graph.path + " --machine " + machine.path);
    EXPECT_DOUBLE_EQ(real_of(root.get(), "period_s"), .003);
    const json_t *actors = json_object_get(root.get(), "actors");
    ASSERT_EQ(json_array_size(actors), 2u);
    EXPECT_STREQ(json_string_value(json_object_get(json_array_get(actors, 1), "on")), "g1");
    EXPECT_EQ(real_of(json_array_get(actors, 1), "seconds"), .003);
    for (const char *key : {"array", "on", "bytes", "capacity", "colour", "offset_bytes"})
        EXPECT_NE(json_object_get(json_array_get(json_object_get(root.get(), "channels"), 0), key),
                  nullptr)
            << key;
    for (const char *key : {"bound_s", "bound", "latency_s", "frames_in_flight"})
        EXPECT_NE(json_object_get(root.get(), key), nullptr) << key;
    Json off = run_json("graph " + graph.path + " --machine " + machine.path + " --overlap off");
    EXPECT_GT(real_of(off.get(), "period_s"), .003);
}

TEST_F(Command, TakesMeasuredSecondsBackIntoAGraph) {
    const TextFile graph("graph.dot", pipeline_text), machine("machine.dot", machine_text);
    const TextFile profile("profile.json", "{\"actors\": [{\"name\": \"i2\", \"seconds\": 0.25}]}");
    Json root = run_json("graph " + graph.path + " --machine " + machine.path + " --profile " +
                         profile.path);
    EXPECT_DOUBLE_EQ(real_of(root.get(), "period_s"), .25);
    const TextFile wrong("wrong.json", "{\"actors\": [{\"name\": \"i3\", \"seconds\": 1}]}");
    EXPECT_EQ(run("graph " + graph.path + " --machine " + machine.path + " --profile " + wrong.path)
                  .exit_code,
              2);
}

TEST_F(Command, DrawsAGraphAndWritesItsMapping) {
    const TextFile graph("graph.dot", pipeline_text), machine("machine.dot", machine_text);
    const std::string planned = "/tmp/polytile-planned-" + std::to_string(getpid()) + ".dot";
    ASSERT_EQ(run("graph " + graph.path + " --machine " + machine.path + " --svg graph.svg --dot " +
                  planned)
                  .exit_code,
              0);
    EXPECT_EQ(xml_error(shell_.read("graph.svg")), "");
    EXPECT_EQ(run("graph " + planned + " --machine " + machine.path + " --map keep").exit_code, 0);
    unlink(planned.c_str());
}

TEST_F(Command, RefusesGraphsThatAreWrongOrDoNotFit) {
    const TextFile graph("graph.dot", pipeline_text), machine("machine.dot", machine_text);
    const TextFile small("small.dot", "digraph { g0 [device=\"cuda:0(memory=7MiB)\"] }");
    const TextFile wrong("wrong.dot", "digraph { a -> b }");
    const std::string given = "graph " + graph.path + " --machine ";
    const Shell::Result refused = run(given + small.path);
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_NE(refused.err.find("one frame of actor i1 needs 7.63 MiB"), std::string::npos)
        << refused.err;
    EXPECT_EQ(run(given + machine.path + " --map keep").exit_code, 2);
    EXPECT_EQ(run("graph " + wrong.path).exit_code, 2);
    for (const char *arguments :
         {"", "nowhere.dot", "--map some x.dot", "--overlap maybe x.dot", "x.dot y.dot", "--fast"})
        EXPECT_EQ(run(std::string("graph ") + arguments).exit_code, 2) << arguments;
    EXPECT_EQ(run(given + machine.path + " --objective beauty").exit_code, 2);
    EXPECT_EQ(run("graph --help").exit_code, 0);
}

} // namespace
