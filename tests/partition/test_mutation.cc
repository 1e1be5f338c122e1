#include "partition/hand_queue.h"
#include "partition/interpreter.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <polytile/polytile.h>
#include <random>

#include "support/scale.h"

extern "C" {
#include "partition/plan.h"
}

namespace {

class Draw {
  public:
    explicit Draw(uint64_t seed) : random_(seed) {}
    int64_t Number(int64_t lo, int64_t hi) {
        return std::uniform_int_distribution<int64_t>(lo, hi)(random_);
    }
    size_t Below(size_t n) { return static_cast<size_t>(Number(0, static_cast<int64_t>(n) - 1)); }

  private:
    std::mt19937_64 random_;
};

struct Array {
    const char *name;
    std::vector<int64_t> extents;
};

struct Launch {
    std::string declaration;
    std::vector<int64_t> lo, hi;
    std::vector<Array> arrays;
};

/** A small launch of one of the patterns that planners treat differently. */
Launch DrawLaunch(Draw &draw) {
    const int64_t n = draw.Number(3, 24), m = draw.Number(2, 7), l = draw.Number(2, 6);
    const std::string r = std::to_string(draw.Number(1, 3));
    const Launch launches[] = {
        {"add[i]: in x[i], y[i]; out z[i]", {0}, {n - 1}, {{"x", {n}}, {"y", {n}}, {"z", {n}}}},
        {"smooth[i]: in x[i-" + r + ":i+" + r + "]; out z[i]",
         {0},
         {n - 1},
         {{"x", {n}}, {"z", {n}}}},
        {"jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
         {1, 1},
         {m, l},
         {{"A", {m + 2, l + 2}}, {"B", {m + 2, l + 2}}}},
        {"matmul[i, j]: in A[i, :], B[:, j]; out C[i, j]",
         {0, 0},
         {m - 1, l - 1},
         {{"A", {m, 5}}, {"B", {5, l}}, {"C", {m, l}}}},
        {"gemm[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]",
         {0, 0, 0},
         {m - 1, l - 1, 3},
         {{"A", {m, 4}}, {"B", {4, l}}, {"C", {m, l}}}},
        {"gemm0[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]",
         {0, 0, 0},
         {m - 1, l - 1, 3},
         {{"A", {m, 4}}, {"B", {4, l}}, {"C", {m, l}}}},
        {"total[i]: in x[i]; out sum s[0]", {0}, {n - 1}, {{"x", {n}}, {"s", {2}}}},
        {"largest[i, j]: in x[i, j]; out max s[j]",
         {0, 0},
         {m - 1, l - 1},
         {{"x", {m, l}}, {"s", {l}}}},
        {"coarsen[i]: in x[2*i:2*i+2]; out z[i]", {0}, {n - 1}, {{"x", {2 * n}}, {"z", {n}}}},
        {"spread[i]: in x[i]; out z[2*i]", {0}, {n - 1}, {{"x", {n}}, {"z", {2 * n}}}},
        {"pairs[i]: in x[4*i:4*i+1]; inout z[i]", {0}, {n - 1}, {{"x", {4 * n}}, {"z", {n}}}},
        {"lower[i, j]: in L[i, 0:i]; inout y[i, j]",
         {0, 0},
         {m - 1, l - 1},
         {{"L", {m, m}}, {"y", {m, l}}}},
        {"hankel[i, j]: in h[i+j]; out H[i, j]",
         {0, 0},
         {m - 1, l - 1},
         {{"h", {m + l}}, {"H", {m, l}}}},
        {"diagonal[i]: in A[i, i]; inout A[i, i]; out z[i]",
         {0},
         {m - 1},
         {{"A", {m, m}}, {"z", {m}}}},
        {"transpose[i, j]: in A[j, i]; out B[i, j]",
         {0, 0},
         {m - 1, l - 1},
         {{"A", {l, m}}, {"B", {m, l}}}},
        {"prefix[i]: in x[0:i]; out z[i]", {0}, {n - 1}, {{"x", {n}}, {"z", {n}}}},
    };
    return launches[draw.Below(std::size(launches))];
}

/** Change the schedule and say whether it certainly broke a rule; false if there was nothing to
 * change. */
using Mutate = bool (*)(Draw &, Handmade &, bool *must_fail);

bool PickOp(Draw &draw, const Handmade &made, std::initializer_list<pti_op_kind> kinds,
            size_t *at) {
    std::vector<size_t> found;
    for (size_t i = 0; i < made.ops.size(); i++)
        for (pti_op_kind kind : kinds)
            if (made.ops[i].kind == kind)
                found.push_back(i);
    if (!found.empty())
        *at = found[draw.Below(found.size())];
    return !found.empty();
}

void Rebox(Handmade &made, pti_op &op, const polytile_domain &box) {
    op.box = box;
    op.bytes = pti_box_count(&box) *
               made.operands[static_cast<size_t>(
                                 made.placements[static_cast<size_t>(op.placement)].operand)]
                   .element_bytes;
}

/** Put the operations in another order; waits that would then point forwards are dropped. */
void Permute(Handmade &made, const std::vector<size_t> &order) {
    std::vector<size_t> position(order.size());
    for (size_t k = 0; k < order.size(); k++)
        position[order[k]] = k;
    const Handmade old = made;
    for (size_t k = 0; k < order.size(); k++) {
        made.ops[k] = old.ops[order[k]];
        made.waits[k].clear();
        for (int64_t w : old.waits[order[k]])
            if (position[static_cast<size_t>(w)] < k)
                made.waits[k].push_back(static_cast<int64_t>(position[static_cast<size_t>(w)]));
    }
}

std::vector<size_t> MoveOne(size_t n, size_t from, size_t to) {
    std::vector<size_t> order;
    for (size_t k = 0; k < n; k++)
        if (k != from)
            order.push_back(k);
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), from);
    return order;
}

