#include "distribute/share/distribution.h"

#include "access/set/range.h"
#include "base/checked.h"

#include <errno.h>
#include <stdlib.h>

/* Blocks of consecutive indices, which go to the coordinates in turn. */

static bool parse_cyclic(const char *arguments, pti_distribution *distribution) {
    char *end;
    errno = 0;
    long long block = strtoll(arguments, &end, 10);
    distribution->block = block;
    return *arguments >= '0' && *arguments <= '9' && *end == '\0' && errno == 0 && block >= 1;
}

/* One coordinate has everything in one range, whatever the blocks are. */
static int64_t block_of(const pti_distribution *distribution, const polytile_range *whole,
                        int n_coordinates) {
    int64_t n = pti_range_count(*whole);
    return n_coordinates == 1 ? n : pti_min(distribution->block, n);
}

static int64_t count_cyclic(const pti_distribution *distribution, const polytile_range *whole,
                            int coordinate, int n_coordinates) {
    if (pti_range_is_empty(*whole))
        return 0;
    int64_t n_blocks =
        pti_ceil_div(pti_range_count(*whole), block_of(distribution, whole, n_coordinates));
    return n_blocks > coordinate ? (n_blocks - coordinate - 1) / n_coordinates + 1 : 0;
}

static polytile_range get_cyclic(const pti_distribution *distribution, const polytile_range *whole,
                                 int coordinate, int n_coordinates, int64_t k) {
    int64_t block = block_of(distribution, whole, n_coordinates);
    int64_t lo = whole->lo + (k * n_coordinates + coordinate) * block;
    return (polytile_range){lo, pti_min(whole->hi - lo, block - 1) + lo, 1};
}

const pti_distribution_kind pti_distribution_cyclic = {
    .name = "cyclic",
    .forms = "cyclic(64)",
    .parse = parse_cyclic,
    .count = count_cyclic,
    .get = get_cyclic,
};
