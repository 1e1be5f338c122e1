#ifndef POLYTILE_ACCESS_FOOTPRINT_FOOTPRINT_H
#define POLYTILE_ACCESS_FOOTPRINT_FOOTPRINT_H

#include "access/footprint/instance.h"
#include "access/set/boxes.h"

/* access/footprint: declarations with numbers filled in (instance.h), and what boxes of threads
 * touch, in closed form, in nanoseconds, without isl. Planners ask only here. */

/* Footprints of boxes of threads in closed form: no isl. Threads are non-empty boxes inside the
 * launch domain, steps 1. All results are clipped to the array. */

/** Which sections count: those that are read, those that are written, or all. */
typedef enum pti_touch { PTI_READS, PTI_WRITES, PTI_TOUCHES } pti_touch;

/** The most boxes that an operand's written sections may take for any box of threads. Operands that
 * take more are partial. */
enum { PTI_MAX_WRITE_BOXES = 64 };

/** Return whether a section counts for a touch, by its role: fresh reductions read nothing, and
 * scratch is touched alone. */
bool pti_section_counts(const pti_section *section, pti_touch touch);

/**
 * Return the smallest strided box around one section's footprint, in O(dims * indices), without
 * allocation.
 *
 * Empty when no thread touches anything. Stride: gcd of the steps and coefficients that vary over
 * the box.
 */
polytile_domain pti_section_hull(const pti_instance *instance, const pti_section *section,
                                 const polytile_domain *threads);

/**
 * Return the coarse union of the hulls of an operand's sections: what a device buffer holds.
 *
 * Of a partial operand all sections count, whatever the touch.
 *
 * Source  Torres et al., section III-E, domain transformation, with the sound stride.
 */
polytile_domain pti_footprint_hull(const pti_instance *instance, int operand, pti_touch touch,
                                   const polytile_domain *threads);

/** Find an operand's hull in place, since boxes are long. Returns false, with an empty hull, if
 * nothing is touched. */
bool pti_footprint_find_hull(const pti_instance *instance, int operand, pti_touch touch,
                             const polytile_domain *threads, polytile_domain *hull);

/** Return whether an operand's hull is not empty for any box of some threads: certain if true, as
 * where one section has elements in the array for each thread. */
bool pti_footprint_is_everywhere(const pti_instance *instance, int operand,
                                 const polytile_domain *threads);

/** Return whether any box of threads writes all elements in its hull of an operand, and reads none:
 * certain for one section that is a box. */
bool pti_operand_overwrites_hull(const pti_instance *instance, int operand);

/** Return the elements of the largest section: a quick lower bound of a footprint. 0 unless all
 * sections are boxes and the given hull has steps of 1. */
int64_t pti_footprint_least(const pti_instance *instance, int operand,
                            const polytile_domain *threads, const polytile_domain *hull);

/**
 * Return the footprint as disjoint boxes, replacing what was in *boxes.
 *
 * The boxes are exact if that takes at most max_boxes a section: regular sections take one,
 * sections with gaps one a residue, sections whose dimensions share an index one a value of it.
 * Otherwise fewer and larger boxes inside the hull contain the footprint. Adjacent boxes are
 * merged. Returns whether the boxes are exact (never if a section is not, or an allocation failed).
 * Writes may take PTI_MAX_WRITE_BOXES a section, so they are exact unless the operand is partial;
 * its boxes are its hull.
 */
bool pti_footprint_boxes(const pti_instance *instance, int operand, pti_touch touch,
                         const polytile_domain *threads, int max_boxes, pti_boxes *boxes);

/**
 * Return whether the operand's elements move with the threads one for one: the regular pattern.
 *
 * Each array dimension follows either nothing, or the thread index of its own position with
 * coefficient 1.
 *
 * Source  Torres et al., section III-E, regular access pattern.
 */
bool pti_operand_is_regular(const pti_instance *instance, int operand);

/** How an operand's footprint, before clipping, grows as a box of threads moves up along one
 * index. */
typedef enum pti_trend { PTI_CONSTANT, PTI_RISING, PTI_FALLING, PTI_MIXED } pti_trend;

/** Return the trend of the hull's size along an index: constant for regular patterns, rising for
 * L[i, 0:i] along i. */
pti_trend pti_operand_trend(const pti_instance *instance, int operand, int index);

/** As pti_operand_trend(), of threads that do not go beyond an edge (edges.h). */
pti_trend pti_operand_trend_within_edges(const pti_instance *instance, int operand, int index);

/** Return whether any of an operand's sections names an index: its footprint moves or grows with
 * it. */
bool pti_operand_depends(const pti_instance *instance, int operand, int index);

/** Return whether threads with different values of an index touch nothing in common, since along
 * one dimension a step of the index is longer than what threads of one value touch. False if only
 * several dimensions together keep them apart. */
bool pti_operand_lies_apart(const pti_instance *instance, int operand, int index);

/** Return a lower bound on the number of distinct elements that the whole launch reads, or writes;
 * exact where that is affordable. Sets *failed if memory ran out, which only lowers it. */
int64_t pti_operand_least_count(const pti_instance *instance, int operand, pti_touch touch,
                                bool *failed);

#endif
