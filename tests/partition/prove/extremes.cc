#include "partition/prove/extremes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>

extern "C" {
#include "access/set/box.h"
}

namespace {

enum Bounds { REFUSED, FREE };

/** Numbers in a list, each with a name. */
class List {
  public:
    std::vector<Number> numbers;

    /** Of extremes of a number that is free some are right. */
    void Add(const std::string &name, int64_t *number, Bounds bounds = REFUSED) {
        const int64_t value = *number;
        AddAny(
            name, [number] { return *number; }, [number](int64_t set) { *number = set; },
            {INT64_MIN, INT64_MAX}, bounds,
            {-1, 0, 1, value - 1, value + 1, INT64_MIN / 2, INT64_MAX / 2, -(INT64_C(1) << 61),
             INT64_C(1) << 61, INT64_C(1) << 32});
    }

    void Add(const std::string &name, int *number, Bounds bounds = REFUSED) {
        const int64_t value = *number;
        AddInt(name, number, {INT_MIN, INT_MAX}, bounds,
               {-1, 0, 1, value - 1, value + 1, 9, 40, 1 << 20, INT_MIN / 2});
    }

    /** The length of a list, which may be shorter than it is. */
    void AddLength(const std::string &name, int64_t *length) {
        AddAny(
            name, [length] { return *length; }, [length](int64_t set) { *length = set; },
            {INT64_MIN}, REFUSED, {-1, 0, *length / 2, std::max<int64_t>(0, *length - 1)});
    }

    void AddLength(const std::string &name, int *length) {
        AddInt(name, length, {INT_MIN}, REFUSED, {-1, 0, *length / 2, std::max(0, *length - 1)});
    }

    void AddBox(const std::string &name, polytile_domain *box) {
        Add(name + ".n_dims", &box->n_dims);
        for (int d = 0; d < box->n_dims; d++) {
            polytile_range *range = &box->range[d];
            const std::string along = name + ".range[" + std::to_string(d) + "]";
            Add(along + ".lo", &range->lo);
            Add(along + ".hi", &range->hi);
            Add(along + ".step", &range->step, range->lo < range->hi ? REFUSED : FREE);
        }
    }

    void AddBoxes(const std::string &name, pti_boxes *set) {
        for (int b = 0; b < set->n_boxes; b++)
            AddBox(name + "[" + std::to_string(b) + "]", &set->box[b]);
    }

  private:
    void AddInt(const std::string &name, int *number, const std::vector<int64_t> &extremes,
                Bounds bounds, const std::vector<int64_t> &others) {
        AddAny(
            name, [number] { return *number; },
            [number](int64_t set) { *number = static_cast<int>(set); }, extremes, bounds, others);
    }

