#include "partition/prove/interpreter.h"
#include "partition/skew/random_skew.h"
#include "partition/skew/skewed.h"

#include "support/scale.h"

extern "C" {
#include "partition/cache_blocking/in_place.h"
#include "partition/prove/programs/column_program.h"
}

/* Random chains of all kinds, in the shapes that are chosen for them and in any other, give what
 * running launch after launch gives. */

namespace {

struct Sums {
    int64_t n_chains, n_launches, n_passes, n_proved, n_columns;
};

/** Where streams may interleave in any way at all. */
void ExpectProved(const pti_schedule &schedule) {
    Handmade made = Handmade::From(schedule);
    EXPECT_TRUE(Interpreter(made).IsRight()) << "as the interpreter has it";
}

void ExpectRight(const RandomSkew &skew, pti_schedule *schedule, Random *random, Sums *sums) {
    ASSERT_NE(schedule, nullptr);
    EXPECT_LE(pti_schedule_peak_bytes(schedule), schedule->arena_bytes);
    EXPECT_EQ(Objection(schedule), "");
    EXPECT_EQ(skew.Try(*schedule, random), "");
    if (schedule->n_ops <= 60 && skew.data_bytes() < 2500 && random->chance(20)) {
        ExpectProved(*schedule);
        sums->n_proved++;
    }
}

void TryInPlace(const RandomSkew &skew, Random *random) {
    pti_skew_shape shape = AnyShape(skew.chain(), random);
    shape.concurrent = false;
    pti_schedule *schedule = pti_blocking_build_in_place(&skew.chain(), &shape);
    ASSERT_NE(schedule, nullptr);
    EXPECT_EQ(Objection(schedule), "");
    EXPECT_EQ(skew.Try(*schedule, random), "");
    pti_schedule_free(schedule);
}

/** The operations of each tile, [column][slab], as positions in the program of columns. */
using Tiles = std::vector<std::vector<std::vector<int64_t>>>;

Tiles TilesOf(const pti_schedule &schedule) {
    Tiles tiles(static_cast<size_t>(schedule.columns.n));
    int64_t n_ops = 0;
    for (int64_t c = 0; c < schedule.columns.n; c++)
        for (int64_t k = 0; k < schedule.n_ops; k++) {
            const pti_op &op = schedule.op[k];
            std::vector<std::vector<int64_t>> &column = tiles[static_cast<size_t>(c)];
            polytile_domain threads;
            if (k == 0 || op.launch <= schedule.op[k - 1].launch)
                column.emplace_back();
            if (pti_columns_threads(&schedule.columns, op.launch, c, &op.box, &threads))
                column.back().push_back(n_ops++);
        }
    return tiles;
}

/** Put a program's operations into an order in which threads might run tiles: a column goes on when
 * the one before is ahead of it. */
void RunAtOnce(const Tiles &tiles, Random *random, pti_schedule *program) {
    std::vector<pti_op> ops;
    std::vector<size_t> n_done(tiles.size());
    for (bool is_left = true; is_left;) {
        std::vector<size_t> ready;
        for (size_t c = 0; c < tiles.size(); c++)
            if (n_done[c] < tiles[c].size() && (c == 0 || n_done[c - 1] > n_done[c]))
                ready.push_back(c);
        is_left = !ready.empty();
        if (!is_left)
            continue;
        const size_t c =
            ready[static_cast<size_t>(random->number(0, static_cast<int64_t>(ready.size()) - 1))];
        for (const int64_t k : tiles[c][n_done[c]++])
            ops.push_back(program->op[k]);
    }
    ASSERT_EQ(static_cast<int64_t>(ops.size()), program->n_ops);
    std::copy(ops.begin(), ops.end(), program->op);
}

/** Columns of any width: the checker agrees, and tiles in any order that they may run in give what
 * the launches give. */
void TryColumns(const RandomSkew &skew, Random *random, Sums *sums) {
    pti_chain across = {};
    pti_text why = {};
    ASSERT_EQ(pti_chain_find_across(&skew.chain(), &across, &why), POLYTILE_OK);
    const pti_chain &columns = across.n_launches > 0 && random->chance(70) ? across : skew.chain();
    if (across.n_launches > 0 || random->chance(50)) {
        pti_skew_shape shape = AnyShape(skew.chain(), random);
        shape.concurrent = false;
        shape.column = random->number(1, random->chance(70) ? 4 : 30);
        pti_schedule *schedule = pti_blocking_build_in_place(&skew.chain(), &shape);
        ASSERT_NE(schedule, nullptr);
        ASSERT_TRUE(pti_blocking_add_columns(&columns, &shape, schedule));
        EXPECT_EQ(Objection(schedule), "");
        pti_schedule *program = pti_column_program_make(schedule);
        ASSERT_NE(program, nullptr);
        RunAtOnce(TilesOf(*schedule), random, program);
        EXPECT_EQ(skew.Try(*program, random), "");
        pti_schedule_free(program);
        pti_schedule_free(schedule);
        sums->n_columns++;
    }
    pti_chain_free(&across);
    pti_text_free(&why);
}

void TryAnyShape(RandomSkew *skew, Random *random, Sums *sums) {
    const pti_skew_shape shape = AnyShape(skew->chain(), random);
    const pti_skew_request request = skew->Request(ArenaOf(skew->chain(), shape));
    pti_schedule *schedule = pti_skew_build(&request, &shape);
    ExpectRight(*skew, schedule, random, sums);
    pti_schedule_free(schedule);
}

void TryChosenShape(RandomSkew *skew, Random *random, Sums *sums) {
    pti_skew_request request = skew->Request(
        random->number(256 * skew->n_used(), skew->data_bytes() + 768 * skew->n_used()));
    request.fewest_bytes = random->chance(30);
    request.most_per_pass = random->chance(30) ? random->number(1, 6) : 0;
    pti_skew_shape shape;
    pti_text ignored = {};
    if (pti_skew_choose(&request, &shape, &ignored)) {
        EXPECT_GE(shape.n_per_pass, 2);
        pti_schedule *schedule = pti_skew_build(&request, &shape);
        ExpectRight(*skew, schedule, random, sums);
        EXPECT_LE(schedule->arena_bytes, request.arena_bytes);
        const pti_traffic traffic = pti_schedule_traffic(schedule);
        EXPECT_EQ(traffic.h2d_bytes, shape.h2d_bytes);
        EXPECT_EQ(traffic.d2h_bytes, shape.d2h_bytes);
        pti_schedule_free(schedule);
        sums->n_chains++;
        sums->n_launches += skew->chain().n_launches;
        sums->n_passes += shape.n_passes;
    }
    pti_text_free(&ignored);
}

void TryRandomChain(Random *random, Sums *sums) {
    RandomSkew skew(random);
    SCOPED_TRACE(skew.text());
    if (skew.chain().n_launches < 2 || testing::Test::HasFailure())
        return;
    TryChosenShape(&skew, random, sums);
    TryAnyShape(&skew, random, sums);
    TryInPlace(skew, random);
    TryColumns(skew, random, sums);
}

TEST(SkewRandom, ChainsOfAllKindsGiveWhatRunningLaunchAfterLaunchGives) {
    const uint64_t seed = test_seed("SkewRandom.ChainsOfAllKinds");
    const int64_t n_rounds = scaled(2000);
    Sums sums = {};
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        SCOPED_TRACE(seed + static_cast<uint64_t>(round));
        Random random(seed + static_cast<uint64_t>(round));
        TryRandomChain(&random, &sums);
    }
    std::printf("%lld of %lld chains were fused: %.1f launches in %.1f passes; %lld were proved, "
                "%lld had columns\n",
                static_cast<long long>(sums.n_chains), static_cast<long long>(n_rounds),
                static_cast<double>(sums.n_launches) / static_cast<double>(sums.n_chains),
                static_cast<double>(sums.n_passes) / static_cast<double>(sums.n_chains),
                static_cast<long long>(sums.n_proved), static_cast<long long>(sums.n_columns));
    EXPECT_GE(sums.n_columns, least_count(n_rounds, 0.5));
    EXPECT_GE(sums.n_chains, least_count(n_rounds, 0.6));
}

} // namespace
