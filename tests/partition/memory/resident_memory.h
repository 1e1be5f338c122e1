#ifndef POLYTILE_TESTS_PARTITION_MEMORY_RESIDENT_MEMORY_H
#define POLYTILE_TESTS_PARTITION_MEMORY_RESIDENT_MEMORY_H

#include "support/elements.h"
#include "support/random.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

extern "C" {
#include "access/footprint/footprint.h"
#include "partition/memory/residency.h"
}

/* Schedules run on real bytes: one arena, one host array an array of the queue, and streams that
 * run in any order that their waits allow. Kernels are hashes of what they read. Elements have
 * eight bytes. */

/** Elements of a whole array in C order, by their indices. */
struct HostArray {
    polytile_domain domain;
    std::vector<uint64_t> element;

    explicit HostArray(const polytile_domain &of)
        : domain(of), element(static_cast<size_t>(pti_box_count(&of))) {}

    uint64_t &at(const Point &point) {
        int64_t number = 0;
        for (int d = 0; d < domain.n_dims; d++)
            number = number * pti_range_count(domain.range[d]) + point[static_cast<size_t>(d)] -
                     domain.range[d].lo;
        return element[static_cast<size_t>(number)];
    }
};

inline uint64_t mixed(uint64_t a, uint64_t b) {
    uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 32);
}

/** Call visit(operand, role, fresh, element) for all that one thread touches. */
template <class Visit>
void for_each_touched(const pti_instance &instance, const Point &thread, Visit visit) {
    for (int s = 0; s < instance.n_sections; s++) {
        const pti_section &section = instance.section[s];
        const polytile_domain &array = instance.operand[section.operand].domain;
        for_each_point(section_of_thread(section, thread), [&](const Point &element) {
            for (int d = 0; d < array.n_dims; d++)
                if (!pti_range_has(array.range[d], element[static_cast<size_t>(d)]))
                    return;
            visit(section, element);
        });
    }
}

/** Run a box of threads: each reads, and what it writes is made of that; sums add. */
template <class At>
void run_threads(const pti_instance &instance, const polytile_domain &threads, At at) {
    for_each_point(threads, [&](const Point &thread) {
        uint64_t value = 1;
        for (int64_t index : thread)
            value = mixed(value, static_cast<uint64_t>(index));
        for_each_touched(instance, thread, [&](const pti_section &section, const Point &element) {
            if (section.role == POLYTILE_IN || section.role == POLYTILE_INOUT)
                value = mixed(value, at(section.operand, element));
        });
        for_each_touched(instance, thread, [&](const pti_section &section, const Point &element) {
            if (section.role == POLYTILE_SUM)
                at(section.operand, element) += value;
            else if (section.role != POLYTILE_IN)
                at(section.operand, element) = value;
        });
    });
}

/** Run a launch on the host arrays, at once. */
inline void run_at_once(const pti_instance &instance, const std::vector<int> &array,
                        std::vector<HostArray> *host) {
    const auto at = [&](int operand, const Point &element) -> uint64_t & {
        return (*host)[static_cast<size_t>(array[static_cast<size_t>(operand)])].at(element);
    };
    for (int o = 0; o < instance.n_operands; o++)
        if (instance.operand[o].fresh) {
            pti_boxes written = {};
            pti_footprint_boxes(&instance, o, PTI_WRITES, &instance.threads, 64, &written);
            for (int k = 0; k < written.n_boxes; k++)
                for_each_point(written.box[k], [&](const Point &point) { at(o, point) = 0; });
            pti_boxes_free(&written);
        }
    run_threads(instance, instance.threads, at);
}

inline bool is_ready(const pti_schedule &schedule, int64_t op, const std::vector<bool> &done) {
    for (int w = 0; w < schedule.op[op].n_waits; w++)
        if (!done[static_cast<size_t>(schedule.wait[schedule.op[op].first_wait + w])])
            return false;
    return true;
}

/** Call run(op) for all operations, on streams of which any may go on that need not wait.
 * False if none can. */
