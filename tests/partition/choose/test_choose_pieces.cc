#include "support/launch.h"
#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
#include "partition/arena/build.h"
#include "partition/choose/choose_pieces.h"
#include "partition/cost/demand.h"
}

/* Launches whose sections lie far apart, against all covers: a cover groups the sections of an
 * array, and a group is held as the box around it, as if it had a name of its own. */

namespace {

/** The group of each section: the k-th way in which some sections fall into groups. */
using Cover = std::vector<int>;

void list_covers(size_t n_sections, Cover *begun, std::vector<Cover> *all) {
    if (begun->size() == n_sections) {
        all->push_back(*begun);
        return;
    }
    const int n_groups = begun->empty() ? 0 : 1 + *std::max_element(begun->begin(), begun->end());
    for (int group = 0; group <= n_groups; group++) {
        begun->push_back(group);
        list_covers(n_sections, begun, all);
        begun->pop_back();
    }
}

std::vector<Cover> covers_of(size_t n_sections) {
    std::vector<Cover> all;
    Cover begun;
    list_covers(n_sections, &begun, &all);
    return all;
}

/** A declaration with some sections of x, which is only read. */
struct Drawn {
    std::vector<std::string> sections;
    std::vector<int64_t> factor, from; /* of those that are x[factor*i+from], else 0 */
    std::string indices, threads, x, y, result;

    /** The same launch with a name a group. */
    std::string declaration(const Cover &cover) const {
        std::string text = "k[" + indices + "]: in ";
        for (size_t s = 0; s < sections.size(); s++)
            text += (s == 0 ? "x" : ", x") + std::to_string(cover[s]) + sections[s];
        return text + "; out y" + result;
    }

    /** Whether a cover leaves those together that follow the threads in the same way with at most 8
     * elements between them, which are never parted. */
    bool allows(const Cover &cover) const {
        bool allows = true;
        for (size_t s = 0; s < sections.size(); s++)
            for (size_t t = 0; t < s; t++) {
                const bool are_neighbours =
                    sections[s] == sections[t] ||
                    (factor[s] != 0 && factor[s] == factor[t] && std::abs(from[s] - from[t]) <= 9);
                allows = allows && (!are_neighbours || cover[s] == cover[t]);
            }
        return allows;
    }

