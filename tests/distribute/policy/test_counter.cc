#include "distribute/policy/units.h"
#include "support/scale.h"

#include <memory>

/* Units of several processes that take rows from one counter: each process deals for its own. */

namespace {

/** Words that all processes reach. */
struct SharedCounter {
    pti_counter counter = {};
    int64_t n_taken = 0;
    std::vector<pti_shown_unit> shown;
    bool fails = false;

    explicit SharedCounter(int n_units) : shown(static_cast<size_t>(n_units)) {
        counter.functions = &functions;
    }
    SharedCounter(const SharedCounter &) = delete;
    SharedCounter &operator=(const SharedCounter &) = delete;

    static SharedCounter &of(pti_counter *counter) {
        return *reinterpret_cast<SharedCounter *>(counter);
    }
    static polytile_status take(pti_counter *counter, int64_t n, int64_t *before) {
        *before = of(counter).n_taken;
        of(counter).n_taken += n;
        return of(counter).fails ? POLYTILE_DEVICE : POLYTILE_OK;
    }
    static polytile_status show(pti_counter *counter, int unit, const pti_shown_unit *shown) {
        of(counter).shown[static_cast<size_t>(unit)] = *shown;
        return POLYTILE_OK;
    }
    static polytile_status look(pti_counter *counter, int64_t *n_taken, int n_units,
                                pti_shown_unit *shown) {
        *n_taken = of(counter).n_taken;
        for (int u = 0; u < n_units; u++)
            shown[u] = of(counter).shown[static_cast<size_t>(u)];
        return POLYTILE_OK;
    }
    static constexpr pti_counter_functions functions = {take,    show,    look,
                                                        nullptr, nullptr, nullptr};
};

/** Processes with some units each, in one. */
class Processes {
  public:
    Processes(polytile_context *ctx, const char *policy, int64_t n_rows, int n_processes, int n_own,
              bool are_known = false)
        : counter(n_processes * n_own), n_own_(n_own) {
        for (int q = 0; q < n_processes; q++) {
            deals_.push_back(std::make_unique<Deal>(
                ctx, policy, n_rows,
                units_of(std::vector<double>(static_cast<size_t>(n_processes * n_own), 1),
                         are_known)));
            EXPECT_EQ(pti_deal_join(&deals_.back()->deal, &counter.counter, q * n_own, n_own),
                      POLYTILE_OK);
        }
    }
    pti_deal &of_unit(int unit) { return deals_[static_cast<size_t>(unit / n_own_)]->deal; }
    pti_rows take(int unit, double now_s) { return pti_deal_take(&of_unit(unit), unit, now_s); }
    void done(int unit, double now_s) { pti_deal_done(&of_unit(unit), unit, now_s); }
    bool are_over() const {
        bool are = true;
        for (const auto &deal : deals_)
            are &= pti_deal_is_over(&deal->deal);
        return are;
    }

    SharedCounter counter;

