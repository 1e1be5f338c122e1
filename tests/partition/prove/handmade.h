#ifndef POLYTILE_TESTS_PARTITION_PROVE_HANDMADE_H
#define POLYTILE_TESTS_PARTITION_PROVE_HANDMADE_H

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "access/set/boxes.h"
#include "access/set/memory_layout.h"
#include "partition/prove/check.h"
#include "partition/schedule/schedule.h"
}

/* Launches and schedules written down by hand, without parser and planner. */

inline polytile_domain Box(const std::vector<std::vector<int64_t>> &ranges) {
    polytile_domain box = {};
    for (const auto &r : ranges)
        box.range[box.n_dims++] = {r[0], r.size() > 1 ? r[1] : r[0], r.size() > 2 ? r[2] : 1};
    return box;
}

/** constant + sum of coefficients * indices. */
inline pti_affine Affine(int64_t constant, const std::vector<int64_t> &coefficients) {
    pti_affine affine = {};
    affine.constant = constant;
    for (size_t k = 0; k < coefficients.size(); k++)
        affine.index[k] = coefficients[k];
    return affine;
}

/** A subscript lo:hi:step in which both ends move alike. */
inline pti_subscript Sub(int64_t lo, int64_t hi, const std::vector<int64_t> &coefficients,
                         int64_t step = 1) {
    return {Affine(lo, coefficients), Affine(hi, coefficients), step};
}

/** A kernel of one of several launches, and which arrays its operands are. */
struct HandKernel {
    std::vector<std::string> names;
    std::vector<pti_operand> operands;
    std::vector<pti_section> sections;
    polytile_domain threads = {};
    std::vector<int> arrays;
    int64_t first_superblock = 0;
    int64_t n_superblocks = 0;

    /** Add an operand; sections follow, all of one operand before the next. */
    int Operand(const std::string &name, int64_t element_bytes, const polytile_domain &domain) {
        pti_operand operand = {};
        operand.type = POLYTILE_BYTES(static_cast<int>(element_bytes));
        operand.element_bytes = element_bytes;
        operand.domain = domain;
        operand.first_section = static_cast<int>(sections.size());
        names.push_back(name);
        operands.push_back(operand);
        arrays.push_back(static_cast<int>(arrays.size()));
        return static_cast<int>(operands.size()) - 1;
    }

    void Section(polytile_role role, bool fresh, const std::vector<pti_subscript> &subscripts) {
        pti_operand &operand = operands.back();
        pti_section section = {};
        section.operand = static_cast<int>(operands.size()) - 1;
        section.role = role;
        section.fresh = fresh;
        section.exact = true;
        for (const auto &subscript : subscripts)
            section.subscript[section.n_dims++] = subscript;
        const bool is_scratch = role == POLYTILE_SCRATCH;
        operand.is_scratch |= is_scratch;
        operand.reads |= role != POLYTILE_OUT && !fresh && !is_scratch;
        operand.writes |= role != POLYTILE_IN && !is_scratch;
        operand.reduces |= role >= POLYTILE_SUM && !is_scratch;
        operand.fresh |= fresh;
        operand.reduction = role;
        operand.n_sections++;
        sections.push_back(section);
    }

    static HandKernel From(const pti_instance &instance) {
        HandKernel made;
        for (int o = 0; o < instance.n_operands; o++) {
            made.names.push_back(instance.operand[o].name);
            made.operands.push_back(instance.operand[o]);
            made.arrays.push_back(o);
        }
        made.sections.assign(instance.section, instance.section + instance.n_sections);
        made.threads = instance.threads;
        return made;
    }

    /** Good while this lives and does not change. */
    pti_instance Instance() {
        static char kernel[] = "handmade";
        for (size_t o = 0; o < operands.size(); o++)
            operands[o].name = names[o].data();
        pti_instance instance = {};
        instance.kernel_name = kernel;
        instance.n_indices = threads.n_dims;
        instance.threads = threads;
        instance.n_operands = static_cast<int>(operands.size());
        instance.operand = operands.data();
        instance.n_sections = static_cast<int>(sections.size());
        instance.section = sections.data();
        return instance;
    }
};