bool DropUpload(Draw &draw, Handmade &made, bool *) {
    size_t i = 0;
    if (!PickOp(draw, made, {PTI_UPLOAD, PTI_COPY, PTI_FILL}, &i))
        return false;
    made.Drop(i);
    return true;
}

bool DropDownload(Draw &draw, Handmade &made, bool *must_fail) {
    size_t i = 0;
    if (!PickOp(draw, made, {PTI_DOWNLOAD}, &i))
        return false;
    made.Drop(i);
    *must_fail = true;
    return true;
}

bool DropLaunch(Draw &draw, Handmade &made, bool *must_fail) {
    size_t i = 0;
    if (!PickOp(draw, made, {PTI_LAUNCH}, &i))
        return false;
    made.Drop(i);
    *must_fail = true;
    return true;
}

bool RepeatDownload(Draw &draw, Handmade &made, bool *must_fail) {
    size_t i = 0;
    if (!PickOp(draw, made, {PTI_DOWNLOAD}, &i))
        return false;
    made.ops.push_back(made.ops[i]);
    made.waits.push_back({static_cast<int64_t>(i)});
    std::vector<size_t> order = MoveOne(made.ops.size(), made.ops.size() - 1, i + 1);
    Permute(made, order);
    *must_fail = true;
    return true;
}

bool ShrinkBox(Draw &draw, Handmade &made, bool *must_fail) {
    size_t i = 0;
    if (!PickOp(draw, made, {PTI_UPLOAD, PTI_COPY, PTI_FILL, PTI_DOWNLOAD}, &i))
        return false;
    polytile_domain box = made.ops[i].box;
    polytile_range &range = box.range[draw.Below(static_cast<size_t>(box.n_dims))];
    if (range.lo == range.hi)
        return false;
    if (draw.Number(0, 1))
        range.lo += range.step;
    else
        range.hi -= range.step;
    Rebox(made, made.ops[i], box);
    *must_fail = made.ops[i].kind == PTI_DOWNLOAD;
    return true;
}

bool ShiftBox(Draw &draw, Handmade &made, bool *) {
    size_t i = 0;
    if (!PickOp(draw, made, {PTI_UPLOAD, PTI_COPY, PTI_FILL, PTI_DOWNLOAD}, &i))
        return false;
    polytile_range &range =
        made.ops[i].box.range[draw.Below(static_cast<size_t>(made.ops[i].box.n_dims))];
    const pti_placement &placement = made.placements[static_cast<size_t>(made.ops[i].placement)];
    polytile_domain box = made.ops[i].box;
    const int64_t by = draw.Number(0, 1) ? 1 : -1;
    range.lo += by;
    range.hi += by;
    box = made.ops[i].box;
    return pti_box_contains(&placement.layout.hull, &box);
}