  private:
    int n_own_;
    std::vector<std::unique_ptr<Deal>> deals_;
};

int64_t take_at_random(const polytile_work *, int, void *user) {
    const int64_t answers[] = {0, 0, -1, INT64_MIN, INT64_MAX, 1, 3, 1 << 20};
    return answers[static_cast<Random *>(user)->number(0, 7)];
}

int64_t take_nothing(const polytile_work *, int, void *) {
    return 0;
}

void add_policy(const Context &ctx, const char *name, decltype(polytile_policy::take) take,
                void *user) {
    const polytile_policy policy = {name, nullptr, take, user, {}};
    ASSERT_EQ(polytile_policy_register(ctx.get(), &policy), POLYTILE_OK);
}

/** Units take, and are done, at random times, until no process knows of rows that are left. */
void expect_each_row_once(polytile_context *ctx, const char *policy, Random *random) {
    const int64_t n_rows = random->number(1, 200);
    const int n_processes = static_cast<int>(random->number(1, 4));
    const int n_own = static_cast<int>(random->number(1, 3)), n_units = n_processes * n_own;
    Processes of(ctx, policy, n_rows, n_processes, n_own, random->number(0, 1));
    std::vector<int> n_pieces(static_cast<size_t>(n_units));
    std::vector<int> n_dealt(static_cast<size_t>(n_rows));
    double now = 0;
    int64_t step = 0;
    for (; step < 1000000 && !of.are_over(); step++) {
        const int unit = static_cast<int>(random->number(0, n_units - 1));
        if (n_pieces[static_cast<size_t>(unit)] > 0 && random->number(0, 1) == 0) {
            of.done(unit, now += 0.25 * static_cast<double>(random->number(0, 4)));
            n_pieces[static_cast<size_t>(unit)]--;
            continue;
        }
        const pti_rows rows = of.take(unit, now);
        n_pieces[static_cast<size_t>(unit)] += rows.count > 0;
        for (int64_t r = rows.first; r < rows.first + rows.count; r++)
            n_dealt[static_cast<size_t>(r)]++;
    }
    EXPECT_TRUE(of.are_over()) << policy;
    EXPECT_EQ(n_dealt, std::vector<int>(static_cast<size_t>(n_rows), 1)) << policy;
}

TEST(Counter, GivesEachRowToOneProcessWhateverAPolicyAnswers) {
    Random hostile(test_seed("Hostile")), random(test_seed("Counter"));
    const Context ctx = make_context();
    add_policy(ctx, "hostile", take_at_random, &hostile);
    add_policy(ctx, "nothing", take_nothing, nullptr);
    for (int64_t round = 0; round < scaled(1000) && !testing::Test::HasFailure(); round++)
        for (const char *policy : {"hostile", "nothing", "guided", "self(1)", "self(3)"})
            expect_each_row_once(ctx.get(), policy, &random);
}

TEST(Counter, GivesTheRestToTheFastestOfAllProcessesIfAllRefuse) {
    const Context ctx = make_context();
    add_policy(ctx, "nothing", take_nothing, nullptr);
    Processes of(ctx.get(), "nothing", 10, 2, 1);
    of.of_unit(0).unit[1].prior_rows_per_s = of.of_unit(1).unit[1].prior_rows_per_s = 4;
    EXPECT_EQ(of.take(0, 0).count, 0);
    EXPECT_EQ(of.take(1, 0).count, 0) << "the other one has not been asked since";
    EXPECT_EQ(of.take(0, 0).count, 0);
    EXPECT_EQ(of.take(1, 0).count, 10);
}

TEST(Counter, LetsUnitsSeeWhatThoseOfOthersHaveDone) {
    const Context ctx = make_context();
    Processes of(ctx.get(), "guided", 1000, 2, 1);
    EXPECT_EQ(of.take(0, 0).count, 1);
    EXPECT_EQ(of.take(1, 0).count, 1);
    of.done(1, 2);
    of.take(0, 3);
    const polytile_unit &other = of.of_unit(0).unit[1];
    EXPECT_EQ(other.done_rows, 1);
    EXPECT_EQ(other.done_pieces, 1);
    EXPECT_DOUBLE_EQ(other.busy_s, 2);
}

TEST(Counter, StopsAllProcesses) {
    const Context ctx = make_context();
    for (const char *policy : {"self(1)", "guided"}) {
        Processes of(ctx.get(), policy, 1000, 2, 1);
        EXPECT_EQ(of.take(0, 0).count, 1);
        pti_deal_stop(&of.of_unit(0));
        EXPECT_EQ(of.take(1, 0).count, 0);
        EXPECT_TRUE(of.are_over());
    }
}

TEST(Counter, LetsNobodyTakeRowsIfItFails) {
    const Context ctx = make_context();
    Processes of(ctx.get(), "self(1)", 1000, 2, 1);
    of.counter.fails = true;
    EXPECT_EQ(of.take(0, 0).count, 0);
    EXPECT_EQ(of.of_unit(0).status, POLYTILE_DEVICE);
}

} // namespace