/** What a placement holds before a schedule, or after it. */
struct HandHolding {
    int64_t placement;
    std::vector<polytile_domain> valid, dirty;
};

/**
 * A launch with its schedule, or the arrays of several launches, whose kernels then follow; the
 * lists may be changed before Holds().
 */
struct Handmade : HandKernel {
    std::vector<HandKernel> kernels; /* none: one launch, of the operands themselves, if they have
                                        threads */
    std::vector<HandHolding> before, after;
    std::vector<std::vector<polytile_domain>> unwritten; /* of each array; none: all written */
    std::set<int> dropped;                               /* arrays */
    bool in_place = false;
    int64_t limit_bytes = 0;
    int64_t arena_bytes = 0;
    std::vector<polytile_domain> superblocks;
    std::vector<pti_placement> placements;
    std::vector<int64_t> launch_placements;
    std::vector<pti_op> ops;
    std::vector<std::vector<int64_t>> waits; /* one list an operation */
    std::string why;

    /** A planned schedule, to be changed. */
    static Handmade From(const pti_schedule &schedule) {
        Handmade made;
        const pti_instance &instance = *schedule.instance;
        static_cast<HandKernel &>(made) = HandKernel::From(instance);
        for (int l = 0; l < schedule.n_launches && !pti_schedule_is_of_one_launch(&schedule); l++)
            made.kernels.push_back(KernelOf(schedule.launch[l]));
        made.before = HoldingsFrom(schedule.before, schedule.n_before);
        made.after = HoldingsFrom(schedule.after, schedule.n_after);
        for (int a = 0; schedule.unwritten != nullptr && a < instance.n_operands; a++)
            made.unwritten.push_back(BoxesFrom(schedule.unwritten[a]));
        for (int a = 0; schedule.dropped != nullptr && a < instance.n_operands; a++)
            if (schedule.dropped[a])
                made.dropped.insert(a);
        made.in_place = schedule.in_place;
        made.limit_bytes = schedule.limit_bytes;
        made.arena_bytes = schedule.arena_bytes;
        made.superblocks.assign(schedule.superblock, schedule.superblock + schedule.n_superblocks);
        made.placements.assign(schedule.placement, schedule.placement + schedule.n_placements);
        made.launch_placements.assign(schedule.launch_placement,
                                      schedule.launch_placement + schedule.n_launch_placements);
        made.ops.assign(schedule.op, schedule.op + schedule.n_ops);
        for (const pti_op &op : made.ops)
            made.waits.emplace_back(schedule.wait + op.first_wait,
                                    schedule.wait + op.first_wait + op.n_waits);
        return made;
    }

    /** Begin the next launch: the kernel's operands are the given arrays. */
    int Begin(const HandKernel &kernel, const std::vector<int> &arrays_of_it) {
        kernels.push_back(kernel);
        kernels.back().arrays = arrays_of_it;
        kernels.back().first_superblock = static_cast<int64_t>(superblocks.size());
        return static_cast<int>(kernels.size()) - 1;
    }

    /** The kernels of all launches, with the arrays of their operands. */
    std::vector<HandKernel> Kernels() const {
        return kernels.empty() ? std::vector<HandKernel>{*this} : kernels;
    }

    /** Where the placements of a launch begin in the list. */
    int64_t FirstPlacement(size_t launch) const {
        uint64_t first = 0;
        for (size_t l = 0; l < launch && l < kernels.size(); l++)
            first += static_cast<uint64_t>(kernels[l].n_superblocks) * kernels[l].operands.size();
        return static_cast<int64_t>(first);
    }

