#include "access/set/generators.h"

#include "base/checked.h"

pti_generators pti_generators_of_interval(int64_t step, int64_t count) {
    return (pti_generators){.n = 1, .stride = {step}, .count = {count}};
}

void pti_generators_add(pti_generators *generators, int64_t coefficient, int64_t extent) {
    if (coefficient == 0 || extent == 1)
        return;
    generators->stride[generators->n] = pti_abs(coefficient);
    generators->count[generators->n] = extent;
    generators->n++;
}

/* Merge generator b into a; b's stride is a multiple of a's. */
static void merge_generators(pti_generators *generators, int a, int b) {
    int64_t turns = generators->stride[b] / generators->stride[a];
    generators->count[a] += turns * (generators->count[b] - 1);
    generators->n--;
    generators->stride[b] = generators->stride[generators->n];
    generators->count[b] = generators->count[generators->n];
}

/* Return whether copies of a's range of this extent, shifted by b's stride, leave no gap. */
static bool leaves_no_gap(const pti_generators *generators, int a, int64_t extent, int b) {
    return generators->stride[b] % generators->stride[a] == 0 &&
           generators->stride[b] <= extent + generators->stride[a];
}

void pti_generators_absorb(pti_generators *generators, int64_t sure_extent, bool grows) {
    for (int g = 1; g < generators->n;) {
        if (!leaves_no_gap(generators, 0, sure_extent, g)) {
            g++;
            continue;
        }
        if (grows)
            sure_extent += generators->stride[g] * (generators->count[g] - 1);
        merge_generators(generators, 0, g);
        g = 1;
    }
}

void pti_generators_join_equal(pti_generators *generators) {
    for (int a = 0; a < generators->n; a++)
        for (int b = generators->n - 1; b > a; b--)
            if (generators->stride[a] == generators->stride[b])
                merge_generators(generators, a, b);
}

/* Join the first pair that can be joined; false if there is none. */
static bool join_one(pti_generators *generators) {
    for (int a = 0; a < generators->n; a++)
        for (int b = 0; b < generators->n; b++) {
            int64_t extent = generators->stride[a] * (generators->count[a] - 1);
            if (a != b && leaves_no_gap(generators, a, extent, b)) {
                merge_generators(generators, a, b);
                return true;
            }
        }
    return false;
}

void pti_generators_join_nested(pti_generators *generators) {
    while (join_one(generators)) {
    }
}

static int find_longest_generator(const pti_generators *generators) {
    int longest = 0;
    for (int g = 1; g < generators->n; g++)
        if (generators->count[g] > generators->count[longest])
            longest = g;
    return longest;
}

int64_t pti_generators_count_ranges(const pti_generators *generators) {
    int64_t count = 1;
    int longest = find_longest_generator(generators);
    for (int g = 0; g < generators->n; g++)
        if (g != longest && pti_mul_overflows(count, generators->count[g], &count))
            return INT64_MAX;
    return count;
}

polytile_range pti_generators_get_range(const pti_generators *generators, int64_t k, int64_t base) {
    int longest = find_longest_generator(generators);
    for (int g = 0; g < generators->n; g++) {
        if (g == longest)
            continue;
        base += k % generators->count[g] * generators->stride[g];
        k /= generators->count[g];
    }
    int64_t stride = generators->stride[longest];
    return pti_range(base, base + stride * (generators->count[longest] - 1), stride);
}
