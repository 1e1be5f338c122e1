#ifndef POLYTILE_TESTS_TOOLS_COMMAND_H
#define POLYTILE_TESTS_TOOLS_COMMAND_H

#include "support/places.h"
#include "support/shell.h"

#include <gtest/gtest.h>
#include <jansson.h>
#include <memory>

/* Running the polytile command. */

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

inline int64_t number(const Json &root, const char *key) {
    EXPECT_TRUE(json_is_integer(json_object_get(root.get(), key))) << key;
    return json_integer_value(json_object_get(root.get(), key));
}

inline double real_of(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

#endif