    int64_t Place(int operand, int64_t offset_bytes, const polytile_domain &hull) {
        pti_placement placement = {};
        placement.operand = operand;
        placement.offset_bytes = offset_bytes;
        placement.layout = pti_memory_layout_of(&hull, operands[operand].element_bytes);
        placements.push_back(placement);
        if (!in_place && offset_bytes + placement.layout.size_bytes > arena_bytes)
            arena_bytes = offset_bytes + placement.layout.size_bytes;
        return static_cast<int64_t>(placements.size()) - 1;
    }

    int64_t Move(pti_op_kind kind, int64_t superblock, int64_t placement,
                 const polytile_domain &box, const std::vector<int64_t> &waits_for = {},
                 int64_t source = -1) {
        pti_op op = {};
        op.kind = kind;
        op.launch = kernels.empty() ? 0 : static_cast<int>(kernels.size()) - 1;
        op.superblock = superblock;
        op.placement = placement;
        op.source_placement = source;
        op.box = box;
        op.bytes = pti_box_count(&box) * operands[placements[placement].operand].element_bytes;
        ops.push_back(op);
        waits.push_back(waits_for);
        return static_cast<int64_t>(ops.size()) - 1;
    }

    /** Launch a superblock on a placement of each array. */
    int64_t Launch(const polytile_domain &box, const std::vector<int64_t> &placed,
                   const std::vector<int64_t> &waits_for = {}) {
        std::vector<int64_t> of_operands;
        for (int array : kernels.empty() ? arrays : kernels.back().arrays)
            of_operands.push_back(placed[static_cast<size_t>(array)]);
        return LaunchOn(box, of_operands, waits_for);
    }

    /** The same on a placement of each operand. */
    int64_t LaunchOn(const polytile_domain &box, const std::vector<int64_t> &placed,
                     const std::vector<int64_t> &waits_for = {}) {
        pti_op op = {};
        op.kind = PTI_LAUNCH;
        if (!kernels.empty()) {
            op.launch = static_cast<int>(kernels.size()) - 1;
            kernels.back().n_superblocks++;
        }
        op.superblock = static_cast<int64_t>(superblocks.size());
        op.placement = -1;
        op.source_placement = -1;
        op.box = box;
        superblocks.push_back(box);
        launch_placements.insert(launch_placements.end(), placed.begin(), placed.end());
        ops.push_back(op);
        waits.push_back(waits_for);
        return static_cast<int64_t>(ops.size()) - 1;
    }

