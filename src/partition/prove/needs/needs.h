#ifndef POLYTILE_PARTITION_PROVE_NEEDS_NEEDS_H
#define POLYTILE_PARTITION_PROVE_NEEDS_NEEDS_H

#include "access/footprint/instance.h"
#include "access/set/boxes.h"

/* partition/prove/needs: what a box of threads touches, found for the checker alone, in another way
 * than the planner's footprints. This header halves pieces of a section until each is exactly a
 * box; section_reach.h has a shorter way for most sections, indirect_needs.h those that look up.
 * Threads are a non-empty box inside the launch domain. */

/** A box around the elements that the threads touch, empty if they touch nothing; true if the box
 * holds nothing else. */
bool pti_needs_is_box(const pti_instance *instance, const pti_section *section,
                      const polytile_domain *threads, polytile_domain *hull);

/** Return whether all elements that the threads touch are in *there; if not, *missing has one that
 * is not.
 */
bool pti_needs_covered(const pti_instance *instance, const pti_section *section,
                       const polytile_domain *threads, const pti_boxes *there,
                       polytile_domain *missing);

/** Return whether threads touch some element through both sections; if so, *common holds one. */
bool pti_needs_meet(const pti_instance *instance, const pti_section *section,
                    const pti_section *other, const polytile_domain *threads,
                    polytile_domain *common);

/** Put boxes of exactly what the threads touch after those of a list, in which some may
 * overlap. */
void pti_needs_list(const pti_instance *instance, const pti_section *section,
                    const polytile_domain *threads, pti_boxes *list);

/** Put at most `most` boxes, a power of two, around what the threads touch after those of a list.
 */
void pti_needs_list_at_most(const pti_instance *instance, const pti_section *section,
                            const polytile_domain *threads, int most, pti_boxes *list);

/** What threads do to elements; those that they read and write count as written. */
typedef enum pti_usage { PTI_ONLY_READ, PTI_WRITTEN, PTI_N_USAGES } pti_usage;

/** List what the threads touch through all sections of an operand, in a list for each usage. Of a
 * partial operand only the hull is known: all of it counts as written. */
void pti_needs_list_operand(const pti_instance *instance, int operand,
                            const polytile_domain *threads, pti_boxes *used);

#endif
