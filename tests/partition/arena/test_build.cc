#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "support/elements.h"
#include "support/launch.h"
#include "support/random.h"
#include "support/random_instance.h"
#include "support/scale.h"

extern "C" {
#include "base/text.h"
#include "partition/arena/build.h"
#include "partition/prove/check.h"
}

/* Schedules of one launch, of superblocks that the tests cut: what is moved, what the arena must
 * have, and that the checker finds them right whatever the superblocks and their order. */

namespace {

/** Memory that no schedule here needs. */
const int64_t roomy_bytes = int64_t{1} << 40;

class Partition {
  public:
    Partition(const std::vector<polytile_domain> &superblocks, int n_buffers, int n_lanes = 1) {
        partition_.n_buffers = n_buffers;
        partition_.n_lanes = n_lanes;
        for (const polytile_domain &superblock : superblocks)
            EXPECT_TRUE(pti_partition_add(&partition_, &superblock));
    }
    ~Partition() { pti_partition_free(&partition_); }
    Partition(const Partition &) = delete;
    Partition &operator=(const Partition &) = delete;

    const pti_partition *get() const { return &partition_; }

  private:
    pti_partition partition_ = {};
};

/** What pti_schedule_build() makes of a launch and its superblocks. */
class Built {
  public:
    Built(const pti_instance *instance, const Partition &partition,
          int64_t limit_bytes = roomy_bytes, const polytile_link *link = nullptr)
        : status(pti_schedule_build(instance, partition.get(), link, limit_bytes, &need_bytes,
                                    &schedule_)) {}
    ~Built() { pti_schedule_free(schedule_); }
    Built(const Built &) = delete;
    Built &operator=(const Built &) = delete;

    const pti_schedule *schedule() const { return schedule_; }

    /** The elements that operations of a kind move of an operand, for one superblock; -1: of
     * all. */
    int64_t CountMoved(pti_op_kind kind, int operand, int64_t superblock = -1) const {
        int64_t n_elements = 0;
        for (int64_t k = 0; k < schedule_->n_ops; k++) {
            const pti_op &op = schedule_->op[k];
            if (op.kind == kind && schedule_->placement[op.placement].operand == operand &&
                (superblock < 0 || op.superblock == superblock))
                n_elements += pti_box_count(&op.box);
        }
        return n_elements;
    }

    int64_t CountOperations(pti_op_kind kind) const {
        return std::count_if(schedule_->op, schedule_->op + schedule_->n_ops,
                             [kind](const pti_op &op) { return op.kind == kind; });
    }

  private:
    pti_schedule *schedule_ = nullptr;