template <class Run> bool run_streams(const pti_schedule &schedule, Random *random, Run run) {
    std::vector<int64_t> streams[PTI_MAX_STREAMS];
    std::vector<bool> done(static_cast<size_t>(schedule.n_ops));
    for (int64_t k = 0; k < schedule.n_ops; k++)
        streams[pti_op_stream(&schedule.op[k])].push_back(k);
    size_t next[PTI_MAX_STREAMS] = {};
    const auto can_go_on = [&](int s) {
        return next[s] < streams[s].size() && is_ready(schedule, streams[s][next[s]], done);
    };
    for (int64_t n_done = 0; n_done < schedule.n_ops;) {
        std::vector<int> ready;
        for (int s = 0; s < PTI_MAX_STREAMS; s++)
            if (can_go_on(s))
                ready.push_back(s);
        if (ready.empty())
            return false;
        const int s =
            ready[static_cast<size_t>(random->number(0, static_cast<int64_t>(ready.size()) - 1))];
        for (int64_t burst = random->number(1, 4); burst > 0 && can_go_on(s); burst--, n_done++) {
            const int64_t op = streams[s][next[s]++];
            run(schedule.op[op]);
            done[static_cast<size_t>(op)] = true;
        }
    }
    return true;
}

/** A device with an arena and streams, of which any may run next that need not wait. */
class ResidentMemory {
  public:
    explicit ResidentMemory(int64_t arena_bytes)
        : arena_(static_cast<size_t>(arena_bytes), '\x5a') {}

    /** Run a schedule. Returns what went wrong, "" if nothing. */
    std::string Run(const pti_schedule &schedule, std::vector<HostArray> *host, Random *random) {
        schedule_ = &schedule;
        host_ = host;
        const bool is_run = run_streams(schedule, random, [&](const pti_op &op) { Do(op); });
        return is_run ? wrong_ : "no stream can go on";
    }

    /** Run it with the launches of each slab as one that may run so. */
    std::string RunSlabsAsOne(const pti_schedule &schedule, std::vector<HostArray> *host,
                              Random *random) {
        runs_slabs_ = true;
        return Run(schedule, host, random);
    }

  private:
    /** What tiles hold of an array, and where they load it from: what launches write, and the
     * rest. */
    struct Held {
        int64_t begun = -1, kept = -1;
        const polytile_domain *written = nullptr;
        std::map<Point, uint64_t> element;
    };

    static polytile_domain PartOf(const pti_tiles &tiles, int n_later,
                                  const polytile_domain &threads) {
        polytile_domain part = tiles.own;
        for (int d = 0; d < part.n_dims; d++) {
            part.range[d].lo =
                std::max(part.range[d].lo - n_later * tiles.margin_per_launch.before[d],
                         threads.range[d].lo);
            part.range[d].hi = std::min(
                part.range[d].hi + n_later * tiles.margin_per_launch.after[d], threads.range[d].hi);
        }
        return part;
    }

    static bool IsIn(const polytile_domain &box, const Point &point) {
        bool is = true;
        for (int d = 0; d < box.n_dims; d++)
            is = is && pti_range_has(box.range[d], point[static_cast<size_t>(d)]);
        return is;
    }

    /** An element that tiles hold; one that they do not is loaded, and what has no place is
     * wrong. */
    uint64_t &Hold(const Point &point, Held *held) {
        const auto known = held->element.find(point);
        if (known != held->element.end())
            return known->second;
        const int64_t placement = IsIn(*held->written, point) ? held->begun : held->kept;
        const bool is_there = IsIn(schedule_->placement[placement].layout.hull, point);
        return held->element[point] = is_there ? *Address(placement, point) : 0xbad;
    }

    /** The memory in which tiles load what launches write of an array, and where they store it. */
    static int64_t PlaceOf(const pti_tiles &tiles, bool is_aside, int array, int64_t home) {
        const pti_tile_aside *aside = pti_tiles_find_aside(&tiles, array);
        return aside != nullptr && is_aside ? aside->placement : home;
    }

