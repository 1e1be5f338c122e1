#ifndef POLYTILE_TESTS_PARTITION_MEMORY_RESIDENT_H
#define POLYTILE_TESTS_PARTITION_MEMORY_RESIDENT_H

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "partition/memory/resident_memory.h"
#include "support/launch.h"
#include "support/random.h"

extern "C" {
#include "base/text.h"
#include "partition/cost/predict.h"
#include "partition/prove/check.h"
}

/* Residencies, and launches over their arrays. */

/** A kernel over arrays of the queue: argument names with positions. */
struct Kernel {
    const char *declaration;
    const char *threads;
    std::vector<std::pair<const char *, int>> arguments;
};

/** A launch in superblocks. */
struct CutLaunch {
    std::unique_ptr<Launch> launch;
    std::vector<int> array; /* of each operand */
    std::vector<polytile_domain> superblocks;
    pti_partition partition = {};
    int n_lanes = 1; /* unless the launch reduces */

    CutLaunch(const Kernel &kernel, const std::vector<std::string> &domains) {
        std::map<std::string, std::string> arrays;
        Launch::Options options;
        for (const auto &[name, position] : kernel.arguments) {
            arrays[name] = domains[static_cast<size_t>(position)];
            options.types[name] = POLYTILE_F64;
        }
        launch = std::make_unique<Launch>(kernel.declaration, kernel.threads, arrays, options);
        EXPECT_EQ(launch->status(), POLYTILE_OK) << kernel.declaration << launch->error();
        for (int o = 0; o < instance().n_operands; o++)
            for (const auto &[name, position] : kernel.arguments)
                if (std::string(name) == instance().operand[o].name)
                    array.push_back(position);
        superblocks = {instance().threads};
    }

    const pti_instance &instance() const { return *launch->instance(); }

    bool Uses(int position) const {
        return std::find(array.begin(), array.end(), position) != array.end();
    }

    void CutInPieces(int64_t threads_each) {
        const polytile_range whole = instance().threads.range[0];
        superblocks.clear();
        for (int64_t lo = whole.lo; lo <= whole.hi; lo += threads_each) {
            polytile_domain box = instance().threads;
            box.range[0] = {lo, std::min(whole.hi, lo + threads_each - 1), 1};
            superblocks.push_back(box);
        }
    }

    void CutAtRandom(Random *random) {
        n_lanes = random->chance(50) ? static_cast<int>(random->number(2, 5)) : 1;
        for (int64_t n_cuts = random->number(0, 7); n_cuts > 0; n_cuts--) {
            const auto k = static_cast<size_t>(
                random->number(0, static_cast<int64_t>(superblocks.size()) - 1));
            const int d = static_cast<int>(random->number(0, superblocks[k].n_dims - 1));
            polytile_domain low = superblocks[k], high = superblocks[k];
            if (low.range[d].lo == low.range[d].hi)
                continue;
            low.range[d].hi = random->number(low.range[d].lo, low.range[d].hi - 1);
            high.range[d].lo = low.range[d].hi + 1;
            superblocks[k] = low;
            superblocks.push_back(high);
        }
    }

    /** The most that any superblock needs. */
    int64_t NeedBytes() const {
        int64_t most = 0;
        for (const polytile_domain &threads : superblocks) {
            std::map<int, polytile_domain> hulls;
            for (int o = 0; o < instance().n_operands; o++) {
                polytile_domain hull = pti_footprint_hull(&instance(), o, PTI_TOUCHES, &threads);
                const int a = array[static_cast<size_t>(o)];
                if (pti_box_is_empty(&hull))
                    continue;
                polytile_domain &around = hulls.emplace(a, hull).first->second;
                around = pti_box_coarse_union(&around, &hull);
            }
            int64_t bytes = 0;
            for (const auto &[a, hull] : hulls)
                bytes += (pti_memory_layout_of(&hull, 8).size_bytes + 255) / 256 * 256;
            most = std::max(most, bytes);
        }
        return most;
    }

    /** serial: 0, or one that stands for nothing else. */
    pti_step Step(int64_t serial = 0) {
        partition.n_buffers = 1;
        partition.n_lanes = pti_partition_lanes(&instance(), n_lanes);
        partition.n_superblocks = static_cast<int64_t>(superblocks.size());
        partition.superblock = superblocks.data();
        return {PTI_STEP_LAUNCH, {&instance(), array.data()}, &partition, -1, false, serial,
                nullptr};
    }
};

/** A residency with arrays of eight-byte elements. */
class Resident {
  public:
    Resident(int64_t arena_bytes, const std::vector<std::string> &domains,
             const std::vector<bool> &internal = {}, const polytile_domain &exclusive_of_first = {})
        : residency_(pti_residency_create(arena_bytes)) {
        names_.reserve(domains.size());
        for (size_t a = 0; a < domains.size(); a++) {
            names_.push_back("array" + std::to_string(a));
            const pti_resident_array array = {&names_.back()[0],
                                              POLYTILE_F64,
                                              8,
                                              domain_of(domains[a]),
                                              a < internal.size() && internal[a],
                                              false,
                                              a == 0 ? exclusive_of_first : polytile_domain{}};
            EXPECT_EQ(pti_residency_add(residency_, &array), static_cast<int>(a));
        }
    }
    ~Resident() { pti_residency_free(residency_); }
    Resident(const Resident &) = delete;
    Resident &operator=(const Resident &) = delete;