  public:
    int64_t need_bytes = 0;
    polytile_status status;
};

std::string ViolationOf(const pti_schedule *schedule) {
    pti_text why = {};
    const bool holds = pti_schedule_check(schedule, &why);
    const std::string text = why.data == nullptr ? "" : why.data;
    pti_text_free(&why);
    return holds ? "" : "refused: " + text;
}

std::vector<polytile_domain> DomainsOf(const std::vector<std::string> &texts) {
    std::vector<polytile_domain> domains;
    for (const std::string &text : texts)
        domains.push_back(domain_of(text));
    return domains;
}

/** A box in about so many parts, cut at random, in an order that is drawn. */
std::vector<polytile_domain> DrawSuperblocks(Random *random, const polytile_domain &threads,
                                             int64_t n_wanted) {
    std::vector<polytile_domain> parts = {threads};
    for (int64_t k = 1; k < n_wanted; k++) {
        polytile_domain &whole =
            parts[static_cast<size_t>(random->number(0, static_cast<int64_t>(parts.size()) - 1))];
        const int d = static_cast<int>(random->number(0, whole.n_dims - 1));
        if (whole.range[d].lo >= whole.range[d].hi)
            continue;
        polytile_domain upper = whole;
        upper.range[d].lo = random->number(whole.range[d].lo + 1, whole.range[d].hi);
        whole.range[d].hi = upper.range[d].lo - 1;
        parts.push_back(upper);
    }
    for (size_t k = parts.size(); k > 1; k--)
        std::swap(parts[k - 1],
                  parts[static_cast<size_t>(random->number(0, static_cast<int64_t>(k) - 1))]);
    return parts;
}

TEST(Build, APieceThatStaysMovesOnce) {
    const Launch launch("matmul[i, j]: in A[i, :], B[:, j]; out C[i, j]", "8x8",
                        {{"A", "8x8"}, {"B", "8x8"}, {"C", "8x8"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    const Partition serpentine(DomainsOf({"0:3, 0:3", "0:3, 4:7", "4:7, 4:7", "4:7, 0:3"}), 2);
    const Built built(launch.instance(), serpentine);
    ASSERT_EQ(built.status, POLYTILE_OK);
    EXPECT_EQ(ViolationOf(built.schedule()), "");
    const int a = launch.operand("A"), b = launch.operand("B"), c = launch.operand("C");
    EXPECT_EQ(built.CountMoved(PTI_UPLOAD, a), 64) << "each half for two superblocks";
    EXPECT_EQ(built.CountMoved(PTI_UPLOAD, b, 2), 0) << "the half that is there";
    EXPECT_EQ(built.CountMoved(PTI_UPLOAD, b), 3 * 32);
    EXPECT_EQ(built.CountMoved(PTI_UPLOAD, c), 0) << "is written whole";
    EXPECT_EQ(built.CountMoved(PTI_DOWNLOAD, c), 64);
    EXPECT_EQ(built.CountOperations(PTI_LAUNCH), 4);
}

/** The elements, first to last, that some threads read of x[i-reach:i+reach]. */
polytile_range ReadBy(const polytile_domain &threads, int64_t reach, int64_t n) {
    return {std::max<int64_t>(threads.range[0].lo - reach, 0),
            std::min(threads.range[0].hi + reach, n - 1), 1};
}

/** Whether each piece contains all before it, or lies in one of them that does: then all
 * superblocks have the largest, which stays. */
bool IsKept(const std::vector<polytile_range> &pieces) {
    polytile_range largest = pieces[0];
    for (const polytile_range &piece : pieces) {
        if (piece.lo <= largest.lo && largest.hi <= piece.hi)
            largest = piece;
        else if (piece.lo < largest.lo || largest.hi < piece.hi)
            return false;
    }
    return true;
}

/** Of a launch along one index a superblock lacks what it reads and the piece before it has not. */
TEST(Build, OnlyWhatThePieceBeforeLacksIsUploaded) {
    Random random(test_seed("Build.Missing"));
    int n_kept = 0;
    for (int64_t round = scaled(300); round > 0; round--) {
        const bool is_whole = round == 1; /* then all pieces are the whole array */
        const int64_t n = is_whole ? 4 : random.number(4, 40);
        const int64_t reach = is_whole ? 3 : random.number(0, 3);
        const std::string extent = std::to_string(n), r = std::to_string(reach);
        const Launch launch("blur[i]: in x[i-" + r + ":i+" + r + "]; out y[i]", extent,
                            {{"x", extent}, {"y", extent}});
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        const std::vector<polytile_domain> superblocks =
            DrawSuperblocks(&random, launch.instance()->threads, random.number(2, 6));
        std::vector<polytile_range> pieces;
        for (const polytile_domain &superblock : superblocks)
            pieces.push_back(ReadBy(superblock, reach, n));
        const bool is_kept = IsKept(pieces);
        n_kept += is_kept;
        const Built built(launch.instance(), Partition(superblocks, 2));
        ASSERT_EQ(built.status, POLYTILE_OK);
        ASSERT_EQ(ViolationOf(built.schedule()), "");
        std::vector<bool> held(static_cast<size_t>(n), false);
        for (size_t k = 0; k < pieces.size(); k++) {
            std::vector<bool> now = is_kept ? held : std::vector<bool>(held.size(), false);
            int64_t n_missing = 0;
            for (int64_t i = pieces[k].lo; i <= pieces[k].hi; i++) {
                n_missing += !held[static_cast<size_t>(i)];
                now[static_cast<size_t>(i)] = true;
            }
            ASSERT_EQ(built.CountMoved(PTI_UPLOAD, 0, static_cast<int64_t>(k)), n_missing)
                << "superblock " << k << " of " << pieces.size() << ", " << n << " threads, reach "
                << reach;
            held = now;
        }
        ASSERT_EQ(built.CountMoved(PTI_DOWNLOAD, 1), n);
    }
    EXPECT_GT(n_kept, 0) << "one piece that contains all others was never drawn";
}

TEST(Build, AFreshReductionIsFilledAndNothingOfItComesUp) {
    const Launch launch("gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]", "4x4x8",
                        {{"A", "4x8"}, {"B", "8x4"}, {"C", "4x4"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    const Built built(launch.instance(),
                      Partition(DomainsOf({"0:3, 0:3, 0:3", "0:3, 0:3, 4:7"}), 1));
    ASSERT_EQ(built.status, POLYTILE_OK);
    EXPECT_EQ(ViolationOf(built.schedule()), "");
    const int c = launch.operand("C");
    EXPECT_EQ(built.CountMoved(PTI_FILL, c), 16);
    EXPECT_EQ(built.CountMoved(PTI_UPLOAD, c), 0);
    EXPECT_EQ(built.CountMoved(PTI_DOWNLOAD, c), 16) << "once, after the last launch";
}

TEST(Build, ALinkMayTakeOneUploadForSeveral) {
    const Launch launch("ends[i]: in A[i, 0:1], A[i, 3]; out y[i]", "64",
                        {{"A", "64x4"}, {"y", "64"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    const Partition whole(DomainsOf({"64"}), 1);
    const Built fewest(launch.instance(), whole);
    const Built fastest(launch.instance(), whole, roomy_bytes, &polytile_link_default);
    ASSERT_EQ(fewest.status, POLYTILE_OK);
    ASSERT_EQ(fastest.status, POLYTILE_OK);
    EXPECT_EQ(ViolationOf(fewest.schedule()), "");
    EXPECT_EQ(ViolationOf(fastest.schedule()), "");
    EXPECT_EQ(fewest.CountMoved(PTI_UPLOAD, 0), 3 * 64);
    EXPECT_EQ(fastest.CountMoved(PTI_UPLOAD, 0), 4 * 64) << "with the column between";
    EXPECT_EQ(fastest.CountOperations(PTI_UPLOAD), 1);
}

/** Of a random launch and random superblocks: what is said to be needed suffices, and a byte less
 * does not. */
void TryAnySuperblocks(Random *random, const pti_instance *instance, int *n_tried) {
    const std::vector<polytile_domain> superblocks =
        DrawSuperblocks(random, instance->threads, random->number(1, 8));
    const int n_lanes = pti_partition_lanes(instance, random->number(1, 3));
    const Partition partition(superblocks, static_cast<int>(random->number(1, 3)), n_lanes);
    const polytile_link *link = random->chance(50) ? &polytile_link_default : nullptr;
    const Built roomy(instance, partition, roomy_bytes, link);
    ASSERT_EQ(roomy.status, POLYTILE_OK);
    if (roomy.need_bytes == 0)
        return;
    const Built small(instance, partition, 0, link);
    ASSERT_EQ(small.status, POLYTILE_NO_FIT);
    EXPECT_EQ(small.schedule(), nullptr);
    const Built tight(instance, partition, small.need_bytes, link);
    ASSERT_EQ(tight.status, POLYTILE_OK) << "needs " << small.need_bytes << " bytes";
    const Built too_tight(instance, partition, small.need_bytes - 1, link);
    EXPECT_EQ(too_tight.status, POLYTILE_NO_FIT);
    EXPECT_EQ(too_tight.need_bytes, small.need_bytes);
    for (const Built *built : {&roomy, &tight}) {
        EXPECT_EQ(ViolationOf(built->schedule()), "");
        EXPECT_LE(pti_schedule_peak_bytes(built->schedule()), built->schedule()->arena_bytes);
        EXPECT_EQ(built->CountOperations(PTI_LAUNCH), static_cast<int64_t>(superblocks.size()));
        (*n_tried)++;
    }
    EXPECT_LE(tight.schedule()->arena_bytes, small.need_bytes);
}

TEST(Build, IsRightForAnySuperblocksInAnyOrder) {
    Random random(test_seed("Build.Any"));
    RandomShape shape;
    shape.conflict_free = true;
    int n_tried = 0;
    for (int64_t round = scaled(400); round > 0 && !HasFailure(); round--) {
        polytile_context *ctx = nullptr;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        {
            RandomLaunch launch(ctx, &random, shape);
            const pti_instance *instance = nullptr;
            if (launch.is_small() && launch.instantiate(&instance) == POLYTILE_OK &&
                pti_box_count(&instance->threads) > 0)
                TryAnySuperblocks(&random, instance, &n_tried);
        }
        polytile_context_destroy(ctx);
    }
    EXPECT_GE(n_tried, least_count(scaled(400), 0.2));
}

TEST(Build, InPlaceAllThreadsAreOneLaunchOverTheHostsArrays) {
    const Launch launch("rows[i, j]: in A[i, j]; out sum s[i]", "6x4", {{"A", "6x4"}, {"s", "6"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    pti_schedule *schedule = nullptr;
    ASSERT_EQ(pti_schedule_build_in_place(launch.instance(), &schedule), POLYTILE_OK);
    EXPECT_EQ(ViolationOf(schedule), "");
    EXPECT_TRUE(schedule->in_place);
    EXPECT_EQ(schedule->arena_bytes, 0);
    ASSERT_EQ(schedule->n_ops, 2);
    EXPECT_EQ(schedule->op[0].kind, PTI_FILL);
    EXPECT_EQ(schedule->op[1].kind, PTI_LAUNCH);
    EXPECT_TRUE(pti_box_equals(&schedule->op[1].box, &launch.instance()->threads));
    pti_schedule_free(schedule);
}

} // namespace
