#include "distribute/share/distribution.h"

#include "access/set/range.h"

#include <string.h>

/* One run of consecutive indices a coordinate, as equal as can be: the first coordinates have one
 * more. */

static bool parse_block(const char *arguments, pti_distribution *distribution) {
    static const char before[] = "dim=";
    const char *digit = arguments + sizeof before - 1;
    if (*arguments == '\0')
        return true;
    if (strncmp(arguments, before, sizeof before - 1) != 0 || *digit < '0' ||
        *digit >= '0' + POLYTILE_MAX_DIMS || digit[1] != '\0')
        return false;
    distribution->only_dim = *digit - '0';
    return true;
}

/** Each coordinate has one block, as long as there are indices. */
static int64_t count_blocks(const pti_distribution *distribution, const polytile_range *whole,
                            int coordinate, int n_coordinates) {
    (void)distribution;
    (void)n_coordinates;
    return pti_range_count(*whole) > coordinate;
}

static polytile_range get_block(const pti_distribution *distribution, const polytile_range *whole,
                                int coordinate, int n_coordinates, int64_t k) {
    (void)distribution;
    (void)k;
    return pti_range_cut(*whole, n_coordinates, coordinate);
}

const pti_distribution_kind pti_distribution_block = {
    .name = "block",
    .forms = "block, block(dim=0)",
    .parse = parse_block,
    .count = count_blocks,
    .get = get_block,
};