    /** Take operation i out, and the waits for it. */
    void Drop(size_t i) {
        ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i));
        waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(i));
        for (auto &list : waits) {
            std::vector<int64_t> kept;
            for (int64_t w : list)
                if (w != static_cast<int64_t>(i))
                    kept.push_back(w > static_cast<int64_t>(i) ? w - 1 : w);
            list = kept;
        }
    }

    /** The n-th operation of a kind. */
    size_t Find(pti_op_kind kind, int n = 0) const {
        for (size_t i = 0; i < ops.size(); i++)
            if (ops[i].kind == kind && n-- == 0)
                return i;
        return ops.size();
    }

    bool Holds() {
        pti_text text = {};
        bool holds = false;
        WithSchedule(
            [&](const pti_schedule &schedule) { holds = pti_schedule_check(&schedule, &text); });
        why = text.data == nullptr ? "" : text.data;
        pti_text_free(&text);
        return holds;
    }

    /** Call visit with the schedule, which is good until it returns. */
    template <typename Visit> void WithSchedule(Visit visit) {
        pti_instance instance = Instance();
        Pointed pointed(*this, instance);
        std::vector<int64_t> wait;
        for (size_t i = 0; i < ops.size(); i++) {
            ops[i].first_wait = static_cast<int64_t>(wait.size());
            ops[i].n_waits = static_cast<int>(waits[i].size());
            wait.insert(wait.end(), waits[i].begin(), waits[i].end());
        }
        pti_schedule schedule = {};
        schedule.instance = &instance;
        pointed.PointTo(schedule);
        schedule.in_place = in_place;
        schedule.limit_bytes = limit_bytes;
        schedule.arena_bytes = arena_bytes;
        schedule.n_superblocks = static_cast<int64_t>(superblocks.size());
        schedule.superblock = superblocks.data();
        schedule.n_placements = static_cast<int64_t>(placements.size());
        schedule.placement = placements.data();
        schedule.n_launch_placements = static_cast<int64_t>(launch_placements.size());
        schedule.launch_placement = launch_placements.data();
        for (const pti_op &op : ops)
            schedule.n_lanes = std::max(schedule.n_lanes, op.lane + 1);
        schedule.n_ops = static_cast<int64_t>(ops.size());
        schedule.op = ops.data();
        schedule.n_waits = static_cast<int64_t>(wait.size());
        schedule.wait = wait.data();
        visit(static_cast<const pti_schedule &>(schedule));
    }

  private:
    /** What a schedule points to beside its plain lists. */
    class Pointed {
      public:
        Pointed(Handmade &made, const pti_instance &instance) {
            instances_.reserve(made.kernels.size());
            for (auto &kernel : made.kernels) {
                instances_.push_back(kernel.Instance());
                launches_.push_back({{&instances_.back(), kernel.arrays.data()},
                                     kernel.first_superblock,
                                     kernel.n_superblocks,
                                     made.FirstPlacement(launches_.size())});
            }
            if (made.kernels.empty() && made.threads.n_dims > 0)
                launches_.push_back({{&instance, made.arrays.data()},
                                     0,
                                     static_cast<int64_t>(made.superblocks.size()),
                                     0});
            for (auto &holding : made.before)
                before_.push_back({holding.placement, Set(holding.valid), Set(holding.dirty)});
            for (auto &holding : made.after)
                after_.push_back({holding.placement, Set(holding.valid), Set(holding.dirty)});
            for (auto &boxes : made.unwritten)
                unwritten_.push_back(Set(boxes));
            if (!made.dropped.empty())
                dropped_ = std::make_unique<bool[]>(made.operands.size());
            for (int a : made.dropped)
                dropped_[static_cast<size_t>(a)] = true;
        }

        void PointTo(pti_schedule &schedule) {
            schedule.n_launches = static_cast<int>(launches_.size());
            schedule.launch = launches_.data();
            schedule.n_before = static_cast<int>(before_.size());
            schedule.before = before_.data();
            schedule.n_after = static_cast<int>(after_.size());
            schedule.after = after_.data();
            schedule.unwritten = unwritten_.empty() ? nullptr : unwritten_.data();
            schedule.dropped = dropped_.get();
        }

      private:
        static pti_boxes Set(std::vector<polytile_domain> &boxes) {
            return {boxes.data(), static_cast<int>(boxes.size()), static_cast<int>(boxes.size()),
                    false};
        }

        std::vector<pti_instance> instances_;
        std::vector<pti_schedule_launch> launches_;
        std::vector<pti_holding> before_, after_;
        std::vector<pti_boxes> unwritten_;
        std::unique_ptr<bool[]> dropped_;
    };

    static HandKernel KernelOf(const pti_schedule_launch &launch) {
        HandKernel kernel = HandKernel::From(*launch.call.instance);
        for (int o = 0; o < launch.call.instance->n_operands; o++)
            kernel.arrays[static_cast<size_t>(o)] = launch.call.array[o];
        kernel.first_superblock = launch.first_superblock;
        kernel.n_superblocks = launch.n_superblocks;
        return kernel;
    }

    static std::vector<polytile_domain> BoxesFrom(const pti_boxes &set) {
        return {set.box, set.box + set.n_boxes};
    }

    static std::vector<HandHolding> HoldingsFrom(const pti_holding *holding, int n_holdings) {
        std::vector<HandHolding> made;
        for (int k = 0; k < n_holdings; k++)
            made.push_back(
                {holding[k].placement, BoxesFrom(holding[k].valid), BoxesFrom(holding[k].dirty)});
        return made;
    }
};

