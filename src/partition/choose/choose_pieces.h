#ifndef POLYTILE_PARTITION_CHOOSE_CHOOSE_PIECES_H
#define POLYTILE_PARTITION_CHOOSE_CHOOSE_PIECES_H

#include "partition/choose/choose.h"

/**
 * Choose as pti_choose() does, also with arrays in pieces: where sections of one array move apart,
 * or lie far apart, the launch is planned with the box around them, and with each by itself, and
 * the strategy takes the better one.
 *
 * Errors  As pti_choose(), of the plan with the most pieces, which needs the least.
 * Owns    The caller frees *split, of which the schedule is then, with pti_instance_free(); NULL:
 *         it is of the instance that was given.
 */
polytile_status pti_choose_pieces(polytile_context *ctx, const pti_instance *instance,
                                  const pti_strategy *strategy,
                                  const polytile_plan_options *options, pti_choice *choice,
                                  pti_instance **split);

#endif