    /** Plan steps; the checker agrees. The schedule lasts until the next call. */
    const pti_schedule *Plan(const std::vector<pti_step> &steps,
                             const polytile_link *link = nullptr, bool check = true) {
        EXPECT_EQ(pti_residency_plan(residency_, static_cast<int>(steps.size()), steps.data(), link,
                                     &schedule_),
                  POLYTILE_OK);
        pti_text why = {};
        if (check) {
            EXPECT_TRUE(pti_schedule_check(schedule_, &why)) << why.data;
        }
        pti_text_free(&why);
        EXPECT_LE(pti_schedule_peak_bytes(schedule_), schedule_->arena_bytes);
        const pti_traffic traffic = pti_schedule_traffic(schedule_);
        h2d_bytes += traffic.h2d_bytes;
        d2h_bytes += traffic.d2h_bytes;
        return schedule_;
    }

    pti_residency *get() { return residency_; }
    int64_t h2d_bytes = 0, d2h_bytes = 0;

  private:
    pti_residency *residency_;
    pti_schedule *schedule_ = nullptr;
    std::vector<std::string> names_;
};

inline pti_step Flush(int array) {
    return {PTI_STEP_FLUSH, {nullptr, nullptr}, nullptr, array, false, 0, nullptr};
}

inline pti_step Drop(int array) {
    return {PTI_STEP_DROP, {nullptr, nullptr}, nullptr, array, false, 0, nullptr};
}

inline pti_step Fetch(int array, const pti_boxes &boxes) {
    return {PTI_STEP_FETCH, {nullptr, nullptr}, nullptr, array, false, 0, &boxes};
}

inline pti_step Renew(int array, const pti_boxes &boxes) {
    return {PTI_STEP_INVALIDATE, {nullptr, nullptr}, nullptr, array, false, 0, &boxes};
}

inline pti_step Bring(int array, const pti_boxes &boxes) {
    return {PTI_STEP_BRING, {nullptr, nullptr}, nullptr, array, false, 0, &boxes};
}

/** A set of boxes by their texts, as domain_of() takes them. */
struct BoxSet {
    pti_boxes boxes = {};

    explicit BoxSet(const std::vector<std::string> &texts = {}) {
        for (const std::string &text : texts)
            Add(domain_of(text));
    }
    ~BoxSet() { pti_boxes_free(&boxes); }
    BoxSet(const BoxSet &) = delete;
    BoxSet &operator=(const BoxSet &) = delete;

    void Add(const polytile_domain &box) { pti_boxes_add(&boxes, &box); }
};

inline const std::vector<std::string> some_domains = {"60",    "60",    "60",    "4",
                                                      "10x10", "10x10", "4x5x4", "4x5x4"};

inline const std::vector<Kernel> some_kernels = {
    {"add[i]: in x[i], y[i]; out z[i]", "60", {{"x", 0}, {"y", 1}, {"z", 2}}},
    {"square[i]: in x[i], y[i]; out z[i]", "60", {{"x", 1}, {"y", 1}, {"z", 0}}},
    {"inc[i]: inout x[i]", "60", {{"x", 1}}},
    {"blur[i]: in x[i-1:i+1]; out y[i]", "1:58", {{"x", 0}, {"y", 1}}},
    {"blur[i]: in x[i-1:i+1]; out y[i]", "1:58", {{"x", 1}, {"y", 0}}},
    {"coarsen[i]: in x[2*i:2*i+1]; out y[i]", "30", {{"x", 2}, {"y", 0}}},
    {"spread[i]: in x[i]; out y[2*i]", "30", {{"x", 0}, {"y", 2}}},
    {"dot[i]: in x[i], y[i]; out sum s[0]", "60", {{"x", 0}, {"y", 1}, {"s", 3}}},
    {"total[i]: in x[i]; sum s[1]", "60", {{"x", 2}, {"s", 3}}},
    {"scale[i]: in s[0]; inout x[i]", "60", {{"s", 3}, {"x", 2}}},
    {"jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
     "1:8, 1:8",
     {{"A", 4}, {"B", 5}}},
    {"jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
     "1:8, 1:8",
     {{"A", 5}, {"B", 4}}},
    {"transpose[i, j]: in A[i, j]; out B[j, i]", "10x10", {{"A", 4}, {"B", 5}}},
    {"rows[i]: in A[i, :]; out x[i]", "10", {{"A", 5}, {"x", 0}}},
    {"columns[i, j]: in A[i, j]; out sum x[j]", "10x10", {{"A", 4}, {"x", 1}}},
    {"diagonal[i]: inout A[i, i]", "10", {{"A", 5}}},
    {"turn[i, j, k]: in C[i, j, k]; out D[k, j, i]", "4x5x4", {{"C", 6}, {"D", 7}}},
    {"shift[i, j, k]: in C[i, j, k-1:k+1]; out D[i, j, k]", "4x5x4", {{"C", 7}, {"D", 6}}},
};

#endif