/** add[i]: in x[i], y[i]; out z[i], with two buffers an array. */
inline Handmade VectorAdd(int64_t n_superblocks, int64_t size) {
    Handmade made;
    const int64_t n = n_superblocks * size, bytes = 4 * size;
    made.threads = Box({{0, n - 1}});
    for (const char *name : {"x", "y", "z"}) {
        made.Operand(name, 4, made.threads);
        made.Section(name[0] == 'z' ? POLYTILE_OUT : POLYTILE_IN, false, {Sub(0, 0, {1})});
    }
    std::vector<int64_t> launches, downloads;
    for (int64_t k = 0; k < n_superblocks; k++) {
        const polytile_domain box = Box({{k * size, (k + 1) * size - 1}});
        std::vector<int64_t> placed;
        for (int o = 0; o < 3; o++)
            placed.push_back(made.Place(o, (2 * o + k % 2) * bytes, box));
        std::vector<int64_t> slot_free, ready;
        if (k >= 2) {
            slot_free.push_back(launches[k - 2]);
            ready.push_back(downloads[k - 2]);
        }
        made.Move(PTI_UPLOAD, k, placed[0], box, slot_free);
        ready.push_back(made.Move(PTI_UPLOAD, k, placed[1], box));
        launches.push_back(made.Launch(box, placed, ready));
        downloads.push_back(made.Move(PTI_DOWNLOAD, k, placed[2], box, {launches[k]}));
    }
    made.limit_bytes = made.arena_bytes;
    return made;
}

/** smooth[i]: in A[i-1:i+1]; out B[i] over 1 .. n, each halo copied from the piece before. */
inline Handmade Stencil(int64_t n_superblocks, int64_t size) {
    Handmade made;
    const int64_t n = n_superblocks * size, in_bytes = 4 * (size + 2);
    made.threads = Box({{1, n}});
    made.Operand("A", 4, Box({{0, n + 1}}));
    made.Section(POLYTILE_IN, false, {Sub(-1, 1, {1})});
    made.Operand("B", 4, Box({{0, n + 1}}));
    made.Section(POLYTILE_OUT, false, {Sub(0, 0, {1})});
    std::vector<int64_t> launches, downloads;
    int64_t before = -1;
    for (int64_t k = 0; k < n_superblocks; k++) {
        const int64_t lo = k * size;
        const int64_t a = made.Place(0, (k % 2) * in_bytes, Box({{lo, lo + size + 1}}));
        const int64_t b =
            made.Place(1, 2 * in_bytes + (k % 2) * 4 * size, Box({{lo + 1, lo + size}}));
        std::vector<int64_t> slot_free, ready;
        if (k >= 2) {
            slot_free.push_back(launches[k - 2]);
            ready.push_back(downloads[k - 2]);
        }
        if (k == 0)
            made.Move(PTI_UPLOAD, k, a, Box({{0, 1}}));
        else
            made.Move(PTI_COPY, k, a, Box({{lo, lo + 1}}), slot_free, before);
        ready.push_back(made.Move(PTI_UPLOAD, k, a, Box({{lo + 2, lo + size + 1}})));
        launches.push_back(made.Launch(Box({{lo + 1, lo + size}}), {a, b}, ready));
        downloads.push_back(
            made.Move(PTI_DOWNLOAD, k, b, Box({{lo + 1, lo + size}}), {launches[k]}));
        before = a;
    }
    made.limit_bytes = made.arena_bytes;
    return made;
}

/** matmul[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j] on n * n, rows and k in pieces of size:
 * C's piece stays while k goes on. One buffer. */
