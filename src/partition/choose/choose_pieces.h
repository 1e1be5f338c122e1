#ifndef POLYTILE_PARTITION_CHOOSE_CHOOSE_PIECES_H
#define POLYTILE_PARTITION_CHOOSE_CHOOSE_PIECES_H

#include "access/pieces/ways.h"
#include "partition/choose/choose.h"

/**
 * Choose as pti_choose() does, and choose how arrays are held.
 *
 * Sections of one array may move apart, or lie far apart. Then the launch is planned with each by
 * itself, with ever fewer pieces, and with the box around all. Each time those pieces are united
 * whose union takes the least memory in the superblocks found so. The strategy takes the best of
 * these ways.
 *
 * ways: those that were tried are added. way: the one that was taken, whose instance the schedule
 * borrows.
 * Errors  As pti_choose(), of the plan with the most pieces, which needs the least; NO_FIT, too,
 *         where arrays must be in one piece, and the launch takes many times as many superblocks.
 */
polytile_status pti_choose_pieces(polytile_context *ctx, pti_ways *ways,
                                  const pti_strategy *strategy,
                                  const polytile_plan_options *options, pti_choice *choice,
                                  int *way);

#endif
