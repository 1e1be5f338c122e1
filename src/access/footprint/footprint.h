#ifndef POLYTILE_ACCESS_FOOTPRINT_FOOTPRINT_H
#define POLYTILE_ACCESS_FOOTPRINT_FOOTPRINT_H

#include "access/footprint/instance.h"
#include "access/set/boxes.h"

/* access/footprint: declarations with numbers filled in (instance.h), and what boxes of threads
 * touch, in closed form, in nanoseconds. Planners ask only here; no isl. */

/* Footprints of boxes of threads in closed form: no isl. Threads are non-empty boxes inside the
 * launch domain, steps 1. All results are clipped to the array. */

/** Which sections count: those whose elements must be there before, those that change, or all. */
typedef enum pti_touch { PTI_READS, PTI_WRITES, PTI_TOUCHES } pti_touch;

/** Writes are known exactly if an operand's written sections take at most so many boxes in all,
 * whatever the box of threads; operands that take more are partial. */
enum { PTI_MAX_WRITE_BOXES = 64 };

/** Whether a section counts for a touch, by its role: fresh reductions read nothing. */
bool pti_section_counts(const pti_section *section, pti_touch touch);

/**
 * The smallest strided box around one section's footprint, in O(dims * indices), without
 * allocation.
 *
 * Empty when no thread touches anything. Stride: gcd of the steps and coefficients that vary over
 * the box.
 */
polytile_domain pti_section_hull(const pti_instance *instance, const pti_section *section,
                                 const polytile_domain *threads);

/**
 * The coarse union of the hulls of an operand's sections: what a device buffer holds.
 *
 * Of a partial operand all sections count, whatever the touch.
 *
 * Source  Torres et al., section III-E, domain transformation, with the sound stride.
 */
polytile_domain pti_footprint_hull(const pti_instance *instance, int operand, pti_touch touch,
                                   const polytile_domain *threads);

/** The same in place, since boxes are long; false, with an empty hull, if nothing is touched. */
bool pti_footprint_find_hull(const pti_instance *instance, int operand, pti_touch touch,
                             const polytile_domain *threads, polytile_domain *hull);

/** Whether of an operand all elements in the hull of what a box of threads touches are written, and
 * none is read: certainly so if it is one section that is a box. */
bool pti_operand_overwrites_hull(const pti_instance *instance, int operand);

/** The elements that one section touches at least, the largest: a quick lower bound of a footprint
 * whose sections are all boxes and whose hull, given, has steps of 1; 0 if it is no such footprint.
 */
int64_t pti_footprint_least(const pti_instance *instance, int operand,
                            const polytile_domain *threads, const polytile_domain *hull);

/**
 * The footprint as disjoint boxes, replacing what was in *boxes.
 *
 * Gives the exact set if that takes at most max_boxes boxes a section (regular sections take one;
 * sections with gaps one a residue; sections whose dimensions share an index one a value of it);
 * otherwise fewer and larger boxes inside the hull that contain the footprint. Returns whether the
 * boxes are exactly the footprint (never when a section itself is not exact, or an allocation
 * failed). Boxes are merged where they fit together. Writes take PTI_MAX_WRITE_BOXES a section if
 * max_boxes is less, so they are exact unless the operand is partial, whose boxes are just its
 * hull.
 */
bool pti_footprint_boxes(const pti_instance *instance, int operand, pti_touch touch,
                         const polytile_domain *threads, int max_boxes, pti_boxes *boxes);

/**
 * Whether the operand's touched elements move with the threads, by one for one: the paper's regular
 * pattern.
 *
 * Each array dimension follows either nothing, or the thread index of its own position with
 * coefficient 1.
 *
 * Source  Torres et al., section III-E, regular access pattern.
 */
bool pti_operand_is_regular(const pti_instance *instance, int operand);

/** How an operand's footprint grows as a box of threads moves up along one index, clipping at the
 * array aside. */
typedef enum pti_trend { PTI_CONSTANT, PTI_RISING, PTI_FALLING, PTI_MIXED } pti_trend;

/** The trend of the hull's size along one index: constant for regular patterns, rising for L[i,
 * 0:i] along i. */
pti_trend pti_operand_trend(const pti_instance *instance, int operand, int index);

/** Whether any of an operand's sections names the index (its footprint moves or grows with it). */
bool pti_operand_depends(const pti_instance *instance, int operand, int index);

/** Whether threads with different values of an index touch nothing in common, since one dimension
 * moves on with it by more than all that threads of one value touch; false where only several
 * dimensions together keep them apart. */
bool pti_operand_lies_apart(const pti_instance *instance, int operand, int index);

/**
 * A lower bound on the number of distinct elements that the whole launch reads, or writes: exact
 * where that is affordable, never more than the truth. Sets *failed where memory ran out, which
 * only makes it less.
 */
int64_t pti_operand_least_count(const pti_instance *instance, int operand, pti_touch touch,
                                bool *failed);

#endif
