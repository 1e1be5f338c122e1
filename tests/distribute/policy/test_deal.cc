#include "distribute/policy/units.h"
#include "support/scale.h"

#include <cmath>
#include <limits>

namespace {

/** What a hostile policy answers, drawn at random. */
struct Hostile {
    explicit Hostile(uint64_t seed) : random(seed) {}

    int64_t rows() {
        const int64_t answers[] = {0, -1, INT64_MIN, INT64_MAX, 1, 3, 1 << 20};
        return answers[random.number(0, 6)];
    }
    double weight() {
        const double answers[] = {0, -1, NAN, INFINITY, -INFINITY, 1e308, 1, 2};
        return answers[random.number(0, 7)];
    }

    Random random;
};

int64_t take_hostile(const polytile_work *, int, void *user) {
    return static_cast<Hostile *>(user)->rows();
}

void weigh_hostile(const polytile_work *work, double *weights, void *user) {
    for (int u = 0; u < work->n_units; u++)
        weights[u] = static_cast<Hostile *>(user)->weight();
}

/** Deal out all rows to units that are done at random times; each is dealt out once. */
void expect_each_row_once(polytile_context *ctx, const char *policy, Random *random) {
    const int64_t n_rows = random->number(0, 200);
    const int n_units = static_cast<int>(random->number(1, 5));
    Deal of(ctx, policy, n_rows,
            units_of(std::vector<double>(static_cast<size_t>(n_units), 1), random->number(0, 1)));
    std::vector<int> n_pieces(static_cast<size_t>(n_units));
    std::vector<int> n_dealt(static_cast<size_t>(n_rows));
    double now = 0;
    for (int64_t step = 0; step < 100000 && !pti_deal_is_over(&of.deal); step++) {
        const int unit = static_cast<int>(random->number(0, n_units - 1));
        if (n_pieces[unit] > 0 && random->number(0, 1) == 0) {
            pti_deal_done(&of.deal, unit, now += 0.25 * static_cast<double>(random->number(0, 4)));
            n_pieces[unit]--;
            continue;
        }
        const pti_rows rows = pti_deal_take(&of.deal, unit, now);
        n_pieces[unit] += rows.count > 0;
        EXPECT_GE(rows.count, 0);
        for (int64_t r = rows.first; r < rows.first + rows.count; r++)
            n_dealt[static_cast<size_t>(r)]++;
    }
    EXPECT_TRUE(pti_deal_is_over(&of.deal)) << policy;
    for (int64_t r = 0; r < n_rows; r++)
        EXPECT_EQ(n_dealt[static_cast<size_t>(r)], 1) << policy << " row " << r;
}

TEST(Deal, GivesEachRowOnceWhateverAPolicyAnswers) {
    Hostile hostile(test_seed("Hostile"));
    Random random(test_seed("Deal"));
    const Context ctx = make_context();
    const polytile_policy takes = {"takes", nullptr, take_hostile, &hostile, {}};
    const polytile_policy weighs = {"weighs", weigh_hostile, nullptr, &hostile, {}};
    ASSERT_EQ(polytile_policy_register(ctx.get(), &takes), POLYTILE_OK);
    ASSERT_EQ(polytile_policy_register(ctx.get(), &weighs), POLYTILE_OK);
    for (int64_t round = 0; round < scaled(2000) && !testing::Test::HasFailure(); round++)
        for (const char *policy :
             {"takes", "weighs", "guided", "equal", "equal(node)", "weighted", "self(3)"})
            expect_each_row_once(ctx.get(), policy, &random);
}

TEST(Deal, GivesTheRestToTheFastestIfAllRefuse) {
    const Context ctx = make_context();
    const polytile_policy never = {"never",
                                   nullptr,
                                   [](const polytile_work *, int, void *) -> int64_t { return -7; },
                                   nullptr,
                                   {}};
    ASSERT_EQ(polytile_policy_register(ctx.get(), &never), POLYTILE_OK);
    Deal of(ctx.get(), "never", 10, units_of({1, 4, 2}));
    for (int unit : {0, 1, 2, 0})
        EXPECT_EQ(pti_deal_take(&of.deal, unit, 0).count, 0) << unit;
    EXPECT_EQ(pti_deal_take(&of.deal, 1, 0).count, 10);
    EXPECT_TRUE(of.deal.was_clamped);
}

TEST(Deal, MeasuresEachPieceFromTheEndOfTheOneBefore) {
    const Context ctx = make_context();
    Deal of(ctx.get(), "self(2)", 8, units_of({1}));
    pti_deal_take(&of.deal, 0, 10);
    pti_deal_take(&of.deal, 0, 11);
    pti_deal_done(&of.deal, 0, 14);
    pti_deal_done(&of.deal, 0, 16);
    const polytile_unit &unit = of.deal.unit[0];
    EXPECT_EQ(unit.done_rows, 4);
    EXPECT_EQ(unit.done_pieces, 2);
    EXPECT_DOUBLE_EQ(unit.busy_s, 6);
    EXPECT_DOUBLE_EQ(unit.squares_s2, 4 * 4 / 2 + 2 * 2 / 2);
    EXPECT_DOUBLE_EQ(unit.slowest_s, 4 - 2);
}

TEST(Deal, GivesAUnitNoMorePiecesAtATimeThanItCounts) {
    const Context ctx = make_context();
    Deal of(ctx.get(), "self(2)", 4 * PTI_DEAL_MAX_PIECES, units_of({1}));
    for (int p = 0; p < PTI_DEAL_MAX_PIECES; p++)
        EXPECT_EQ(pti_deal_take(&of.deal, 0, 0).count, 2);
    EXPECT_EQ(pti_deal_take(&of.deal, 0, 0).count, 0);
    pti_deal_done(&of.deal, 0, 1);
    EXPECT_EQ(pti_deal_take(&of.deal, 0, 1).count, 2);
}

TEST(Deal, LetsAnUnmeasuredUnitBeginWithAsLittleAsFillsIt) {
    const Context ctx = make_context();
    std::vector<polytile_unit> units = units_of({1, 1}, false);
    units[1].fill_rows = 32;
    Deal of(ctx.get(), "guided", 1000, units);
    EXPECT_EQ(pti_deal_take(&of.deal, 0, 0).count, 1);
    EXPECT_EQ(pti_deal_take(&of.deal, 1, 0).count, 32);
    EXPECT_EQ(pti_deal_take(&of.deal, 1, 0).count, 0) << "nothing more until that is done";
}

TEST(Deal, LetsNoUnmeasuredUnitTakeWhatOthersCouldRunBesideIt) {
    const Context ctx = make_context();
    std::vector<polytile_unit> units = units_of({1, 1}, false);
    units[0].fill_rows = units[1].fill_rows = 100000;
    Deal of(ctx.get(), "guided", 1001, units);
    EXPECT_EQ(pti_deal_take(&of.deal, 0, 0).count, 251);
    EXPECT_EQ(pti_deal_take(&of.deal, 1, 0).count, 251);
}

TEST(Deal, GivesAUnitNothingThatIsTooSlowForTheLastPiece) {
    const Context ctx = make_context();
    Deal of(ctx.get(), "guided", 10, units_of({16, 1}));
    EXPECT_GT(pti_deal_take(&of.deal, 0, 0).count, 0);
    EXPECT_EQ(pti_deal_take(&of.deal, 1, 0).count, 0);
}

/** Let units ask in turn, twice each as devices with memory of their own do; returns the sizes of
 * the pieces they get. */
std::vector<int64_t> ask_twice_each(Deal *of, int n_units) {
    std::vector<int64_t> pieces;
    for (int u = 0; u < n_units; u++) {
        for (int k = 0; k < 2; k++) {
            const int64_t n_rows = pti_deal_take(&of->deal, u, 1e-5 * u).count;
            if (n_rows > 0)
                pieces.push_back(n_rows);
        }
    }
    return pieces;
}

/** As where each piece of a product brings all of a matrix again. */
TEST(Deal, GivesEachUnitItsShareInOnePieceWherePiecesCostMuch) {
    const Context ctx = make_context();
    std::vector<polytile_unit> units = units_of({10000, 9000, 8000, 11000});
    for (polytile_unit &unit : units)
        unit.piece_s = 0.1;
    Deal of(ctx.get(), "guided", 3800, units);
    const std::vector<int64_t> pieces = ask_twice_each(&of, 4);
    ASSERT_EQ(pieces.size(), 4U);
    for (size_t u = 0; u < 4; u++)
        EXPECT_NEAR(static_cast<double>(pieces[u]), units[u].prior_rows_per_s / 10, 14 * 4) << u;
    EXPECT_TRUE(pti_deal_is_over(&of.deal));
}

/** To plan pieces of a new size takes long. */
TEST(Deal, GivesSharesOfTheSameSizesToUnitsThatAreALittleFaster) {
    const Context ctx = make_context();
    std::vector<int64_t> pieces[2];
    for (const int is_faster : {0, 1}) {
        std::vector<polytile_unit> units = units_of({10000, 9003, 8000, 11000});
        for (polytile_unit &unit : units)
            unit.piece_s = 0.1;
        units[static_cast<size_t>(is_faster)].prior_rows_per_s += 20;
        Deal of(ctx.get(), "guided", 38000, units);
        pieces[is_faster] = ask_twice_each(&of, 4);
    }
    EXPECT_EQ(pieces[0].size(), 4U);
    EXPECT_EQ(pieces[0], pieces[1]);
}

TEST(Deal, GivesPartsOfSharesWherePiecesCostLittle) {
    const Context ctx = make_context();
    Deal of(ctx.get(), "guided", 3800, units_of({10000, 9000, 8000, 11000}));
    EXPECT_GT(ask_twice_each(&of, 4).size(), 4U);
    EXPECT_FALSE(pti_deal_is_over(&of.deal));
}

/** Units that are alike end together, after one piece each to measure them and one with the
 * rest. */
TEST(Deal, MeasuresOnceWherePiecesCostMuch) {
    const Context ctx = make_context();
    std::vector<polytile_unit> units = units_of({1, 1, 1, 1}, false);
    for (polytile_unit &unit : units) {
        unit.piece_s = 0.1;
        unit.fill_rows = 200;
    }
    Deal of(ctx.get(), "guided", 3200, units);
    EXPECT_EQ(ask_twice_each(&of, 4), (std::vector<int64_t>{200, 200, 200, 200}));
    for (int u = 0; u < 4; u++) {
        pti_deal_done(&of.deal, u, 0.2);
        EXPECT_NEAR(static_cast<double>(pti_deal_take(&of.deal, u, 0.2).count), 600, 20) << u;
        EXPECT_EQ(pti_deal_take(&of.deal, u, 0.2).count, 0) << u;
    }
    EXPECT_TRUE(pti_deal_is_over(&of.deal));
}

} // namespace
