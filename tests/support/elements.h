#ifndef POLYTILE_TESTS_SUPPORT_ELEMENTS_H
#define POLYTILE_TESTS_SUPPORT_ELEMENTS_H

#include <cstdint>
#include <string>
#include <vector>

extern "C" {
#include "access/footprint/instance.h"
#include "access/set/boxes.h"
}

/* Brute force: sets of array elements by enumeration, for small domains. */

using Point = std::vector<int64_t>;

/** Call visit(point) for every element of a box, last index fastest; an empty box has none. */
template <class Visit> void for_each_point(const polytile_domain &box, Visit visit) {
    if (pti_box_is_empty(&box))
        return;
    Point point(static_cast<size_t>(box.n_dims));
    for (int d = 0; d < box.n_dims; d++)
        point[static_cast<size_t>(d)] = box.range[d].lo;
    for (;;) {
        visit(static_cast<const Point &>(point));
        int d = box.n_dims - 1;
        for (; d >= 0; d--) {
            int64_t &x = point[static_cast<size_t>(d)];
            x += box.range[d].step;
            if (x <= box.range[d].hi)
                break;
            x = box.range[d].lo;
        }
        if (d < 0)
            return;
    }
}

/** A set of elements of a box of steps 1, one byte each. */
class Elements {
  public:
    explicit Elements(const polytile_domain &domain);

    const polytile_domain &domain() const { return domain_; }
    bool has(const Point &point) const;
    void add(const Point &point) { member_[offset(point)] = 1; }
    void add(const polytile_domain &box);
    void add(const pti_boxes &boxes);
    void remove(const polytile_domain &box);
    int64_t count() const;
    bool contains(const Elements &other) const;
    bool operator==(const Elements &other) const { return member_ == other.member_; }
    /** The smallest box of steps gcd around the set; empty for the empty set. */
    polytile_domain hull() const;

  private:
    size_t offset(const Point &point) const;

    polytile_domain domain_;
    std::vector<char> member_;
};

/** The value of an affine expression for one thread. */
int64_t value_of(const pti_affine &affine, const Point &thread);

/** One thread's section before it is clipped to the array; empty in a dimension that is. */
polytile_domain section_of_thread(const pti_section &section, const Point &thread);

/** Add what a box of threads touches through a section, clipped to the set's domain. */
void add_touched(const pti_section &section, const polytile_domain &threads, Elements *elements);

/** A box, or a section, as text for failure messages. */
std::string text_of(const polytile_domain &box);
std::string text_of(const pti_section &section);
std::string text_of(const pti_instance &instance);

#endif