bool SwapSlots(Draw &draw, Handmade &made, bool *) {
    pti_placement &a = made.placements[draw.Below(made.placements.size())];
    pti_placement &b = made.placements[draw.Below(made.placements.size())];
    std::swap(a.offset_bytes, b.offset_bytes);
    return a.offset_bytes != b.offset_bytes;
}

bool SwapPlacements(Draw &draw, Handmade &made, bool *) {
    const size_t n = made.operands.size(), o = draw.Below(n);
    int64_t &a = made.launch_placements[draw.Below(made.superblocks.size()) * n + o];
    int64_t &b = made.launch_placements[draw.Below(made.superblocks.size()) * n + o];
    std::swap(a, b);
    return a != b;
}

bool MoveTarget(Draw &draw, Handmade &made, bool *) {
    size_t i = 0;
    if (!PickOp(draw, made, {PTI_UPLOAD, PTI_COPY, PTI_FILL, PTI_DOWNLOAD}, &i))
        return false;
    pti_op &op = made.ops[i];
    const int operand = made.placements[static_cast<size_t>(op.placement)].operand;
    std::vector<int64_t> targets;
    for (size_t p = 0; p < made.placements.size(); p++) {
        const int64_t target = static_cast<int64_t>(p);
        if (target != op.placement && target != op.source_placement &&
            made.placements[p].operand == operand &&
            pti_box_contains(&made.placements[p].layout.hull, &op.box))
            targets.push_back(target);
    }
    if (targets.empty())
        return false;
    op.placement = targets[draw.Below(targets.size())];
    return true;
}

bool LowerLimit(Draw &draw, Handmade &made, bool *must_fail) {
    if (made.arena_bytes < 2)
        return false;
    made.limit_bytes = draw.Number(1, made.arena_bytes - 1);
    *must_fail = true;
    return true;
}

bool ShiftOffset(Draw &draw, Handmade &made, bool *) {
    const int64_t by = draw.Number(1, 9);
    made.placements[draw.Below(made.placements.size())].offset_bytes +=
        draw.Number(0, 1) ? by : -by;
    return true;
}

bool DropWait(Draw &draw, Handmade &made, bool *) {
    const size_t i = draw.Below(made.waits.size());
    if (made.waits[i].empty())
        return false;
    made.waits[i].erase(made.waits[i].begin() +
                        static_cast<std::ptrdiff_t>(draw.Below(made.waits[i].size())));
    return true;
}

bool EarlyDownload(Draw &draw, Handmade &made, bool *) {
    size_t i = 0;
    if (!PickOp(draw, made, {PTI_DOWNLOAD}, &i))
        return false;
    size_t to = i;
    while (to > 0 && made.ops[to].kind != PTI_LAUNCH)
        to--;
    Permute(made, MoveOne(made.ops.size(), i, to));
    return true;
}

bool Reorder(Draw &draw, Handmade &made, bool *) {
    const size_t from = draw.Below(made.ops.size()), to = draw.Below(made.ops.size());
    Permute(made, MoveOne(made.ops.size(), from, to));
    return from != to;
}

bool ChangeSuperblock(Draw &draw, Handmade &made, bool *must_fail) {
    const size_t k = draw.Below(made.superblocks.size());
    polytile_domain &box = made.superblocks[k];
    polytile_range &range = box.range[draw.Below(static_cast<size_t>(box.n_dims))];
    (draw.Number(0, 1) ? range.lo : range.hi) += draw.Number(0, 1) ? 1 : -1;
    for (pti_op &op : made.ops)
        if (op.kind == PTI_LAUNCH && op.superblock == static_cast<int64_t>(k))
            op.box = box;
    *must_fail = true;
    return true;
}