    void AddAny(const std::string &name, const std::function<int64_t()> &get,
                const std::function<void(int64_t)> &set, const std::vector<int64_t> &extremes,
                Bounds bounds, std::vector<int64_t> others) {
        if (bounds == FREE)
            others.insert(others.end(), extremes.begin(), extremes.end());
        numbers.push_back(
            {name, get, set, bounds == FREE ? std::vector<int64_t>() : extremes, others});
    }
};

std::string At(const std::string &list, int64_t k) {
    return list + "[" + std::to_string(k) + "]";
}

/** In a schedule with a period launches name no placement, and only copies a source. */
void AddOp(List *list, const pti_schedule &schedule, int64_t k) {
    pti_op *op = &schedule.op[k];
    const bool is_flat = schedule.period.times == 0;
    const std::string name = At("op", k);
    list->Add(name + ".kind", reinterpret_cast<int *>(&op->kind));
    list->Add(name + ".lane", &op->lane);
    list->Add(name + ".launch", &op->launch);
    list->Add(name + ".superblock", &op->superblock);
    list->Add(name + ".placement", &op->placement,
              is_flat && op->kind == PTI_LAUNCH ? FREE : REFUSED);
    list->Add(name + ".source_placement", &op->source_placement,
              is_flat && op->kind != PTI_COPY ? FREE : REFUSED);
    list->Add(name + ".first_wait", &op->first_wait);
    list->Add(name + ".n_waits", &op->n_waits);
    list->Add(name + ".bytes", &op->bytes, op->kind == PTI_LAUNCH ? FREE : REFUSED);
    list->AddBox(name + ".box", &op->box);
}

/** In place it does not matter where in an arena they are. */
void AddPlacement(List *list, const pti_schedule &schedule, int64_t k) {
    pti_placement *placement = &schedule.placement[k];
    pti_memory_layout *layout = &placement->layout;
    const std::string name = At("placement", k);
    list->Add(name + ".operand", &placement->operand);
    list->Add(name + ".offset_bytes", &placement->offset_bytes, schedule.in_place ? FREE : REFUSED);
    list->Add(name + ".size_bytes", &layout->size_bytes, schedule.in_place ? FREE : REFUSED);
    list->AddBox(name + ".hull", &layout->hull);
    for (int d = 0; d < layout->hull.n_dims; d++)
        list->Add(At(name + ".stride_bytes", d), &layout->stride_bytes[d],
                  layout->hull.range[d].lo < layout->hull.range[d].hi ? REFUSED : FREE);
}

void AddHoldings(List *list, const std::string &when, pti_holding *holdings, int n) {
    for (int k = 0; k < n; k++) {
        list->Add(At(when, k) + ".placement", &holdings[k].placement);
        list->AddBoxes(At(when, k) + ".valid", &holdings[k].valid);
        list->AddBoxes(At(when, k) + ".dirty", &holdings[k].dirty);
    }
}

void AddLaunch(List *list, const pti_schedule &schedule, int l) {
    pti_schedule_launch *launch = &schedule.launch[l];
    const std::string name = At("launch", l);
    list->Add(name + ".first_superblock", &launch->first_superblock);
    list->Add(name + ".n_superblocks", &launch->n_superblocks);
    list->Add(name + ".first_placement", &launch->first_placement);
    for (int o = 0; o < launch->call.instance->n_operands; o++)
        list->Add(At(name + ".array", o), const_cast<int *>(&launch->call.array[o]));
}

/** Where nothing is stored the tile does not matter; memory aside may be missing. */
void AddTiles(List *list, pti_tiles *tiles, const std::string &name) {
    const bool is_empty = pti_box_is_empty(&tiles->own);
    const int n_dims = tiles->own.n_dims;
    list->Add(name + ".first_op", &tiles->first_op);
    list->Add(name + ".n_ops", &tiles->n_ops);
    list->Add(name + ".first_launch", &tiles->first_launch);
    list->Add(name + ".n_launches", &tiles->n_launches);
    list->Add(name + ".rounds", reinterpret_cast<int *>(&tiles->rounds));
    list->Add(name + ".n_stored", &tiles->n_stored);
    list->Add(name + ".n_aside", &tiles->n_aside);
    for (int d = 0; d < n_dims; d++) {
        list->Add(At(name + ".tile", d), &tiles->tile[d], is_empty ? FREE : REFUSED);
        list->Add(At(name + ".before", d), &tiles->margin_per_launch.before[d]);
        list->Add(At(name + ".after", d), &tiles->margin_per_launch.after[d]);
    }
    for (int k = 0; k < tiles->n_stored; k++)
        list->Add(At(name + ".stored", k), &tiles->stored[k]);
    for (int k = 0; k < tiles->n_aside; k++) {
        list->Add(At(name + ".aside", k) + ".array", &tiles->aside[k].array);
        list->Add(At(name + ".aside", k) + ".offset_bytes", &tiles->aside[k].offset_bytes, FREE);
        list->Add(At(name + ".aside", k) + ".placement", &tiles->aside[k].placement,
                  tiles->is_of_slab ? REFUSED : FREE);
    }
    if (!is_empty)
        list->AddBox(name + ".own", &tiles->own);
    if (tiles->is_of_ring && !pti_box_is_empty(&tiles->opposite))
        list->AddBox(name + ".opposite", &tiles->opposite);
}

void AddShift(List *list, const std::string &name, pti_shift *shift, int n_dims) {
    for (int d = 0; d < n_dims; d++)
        list->Add(At(name + ".by", d), &shift->by[d]);
}

void AddPeriod(List *list, const pti_schedule &schedule, pti_period *period) {
    list->Add("period.times", &period->times);
    list->Add("period.first_op", &period->first_op);
    list->Add("period.n_ops", &period->n_ops);
    list->Add("period.first_kernel", &period->first_kernel);
    list->Add("period.n_kernels", &period->n_kernels);
    list->Add("period.first_placement", &period->first_placement);
    list->Add("period.n_placements", &period->n_placements);
    list->AddLength("period.n_carried", &period->n_carried);
    list->AddLength("period.n_launches", &period->n_launches);
    for (int l = 0; l < schedule.n_launches; l++) {
        pti_period_launch *launch = &period->launch[l];
        const std::string name = At("period.launch", l);
        list->Add(name + ".first_superblock", &launch->first_superblock);
        list->Add(name + ".n_superblocks", &launch->n_superblocks);
        AddShift(list, name + ".threads", &launch->threads,
                 schedule.launch[l].call.instance->n_indices);
    }
    for (int a = 0; a < schedule.instance->n_operands; a++)
        AddShift(list, At("period.array", a), &period->array[a],
                 schedule.instance->operand[a].domain.n_dims);
    for (int k = 0; k < period->n_carried; k++) {
        pti_carried *carried = &period->carried[k];
        const std::string name = At("period.carried", k);
        list->Add(name + ".first", &carried->first);
        list->Add(name + ".left", &carried->left);
        list->AddBoxes(name + ".valid", &carried->valid);
        list->AddBoxes(name + ".dirty", &carried->dirty);
    }
}

void AddColumns(List *list, const pti_schedule &schedule, pti_columns *columns) {
    list->Add("columns.n", &columns->n);
    list->Add("columns.width", &columns->width);
    list->Add("columns.begin", &columns->begin);
    for (int l = 0; l < schedule.n_launches; l++) {
        list->Add(At("columns.index", l), &columns->index[l]);
        list->Add(At("columns.offset", l), &columns->offset[l]);
    }
}

void AddLengths(List *list, pti_schedule *schedule) {
    list->AddLength("n_launches", &schedule->n_launches);
    list->AddLength("n_before", &schedule->n_before);
    list->AddLength("n_after", &schedule->n_after);
    list->AddLength("n_invalidations", &schedule->n_invalidations);
    list->AddLength("n_superblocks", &schedule->n_superblocks);
    list->AddLength("n_placements", &schedule->n_placements);
    list->AddLength("n_launch_placements", &schedule->n_launch_placements);
    list->AddLength("n_ops", &schedule->n_ops);
    list->AddLength("n_waits", &schedule->n_waits);
    list->AddLength("n_tiles", &schedule->n_tiles);
    list->Add("n_lanes", &schedule->n_lanes);
    list->Add("arena_bytes", &schedule->arena_bytes, FREE);
    list->Add("limit_bytes", &schedule->limit_bytes, FREE);
}

void AddStates(List *list, pti_schedule *schedule) {
    AddHoldings(list, "before", schedule->before, schedule->n_before);
    AddHoldings(list, "after", schedule->after, schedule->n_after);
    for (int a = 0; schedule->unwritten != nullptr && a < schedule->instance->n_operands; a++)
        list->AddBoxes(At("unwritten", a), &schedule->unwritten[a]);
    for (int k = 0; k < schedule->n_invalidations; k++) {
        pti_invalidation *invalidation = &schedule->invalidation[k];
        list->Add(At("invalidation", k) + ".operand", &invalidation->operand);
        list->Add(At("invalidation", k) + ".first_op", &invalidation->first_op);
        list->AddBoxes(At("invalidation", k) + ".boxes", &invalidation->boxes);
    }
}

void AddJointHoldings(List *list, const std::string &when, pti_joint_holding *holdings, int n) {
    for (int c = 0; c < n; c++) {
        list->AddBoxes(At(when, c) + ".valid", &holdings[c].valid);
        list->AddBoxes(At(when, c) + ".loose", &holdings[c].loose);
        list->AddBoxes(At(when, c) + ".reading", &holdings[c].reading);
    }
}

void AddJointList(List *list, pti_joint_list *of, const std::string &name) {
    list->Add(name + ".first", &of->first);
    list->Add(name + ".n_local", &of->n_local);
    for (int k = 0; k < of->n_ops; k++) {
        pti_joint_op *op = &of->op[k];
        const std::string at = At(name + ".op", k);
        list->Add(at + ".kind", reinterpret_cast<int *>(&op->kind));
        list->Add(at + ".member", &op->member);
        list->Add(at + ".peer", &op->peer);
        list->Add(at + ".launch", &op->launch);
        list->Add(at + ".array", &op->array);
        list->Add(at + ".first_wait", &op->first_wait);
        list->Add(at + ".n_waits", &op->n_waits);
        list->AddBoxes(at + ".boxes", &op->boxes);
    }
    for (int w = 0; w < of->n_waits; w++) {
        list->Add(At(name + ".wait", w) + ".member", &of->wait[w].member);
        list->Add(At(name + ".wait", w) + ".array", &of->wait[w].array);
    }
}

} // namespace

