#include "tools/command.h"

/* polytile check. */

namespace {

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

} // namespace