    void DoTiles(const pti_tiles &tiles, const pti_op &last) {
        const int64_t *placements =
            pti_schedule_placements(schedule_, last.launch, last.superblock);
        const pti_call &end = schedule_->launch[last.launch].call;
        std::map<int, Held> held;
        for (int o = 0; o < end.instance->n_operands; o++) {
            Held &of = held[end.array[o]];
            of.kept = placements[o];
            of.begun = PlaceOf(tiles, tiles.is_from_aside, end.array[o], of.kept);
            of.written = &end.instance->threads;
        }
        for (int l = tiles.first_launch; l <= last.launch; l++) {
            const pti_call &call = schedule_->launch[l].call;
            run_threads(*call.instance, PartOf(tiles, last.launch - l, call.instance->threads),
                        [&](int operand, const Point &point) -> uint64_t & {
                            return Hold(point, &held[call.array[operand]]);
                        });
        }
        for (int k = 0; k < tiles.n_stored; k++) {
            Held &of = held[tiles.stored[k]];
            const int64_t to = PlaceOf(tiles, !tiles.is_from_aside, tiles.stored[k], of.kept);
            for_each_point(tiles.own,
                           [&](const Point &point) { *Address(to, point) = of.element[point]; });
        }
    }

    /** Whether an operation runs with others, which are done with their last launch. */
    bool DoAsOne(const pti_op &op) {
        const int64_t k = &op - schedule_->op;
        for (int t = 0; t < schedule_->n_tiles && runs_slabs_; t++) {
            const pti_tiles &tiles = schedule_->tiles[t];
            if (!tiles.is_of_slab || k < tiles.first_op || k >= tiles.first_op + tiles.n_ops)
                continue;
            if (op.launch == tiles.first_launch + tiles.n_launches - 1)
                DoTiles(tiles, op);
            return true;
        }
        return false;
    }

    uint64_t *Address(int64_t placement, const Point &point) {
        static uint64_t nowhere;
        if (placement < 0) {
            wrong_ = "a launch touches an array that it has no placement for";
            return &nowhere;
        }
        const pti_placement &at = schedule_->placement[placement];
        for (int d = 0; d < at.layout.hull.n_dims; d++)
            if (!pti_range_has(at.layout.hull.range[d], point[static_cast<size_t>(d)]))
                wrong_ = "an element lies outside its placement";
        const int64_t offset = at.offset_bytes + pti_memory_layout_offset(&at.layout, point.data());
        if (offset < 0 || offset + 8 > static_cast<int64_t>(arena_.size()))
            wrong_ = "a placement lies outside the arena";
        return wrong_.empty() ? reinterpret_cast<uint64_t *>(arena_.data() + offset) : &nowhere;
    }

    void Do(const pti_op &op) {
        if (op.kind == PTI_LAUNCH && DoAsOne(op))
            return;
        if (op.kind == PTI_LAUNCH) {
            const int64_t *placements =
                pti_schedule_placements(schedule_, op.launch, op.superblock);
            run_threads(*schedule_->launch[op.launch].call.instance, op.box,
                        [&](int operand, const Point &point) -> uint64_t & {
                            return *Address(placements[operand], point);
                        });
            return;
        }
        HostArray &array =
            (*host_)[static_cast<size_t>(schedule_->placement[op.placement].operand)];
        for_each_point(op.box, [&](const Point &point) {
            uint64_t *there = Address(op.placement, point);
            if (op.kind == PTI_UPLOAD)
                *there = array.at(point);
            if (op.kind == PTI_COPY)
                *there = *Address(op.source_placement, point);
            if (op.kind == PTI_FILL)
                *there = 0;
            if (op.kind == PTI_DOWNLOAD)
                array.at(point) = *there;
        });
    }

    std::vector<char> arena_;
    const pti_schedule *schedule_ = nullptr;
    std::vector<HostArray> *host_ = nullptr;
    std::string wrong_;
    bool runs_slabs_ = false;
};

#endif