/** A holding before or after the schedule. */
HandHolding *PickHolding(Draw &draw, Handmade &made, bool before) {
    std::vector<HandHolding> &holdings = before ? made.before : made.after;
    return holdings.empty() ? nullptr : &holdings[draw.Below(holdings.size())];
}

bool DropHolding(Draw &draw, Handmade &made, bool *) {
    std::vector<HandHolding> &holdings = draw.Number(0, 1) ? made.before : made.after;
    if (holdings.empty())
        return false;
    holdings.erase(holdings.begin() + static_cast<std::ptrdiff_t>(draw.Below(holdings.size())));
    return true;
}

bool MoveHolding(Draw &draw, Handmade &made, bool *) {
    HandHolding *holding = PickHolding(draw, made, draw.Number(0, 1));
    const int64_t to = static_cast<int64_t>(draw.Below(made.placements.size() + 1));
    if (holding == nullptr || holding->placement == to ||
        to == static_cast<int64_t>(made.placements.size()))
        return false;
    holding->placement = to;
    return true;
}

bool DropHeldBox(Draw &draw, Handmade &made, bool *) {
    HandHolding *holding = PickHolding(draw, made, draw.Number(0, 1));
    if (holding == nullptr)
        return false;
    auto &boxes = draw.Number(0, 1) ? holding->valid : holding->dirty;
    if (boxes.empty())
        return false;
    boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(draw.Below(boxes.size())));
    return true;
}

/** A box drawn in an array. */
polytile_domain DrawBox(Draw &draw, const polytile_domain &in) {
    polytile_domain box = in;
    for (int d = 0; d < in.n_dims; d++) {
        box.range[d].lo = draw.Number(in.range[d].lo, in.range[d].hi);
        box.range[d].hi = draw.Number(box.range[d].lo, in.range[d].hi);
    }
    return box;
}

/** Say that more is there, and perhaps that it is newer than the host's. */
bool AddHeldBox(Draw &draw, Handmade &made, bool *) {
    HandHolding *holding = PickHolding(draw, made, draw.Number(0, 1));
    if (holding == nullptr)
        return false;
    const pti_placement &placement = made.placements[static_cast<size_t>(holding->placement)];
    const polytile_domain box = DrawBox(draw, placement.layout.hull);
    const int64_t kind = draw.Number(0, 2);
    if (kind != 1)
        holding->valid.push_back(box);
    if (kind != 0)
        holding->dirty.push_back(box);
    return true;
}

bool ChangeUnwritten(Draw &draw, Handmade &made, bool *) {
    if (made.unwritten.empty())
        return false;
    const size_t a = draw.Below(made.unwritten.size());
    auto &boxes = made.unwritten[a];
    if (boxes.empty() || draw.Number(0, 1))
        boxes.push_back(DrawBox(draw, made.operands[a].domain));
    else
        boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(draw.Below(boxes.size())));
    return true;
}

bool ChangeDropped(Draw &draw, Handmade &made, bool *) {
    const int a = static_cast<int>(draw.Below(made.operands.size()));
    if (made.dropped.erase(a) == 0)
        made.dropped.insert(a);
    return true;
}

bool ChangeLaunch(Draw &draw, Handmade &made, bool *) {
    if (made.ops.empty() || made.kernels.size() < 2)
        return false;
    pti_op &op = made.ops[draw.Below(made.ops.size())];
    const HandKernel &kernel = made.kernels[draw.Below(made.kernels.size())];
    op.launch = static_cast<int>(&kernel - made.kernels.data());
    if (op.kind != PTI_LAUNCH)
        op.superblock = kernel.first_superblock;
    return true;
}

bool ChangeArray(Draw &draw, Handmade &made, bool *) {
    if (made.kernels.empty())
        return false;
    HandKernel &kernel = made.kernels[draw.Below(made.kernels.size())];
    int &array = kernel.arrays[draw.Below(kernel.arrays.size())];
    const int was = array;
    array = static_cast<int>(draw.Below(made.operands.size()));
    return array != was;
}

bool ShiftLaunch(Draw &draw, Handmade &made, bool *must_fail) {
    if (made.kernels.size() < 2)
        return false;
    const size_t l = draw.Below(made.kernels.size() - 1);
    made.kernels[l].n_superblocks++;
    made.kernels[l + 1].first_superblock++;
    made.kernels[l + 1].n_superblocks--;
    *must_fail = true;
    return true;
}

