#ifndef POLYTILE_TESTS_PARTITION_WINDOW_TO_AND_FRO_H
#define POLYTILE_TESTS_PARTITION_WINDOW_TO_AND_FRO_H

#include "support/chain_launch.h"
#include "support/environment.h"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <polytile/polytile.h>
#include <string>
#include <vector>

extern "C" {
#include "partition/prove/check.h"
#include "partition/window/plan.h"
#include "partition/window/plan_chain.h"
}

/* Plans of launches to and fro between two fields. */

namespace to_and_fro {

inline const char *const five_points = "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";
inline const char *const seven_points = "jacobi[i, j, k]: in A[i-1:i+1, j, k], A[i, j-1:j+1, k], "
                                        "A[i, j, k-1:k+1]; out B[i, j, k]";

/** A stencil to and fro between two fields. */
class ToAndFro {
  public:
    ToAndFro(const char *declaration, const std::vector<int64_t> &extents, int n_steps,
             polytile_launcher *launcher = nullptr) {
        polytile_context_create(&ctx_);
        polytile_implementation body = {};
        body.host = [](const polytile_domain *, const polytile_view *, void *) {};
        body.cuda_launcher = launcher;
        EXPECT_EQ(polytile_kernel_create(ctx_, declaration, &body, &kernel), POLYTILE_OK);
        const int n_dims = static_cast<int>(extents.size());
        polytile_domain whole = {}, inner = {};
        whole.n_dims = inner.n_dims = n_dims;
        for (size_t d = 0; d < extents.size(); d++) {
            whole.range[d] = {0, extents[d] - 1, 1};
            inner.range[d] = {1, extents[d] - 2, 1};
        }
        EXPECT_EQ(polytile_array_describe(ctx_, "A", POLYTILE_F32, &whole, &there[0]), POLYTILE_OK);
        EXPECT_EQ(polytile_array_describe(ctx_, "B", POLYTILE_F32, &whole, &there[1]), POLYTILE_OK);
        back[0] = there[1];
        back[1] = there[0];
        for (int step = 0; step < n_steps; step++)
            launches.push_back(chain_launch(kernel, inner, step % 2 == 0 ? there : back));
    }
    ~ToAndFro() { polytile_context_destroy(ctx_); }
    ToAndFro(const ToAndFro &) = delete;
    ToAndFro &operator=(const ToAndFro &) = delete;

    /** Plan with the second field as scratch; NULL where that fails. */
    polytile_plan *Plan(const polytile_plan_options &options) {
        polytile_plan *plan = nullptr;
        status = polytile_plan_create_chain(static_cast<int>(launches.size()), launches.data(), 1,
                                            &there[1], &options, &plan);
        if (plan != nullptr)
            polytile_plan_get_summary(plan, &summary);
        polytile_plan_get_chain_summary(plan, &chain);
        return plan;
    }

    polytile_context *context() const { return ctx_; }
    std::string Error() const { return polytile_last_error(ctx_); }

    polytile_kernel *kernel = nullptr;
    polytile_array *there[2] = {}, *back[2] = {};
    std::vector<polytile_chain_launch> launches;
    polytile_status status = POLYTILE_OK;
    polytile_plan_summary summary = {};
    polytile_chain_summary chain = {};

  private:
    polytile_context *ctx_ = nullptr;
};

inline polytile_plan_options Limit(int64_t limit_bytes, int64_t launches_per_pass = 0) {
    polytile_plan_options options = {};
    options.limit_bytes = limit_bytes;
    options.launches_per_pass = launches_per_pass;
    return options;
}

inline std::string Objection(const polytile_plan *plan) {
    pti_text why = {};
    const bool holds = pti_schedule_check(plan->schedule, &why);
    const std::string text = holds ? "" : why.data == nullptr ? "no reason" : why.data;
    pti_text_free(&why);
    return text;
}

inline int64_t Moved(const polytile_plan_summary &summary) {
    return summary.h2d_bytes + summary.d2h_bytes;
}

inline std::string Text(const polytile_plan *plan, polytile_format format = POLYTILE_TEXT) {
    char *text = nullptr;
    EXPECT_EQ(polytile_plan_to_string(plan, format, &text), POLYTILE_OK);
    const std::string copy = text == nullptr ? "" : text;
    std::free(text);
    return copy;
}

inline bool Has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

} // namespace to_and_fro

#endif
