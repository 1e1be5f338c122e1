#ifndef POLYTILE_TESTS_ACCESS_SET_DRAW_BOXES_H
#define POLYTILE_TESTS_ACCESS_SET_DRAW_BOXES_H

#include "support/elements.h"
#include "support/random.h"

/* Small random boxes and sets, with what they hold by enumeration. */

inline polytile_domain box_of(std::initializer_list<polytile_range> ranges) {
    polytile_domain box = {};
    for (polytile_range range : ranges)
        box.range[box.n_dims++] = range;
    return box;
}

/** A box of steps 1 for others to lie in, of extents that are 1, prime or neither. */
inline polytile_domain draw_whole(Random *random) {
    polytile_domain whole = {};
    whole.n_dims = static_cast<int>(random->number(1, 3));
    for (int d = 0; d < whole.n_dims; d++) {
        const int64_t lo = random->number(-4, 4);
        whole.range[d] = {lo, lo + random->one_of({1, 2, 5, 7, 7, 8, 10}) - 1, 1};
    }
    return whole;
}

/** A box inside another one, with steps, of one element or of none at times. */
inline polytile_domain draw_box(Random *random, const polytile_domain &whole) {
    polytile_domain box = {};
    box.n_dims = whole.n_dims;
    for (int d = 0; d < whole.n_dims; d++) {
        const int64_t lo = random->number(whole.range[d].lo, whole.range[d].hi);
        const int64_t least = random->chance(5) ? lo - 1 : lo;
        box.range[d] = pti_range(lo, random->number(least, whole.range[d].hi),
                                 random->one_of({1, 1, 1, 2, 3, 4, 5}));
    }
    return box;
}

inline Elements elements_of(const polytile_domain &whole, const polytile_domain &box) {
    Elements elements(whole);
    elements.add(box);
    return elements;
}

inline Elements elements_of(const polytile_domain &whole, const pti_boxes &set) {
    Elements elements(whole);
    elements.add(set);
    return elements;
}

/** Those elements of two sets of which a question of both is true. */
template <class Question>
Elements select(const Elements &a, const Elements &b, Question is_wanted) {
    Elements selected(a.domain());
    for_each_point(a.domain(), [&](const Point &point) {
        if (is_wanted(a.has(point), b.has(point)))
            selected.add(point);
    });
    return selected;
}

inline Elements both_of(const Elements &a, const Elements &b) {
    return select(a, b, [](bool in_a, bool in_b) { return in_a && in_b; });
}

inline Elements all_of(const Elements &a, const Elements &b) {
    return select(a, b, [](bool in_a, bool in_b) { return in_a || in_b; });
}

inline Elements rest_of(const Elements &a, const Elements &b) {
    return select(a, b, [](bool in_a, bool in_b) { return in_a && !in_b; });
}

#endif
