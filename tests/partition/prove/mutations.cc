#include "partition/prove/mutations.h"

#include "partition/prove/interpreter.h"
#include "support/scale.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <iostream>

namespace {

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

/** The array that each of the placements which launches use is to be of. */
std::vector<int> ArraysOfPlacements(const Handmade &made) {
    std::vector<int> arrays;
    for (const HandKernel &kernel : made.Kernels()) {
        const int64_t n = made.kernels.empty() ? static_cast<int64_t>(made.superblocks.size())
                                               : kernel.n_superblocks;
        for (int64_t k = 0; k < n; k++)
            arrays.insert(arrays.end(), kernel.arrays.begin(), kernel.arrays.end());
    }
    return arrays;
}

/** Of two superblocks, or of two operands of one array. */
bool SwapPlacements(Draw &draw, Handmade &made, bool *) {
    const std::vector<int> arrays = ArraysOfPlacements(made);
    if (arrays.size() != made.launch_placements.size() || arrays.empty())
        return false;
    const size_t one = draw.Below(arrays.size());
    std::vector<size_t> others;
    for (size_t other = 0; other < arrays.size(); other++)
        if (arrays[other] == arrays[one] &&
            made.launch_placements[other] != made.launch_placements[one])
            others.push_back(other);
    if (others.empty())
        return false;
    std::swap(made.launch_placements[one],
              made.launch_placements[others[draw.Below(others.size())]]);
    return true;
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

bool ChangeSource(Draw &draw, Handmade &made, bool *) {
    size_t i = 0;
    if (!PickOp(draw, made, {PTI_COPY}, &i))
        return false;
    const int64_t source = static_cast<int64_t>(draw.Below(made.placements.size()));
    if (source == made.ops[i].source_placement)
        return false;
    made.ops[i].source_placement = source;
    return true;
}

bool ChangeStream(Draw &draw, Handmade &made, bool *) {
    size_t i = 0;
    if (!PickOp(draw, made, {PTI_LAUNCH, PTI_FILL}, &i))
        return false;
    const int lane = static_cast<int>(draw.Number(0, 3));
    if (lane == made.ops[i].lane)
        return false;
    made.ops[i].lane = lane;
    return true;
}

bool WaitEarlier(Draw &draw, Handmade &made, bool *) {
    const size_t i = draw.Below(made.waits.size());
    if (made.waits[i].empty())
        return false;
    int64_t &wait = made.waits[i][draw.Below(made.waits[i].size())];
    return wait-- > 0;
}

bool ChangeStride(Draw &draw, Handmade &made, bool *) {
    pti_memory_layout &layout = made.placements[draw.Below(made.placements.size())].layout;
    const size_t d = draw.Below(static_cast<size_t>(layout.hull.n_dims));
    layout.stride_bytes[d] += draw.Number(0, 1) ? 1 : -1;
    return layout.hull.range[d].lo != layout.hull.range[d].hi;
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
    {"a copy from elsewhere", ChangeSource},
    {"an operation on the other stream", ChangeStream},
    {"a wait for an earlier operation", WaitEarlier},
    {"a stride changed", ChangeStride},
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

/** A kind for several launches; those that change an operation need one. */
const Kind &DrawKind(Draw *draw, const Handmade &made, bool has_launches) {
    const size_t n = has_launches ? std::size(holding_kinds) : 0;
    const bool is_empty = made.superblocks.empty() || made.ops.empty();
    const size_t k = draw->Below(is_empty ? n : n + std::size(kinds));
    return k < n ? holding_kinds[k] : kinds[k - n];
}

/** Tries of which at least one is surely rejected, even where but one in fifty breaks a
 * schedule. */
constexpr int64_t many_tries = 400;

} // namespace

void Mutants::Try(const Handmade &right, int n) {
    for (int k = 0; k < n; k++) {
        const Kind &kind = DrawKind(draw_, right, has_launches_);
        Handmade mutant = right;
        bool must_fail = false;
        if (!kind.mutate(*draw_, mutant, &must_fail))
            continue;
        must_fail = must_fail && !(has_launches_ && MayStayRight(kind.mutate));
        Tally &tally = tallies_[kind.name];
        if (!mutant.Holds())
            tally.rejected++;
        else if (must_fail || !Interpreter(mutant).IsRight())
            tally.missed++;
        else
            tally.harmless++;
    }
}

void Mutants::ExpectEveryKindRejected() const {
    for (const auto &[name, tally] : tallies_)
        EXPECT_TRUE(tally.rejected > 0 || tally.harmless < many_tries) << name;
}

void Mutants::ExpectRejected(int64_t n_least) const {
    Tally sum;
    for (const auto &[name, tally] : tallies_) {
        std::cout << name << ": " << tally.rejected << " rejected, " << tally.harmless
                  << " harmless, " << tally.missed << " missed\n";
        EXPECT_EQ(tally.missed, 0) << name;
        sum.rejected += tally.rejected;
        sum.harmless += tally.harmless;
        sum.missed += tally.missed;
    }
    std::cout << "all: " << sum.rejected << " rejected, " << sum.harmless << " harmless, "
              << sum.missed << " missed\n";
    if (scaled(100) >= 100) {
        EXPECT_GE(sum.rejected + sum.missed, n_least);
    }
}