inline Handmade Matmul(int64_t n_pieces, int64_t size) {
    Handmade made;
    const int64_t n = n_pieces * size, panel = 4 * n * size;
    const polytile_domain square = Box({{0, n - 1}, {0, n - 1}});
    made.threads = Box({{0, n - 1}, {0, n - 1}, {0, n - 1}});
    made.Operand("A", 4, square);
    made.Section(POLYTILE_IN, false, {Sub(0, 0, {1, 0, 0}), Sub(0, 0, {0, 0, 1})});
    made.Operand("B", 4, square);
    made.Section(POLYTILE_IN, false, {Sub(0, 0, {0, 0, 1}), Sub(0, 0, {0, 1, 0})});
    made.Operand("C", 4, square);
    made.Section(POLYTILE_SUM, true, {Sub(0, 0, {1, 0, 0}), Sub(0, 0, {0, 1, 0})});
    int64_t launch = -1, download = -1, superblock = 0;
    for (int64_t i = 0; i < n; i += size) {
        const polytile_domain rows = Box({{i, i + size - 1}, {0, n - 1}});
        const int64_t c = made.Place(2, 0, rows);
        std::vector<int64_t> slot_free;
        if (download >= 0)
            slot_free.push_back(download);
        made.Move(PTI_FILL, superblock, c, rows, slot_free);
        for (int64_t k = 0; k < n; k += size, superblock++) {
            const polytile_domain of_a = Box({{i, i + size - 1}, {k, k + size - 1}});
            const polytile_domain of_b = Box({{k, k + size - 1}, {0, n - 1}});
            const int64_t a = made.Place(0, 2 * panel, of_a), b = made.Place(1, panel, of_b);
            std::vector<int64_t> used;
            if (launch >= 0)
                used.push_back(launch);
            made.Move(PTI_UPLOAD, superblock, a, of_a, used);
            const int64_t ready = made.Move(PTI_UPLOAD, superblock, b, of_b);
            launch = made.Launch(Box({{i, i + size - 1}, {0, n - 1}, {k, k + size - 1}}), {a, b, c},
                                 {ready});
        }
        download = made.Move(PTI_DOWNLOAD, superblock - 1, c, rows, {launch});
    }
    made.limit_bytes = made.arena_bytes;
    return made;
}

/** dot[i]: in x[i]; out sum s[0], one buffer, s resident throughout. */
inline Handmade Sum(int64_t n_superblocks, int64_t size) {
    Handmade made;
    made.threads = Box({{0, n_superblocks * size - 1}});
    made.Operand("x", 4, made.threads);
    made.Section(POLYTILE_IN, false, {Sub(0, 0, {1})});
    made.Operand("s", 8, Box({{0}}));
    made.Section(POLYTILE_SUM, true, {Sub(0, 0, {})});
    const int64_t s = made.Place(1, 0, Box({{0}}));
    made.Move(PTI_FILL, 0, s, Box({{0}}));
    int64_t launch = -1;
    for (int64_t k = 0; k < n_superblocks; k++) {
        const polytile_domain box = Box({{k * size, (k + 1) * size - 1}});
        const int64_t x = made.Place(0, 8, box);
        std::vector<int64_t> used;
        if (launch >= 0)
            used.push_back(launch);
        launch = made.Launch(box, {x, s}, {made.Move(PTI_UPLOAD, k, x, box, used)});
    }
    made.Move(PTI_DOWNLOAD, n_superblocks - 1, s, Box({{0}}), {launch});
    made.limit_bytes = made.arena_bytes;
    return made;
}

/** The sum on the host's own arrays. */
inline Handmade SumInPlace() {
    Handmade made;
    made.in_place = true;
    made.threads = Box({{0, 15}});
    made.Operand("x", 4, made.threads);
    made.Section(POLYTILE_IN, false, {Sub(0, 0, {1})});
    made.Operand("s", 8, Box({{0, 1}}));
    made.Section(POLYTILE_SUM, true, {Sub(0, 0, {})});
    const int64_t x = made.Place(0, 0, made.threads), s = made.Place(1, 0, Box({{0, 1}}));
    const int64_t fill = made.Move(PTI_FILL, 0, s, Box({{0}}));
    made.Launch(made.threads, {x, s}, {fill});
    return made;
}

#endif