const struct Kind {
    const char *name;
    Mutate mutate;
} kinds[] = {
    {"an upload dropped", DropUpload},
    {"a download dropped", DropDownload},
    {"a launch dropped", DropLaunch},
    {"a download repeated", RepeatDownload},
    {"a box shrunk by one", ShrinkBox},
    {"a box shifted by one", ShiftBox},
    {"two slots swapped", SwapSlots},
    {"two superblocks' placements swapped", SwapPlacements},
    {"a transfer to another placement", MoveTarget},
    {"the limit lowered", LowerLimit},
    {"an offset shifted", ShiftOffset},
    {"a wait dropped", DropWait},
    {"a download before its launch", EarlyDownload},
    {"an operation moved", Reorder},
    {"a superblock changed", ChangeSuperblock},
};

/** Of schedules of several launches, beside the others. */
const Kind holding_kinds[] = {
    {"a holding dropped", DropHolding},
    {"a holding of another placement", MoveHolding},
    {"a held box dropped", DropHeldBox},
    {"a held box added", AddHeldBox},
    {"other elements unwritten", ChangeUnwritten},
    {"other arrays dropped", ChangeDropped},
    {"an operation of another launch", ChangeLaunch},
    {"an operand that is another array", ChangeArray},
    {"a superblock of the launch before", ShiftLaunch},
};

/** What leaves written elements on the device may be right where there is an afterwards. */
bool MayStayRight(Mutate mutate) {
    return mutate == DropDownload || mutate == ShrinkBox;
}

struct Tally {
    int64_t tried = 0, rejected = 0;
};

