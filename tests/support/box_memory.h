#ifndef POLYTILE_TESTS_SUPPORT_BOX_MEMORY_H
#define POLYTILE_TESTS_SUPPORT_BOX_MEMORY_H

#include "support/elements.h"
#include "support/random.h"

#include <algorithm>
#include <vector>

extern "C" {
#include "access/set/boxes.h"
#include "launch/device/device.h"
}

/* Random boxes, and memory in which they lie as arrays and placements do. */

inline polytile_domain domain_of(const std::vector<polytile_range> &ranges) {
    polytile_domain domain = {};
    domain.n_dims = static_cast<int>(ranges.size());
    std::copy(ranges.begin(), ranges.end(), domain.range);
    return domain;
}

inline polytile_range random_range(Random &random, polytile_range within) {
    int64_t step = within.step * random.number(1, 3);
    int64_t lo = within.lo + within.step * random.number(0, pti_range_count(within) - 1);
    return pti_range(lo, random.number(lo, within.hi), step);
}

inline polytile_domain random_box_in(Random &random, const polytile_domain &within) {
    polytile_domain box = within;
    for (int d = 0; d < box.n_dims; d++) {
        box.range[d] = random_range(random, within.range[d]);
        if (random.chance(30))
            box.range[d] = within.range[d];
    }
    return box;
}

/** A box of up to most_dims dimensions, some of them strided, small enough to visit each element.
 */
inline polytile_domain random_box(Random &random, int most_dims) {
    polytile_domain whole = {};
    whole.n_dims = static_cast<int>(random.number(1, most_dims));
    for (int d = 0; d < whole.n_dims; d++) {
        const int64_t lo = random.number(-5, 5);
        whole.range[d] = {lo, lo + random.number(0, 9 - whole.n_dims), 1};
    }
    return random_box_in(random, whole);
}

/** A box of random ranges around another, as an array or a placement has. */
inline polytile_domain random_hull(Random &random, const polytile_domain &box) {
    polytile_domain hull = box;
    for (int d = 0; d < box.n_dims; d++) {
        polytile_range &range = hull.range[d];
        if (random.chance(50))
            range.step = 1;
        range.lo -= range.step * random.number(0, 2);
        range.hi += range.step * random.number(0, 2);
    }
    return hull;
}

/** The memory of a layout, with bytes that tell it from another's with another tag. */
struct Memory {
    Memory(const polytile_domain &hull, int64_t element_bytes, int tag)
        : layout(pti_memory_layout_of(&hull, element_bytes)),
          bytes(static_cast<size_t>(layout.size_bytes)) {
        for (size_t k = 0; k < bytes.size(); k++)
            bytes[k] = static_cast<unsigned char>(k * 7 + static_cast<size_t>(tag));
    }
    pti_memory_span image() { return {bytes.data(), &layout}; }
    unsigned char *at(const Point &point) {
        return bytes.data() + pti_memory_layout_offset(&layout, point.data());
    }

    pti_memory_layout layout;
    std::vector<unsigned char> bytes;
};

#endif
