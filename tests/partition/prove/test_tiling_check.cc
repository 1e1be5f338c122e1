#include "support/random.h"
#include "support/scale.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <polytile/polytile.h>

extern "C" {
#include "access/footprint/footprint.h"
#include "access/set/box.h"
#include "partition/ping_pong/margins.h"
#include "partition/prove/tiling_check.h"
}

/* Launches that run tile by tile. What is proved is compared with running them on numbers, in which
 * each value says all that it comes from. */

namespace {

struct Step {
    std::string declaration;
    polytile_domain threads;
    std::vector<int> arrays;
};

/** The bound calls of some steps over arrays of one domain. */
class Calls {
  public:
    Calls(const polytile_domain &domain, int n_arrays, const std::vector<Step> &steps)
        : domain_(domain) {
        EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
        for (int a = 0; a < n_arrays; a++) {
            arrays_.push_back(nullptr);
            EXPECT_EQ(polytile_array_describe(ctx_,
                                              std::string(1, static_cast<char>('a' + a)).c_str(),
                                              POLYTILE_F32, &domain, &arrays_.back()),
                      POLYTILE_OK);
        }
        for (const Step &step : steps)
            add(step);
        for (size_t l = 0; l < instances_.size(); l++)
            calls_.push_back({instances_[l], numbers_[l].data()});
    }
    ~Calls() {
        for (pti_instance *instance : instances_)
            pti_instance_free(instance);
        polytile_context_destroy(ctx_);
    }
    Calls(const Calls &) = delete;
    Calls &operator=(const Calls &) = delete;

    bool are_valid() const { return are_valid_; }
    const polytile_domain &domain() const { return domain_; }
    int n_arrays() const { return static_cast<int>(arrays_.size()); }
    const std::vector<pti_call> &calls() const { return calls_; }

    pti_tiling tiling(const std::vector<int64_t> &tile) const {
        pti_tiling made = {};
        made.n_launches = static_cast<int>(calls_.size());
        made.call = calls_.data();
        made.n_arrays = n_arrays();
        std::copy(tile.begin(), tile.end(), made.tile);
        return made;
    }

