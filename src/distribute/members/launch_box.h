#ifndef POLYTILE_DISTRIBUTE_MEMBERS_LAUNCH_BOX_H
#define POLYTILE_DISTRIBUTE_MEMBERS_LAUNCH_BOX_H

#include "distribute/members/prepared_superstep.h"

/* What local members are given of a launch: boxes of it, or slots; and whether these fit. */

/** Queue a box of a launch on a local member, whose arrays contain what it touches. Errors: those
 * of the launch, with the device. */
polytile_status pti_group_launch_box(pti_group *group, const pti_recorded *recorded, int local,
                                     const polytile_domain *box);

/** A local member's array for each operand, and the same launch over these, or others in their
 * place. */
void pti_group_list_arrays(const pti_group *group, const pti_recorded *recorded, int local,
                           polytile_array **arrays);
polytile_status pti_group_launch_over(pti_group *group, const pti_recorded *recorded, int local,
                                      const polytile_domain *box, polytile_array *const *arrays);

/* team.c */

/** Deal the slots of a team kernel out to the members that run its threads. Errors: UNSUPPORTED
 * (several members would run a slot, or reduce into the same elements; a GPU that is listed twice),
 * NO_MEMORY. */
polytile_status pti_group_deal_slots(pti_group *group, const pti_prepared_superstep *prepared,
                                     const pti_recorded *recorded);

/** Queue the slots of a local member. Errors: UNSUPPORTED (they lie apart, on a device with memory
 * of its own), and those of the launch, with the device. */
polytile_status pti_group_launch_slots(pti_group *group, const pti_recorded *recorded, int local,
                                       const pti_boxes *threads);

/* fit.c */

/** Find whether one block of each member's threads fits its device, as far as that is known when a
 * launch is made. Errors: NO_FIT, with the device; those of pti_grain_choose(). */
polytile_status pti_group_check_fit(const pti_group *group, const pti_prepared *prepared);
/** Find whether one block fits the device of a local member that runs a box of the launch's
 * threads. Errors as pti_group_check_fit(). */
polytile_status pti_group_check_box(const pti_group *group, const pti_prepared *prepared, int local,
                                    const polytile_domain *box);

#endif
