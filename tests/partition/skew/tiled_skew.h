#ifndef POLYTILE_TESTS_PARTITION_SKEW_TILED_SKEW_H
#define POLYTILE_TESTS_PARTITION_SKEW_TILED_SKEW_H

#include "partition/skew/random_skew.h"
#include "partition/skew/skewed.h"

#include <functional>
#include <set>

extern "C" {
#include "partition/ping_pong/ping_pong.h"
#include "partition/skew/tiled.h"
}

/* Chains of launches over arrays that change roles in turn, several of which run as one in each
 * slab. */

namespace tiled_skew {

inline const std::vector<std::string> two_fields = {"40x26", "40x26"};
inline const Kernel there = {
    "five[i, j]: in x[i-1:i+1, j], x[i, j-1:j+1]; out y[i, j]", "1:38,1:24", {{"x", 0}, {"y", 1}}};
inline const Kernel back = {
    "five[i, j]: in x[i-1:i+1, j], x[i, j-1:j+1]; out y[i, j]", "1:38,1:24", {{"x", 1}, {"y", 0}}};
inline const Kernel border = {
    "edge[i, j]: in x[i, j]; out y[i, j]", "0:39,0:0", {{"x", 0}, {"y", 1}}};
inline const Kernel reader = {
    "mean[i, j]: in x[i-1:i+1, j]; inout y[i, j]", "1:38,1:24", {{"x", 1}, {"y", 0}}};

/** A device whose tiles are of 48 rows and 48 columns of eight bytes. */
inline const pti_tile_room room = {48 * 48 * 8, 48, 4};

/** A chain, and which of its launches may run as one. */
class TiledSkew : public Skewed {
  public:
    TiledSkew(const std::vector<Kernel> &kernels, const std::vector<int> &order, bool is_dropped,
              const std::vector<std::string> &fields = two_fields)
        : Skewed(fields, kernels) {
        for (const int kernel : order)
            Add(kernel);
        if (is_dropped)
            MakeScratch(1);
        EXPECT_EQ(Find(), "");
    }

    void Tile(const pti_tile_room &of) {
        const std::vector<pti_tile_kernel> tiles(static_cast<size_t>(chain().n_launches),
                                                 PTI_TILES_ROUND);
        pti_skew_request request = Request(0);
        EXPECT_EQ(
            pti_tiled_find(&of, tiles.data(), request.dropped, const_cast<pti_chain *>(&chain())),
            POLYTILE_OK);
    }

    pti_schedule *Build(const pti_skew_shape &shape) {
        const pti_skew_request request = Request(ArenaOf(chain(), shape));
        return pti_skew_build(&request, &shape);
    }
};

/** To and fro, so many times. */
inline std::vector<int> turns(int n) {
    std::vector<int> order;
    for (int k = 0; k < n; k++)
        order.push_back(k % 2);
    return order;
}

inline pti_skew_shape shape_of(int n_passes, int n_per_pass, int64_t slab, int64_t n_per_lap) {
    pti_skew_shape shape = {};
    shape.n_passes = n_passes;
    shape.n_per_pass = n_per_pass;
    shape.slab = slab;
    shape.n_per_lap = n_per_lap;
    return shape;
}

inline std::set<std::pair<int, int>> units_of(const pti_schedule &schedule) {
    std::set<std::pair<int, int>> units;
    for (int t = 0; t < schedule.n_tiles; t++)
        units.insert({schedule.tiles[t].first_launch, schedule.tiles[t].n_launches});
    return units;
}

inline int count_launches(const pti_schedule &schedule) {
    int n = 0;
    for (const auto &unit : units_of(schedule))
        n += unit.second;
    return n;
}

/** One change to a right schedule, and the words that the checker's text has. */
struct Wrong {
    std::function<void(pti_schedule *)> change;
    const char *text;
};

/** Let three launches at a time of a schedule that has no tiles, of the first so many, run as one
 * in each slab. */
inline void mark_threes(const TiledSkew &skew, int64_t slab, int n_marked, pti_schedule *schedule) {
    std::vector<pti_tiles> made;
    for (int64_t k = 0; k < schedule->n_ops;) {
        const int64_t first_op = k;
        if (schedule->op[k].kind != PTI_LAUNCH || schedule->op[k].launch >= n_marked) {
            k++;
            continue;
        }
        const int first = schedule->op[k].launch / 3 * 3;
        while (k < schedule->n_ops && schedule->op[k].kind == PTI_LAUNCH &&
               schedule->op[k].launch / 3 * 3 == first &&
               (k == first_op || schedule->op[k].launch > schedule->op[k - 1].launch))
            k++;
        const pti_op &last = schedule->op[k - 1];
        const polytile_domain own = last.launch == first + 2 ? last.box : pti_box_empty(2);
        const pti_tiled_unit unit = {first, 3, &skew.chain().tiled->sequence[0], 0, false};
        made.push_back(pti_tiled_tiles(&skew.chain(), &unit, slab, &own));
        made.back().first_op = first_op;
        made.back().n_ops = k - first_op;
    }
    schedule->n_tiles = static_cast<int>(made.size());
    schedule->tiles = static_cast<pti_tiles *>(std::malloc(made.size() * sizeof made[0]));
    std::copy(made.begin(), made.end(), schedule->tiles);
}

/** A declaration whose operands are x, y and so on, of arrays that change roles in turn; perhaps
 * after them k, which stays. */
struct Turning {
    const char *declaration;
    int n_arrays;
    const char *threads;
    bool has_field = false;
};

inline const Turning wave = {"wave[i, j]: in x[i-1:i+1, j], x[i, j-1:j+1], y[i, j]; out z[i, j]", 3,
                             "1:38,1:24"};
inline const Turning leap = {"leap[i, j]: in x[i-1:i+1, j], x[i, j-1:j+1]; inout y[i, j]", 2,
                             "1:38,1:24"};

/** The launches of a turn, and then one that reads the first array and writes the second one. In
 * each launch x is what the one before wrote. */
inline std::vector<Kernel> kernels_of(const Turning &of) {
    static const char *const names[] = {"x", "y", "z", "w"};
    std::vector<Kernel> kernels;
    for (int k = 0; k < of.n_arrays; k++) {
        Kernel kernel = {of.declaration, of.threads, {}};
        for (int o = 0; o < of.n_arrays; o++)
            kernel.arguments.push_back({names[o], (o - k + of.n_arrays) % of.n_arrays});
        if (of.has_field)
            kernel.arguments.push_back({"k", of.n_arrays});
        kernels.push_back(kernel);
    }
    kernels.push_back(reader);
    return kernels;
}

inline std::vector<int> rounds_of(const Turning &of, int n_launches) {
    std::vector<int> order;
    for (int k = 0; k < n_launches; k++)
        order.push_back(k % of.n_arrays);
    return order;
}

inline std::vector<std::string> fields_of(const Turning &of) {
    return std::vector<std::string>(static_cast<size_t>(of.n_arrays + of.has_field), "40x26");
}

inline TiledSkew *skew_of(const Turning &of, const std::vector<int> &order) {
    return new TiledSkew(kernels_of(of), order, false, fields_of(of));
}

inline bool is_copy_aside(const pti_schedule &schedule, const pti_op &op) {
    return op.kind == PTI_COPY && schedule.placement[op.placement].is_aside;
}

} // namespace tiled_skew

#endif