  private:
    void add(const Step &step) {
        const polytile_implementation none = {};
        polytile_kernel *kernel = nullptr;
        pti_instance *instance = nullptr;
        std::vector<polytile_array *> given;
        for (const int number : step.arrays)
            given.push_back(arrays_[static_cast<size_t>(number)]);
        EXPECT_EQ(polytile_kernel_create(ctx_, step.declaration.c_str(), &none, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
        are_valid_ = are_valid_ && pti_instance_create(kernel, &step.threads, given.data(), 0,
                                                       nullptr, &instance) == POLYTILE_OK;
        if (instance != nullptr) {
            instances_.push_back(instance);
            numbers_.push_back(step.arrays);
        }
    }

    polytile_domain domain_;
    polytile_context *ctx_ = nullptr;
    std::vector<polytile_array *> arrays_;
    std::vector<pti_instance *> instances_;
    std::vector<std::vector<int>> numbers_;
    std::vector<pti_call> calls_;
    bool are_valid_ = true;
};

using Visit = std::function<void(const polytile_domain &point)>;

void visit_points(const polytile_domain &box, const Visit &visit) {
    if (pti_box_is_empty(&box))
        return;
    polytile_domain point = box;
    for (int d = 0; d < box.n_dims; d++)
        point.range[d].hi = point.range[d].lo;
    for (int d = box.n_dims - 1; d >= 0;) {
        visit(point);
        for (d = box.n_dims - 1; d >= 0; d--) {
            point.range[d].lo++;
            if (point.range[d].lo <= box.range[d].hi) {
                point.range[d].hi = point.range[d].lo;
                break;
            }
            point.range[d].lo = point.range[d].hi = box.range[d].lo;
        }
    }
}

using Values = std::vector<std::vector<uint64_t>>; /* of each array */

class Memory {
  public:
    explicit Memory(const Calls &calls) : domain_(calls.domain()) {
        for (int a = 0; a < calls.n_arrays(); a++) {
            values_.emplace_back(static_cast<size_t>(pti_box_count(&domain_)));
            for (size_t k = 0; k < values_.back().size(); k++)
                values_.back()[k] = (static_cast<uint64_t>(a) << 32) + k;
        }
    }
    uint64_t &at(int array, const polytile_domain &element) {
        size_t number = 0;
        for (int d = 0; d < domain_.n_dims; d++)
            number = number * static_cast<size_t>(pti_range_count(domain_.range[d])) +
                     static_cast<size_t>(element.range[d].lo - domain_.range[d].lo);
        return values_[static_cast<size_t>(array)][number];
    }
    const Values &values() const { return values_; }

    /** Let a thread write, in each of its elements, all that it reads. */
    void run_thread(const pti_call &call, uint64_t launch, const polytile_domain &thread) {
        uint64_t sum = 0x9e3779b97f4a7c15u + launch;
        each_element(call, thread, false, [&](int array, const polytile_domain &element) {
            sum = (sum ^ at(array, element)) * 0xbf58476d1ce4e5b9u;
            sum ^= sum >> 29;
        });
        each_element(call, thread, true,
                     [&](int array, const polytile_domain &element) { at(array, element) = sum; });
    }

    static void each_element(const pti_call &call, const polytile_domain &thread, bool written,
                             const std::function<void(int, const polytile_domain &)> &visit) {
        for (int s = 0; s < call.instance->n_sections; s++) {
            const pti_section &section = call.instance->section[s];
            const bool counts =
                written ? section.role != POLYTILE_IN : section.role != POLYTILE_OUT;
            if (counts)
                visit_points(pti_section_hull(call.instance, &section, &thread),
                             [&](const polytile_domain &element) {
                                 visit(call.array[section.operand], element);
                             });
        }
    }

  private:
    polytile_domain domain_;
    Values values_;
};

Values run_in_order(const Calls &calls) {
    Memory memory(calls);
    for (size_t l = 0; l < calls.calls().size(); l++)
        visit_points(calls.calls()[l].instance->threads, [&](const polytile_domain &thread) {
            memory.run_thread(calls.calls()[l], l, thread);
        });
    return memory.values();
}

/** A tile loads what others have stored, unless these store apart. */
void run_tile(const Calls &calls, const pti_tiling &tiling, const int64_t *position,
              Memory *memory) {
    Memory own = tiling.is_apart ? Memory(calls) : *memory;
    const polytile_domain tile = pti_tiling_own(&tiling, position);
    for (int l = 0; l < tiling.n_launches; l++) {
        polytile_domain parts[PTI_TILING_PARTS];
        const int n_parts = pti_tiling_parts(&tiling, position, l, parts);
        for (int p = 0; p < n_parts; p++)
            visit_points(parts[p], [&](const polytile_domain &thread) {
                own.run_thread(calls.calls()[static_cast<size_t>(l)], static_cast<uint64_t>(l),
                               thread);
            });
    }
    for (int l = 0; l < tiling.n_launches; l++) {
        const pti_call &call = calls.calls()[static_cast<size_t>(l)];
        polytile_domain threads;
        if (pti_box_intersect(&tile, &call.instance->threads, &threads))
            visit_points(threads, [&](const polytile_domain &thread) {
                Memory::each_element(call, thread, true,
                                     [&](int array, const polytile_domain &element) {
                                         if (tiling.is_stored[array])
                                             memory->at(array, element) = own.at(array, element);
                                     });
            });
    }
}

/** Tiles in a random order, each of which sees what those before have stored. */
Values run_in_tiles(const Calls &calls, const pti_tiling &tiling, Random *random) {
    Memory memory(calls);
    std::vector<std::vector<int64_t>> positions = {{}};
    for (int d = 0; d < tiling.threads.n_dims; d++) {
        std::vector<std::vector<int64_t>> longer;
        for (const auto &position : positions)
            for (int64_t k = 0; k < pti_tiling_count(&tiling, d); k++) {
                longer.push_back(position);
                longer.back().push_back(k);
            }
        positions = longer;
    }
    for (size_t k = positions.size(); k > 1; k--)
        std::swap(positions[k - 1],
                  positions[static_cast<size_t>(random->number(0, static_cast<int64_t>(k) - 1))]);
    for (const auto &position : positions)
        run_tile(calls, tiling, position.data(), &memory);
    return memory.values();
}

bool stores_the_same(const Calls &calls, const pti_tiling &tiling, Random *random) {
    const Values expected = run_in_order(calls), found = run_in_tiles(calls, tiling, random);
    bool are_equal = true;
    for (int a = 0; a < calls.n_arrays(); a++)
        are_equal = are_equal && (!tiling.is_stored[a] || expected[static_cast<size_t>(a)] ==
                                                              found[static_cast<size_t>(a)]);
    return are_equal;
}

bool is_proved(const pti_tiling &tiling, std::string *reason) {
    pti_text why = {};
    const bool is = pti_tiling_check(&tiling, &why);
    *reason = why.data == nullptr ? "" : why.data;
    pti_text_free(&why);
    return is;
}

polytile_domain square(int64_t lo, int64_t hi) {
    return {2, {{lo, hi, 1}, {lo, hi, 1}}};
}

const char *const five_points = "five[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";

std::vector<Step> to_and_fro(int n_steps) {
    std::vector<Step> steps;
    for (int s = 0; s < n_steps; s++)
        steps.push_back({five_points, square(1, 18), {s % 2, 1 - s % 2}});
    return steps;
}

TEST(Tiling, MarginsAreTheReachesOfLaterLaunches) {
    const Calls calls(square(0, 19), 2, to_and_fro(5));
    pti_tiling tiling = calls.tiling({6, 7});
    pti_text why = {};
    ASSERT_EQ(pti_margins_find(&tiling, &why), POLYTILE_OK);
    EXPECT_EQ(why.length, 0u) << why.data;
    for (int l = 0; l < 5; l++)
        for (int d = 0; d < 2; d++) {
            EXPECT_EQ(tiling.margin[l].before[d], 4 - l);
            EXPECT_EQ(tiling.margin[l].after[d], 4 - l);
        }
    EXPECT_FALSE(tiling.is_stored[0]) << "its first values are read by all tiles";
    EXPECT_TRUE(tiling.is_stored[1]);
    Random random{1};
    std::string reason;
    EXPECT_TRUE(is_proved(tiling, &reason)) << reason;
    EXPECT_TRUE(stores_the_same(calls, tiling, &random));
    pti_tiling_free(&tiling);
}

TEST(Tiling, StoresApartWhatOtherTilesLoad) {
    const Calls calls(square(0, 19), 2, to_and_fro(5));
    pti_tiling tiling = calls.tiling({6, 7});
    pti_text why = {};
    std::string reason;
    ASSERT_EQ(pti_margins_find(&tiling, &why), POLYTILE_OK);
    tiling.is_stored[0] = tiling.is_stored[1] = tiling.is_apart = true;
    EXPECT_TRUE(is_proved(tiling, &reason)) << reason;
    Random random(1);
    EXPECT_TRUE(stores_the_same(calls, tiling, &random));
    pti_tiling_free(&tiling);
}

/** What breaks one condition each. */
TEST(Tiling, IsRefusedWhereATileLacksWhatItReadsOrLoadsWhatOthersStore) {
    const struct {
        void (*harm)(pti_tiling *tiling);
        const char *reason;
    } rows[] = {
        {[](pti_tiling *tiling) { tiling->margin[1].after[0]--; }, "did not compute it"},
        {[](pti_tiling *tiling) { tiling->margin[3].before[1]--; }, "did not compute it"},
        {[](pti_tiling *tiling) { tiling->is_stored[0] = true; }, "loaded by another"},
        {[](pti_tiling *tiling) { tiling->margin[4].before[1] = -1; }, "no tile"},
        {[](pti_tiling *tiling) { tiling->threads.range[0].hi--; }, "has threads in none"},
        {[](pti_tiling *tiling) { tiling->tile[1] = 0; }, "no tile"},
    };
    const Calls calls(square(0, 19), 2, to_and_fro(5));
    for (const auto &row : rows) {
        pti_tiling tiling = calls.tiling({6, 7});
        pti_text why = {};
        std::string reason;
        ASSERT_EQ(pti_margins_find(&tiling, &why), POLYTILE_OK);
        row.harm(&tiling);
        EXPECT_FALSE(is_proved(tiling, &reason)) << row.reason;
        EXPECT_NE(reason.find(row.reason), std::string::npos) << reason;
        pti_tiling_free(&tiling);
    }
}

TEST(Tiling, IsNotFoundWhereLaunchesDoNotGoAtConstantOffsets) {
    const struct {
        std::vector<Step> steps;
        const char *reason;
    } rows[] = {
        {{{five_points, square(1, 18), {0, 1}},
          {"t[i, j]: in A[j, i]; out B[i, j]", square(1, 18), {1, 0}}},
         "t does not go as launches before through A"},
        {{{five_points, square(1, 18), {0, 1}},
          {"r[i, j]: in A[i, :]; out B[i, j]", square(1, 18), {1, 0}}},
         "r does not go as launches before through A"},
        {{{"s[i, j]: in A[2*i, j]; out B[i, j]", square(1, 9), {0, 1}}},
         "s does not go at constant offsets"},
        {{{"p[i, j]: in A[i, j]; out B[i, j], B[i, j+1]", {2, {{1, 18, 1}, {1, 1, 1}}}, {0, 1}}},
         "p writes by other threads, or launches before do, B"},
        {{{"d[i, j]: in A[i, j]; sum B[0, 0]", square(1, 9), {0, 1}}}, "d combines into B"},
        {{{"o[i, j]: in A[i, j]; out B[i, j]", square(1, 9), {0, 1}},
          {"q[i, j]: in A[i, j]; out B[i+1, j]", square(1, 9), {0, 1}}},
         "q writes by other threads, or launches before do, B"},
    };
    for (const auto &row : rows) {
        const Calls calls(square(0, 19), 2, row.steps);
        ASSERT_TRUE(calls.are_valid());
        pti_tiling tiling = calls.tiling({6, 7});
        pti_text why = {};
        ASSERT_EQ(pti_margins_find(&tiling, &why), POLYTILE_OK);
        ASSERT_GT(why.length, 0u) << row.reason;
        EXPECT_NE(std::string(why.data).find(row.reason), std::string::npos) << why.data;
        EXPECT_EQ(tiling.margin, nullptr);
        pti_text_free(&why);
    }
}

std::string window(const char *index, Random *random) {
    const int64_t lo = random->number(-2, 1), hi = lo + random->number(0, 2);
    const std::string name = index;
    return name + (lo < 0 ? "" : "+") + std::to_string(lo) + ":" + name + (hi < 0 ? "" : "+") +
           std::to_string(hi);
}

/** A kernel that reads some arrays around a thread, and writes or updates its own element. */
Step draw_step(int n_dims, int n_arrays, const polytile_domain &domain, unsigned rounds,
               Random *random) {
    const char *const names[] = {"i", "j"};
    const std::string indices = n_dims == 1 ? "i" : "i, j";
    const int written = static_cast<int>(random->number(0, n_arrays - 1));
    const bool updates = random->chance(25);
    Step step = {"k[" + indices + "]: in ", domain, {}};
    const int64_t n_reads = random->number(1, 2);
    for (int64_t r = 0; r < n_reads; r++) {
        int read = static_cast<int>(random->number(0, n_arrays - 2));
        read += read >= written;
        const bool is_known = std::count(step.arrays.begin(), step.arrays.end(), read) > 0;
        if (is_known)
            continue;
        step.declaration +=
            (r == 0 ? "" : ", ") + std::string(1, static_cast<char>('A' + read)) + "[";
        for (int d = 0; d < n_dims; d++) {
            const std::string around = window(names[d], random);
            const bool wraps = pti_goes_round(rounds, d) && random->chance(80);
            step.declaration += (d == 0 ? "" : ", ") + (random->chance(30) ? std::string(names[d])
                                                        : wraps            ? "wrap(" + around + ")"
                                                                           : around);
        }
        step.declaration += "]";
        step.arrays.push_back(read);
    }
    step.declaration += std::string(updates ? "; inout " : "; out ") +
                        static_cast<char>('A' + written) + "[" + indices + "]";
    step.arrays.push_back(written);
    for (int d = 0; d < n_dims; d++) {
        polytile_range &range = step.threads.range[d];
        if (pti_goes_round(rounds, d))
            continue;
        range.lo += random->number(0, 3);
        range.hi -= random->number(0, 3);
    }
    return step;
}

struct Counts {
    int64_t n_found = 0, n_stored = 0, n_harmed = 0, n_refused = 0, n_wrong = 0;
};

void harm(pti_tiling *tiling, Random *random) {
    const auto launch = random->number(0, tiling->n_launches - 1);
    const auto dim = random->number(0, tiling->threads.n_dims - 1);
    pti_margin &margin = tiling->margin[launch];
    int64_t &one = random->chance(50) ? margin.before[dim] : margin.after[dim];
    if (random->chance(30))
        tiling->is_stored[random->number(0, tiling->n_arrays - 1)] = true;
    else
        one = std::max<int64_t>(0, one - random->number(1, 2));
}

void check_one_chain(Random *random, Counts *counts) {
    const int n_dims = static_cast<int>(random->number(1, 2));
    polytile_domain domain = {};
    domain.n_dims = n_dims;
    for (int d = 0; d < n_dims; d++) {
        const int64_t lo = random->number(-3, 3);
        domain.range[d] = {lo, lo + random->number(12, n_dims == 1 ? 60 : 22), 1};
    }
    const int n_arrays = static_cast<int>(random->number(2, 3));
    const auto rounds =
        static_cast<unsigned>(random->chance(60) ? 0 : random->number(1, (1 << n_dims) - 1));
    std::vector<Step> steps;
    for (int64_t k = random->number(1, 5); k > 0; k--)
        steps.push_back(draw_step(n_dims, n_arrays, domain, rounds, random));
    const Calls calls(domain, n_arrays, steps);
    if (!calls.are_valid())
        return;
    std::vector<int64_t> tile;
    for (int d = 0; d < n_dims; d++)
        tile.push_back(random->number(2, 9));
    pti_tiling tiling = calls.tiling(tile);
    tiling.rounds = rounds;
    pti_text why = {};
    std::string reason, text;
    for (const Step &step : steps)
        text += step.declaration + "\n";
    ASSERT_EQ(pti_margins_find(&tiling, &why), POLYTILE_OK);
    if (why.length == 0) {
        counts->n_found++;
        tiling.is_apart = random->chance(40);
        std::fill_n(tiling.is_stored, tiling.is_apart ? n_arrays : 0, true);
        counts->n_stored +=
            std::any_of(tiling.is_stored, tiling.is_stored + n_arrays, [](bool is) { return is; });
        EXPECT_TRUE(is_proved(tiling, &reason)) << reason << "\n" << text;
        EXPECT_TRUE(stores_the_same(calls, tiling, random)) << text;
        harm(&tiling, random);
        counts->n_harmed++;
        const bool is_still_proved = is_proved(tiling, &reason);
        const bool is_right = stores_the_same(calls, tiling, random);
        counts->n_refused += !is_still_proved;
        counts->n_wrong += !is_right;
        EXPECT_TRUE(is_right || !is_still_proved) << text;
    }
    pti_text_free(&why);
    pti_tiling_free(&tiling);
}

TEST(TilingRandom, WhatIsProvedStoresWhatLaunchesInOrderDo) {
    const uint64_t seed = test_seed("TilingRandom");
    Random random{seed};
    Counts counts;
    const int64_t n_rounds = 100 + scaled(1500);
    for (int64_t round = 0; round < n_rounds && !testing::Test::HasFailure(); round++)
        check_one_chain(&random, &counts);
    if (testing::Test::HasFailure())
        ADD_FAILURE() << "seed " << seed;
    EXPECT_GE(counts.n_found, least_count(n_rounds, 0.5));
    EXPECT_GE(counts.n_stored, least_count(n_rounds, 0.4));
    EXPECT_GE(counts.n_refused, least_count(n_rounds, 0.07));
    EXPECT_GE(counts.n_wrong, least_count(n_rounds, 0.03));
}

} // namespace
