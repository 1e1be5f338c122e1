#include "distribute/share/distribution.h"

#include "access/set/range.h"
#include "base/checked.h"

#include <math.h>
#include <stdlib.h>

/* One run of consecutive indices a coordinate, as long as its weight says. Coordinates without a
 * weight of their own have weight 1, until speeds are measured. */

static bool parse_weights(const char *arguments, pti_distribution *distribution) {
    double sum = 0;
    char *end = NULL;
    if (*arguments == '\0')
        return true;
    for (const char *next = arguments; end == NULL || *end == ','; next = end + 1) {
        bool begins = (*next >= '0' && *next <= '9') || *next == '.';
        if (!begins || distribution->n_weights == PTI_MAX_WEIGHTS)
            return false;
        double weight = strtod(next, &end);
        if (end == next)
            return false;
        distribution->weight[distribution->n_weights++] = weight;
        sum += weight;
    }
    return *end == '\0' && isfinite(sum) && sum > 0;
}

static long double weight_before(const pti_distribution *distribution, int coordinate) {
    int n_sharing =
        distribution->coordinates_per_weight > 0 ? distribution->coordinates_per_weight : 1;
    int n_weighted = (int)pti_min(coordinate, (int64_t)distribution->n_weights * n_sharing);
    long double sum = coordinate - n_weighted;
    for (int p = 0; p < n_weighted; p++)
        sum += (long double)distribution->weight[p / n_sharing];
    return sum;
}

/* Return how many indices all coordinates before one have. */
static int64_t count_before(const pti_distribution *distribution, const polytile_range *whole,
                            int coordinate, int n_coordinates) {
    int64_t n = pti_range_count(*whole);
    long double all = weight_before(distribution, n_coordinates);
    if (coordinate >= n_coordinates || !(all > 0))
        return coordinate == 0 ? 0 : n;
    long double before = weight_before(distribution, coordinate);
    return pti_min(n, (int64_t)floorl((long double)n * (before / all) + 0.5L));
}

static polytile_range get_weighted(const pti_distribution *distribution,
                                   const polytile_range *whole, int coordinate, int n_coordinates,
                                   int64_t k) {
    (void)k;
    int64_t begin = count_before(distribution, whole, coordinate, n_coordinates);
    int64_t end = count_before(distribution, whole, coordinate + 1, n_coordinates);
    return (polytile_range){whole->lo + begin, whole->lo + end - 1, 1};
}

static int64_t count_weighted(const pti_distribution *distribution, const polytile_range *whole,
                              int coordinate, int n_coordinates) {
    polytile_range own = get_weighted(distribution, whole, coordinate, n_coordinates, 0);
    return !pti_range_is_empty(own);
}

const pti_distribution_kind pti_distribution_weighted = {
    .name = "weighted",
    .forms = "weighted, weighted(3,1)",
    .is_of_first = true,
    .parse = parse_weights,
    .count = count_weighted,
    .get = get_weighted,
};
