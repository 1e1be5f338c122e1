#include <gtest/gtest.h>
#include <jansson.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <polytile/polytile.h>
#include <polytile/ranks.h>

#include "support/list.h"
#include "support/xml.h"

extern "C" {
#include "base/text.h"
#include "support/chain_launch.h"
}

/* Arrays may have any name, a file's for instance, and extents may be any numbers: what is written
 * of them is text in the form it is written in, and never more. */

namespace {

const char *const strange_names[] = {
    "\"><script>alert(1)</script>",
    "a\",\"in_place\":true,\"b\":\"",
    "&lt;&#x41;&amp",
    "%s%n%d",
    "tab\there\nand a line",
    "\x1b[2Jcleared",
    "\xff\xfe not UTF-8",
    "]]>-->",
};

/** Steps to and fro between two arrays of 1000 elements of which one has the name. */
class StrangeSteps {
  public:
    explicit StrangeSteps(const char *name) {
        const polytile_domain whole = {1, {{0, 999, 1}}};
        polytile_context_create(&ctx);
        polytile_kernel_create(ctx, "f[i]: in A[i-1:i+1]; out B[i]", nullptr, &kernel);
        EXPECT_EQ(polytile_array_describe(ctx, name, POLYTILE_F32, &whole, &there[0]), POLYTILE_OK);
        EXPECT_EQ(polytile_array_describe(ctx, "B", POLYTILE_F32, &whole, &there[1]), POLYTILE_OK);
        back[0] = there[1];
        back[1] = there[0];
        for (int step = 0; step < 4; step++)
            launches.push_back(
                chain_launch(kernel, {1, {{1, 998, 1}}}, step % 2 == 0 ? there : back));
    }
    ~StrangeSteps() { polytile_context_destroy(ctx); }
    StrangeSteps(const StrangeSteps &) = delete;
    StrangeSteps &operator=(const StrangeSteps &) = delete;

    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *there[2] = {}, *back[2] = {};
    std::vector<polytile_chain_launch> launches;
};

/** What a plan of either kind is as text; the caller's to judge. */
template <class Plan, class Write>
std::string written(const Plan *plan, Write write, polytile_format format) {
    char *text = nullptr;
    EXPECT_EQ(write(plan, format, &text), POLYTILE_OK);
    const std::string kept = text == nullptr ? "" : text;
    std::free(text);
    return kept;
}

template <class Plan, class Write> void expect_well_formed(const Plan *plan, Write write) {
    EXPECT_EQ(xml_error(written(plan, write, POLYTILE_SVG)), "");
    EXPECT_EQ(written(plan, write, POLYTILE_SVG).find("<script"), std::string::npos);
    json_error_t error;
    json_t *root =
        json_loads(written(plan, write, POLYTILE_JSON).c_str(), JSON_REJECT_DUPLICATES, &error);
    EXPECT_NE(root, nullptr) << error.text;
    EXPECT_FALSE(json_is_true(json_object_get(root, "in_place")));
    json_decref(root);
    EXPECT_NE(written(plan, write, POLYTILE_TEXT), "");
}

TEST(Untrusted, NamesOfArraysAreOnlyText) {
    polytile_launch_options options = {};
    options.plan.limit_bytes = 2048;
    for (const char *name : strange_names) {
        SCOPED_TRACE(name);
        StrangeSteps steps(name);
        for (const int64_t most : {0, 1}) {
            options.plan.launches_per_pass = most;
            polytile_plan *plan = nullptr;
            ASSERT_EQ(polytile_plan_create_chain(4, steps.launches.data(), 0, nullptr,
                                                 &options.plan, &plan),
                      POLYTILE_OK)
                << polytile_last_error(steps.ctx);
            expect_well_formed(plan, polytile_plan_to_string);
        }
        polytile_ranks_request asked = {};
        asked.n_launches = 4;
        asked.launches = steps.launches.data();
        asked.options = &options.plan;
        asked.n_ranks = 2;
        polytile_ranks_plan *over = nullptr;
        ASSERT_EQ(polytile_ranks_plan_create(&asked, &over), POLYTILE_OK)
            << polytile_last_error(steps.ctx);
        expect_well_formed(over, polytile_ranks_plan_to_string);
    }
}

/** A name as errors show it. */
std::string shown(const char *name) {
    pti_text text = {};
    pti_text_add_shown(&text, name, strlen(name));
    const std::string copy = text.data;
    pti_text_free(&text);
    return copy;
}

TEST(Untrusted, NamesOfArraysAreOnlyTextInErrorsToo) {
    for (const char *name : strange_names) {
        StrangeSteps steps(name);
        polytile_array *const scratch[] = {steps.there[0]};
        EXPECT_EQ(polytile_check_chain(4, steps.launches.data(), 1, scratch, nullptr),
                  POLYTILE_DECLARATION);
        EXPECT_NE(std::string(polytile_last_error(steps.ctx)).find(shown(name)), std::string::npos);
    }
    const std::string longest(5000, 'n');
    StrangeSteps steps(longest.c_str());
    polytile_array *const scratch[] = {steps.there[0]};
    EXPECT_EQ(polytile_check_chain(4, steps.launches.data(), 1, scratch, nullptr),
              POLYTILE_DECLARATION);
    EXPECT_EQ(
        std::string(polytile_last_error(steps.ctx)).find("launch 1 of 4: f: thread [1] reads"), 0u);
}

TEST(Untrusted, AnyExtentsAreSummedUpOrRefused) {
    const int64_t bounds[] = {INT64_MIN,
                              INT64_MIN / 2,
                              -(INT64_C(1) << 61),
                              -1,
                              0,
                              1,
                              INT64_C(1) << 31,
                              (INT64_C(1) << 61) - 1,
                              INT64_C(1) << 61,
                              INT64_MAX - 1,
                              INT64_MAX};
    const char *const declarations[] = {
        "k[i]: in A[i]; out B[i]", "k[i]: in A[2*i:2*i+1]; out B[i]", "k[i]: in A[:]; out sum B[0]",
        "k[i]: in A[i+4611686018427387904]; out B[-i]"};
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    int n_planned = 0, n_refused = 0;
    for (const char *declaration : declarations) {
        polytile_kernel *kernel = nullptr;
        ASSERT_EQ(polytile_kernel_create(ctx, declaration, nullptr, &kernel), POLYTILE_OK);
        for (const int64_t lo : bounds) {
            for (const int64_t hi : bounds) {
                const polytile_domain domain = {1, {{lo, hi, 1}}};
                polytile_array *arrays[2] = {};
                for (polytile_array *&array : arrays)
                    polytile_array_describe(ctx, "a", POLYTILE_F64, &domain, &array);
                polytile_launch_options options = {};
                options.plan.limit_bytes = INT64_C(1) << 40;
                polytile_plan *plan = nullptr;
                const polytile_status status =
                    polytile_plan_create(kernel, &domain, LIST(arrays), &options, &plan);
                EXPECT_EQ(status == POLYTILE_OK, plan != nullptr);
                EXPECT_NE(status, POLYTILE_INTERNAL) << polytile_last_error(ctx);
                if (status == POLYTILE_OK) {
                    polytile_plan_summary summary;
                    polytile_plan_get_summary(plan, &summary);
                    EXPECT_LE(summary.peak_device_bytes, options.plan.limit_bytes);
                    EXPECT_GE(summary.h2d_bytes, 0);
                } else {
                    EXPECT_NE(std::string(polytile_last_error(ctx)), "");
                }
                (status == POLYTILE_OK ? n_planned : n_refused)++;
                polytile_plan_destroy(plan);
                polytile_array_destroy(arrays[0]);
                polytile_array_destroy(arrays[1]);
            }
        }
    }
    EXPECT_GT(n_planned, 20);
    EXPECT_GT(n_refused, 200);
    polytile_context_destroy(ctx);
}

} // namespace
