#include "distribute/policy/units.h"
#include "support/scale.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace {

struct Outcome {
    double makespan = 0;
    int64_t n_pieces = 0;
    std::vector<int64_t> rows;
};

using Costs = std::vector<double>;

Outcome simulate(polytile_context *ctx, const std::vector<double> &speeds, const Costs &costs,
                 const char *policy) {
    polytile_simulation_request request = {};
    request.n_units = static_cast<int>(speeds.size());
    request.speeds = speeds.data();
    request.n_rows = static_cast<int64_t>(costs.size());
    request.costs = costs.data();
    request.n_policies = 1;
    request.policies = &policy;
    polytile_simulation *simulation = nullptr;
    Outcome outcome;
    EXPECT_EQ(polytile_simulation_create(ctx, &request, &simulation), POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_simulated_policy result = {};
    EXPECT_EQ(polytile_simulation_get_policy(simulation, 0, &result), POLYTILE_OK);
    outcome.makespan = result.makespan_s;
    outcome.n_pieces = result.n_pieces;
    for (int u = 0; u < request.n_units; u++) {
        polytile_simulated_unit unit = {};
        EXPECT_EQ(polytile_simulation_get_unit(simulation, 0, u, &unit), POLYTILE_OK);
        outcome.rows.push_back(unit.n_rows);
    }
    polytile_simulation_destroy(simulation);
    return outcome;
}

/** A counter that units read, by hand: who is free first takes the next rows. */
Outcome count_by_hand(const std::vector<double> &speeds, const Costs &costs,
                      const std::vector<int64_t> &n_each) {
    Outcome outcome;
    std::vector<double> free_s(speeds.size());
    outcome.rows.resize(speeds.size());
    for (size_t next = 0; next < costs.size();) {
        const size_t unit =
            static_cast<size_t>(std::min_element(free_s.begin(), free_s.end()) - free_s.begin());
        double cost = 0;
        const size_t end = std::min(costs.size(), next + static_cast<size_t>(n_each[unit]));
        outcome.rows[unit] += static_cast<int64_t>(end - next);
        for (; next < end; next++)
            cost += costs[next];
        free_s[unit] += cost / speeds[unit];
        outcome.makespan = std::max(outcome.makespan, free_s[unit]);
        outcome.n_pieces++;
    }
    return outcome;
}

TEST(Simulation, OfSelfSchedulingIsThatOfASharedCounter) {
    Random random(test_seed("Simulation"));
    const Context ctx = make_context();
    for (int64_t round = 0; round < scaled(500); round++) {
        std::vector<double> speeds(static_cast<size_t>(random.number(1, 5)));
        std::vector<int64_t> n_each;
        std::string policy = "self(";
        for (double &speed : speeds) {
            speed = static_cast<double>(INT64_C(1) << random.number(0, 4));
            n_each.push_back(random.number(1, 5));
            policy += (n_each.size() > 1 ? "," : "") + std::to_string(n_each.back());
        }
        Costs costs(static_cast<size_t>(random.number(1, 99)));
        for (double &cost : costs)
            cost = static_cast<double>(random.number(0, 16));
        const Outcome expected = count_by_hand(speeds, costs, n_each);
        const Outcome is = simulate(ctx.get(), speeds, costs, (policy + ")").c_str());
        ASSERT_EQ(is.makespan, expected.makespan) << policy;
        ASSERT_EQ(is.n_pieces, expected.n_pieces) << policy;
        ASSERT_EQ(is.rows, expected.rows) << policy;
    }
}

double sum(const Costs &costs) {
    double all = 0;
    for (double cost : costs)
        all += cost;
    return all;
}

/** The shortest that any split into one run of rows a unit takes, of two units. */
double best_split(const std::vector<double> &speeds, const Costs &costs) {
    double before = 0, all = sum(costs), best = INFINITY;
    for (size_t k = 0; k <= costs.size(); k++) {
        best = std::min(best, std::max(before / speeds[0], (all - before) / speeds[1]));
        before += k < costs.size() ? costs[k] : 0;
    }
    return best;
}

/** A cost of a kind: equal, exponential, with a heavy tail, of rare giants. */
double draw_cost(int kind, Random *random) {
    const double u = static_cast<double>(random->number(1, 1 << 30)) / (1 << 30);
    const double costs[] = {1, -std::log(u), std::min(50.0, std::pow(u, -1 / 1.5) - 1),
                            u < 0.01 ? 50.0 : 1.0};
    return costs[kind];
}

/** A slow unit runs its share while all rows cost the same, and less of it once a row came that
 * would take it longer than all that is left takes the others. */
TEST(Simulation, OfGuidedGivesASlowUnitFewerRowsAfterAGiant) {
    constexpr int N_ROWS = 512, GIANT = 60;
    const std::vector<double> speeds = {16, 1};
    const Context ctx = make_context();
    Costs costs(N_ROWS, 1);
    const int64_t n_of_equal = simulate(ctx.get(), speeds, costs, "guided").rows[1];
    EXPECT_GT(n_of_equal, 20);
    costs[GIANT] = 50;
    const Outcome of_giant = simulate(ctx.get(), speeds, costs, "guided");
    EXPECT_LT(of_giant.rows[1], n_of_equal - 5);
    EXPECT_LT(of_giant.makespan, 1.07 * best_split(speeds, costs));
}

/** The rows that a slow unit takes, of some that are left. 16 times as fast a one has run 20, the
 * slowest of which took 50 times as long as each other one, and two slow ones four each. */
int64_t slow_unit_takes(polytile_context *ctx, int64_t rows_left) {
    std::vector<polytile_unit> units = units_of({16, 1, 1}, false);
    Deal deal(ctx, "guided", rows_left, units);
    for (polytile_unit &unit : units) {
        unit.taken_rows = unit.done_rows = unit.done_pieces = 4;
        unit.busy_s = unit.squares_s2 = 4;
        unit.slowest_s = 1;
    }
    units[0].taken_rows = units[0].done_rows = units[0].done_pieces = 20;
    units[0].busy_s = (19 + 50) / 16.0;
    units[0].squares_s2 = (19 + 50 * 50) / 256.0;
    units[0].slowest_s = 50 / 16.0;
    const polytile_work work = {"k", rows_left + 28, rows_left, 3, units.data(), {}};
    return deal.deal.policy->kind->take(deal.deal.policy, &work, 1);
}

/** A giant makes rows seem to differ much; the fast unit does not seem the slower for it when the
 * slow one's next row is weighed, which may be a giant, too. */
TEST(Simulation, OfGuidedWeighsARiskByTheSpeedThatOthersHad) {
    const Context ctx = make_context();
    EXPECT_EQ(slow_unit_takes(ctx.get(), 40), 0);
    EXPECT_GT(slow_unit_takes(ctx.get(), 100), 0);
}

/** Mean over drawn costs, of the fast unit first and last. A few slow rows on a slow unit decide:
 * a mean of 400 draws would be off by a hundredth now and then. */
double mean_over_best_split(polytile_context *ctx, int kind, double ratio, Random *random) {
    constexpr int N_ROWS = 512;
    const int n_seeds = kind >= 2 && ratio >= 8 ? 3200 : 400;
    double mean = 0;
    for (int seed = 0; seed < n_seeds; seed++) {
        Costs costs(N_ROWS);
        for (double &cost : costs)
            cost = draw_cost(kind, random);
        const std::vector<double> speeds =
            seed % 2 == 0 ? std::vector<double>{ratio, 1} : std::vector<double>{1, ratio};
        mean += simulate(ctx, speeds, costs, "guided").makespan / best_split(speeds, costs);
    }
    return mean / n_seeds;
}

TEST(Simulation, OfGuidedIsNearTheBestSplitWithoutKnowingCostsOrSpeeds) {
    Random random(test_seed("Guided"));
    const Context ctx = make_context();
    for (double ratio : {1.0, 2.0, 4.0, 8.0, 16.0}) {
        EXPECT_LE(mean_over_best_split(ctx.get(), 0, ratio, &random), 1.02) << ratio;
        EXPECT_LE(mean_over_best_split(ctx.get(), 1, ratio, &random), 1.05) << ratio;
        EXPECT_LE(mean_over_best_split(ctx.get(), 2, ratio, &random), 1.05) << ratio;
        EXPECT_LE(mean_over_best_split(ctx.get(), 3, ratio, &random), 1.13) << ratio;
    }
}

/** Mean over drawn costs of equal units, over the bound. */
double mean_over_bound(polytile_context *ctx, int kind, int n_units, int n_rows, Random *random) {
    constexpr int N_SEEDS = 200;
    const std::vector<double> speeds(static_cast<size_t>(n_units), 1);
    double mean = 0;
    for (int seed = 0; seed < N_SEEDS; seed++) {
        Costs costs(static_cast<size_t>(n_rows));
        for (double &cost : costs)
            cost = draw_cost(kind, random);
        const double bound =
            std::max(sum(costs) / n_units, *std::max_element(costs.begin(), costs.end()));
        mean += simulate(ctx, speeds, costs, "guided").makespan / bound;
    }
    return mean / N_SEEDS;
}

/** Of many units that have run a row each, the luckiest does not seem able to run all the rest. */
TEST(Simulation, OfGuidedDoubtsTheSpeedOfManyUnitsThatHaveRunFewRows) {
    Random random(test_seed("GuidedMany"));
    const Context ctx = make_context();
    EXPECT_LE(mean_over_bound(ctx.get(), 1, 16, 64, &random), 1.9);
    EXPECT_LE(mean_over_bound(ctx.get(), 1, 16, 128, &random), 1.8);
    EXPECT_LE(mean_over_bound(ctx.get(), 1, 8, 128, &random), 1.26);
    EXPECT_LE(mean_over_bound(ctx.get(), 1, 16, 512, &random), 1.25);
    Costs rising(64);
    for (size_t row = 0; row < rising.size(); row++)
        rising[row] = static_cast<double>(row + 1);
    EXPECT_LE(simulate(ctx.get(), std::vector<double>(16, 1), rising, "guided").makespan,
              1.3 * sum(rising) / 16);
}

TEST(Simulation, IsNeverBelowItsBound) {
    Random random(test_seed("Bound"));
    const Context ctx = make_context();
    for (int64_t round = 0; round < scaled(300); round++) {
        std::vector<double> speeds(static_cast<size_t>(random.number(1, 6)));
        double all = 0, fastest = 0, largest = 0;
        for (double &speed : speeds) {
            speed = static_cast<double>(random.number(1, 1000)) / 8;
            all += speed;
            fastest = std::max(fastest, speed);
        }
        Costs costs(static_cast<size_t>(random.number(1, 60)));
        for (double &cost : costs) {
            cost = static_cast<double>(random.number(0, 1000));
            largest = std::max(largest, cost);
        }
        const double bound = std::max(sum(costs) / all, largest / fastest);
        for (const char *policy :
             {"equal", "equal(node)", "weighted", "self(1)", "self(7)", "guided"}) {
            const Outcome is = simulate(ctx.get(), speeds, costs, policy);
            EXPECT_GE(is.makespan * (1 + 1e-12), bound) << policy;
            int64_t n_rows = 0;
            for (int64_t rows : is.rows)
                n_rows += rows;
            EXPECT_EQ(n_rows, static_cast<int64_t>(costs.size())) << policy;
        }
    }
}

} // namespace
