#ifndef POLYTILE_TESTS_DISTRIBUTE_POLICY_UNITS_H
#define POLYTILE_TESTS_DISTRIBUTE_POLICY_UNITS_H

#include "support/random.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

extern "C" {
#include "distribute/policy/deal.h"
}

using Context = std::unique_ptr<polytile_context, decltype(&polytile_context_destroy)>;

inline Context make_context() {
    polytile_context *ctx = nullptr;
    EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    return Context(ctx, polytile_context_destroy);
}

/** Units of speeds, which are known or not. */
inline std::vector<polytile_unit> units_of(const std::vector<double> &speeds, bool are_known = true,
                                           const std::vector<int> &node = {}) {
    std::vector<polytile_unit> units(speeds.size());
    for (size_t u = 0; u < speeds.size(); u++) {
        units[u].device = "test";
        units[u].n_threads = 1;
        units[u].fill_rows = 1;
        units[u].node = node.empty() ? 0 : node[u];
        units[u].prior_rows_per_s = are_known ? speeds[u] : 0;
    }
    return units;
}

/** A launch that is dealt out. */
class Deal {
  public:
    Deal(polytile_context *ctx, const char *policy, int64_t n_rows,
         const std::vector<polytile_unit> &units) {
        EXPECT_EQ(pti_policy_parse(ctx, policy, static_cast<int>(units.size()), &policy_),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        EXPECT_EQ(pti_deal_begin(ctx, &policy_, "k", n_rows, static_cast<int>(units.size()),
                                 units.data(), &deal),
                  POLYTILE_OK);
    }
    ~Deal() { pti_deal_end(&deal); }
    Deal(const Deal &) = delete;
    Deal &operator=(const Deal &) = delete;

    pti_deal deal = {};

  private:
    pti_policy policy_ = {};
};

#endif
