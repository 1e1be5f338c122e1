#include "distribute/policy/units.h"

#include <cmath>
#include <limits>
#include <string>

namespace {

/** The rows of each unit, as a policy splits them. */
std::vector<int64_t> split(const char *text, int64_t n_rows,
                           const std::vector<polytile_unit> &units) {
    const Context ctx = make_context();
    Deal deal(ctx.get(), text, n_rows, units);
    std::vector<int64_t> rows;
    int64_t first = 0;
    for (size_t u = 0; u < units.size(); u++) {
        const pti_rows got = pti_deal_take(&deal.deal, static_cast<int>(u), 0);
        EXPECT_EQ(got.first, first) << "each unit's rows stand after those of the one before";
        first += got.count;
        rows.push_back(got.count);
    }
    EXPECT_TRUE(pti_deal_is_over(&deal.deal));
    return rows;
}

using Rows = std::vector<int64_t>;

TEST(Policy, EqualGivesTheFirstUnitsARowMore) {
    EXPECT_EQ(split("equal", 11, units_of({8, 1, 1, 1})), (Rows{3, 3, 3, 2}));
    EXPECT_EQ(split("equal", 2, units_of({1, 1, 1})), (Rows{1, 1, 0}));
    EXPECT_EQ(split("equal", 0, units_of({1, 1})), (Rows{0, 0}));
}

TEST(Policy, EqualByNodeSplitsAmongNodesFirst) {
    EXPECT_EQ(split("equal(node)", 11, units_of({1, 1, 1}, true, {0, 1, 1})), (Rows{6, 3, 2}));
    EXPECT_EQ(split("equal(node)", 10, units_of({1, 1, 1}, true, {0, 0, 0})), (Rows{4, 3, 3}));
}

TEST(Policy, WeightedFollowsNumbersOrElseSpeeds) {
    EXPECT_EQ(split("weighted(3,1)", 8, units_of({1, 1})), (Rows{6, 2}));
    EXPECT_EQ(split("weighted(0,1)", 8, units_of({1, 1})), (Rows{0, 8}));
    EXPECT_EQ(split("weighted", 10, units_of({4, 1})), (Rows{8, 2}));
    EXPECT_EQ(split("weighted", 10, units_of({4, 1}, false)), (Rows{5, 5}));
}

TEST(Policy, SplitsAreTheNearestWholeNumbers) {
    Random random(test_seed("Policy"));
    for (int round = 0; round < 500; round++) {
        const int n_units = static_cast<int>(random.number(1, 9));
        const int64_t n_rows = random.number(0, 1000);
        std::vector<double> weights(static_cast<size_t>(n_units));
        double sum = 0;
        for (double &weight : weights)
            sum += weight = static_cast<double>(random.number(0, 9));
        if (sum == 0)
            continue;
        Rows rows(weights.size());
        pti_rows_by_weight(n_rows, n_units, weights.data(), rows.data());
        int64_t all = 0;
        for (size_t u = 0; u < rows.size(); u++) {
            EXPECT_LE(std::fabs(static_cast<double>(rows[u]) -
                                static_cast<double>(n_rows) * weights[u] / sum),
                      1);
            EXPECT_GE(rows[u], 0);
            all += rows[u];
        }
        EXPECT_EQ(all, n_rows);
    }
}

TEST(Policy, SelfTakesItsNumberUntilNothingIsLeft) {
    const Context ctx = make_context();
    Deal deal(ctx.get(), "self(4,1)", 6, units_of({1, 1}));
    EXPECT_EQ(pti_deal_take(&deal.deal, 0, 0).count, 4);
    EXPECT_EQ(pti_deal_take(&deal.deal, 1, 0).count, 1);
    pti_deal_done(&deal.deal, 0, 1);
    const pti_rows last = pti_deal_take(&deal.deal, 0, 1);
    EXPECT_EQ(last.first, 5);
    EXPECT_EQ(last.count, 1);
    EXPECT_TRUE(pti_deal_is_over(&deal.deal));
}

TEST(Policy, OfAnUnknownNameListsWhatThereIs) {
    const Context ctx = make_context();
    const polytile_policy own = {"mine",
                                 nullptr,
                                 [](const polytile_work *, int, void *) -> int64_t { return 1; },
                                 nullptr,
                                 {}};
    ASSERT_EQ(polytile_policy_register(ctx.get(), &own), POLYTILE_OK);
    pti_policy policy;
    for (const char *text :
         {"", "fast", "self", "self()", "self(0)", "self(1.5)", "self(1,)", "weighted(-1,2)",
          "weighted(nan,1)", "weighted(0,0)", "weighted(1e308,1e308)", "equal(nodes)", "guided(2)",
          "guided ", "self(1", "mine(2)"}) {
        EXPECT_EQ(pti_policy_parse(ctx.get(), text, 2, &policy), POLYTILE_INVALID) << text;
        const std::string error = polytile_last_error(ctx.get());
        EXPECT_NE(error.find("equal, equal(node), weighted, weighted(3,1), self(1), self(4,4,1), "
                             "guided, mine"),
                  std::string::npos)
            << error;
    }
    EXPECT_EQ(pti_policy_parse(ctx.get(), "weighted(1,2,3)", 2, &policy), POLYTILE_INVALID);
    EXPECT_EQ(pti_policy_parse(ctx.get(), "mine", 2, &policy), POLYTILE_OK);
}

TEST(Policy, ErrorsNameTheNumberThatIsWrong) {
    const Context ctx = make_context();
    pti_policy policy;
    const struct {
        const char *text;
        const char *part;
    } cases[] = {
        {"weighted(3,-1)",
         "\"weighted(3,-1)\": number 2 is -1, which is less than 0; give one of "},
        {"weighted(nan,1)", ": number 1 is nan, which is not finite; "},
        {"weighted(1,x)", ": number 2 is none; "},
        {"weighted(1 2)", ": number 1 is none; "},
        {"weighted(0,0)", ": all numbers are 0; "},
        {"weighted(1e308,1e308)", ": the sum is more than 1e+300; "},
        {"self(4,0)", ": number 2 is 0, which is less than 1; "},
        {"self(4,1.5)", ": number 2 is 1.5, not whole up to 1e+15; "},
        {"fast", "policy \"fast\": give one of "},
    };
    for (const auto &c : cases) {
        EXPECT_EQ(pti_policy_parse(ctx.get(), c.text, 2, &policy), POLYTILE_INVALID) << c.text;
        const std::string error = polytile_last_error(ctx.get());
        EXPECT_NE(error.find(c.part), std::string::npos) << error;
    }
    std::string many = "weighted(1";
    for (int k = 0; k < PTI_POLICY_MAX_NUMBERS; k++)
        many += ",1";
    many += ")";
    EXPECT_EQ(pti_policy_parse(ctx.get(), many.c_str(), 65, &policy), POLYTILE_INVALID);
    EXPECT_NE(std::string(polytile_last_error(ctx.get())).find("more than 64 numbers"),
              std::string::npos);
}

TEST(Policy, PoolIsAnOldNameOfGuided) {
    const Context ctx = make_context();
    pti_policy policy;
    ASSERT_EQ(pti_policy_parse(ctx.get(), "pool", 2, &policy), POLYTILE_OK);
    EXPECT_EQ(policy.kind, &pti_policy_guided);
}

} // namespace
