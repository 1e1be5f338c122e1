#ifndef POLYTILE_TESTS_PARTITION_PROVE_ENUMERATE_H
#define POLYTILE_TESTS_PARTITION_PROVE_ENUMERATE_H

#include "partition/prove/handmade.h"

/* Elements and threads one by one. */

using Element = std::vector<int64_t>;

template <typename Visit>
void StepElements(const polytile_domain &box, int d, Element &at, Visit &visit) {
    if (d == box.n_dims || d == POLYTILE_MAX_DIMS) {
        visit(at);
        return;
    }
    for (int64_t x = box.range[d].lo; x <= box.range[d].hi; x += box.range[d].step) {
        at[static_cast<size_t>(d)] = x;
        StepElements(box, d + 1, at, visit);
    }
}

template <typename Visit> void ForEachElement(const polytile_domain &box, Visit visit) {
    Element at(static_cast<size_t>(box.n_dims));
    StepElements(box, 0, at, visit);
}

inline int64_t Evaluate(const pti_affine &affine, const Element &thread) {
    int64_t value = affine.constant;
    for (size_t k = 0; k < thread.size(); k++)
        value += affine.index[k] * thread[k];
    return value;
}

/** What one thread names of a section's array, inside it or not. */
inline polytile_domain SectionOf(const pti_section &section, const Element &thread) {
    polytile_domain touched = {};
    touched.n_dims = section.n_dims;
    for (int d = 0; d < section.n_dims; d++)
        touched.range[d] = {Evaluate(section.subscript[d].lo, thread),
                            Evaluate(section.subscript[d].hi, thread), section.subscript[d].step};
    return touched;
}

inline bool IsInside(const Element &element, const polytile_domain &domain) {
    for (int d = 0; d < domain.n_dims; d++)
        if (element[static_cast<size_t>(d)] < domain.range[d].lo ||
            element[static_cast<size_t>(d)] > domain.range[d].hi)
            return false;
    return true;
}

/** Visit the elements that a thread touches by a section, those outside the array left out. */
template <typename Visit>
void ForEachTouched(const pti_section &section, const polytile_domain &array, const Element &thread,
                    Visit visit) {
    ForEachElement(SectionOf(section, thread), [&](const Element &element) {
        if (IsInside(element, array))
            visit(element);
    });
}

#endif