std::vector<Number> NumbersOf(pti_schedule *schedule) {
    List list;
    AddLengths(&list, schedule);
    AddStates(&list, schedule);
    for (int l = 0; l < schedule->n_launches; l++)
        AddLaunch(&list, *schedule, l);
    for (int64_t k = 0; k < schedule->n_superblocks; k++)
        list.AddBox(At("superblock", k), &schedule->superblock[k]);
    for (int64_t k = 0; k < schedule->n_placements; k++)
        AddPlacement(&list, *schedule, k);
    for (int64_t k = 0; k < schedule->n_launch_placements; k++)
        list.Add(At("launch_placement", k), &schedule->launch_placement[k]);
    for (int64_t k = 0; k < schedule->n_ops; k++)
        AddOp(&list, *schedule, k);
    for (int64_t w = 0; w < schedule->n_waits; w++)
        list.Add(At("wait", w), &schedule->wait[w]);
    for (int t = 0; t < schedule->n_tiles; t++)
        AddTiles(&list, &schedule->tiles[t], At("tiles", t));
    if (schedule->columns.n > 0)
        AddColumns(&list, *schedule, &schedule->columns);
    if (schedule->period.times > 0)
        AddPeriod(&list, *schedule, &schedule->period);
    return list.numbers;
}

std::vector<Number> NumbersOf(pti_joint_schedule *schedule) {
    const int n_cells = schedule->n_arrays * schedule->n_members;
    List list;
    for (int k = 0; k < schedule->n_lists; k++)
        AddJointList(&list, &schedule->list[k], At("list", k));
    for (int c = 0; c < n_cells; c++)
        list.Add(At("memory", c), &schedule->memory[c]);
    for (int l = 0; l < schedule->n_launches; l++)
        for (int o = 0; o < schedule->launch[l].instance->n_operands; o++)
            list.Add(At(At("launch", l) + ".array", o),
                     const_cast<int *>(&schedule->launch[l].array[o]));
    AddJointHoldings(&list, "before", schedule->before, n_cells);
    AddJointHoldings(&list, "after", schedule->after, n_cells);
    return list.numbers;
}

void ExpectExtremesRefused(const std::vector<Number> &numbers, int64_t n_most, Random *random,
                           const std::function<std::string()> &objection) {
    const int64_t n = static_cast<int64_t>(numbers.size());
    for (int64_t k = 0; k < std::min(n, n_most) && !::testing::Test::HasFailure(); k++) {
        const Number &number =
            numbers[static_cast<size_t>(n <= n_most ? k : random->number(0, n - 1))];
        const int64_t right = number.get();
        for (const int64_t value : number.refused) {
            number.set(value);
            EXPECT_NE(objection(), "") << number.name << " = " << value << ", was " << right;
        }
        for (const int64_t value : number.tried) {
            number.set(value);
            objection();
        }
        number.set(right);
    }
    EXPECT_EQ(objection(), "");
}