class Mutation : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    /** A random plan that fits, as its schedule. */
    bool Plan(Draw &draw, Handmade *made, std::string *text) {
        const Launch launch = DrawLaunch(draw);
        polytile_kernel *kernel;
        EXPECT_EQ(polytile_kernel_create(ctx, launch.declaration.c_str(), nullptr, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        std::vector<polytile_array *> arrays;
        int64_t all_bytes = 0;
        for (const Array &of : launch.arrays) {
            const polytile_type types[] = {POLYTILE_F32, POLYTILE_F64, POLYTILE_U8};
            const polytile_type type = types[draw.Below(3)];
            const polytile_domain domain = polytile_domain_from_extents(
                static_cast<int>(of.extents.size()), of.extents.data());
            arrays.push_back(nullptr);
            EXPECT_EQ(polytile_array_describe(ctx, of.name, type, &domain, &arrays.back()),
                      POLYTILE_OK);
            all_bytes += pti_box_count(&domain) * polytile_type_get_bytes(type);
        }
        const char *strategies[] = {"min-time", "min-traffic", "min-kernels"};
        int64_t block[POLYTILE_MAX_DIMS];
        for (size_t d = 0; d < launch.lo.size(); d++)
            block[d] = draw.Number(1, 3);
        polytile_plan_options options = {};
        options.strategy = strategies[draw.Below(3)];
        options.n_buffers = static_cast<int>(draw.Number(0, 3));
        options.block = block;
        const polytile_domain domain = polytile_domain_from_bounds(
            static_cast<int>(launch.lo.size()), launch.lo.data(), launch.hi.data());
        polytile_plan *plan = nullptr;
        polytile_status status = POLYTILE_NO_FIT;
        options.limit_bytes = draw.Number(0, 9) == 0 ? 0 : draw.Number(1, all_bytes);
        for (; status == POLYTILE_NO_FIT && options.limit_bytes < 64 * all_bytes;
             options.limit_bytes += options.limit_bytes / 2 + 1)
            status = polytile_plan_create(kernel, &domain, arrays.data(), &options, &plan);
        EXPECT_EQ(status, POLYTILE_OK) << launch.declaration << ": " << polytile_last_error(ctx);
        if (status == POLYTILE_OK) {
            *made = Handmade::From(*plan->schedule);
            *text = launch.declaration + ", strategy " + options.strategy + ", " +
                    std::to_string(made->superblocks.size()) + " superblocks, limit " +
                    std::to_string(made->limit_bytes);
        }
        polytile_plan_destroy(plan);
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
        polytile_kernel_destroy(kernel);
        return status == POLYTILE_OK;
    }

    polytile_context *ctx = nullptr;
};

/** Tries of which at least one is surely rejected, even where but one in fifty breaks a schedule. */
constexpr int64_t many_tries = 400;

void Report(const std::map<std::string, Tally> &tallies) {
    for (const auto &[name, tally] : tallies) {
        std::cout << name << ": " << tally.rejected << " of " << tally.tried << " rejected\n";
        EXPECT_TRUE(tally.rejected > 0 || tally.tried < many_tries) << name;
    }
}

TEST_F(Mutation, BrokenSchedulesAreRejectedAndRightOnesAccepted) {
    const char *set = std::getenv("POLYTILE_TEST_SEED");
    const uint64_t seed = set ? std::strtoull(set, nullptr, 10) : std::random_device{}();
    SCOPED_TRACE("POLYTILE_TEST_SEED=" + std::to_string(seed));
    Draw draw(seed);
    std::map<std::string, Tally> tallies;
    for (int64_t round = 0; round < scaled(2000); round++) {
        Handmade right;
        std::string text;
        ASSERT_TRUE(Plan(draw, &right, &text));
        ASSERT_TRUE(right.Holds()) << text << ": " << right.why;
        ASSERT_TRUE(Interpreter(right).IsRight()) << text;
        for (int n = 0; n < 6; n++) {
            const Kind &kind = kinds[draw.Below(std::size(kinds))];
            Handmade mutant = right;
            bool must_fail = false;
            if (!kind.mutate(draw, mutant, &must_fail))
                continue;
            const bool holds = mutant.Holds();
            const bool broken = must_fail || (holds && !Interpreter(mutant).IsRight());
            Tally &tally = tallies[kind.name];
            tally.tried++;
            tally.rejected += !holds;
            ASSERT_FALSE(holds && broken) << text << ": " << kind.name << ", round " << round;
        }
    }
    Report(tallies);
}

/** A kind for several launches; those that change an operation need one. */
const Kind &DrawKind(Draw &draw, const Handmade &made) {
    const size_t n = std::size(holding_kinds);
    const bool is_empty = made.superblocks.empty() || made.ops.empty();
    const size_t k = draw.Below(is_empty ? n : n + std::size(kinds));
    return k < n ? holding_kinds[k] : kinds[k - n];
}

TEST_F(Mutation, BrokenSchedulesOfSeveralLaunchesAreRejectedAndRightOnesAccepted) {
    const uint64_t seed = test_seed("several launches");
    SCOPED_TRACE("POLYTILE_TEST_SEED=" + std::to_string(seed));
    Draw draw(seed);
    std::map<std::string, Tally> tallies;
    int64_t n_planned = 0;
    for (int64_t round = 0; round < scaled(1000); round++) {
        HandQueue queue(static_cast<uint64_t>(draw.Number(0, INT64_MAX)));
        Handmade right;
        for (int window = 0; window < 3 && queue.Plan(&right); window++, n_planned++) {
            const std::string where =
                "round " + std::to_string(round) + ", window " + std::to_string(window);
            ASSERT_TRUE(right.Holds()) << where << ": " << right.why;
            ASSERT_TRUE(Interpreter(right).IsRight()) << where;
            for (int n = 0; n < 8; n++) {
                const Kind &kind = DrawKind(draw, right);
                Handmade mutant = right;
                bool must_fail = false;
                if (!kind.mutate(draw, mutant, &must_fail))
                    continue;
                must_fail = must_fail && !MayStayRight(kind.mutate);
                const bool holds = mutant.Holds();
                Tally &tally = tallies[kind.name];
                tally.tried++;
                tally.rejected += !holds;
                ASSERT_FALSE(holds && (must_fail || !Interpreter(mutant).IsRight()))
                    << where << ": " << kind.name;
            }
        }
    }
    EXPECT_GT(n_planned, scaled(1000));
    Report(tallies);
}

} // namespace
