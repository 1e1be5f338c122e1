#ifndef POLYTILE_PARTITION_PROVE_PROGRAMS_COLUMN_PROGRAM_H
#define POLYTILE_PARTITION_PROVE_PROGRAMS_COLUMN_PROGRAM_H

#include "base/text.h"
#include "partition/schedule/schedule.h"

/*
 * What columns of a schedule (schedule/columns.h) need: that the launches may run column by column,
 * all slabs of a column before the next one.
 *
 * That and the schedule's own order are enough for all orders in which tiles run. Let x and y be
 * threads of two launches that touch an element, one of them writing it, x of the earlier launch.
 * By the schedule's order x is in the slab of y or one before, by the order of columns in the
 * column of y or one before; in the same tile x comes first. A tile waits for all tiles that are
 * before it, or beside it, in both.
 */

/** Check that columns are numbers that mean something: the schedule runs in place, and has launches
 * alone. */
bool pti_check_columns(const pti_schedule *schedule, pti_text *why);

/**
 * Make the schedule that runs the launches of another one column by column, which can be proved as
 * any is. It borrows what the other one borrows; the caller frees it. NULL when memory runs out.
 *
 * Shapes  schedule: its columns are checked.
 */
pti_schedule *pti_column_program_make(const pti_schedule *schedule);

#endif