    std::map<std::string, std::string> arrays(const Cover &cover) const {
        std::map<std::string, std::string> all = {{"y", y}};
        for (const int group : cover)
            all["x" + std::to_string(group)] = x;
        return all;
    }
};

void add_line(Random *random, Drawn *drawn) {
    drawn->factor.push_back(random->one_of({1, 1, 2}));
    drawn->from.push_back(random->one_of({0, 1, 2, random->number(10, 80), random->number(10, 80),
                                          random->number(500, 4000), random->number(500, 4000)}));
    drawn->sections.push_back("[" + std::to_string(drawn->factor.back()) + "*i+" +
                              std::to_string(drawn->from.back()) + "]");
}

Drawn draw_lines(Random *random) {
    Drawn drawn;
    const int64_t n = random->number(1, 120);
    for (int64_t s = random->number(2, 4); s > 0; s--)
        add_line(random, &drawn);
    if (random->chance(20)) {
        drawn.sections[0] = "[17:" + std::to_string(random->number(17, 40)) + "]";
        drawn.factor[0] = 0;
    }
    drawn.indices = "i";
    drawn.result = "[i]";
    drawn.threads = drawn.y = std::to_string(n);
    drawn.x = "5000";
    return drawn;
}

Drawn draw_planes(Random *random) {
    Drawn drawn;
    const int64_t n = random->number(1, 14), m = random->number(1, 14);
    const auto away = [&] { return std::to_string(random->one_of({0, 12, 30, 100, 200})); };
    for (int64_t s = random->number(2, 4); s > 0; s--) {
        const int64_t kind = random->number(0, 4);
        drawn.sections.push_back(kind == 0   ? "[i, 0:9]"
                                 : kind == 1 ? "[j, 0:9]"
                                             : "[i+" + away() + ", j+" + away() + "]");
    }
    drawn.factor = drawn.from = std::vector<int64_t>(drawn.sections.size(), 0);
    drawn.indices = "i, j";
    drawn.result = "[i, j]";
    drawn.threads = drawn.y = std::to_string(n) + "x" + std::to_string(m);
    drawn.x = "250x250";
    return drawn;
}

/** The device memory of a shape's largest superblock. */
int64_t largest_bytes(const pti_instance *instance, const pti_grid *grid, const int64_t *shape) {
    int64_t position[POLYTILE_MAX_DIMS] = {}, largest = 0, bytes[PTI_MAX_OPERANDS];
    const int64_t n = pti_grid_n_superblocks(grid, shape);
    for (int64_t k = 0; k < n; k++) {
        int64_t rest = k;
        for (int d = instance->n_indices - 1; d >= 0; d--) {
            position[d] = rest % pti_grid_quotient(grid, shape, d);
            rest /= pti_grid_quotient(grid, shape, d);
        }
        const polytile_domain threads = pti_grid_superblock(grid, shape, position);
        largest = std::max(largest, pti_piece_bytes(instance, &threads, bytes));
    }
    return largest;
}

/** The fewest equal superblocks of single threads that fit a limit. */
int64_t fewest_superblocks(const pti_instance *instance, int64_t limit_bytes) {
    const pti_grid grid = pti_grid_of(&instance->threads, pti_one_block);
    int64_t shape[POLYTILE_MAX_DIMS] = {1, 1}, fewest = INT64_MAX;
    for (shape[0] = 1; shape[0] <= grid.n_blocks[0]; shape[0]++)
        for (shape[1] = 1; shape[1] <= (instance->n_indices < 2 ? 1 : grid.n_blocks[1]);
             shape[1]++) {
            const int64_t n = pti_grid_n_superblocks(&grid, shape);
            if (n < fewest && largest_bytes(instance, &grid, shape) <= limit_bytes)
                fewest = n;
        }
    return fewest;
}

struct Planned {
    polytile_status status;
    int64_t n_kernels = INT64_MAX, n_bytes = INT64_MAX, peak_bytes = 0;
};

/** Plan by a strategy; may_split: with pieces where they are better. */
Planned plan(const Launch &launch, const char *strategy, int64_t limit_bytes, bool may_split) {
    static const int64_t one[] = {1, 1};
    polytile_plan_options options = {};
    options.limit_bytes = limit_bytes;
    options.block = one;
    options.n_buffers = 1;
    pti_ways ways = pti_ways_of({launch.instance(), nullptr}, may_split);
    pti_choice choice;
    int way = -1;
    Planned planned = {pti_choose_pieces(launch.context(), &ways, pti_strategy_find(strategy),
                                         &options, &choice, &way)};
    if (planned.status == POLYTILE_OK) {
        planned.n_kernels = choice.schedule->n_superblocks;
        planned.n_bytes = choice.traffic.h2d_bytes + choice.traffic.d2h_bytes;
        planned.peak_bytes = pti_schedule_peak_bytes(choice.schedule);
        pti_schedule_free(choice.schedule);
    }
    pti_ways_free(&ways);
    return planned;
}

/** The best of all covers, kernels and bytes each for itself. */
Planned best_of_covers(const Drawn &drawn, int64_t limit_bytes) {
    Planned best = {POLYTILE_NO_FIT};
    for (const Cover &cover : covers_of(drawn.sections.size())) {
        if (!drawn.allows(cover))
            continue;
        const Launch launch(drawn.declaration(cover), drawn.threads, drawn.arrays(cover));
        EXPECT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        best.n_kernels =
            std::min(best.n_kernels, fewest_superblocks(launch.instance(), limit_bytes));
        best.n_bytes =
            std::min(best.n_bytes, plan(launch, "min-traffic", limit_bytes, false).n_bytes);
    }
    return best;
}

TEST(ChoosePieces, RandomLaunchesAreAsGoodAsTheBestOfAllCovers) {
    Random random(test_seed("ChoosePieces.RandomLaunchesAreAsGoodAsTheBestOfAllCovers"));
    int64_t n_planned = 0, n_larger = 0;
    for (int64_t round = 0; round < scaled(2000) && !HasFailure(); round++) {
        const Drawn drawn = random.chance(60) ? draw_lines(&random) : draw_planes(&random);
        const Cover whole(drawn.sections.size(), 0);
        const Launch launch(drawn.declaration(whole), drawn.threads, drawn.arrays(whole));
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        const int64_t limit_bytes = random.one_of(
            {random.number(12, 100), random.number(50, 1000), random.number(200, 20000)});
        const Planned best = best_of_covers(drawn, limit_bytes);
        const Planned few = plan(launch, "min-kernels", limit_bytes, true);
        const Planned little = plan(launch, "min-traffic", limit_bytes, true);
        SCOPED_TRACE(drawn.declaration(whole) + " over " + drawn.threads + " in " +
                     std::to_string(limit_bytes) + " B");
        ASSERT_EQ(few.status == POLYTILE_OK, best.n_kernels < INT64_MAX) << launch.error();
        if (few.status != POLYTILE_OK)
            continue;
        EXPECT_LE(few.peak_bytes, limit_bytes);
        EXPECT_LE(little.peak_bytes, limit_bytes);
        EXPECT_LE(few.n_kernels, best.n_kernels);
        EXPECT_LE(static_cast<double>(little.n_bytes), 1.25 * static_cast<double>(best.n_bytes));
        n_planned++;
        n_larger += static_cast<double>(little.n_bytes) > 1.1 * static_cast<double>(best.n_bytes);
    }
    EXPECT_LE(n_larger, 1 + n_planned / 200);
}

} // namespace
