#include "partition/prove/period.h"

#include "base/checked.h"

/** Two parts of a schedule, the one in a stretch before the other. */
typedef struct part_pair {
    int first, second; /* of pti_threads_of_part() */
    int64_t first_turn, second_turn;
} part_pair;

/** The rows of an array, along its axis, that threads of a launch touch, or write. Ends of the
 * array are not looked at. False: there are none. */
static bool find_rows_of_launch(const pti_call *call, int array, int axis,
                                const polytile_domain *threads, bool written,
                                polytile_range *rows) {
    *rows = (polytile_range){INT64_MAX, INT64_MIN, 1};
    for (int s = 0; s < call->instance->n_sections; s++) {
        const pti_section *section = &call->instance->section[s];
        if (call->array[section->operand] != array || (written && section->role == POLYTILE_IN))
            continue;
        const pti_subscript *along = &section->subscript[axis];
        rows->lo = pti_min(rows->lo, pti_value_at_corner(&along->lo, threads, false));
        rows->hi = pti_max(rows->hi, pti_value_at_corner(&along->hi, threads, true));
    }
    return rows->lo <= rows->hi;
}

static polytile_domain threads_in(const pti_schedule *schedule, int l, int part, int64_t turn) {
    const polytile_domain threads = pti_threads_of_part(schedule, l, part);
    return part == 1 ? pti_box_moved(&threads, &schedule->period.launch[l].threads, turn) : threads;
}

/** What a launch touches of an array in the second part lies behind all that later launches wrote
 * of it in the first, and what it writes behind all that they touched. */
static bool check_parts(const pti_schedule *schedule, int array, int axis, const part_pair *pair,
                        pti_text *why) {
    int64_t touched = INT64_MIN, written = INT64_MIN;
    bool holds = true;
    for (int l = schedule->n_launches - 1; l >= 0 && holds; l--) {
        const pti_call *call = &schedule->launch[l].call;
        const polytile_domain first = threads_in(schedule, l, pair->first, pair->first_turn);
        const polytile_domain second = threads_in(schedule, l, pair->second, pair->second_turn);
        polytile_range rows;
        holds =
            !(find_rows_of_launch(call, array, axis, &second, false, &rows) &&
              rows.lo <= written) &&
            !(find_rows_of_launch(call, array, axis, &second, true, &rows) && rows.lo <= touched);
        if (find_rows_of_launch(call, array, axis, &first, false, &rows))
            touched = pti_max(touched, rows.hi);
        if (find_rows_of_launch(call, array, axis, &first, true, &rows))
            written = pti_max(written, rows.hi);
        if (!holds)
            pti_text_add(why,
                         "launch %d uses elements of %s after a turn in which a later one has used "
                         "them, one of them writing",
                         l, schedule->instance->operand[array].name);
    }
    return holds;
}

static bool is_array_written(const pti_schedule *schedule, int array) {
    bool is = false;
    for (int l = 0; l < schedule->n_launches; l++) {
        const pti_call *call = &schedule->launch[l].call;
        for (int s = 0; s < call->instance->n_sections; s++)
            is = is || (call->array[call->instance->section[s].operand] == array &&
                        call->instance->section[s].role != POLYTILE_IN);
    }
    return is;
}

/** All that moves does so in one direction, so neighbouring parts stand for all. */
static bool check_array(const pti_schedule *schedule, int array, pti_text *why) {
    const int64_t last = schedule->period.times - 1;
    const part_pair pairs[] = {{0, 1, 0, 0}, {0, 2, 0, 0}, {1, 1, 0, 1}, {1, 2, last, 0}};
    const int axis = pti_axis_of_shift(&schedule->period.array[array],
                                       schedule->instance->operand[array].domain.n_dims);
    if (axis < 0)
        return PTI_REJECT(why, "%s is written, but does not move on along one dimension",
                          schedule->instance->operand[array].name);
    bool holds = true;
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs && holds; p++)
        holds = check_parts(schedule, array, axis, &pairs[p], why);
    return holds;
}

bool pti_check_turns_in_order(const pti_schedule *schedule, pti_text *why) {
    bool holds = true;
    for (int a = 0; schedule->n_launches > 1 && a < schedule->instance->n_operands && holds; a++)
        holds = !is_array_written(schedule, a) || check_array(schedule, a, why);
    return holds;
}
