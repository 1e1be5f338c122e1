#ifndef POLYTILE_TESTS_REPORT_REPORTS_H
#define POLYTILE_TESTS_REPORT_REPORTS_H

#include "report/trace_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

/* What a report says of traces that are written by hand. */

namespace reports {

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

inline double real_of(const json_t *of, const char *key) {
    return json_number_value(json_object_get(of, key));
}

inline const json_t *first_of(const Report *, const json_t *root, const char *list) {
    return json_array_get(json_object_get(root, list), 0);
}

inline TraceFile &add_kernels(TraceFile &of, int n, double taken_us) {
    of.device(1, "cuda:0", ", \"limit_bytes\": 67108864");
    for (int k = 0; k < n; k++)
        of.slice(1, 1, "launch", "jacobi", k * taken_us, taken_us);
    return of;
}

} // namespace reports

#endif
