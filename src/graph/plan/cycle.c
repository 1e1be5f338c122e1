#include "graph/plan/plan.h"

#include "base/checked.h"

#include <stdlib.h>

/* Synchronous cycles: all transfers between ranks, then all others, then the work; each waits for
 * the longest of the one before. Source: Boulos et al. 2012, sections 4.2 and 4.3. */

/** Find where in a cycle each task starts, after those of its resource before it, and the longest
 * of each phase. */
static void line_up(const pti_planning *planning, const pti_stream_tasks *tasks, int64_t *work,
                    int64_t *offset, int64_t *longest) {
    for (int t = 0; t < tasks->n_tasks; t++) {
        const int resource = tasks->task[t].resource;
        offset[t] = -1;
        if (resource < 0)
            continue;
        const pti_phase phase = pti_net_phase(&planning->net, resource);
        offset[t] = work[resource];
        work[resource] += tasks->task[t].ticks;
        longest[phase] = pti_max(longest[phase], work[resource]);
    }
}

/** Move tasks to their phase; returns the cycle. */
static int64_t follow_phases(const pti_planning *planning, const pti_stream_tasks *tasks,
                             const int64_t *longest, int64_t *offset) {
    const int64_t begin[PTI_N_PHASES] = {0, longest[PTI_PHASE_RANKS],
                                         longest[PTI_PHASE_RANKS] + longest[PTI_PHASE_DEVICES]};
    for (int t = 0; t < tasks->n_tasks; t++)
        if (offset[t] >= 0)
            offset[t] += begin[pti_net_phase(&planning->net, tasks->task[t].resource)];
    return begin[PTI_PHASE_WORK] + longest[PTI_PHASE_WORK];
}

static int64_t longest_of(const int64_t *longest) {
    int64_t most = 0;
    for (int p = 0; p < PTI_N_PHASES; p++)
        most = pti_max(most, longest[p]);
    return most;
}

static polytile_status refuse_cycle(const pti_planning *planning) {
    return pti_fail(planning->ctx, POLYTILE_UNSUPPORTED,
                    "%s: a frame waits for what the frame before left, over more cycles than the "
                    "delay; synchronous cycles, without overlap, are not planned for that: put the "
                    "actors on one unit, or raise the delay",
                    planning->graph->dot->source);
}

polytile_status pti_planning_synchronise(pti_planning *planning, pti_outcome *outcome) {
    const pti_stream_tasks *tasks = &outcome->expansion.tasks;
    int64_t longest[PTI_N_PHASES] = {0};
    int64_t *offset = calloc((size_t)tasks->n_tasks + 1, sizeof *offset);
    int64_t *work = calloc((size_t)tasks->n_resources + 1, sizeof *work);
    pti_found found = PTI_FOUND_NO_MEMORY;
    polytile_status status;
    if (offset != NULL && work != NULL) {
        line_up(planning, tasks, work, offset, longest);
        const int64_t cycle = pti_max(1, follow_phases(planning, tasks, longest, offset));
        found = pti_periodic_at_offsets(tasks, cycle, offset, &outcome->schedule);
    }
    free(offset);
    free(work);
    if (found == PTI_FOUND_NO_MEMORY)
        return pti_planning_fail_memory(planning);
    if (found == PTI_NONE_FOUND)
        return refuse_cycle(planning);
    status = pti_planning_store(planning, outcome);
    return status;
}

/* The paper's rules. */

/** In which cycle a task runs: later than what it reads by one for each transfer, and for each
 * double buffer. Returns false if a cycle of tasks raises that for ever. */
static bool find_cycles(const pti_stream_tasks *tasks, const bool *waits, int64_t *cycle) {
    bool raised = true;
    for (int round = 0; raised && round <= tasks->n_tasks; round++) {
        raised = false;
        for (int b = 0; b < tasks->n_buffers; b++) {
            const pti_frame_buffer *held = &tasks->buffer[b];
            for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++) {
                const pti_buffer_reader *reader = &tasks->reader[r];
                const int64_t least = cycle[held->producer] + waits[b] - reader->delay;
                if (least <= cycle[reader->task])
                    continue;
                cycle[reader->task] = least;
                raised = true;
            }
        }
    }
    return !raised;
}

/** Mark the buffers that a transfer fills or empties, which are double ones. */
static void mark_doubles(const pti_expansion *expansion, bool *is_double) {
    const pti_stream_tasks *tasks = &expansion->tasks;
    for (int b = 0; b < tasks->n_buffers; b++) {
        const pti_frame_buffer *held = &tasks->buffer[b];
        is_double[b] = expansion->task[held->producer].kind == PTI_TASK_MOVE;
        for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++)
            is_double[b] =
                is_double[b] || expansion->task[tasks->reader[r].task].kind == PTI_TASK_MOVE;
    }
}

static bool task_touches(const pti_stream_tasks *tasks, int buffer, int task) {
    const pti_frame_buffer *held = &tasks->buffer[buffer];
    bool does = held->producer == task;
    for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++)
        does = does || tasks->reader[r].task == task;
    return does;
}

/** The paper's rule: two buffers may share unless one node has both. */
static bool share_a_node(const void *of, int a, int b) {
    const pti_stream_tasks *tasks = of;
    const pti_frame_buffer *held = &tasks->buffer[a];
    bool share = task_touches(tasks, b, held->producer);
    for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++)
        share = share || task_touches(tasks, b, tasks->reader[r].task);
    return share;
}

static const char *name_of_buffer(const pti_planning *planning, const pti_buffer_note *note) {
    return note->array >= 0 ? planning->graph->array[note->array].name
                            : planning->graph->actor[note->actor].name;
}

/** Note buffers that hold fewer frames than live at once. */
static void note_mixed(pti_planning *planning, const pti_outcome *outcome) {
    const pti_stream_tasks *tasks = &outcome->expansion.tasks;
    for (int b = 0; b < tasks->n_buffers; b++) {
        const pti_buffer_note *note = &outcome->expansion.buffer[b];
        const int64_t needed =
            pti_buffer_capacity(tasks, b, outcome->schedule.period, outcome->schedule.start);
        if (needed > outcome->schedule.capacity[b])
            pti_text_add(&planning->plan->notes,
                         "unsound: %s on %s has %d frame%s by the paper's rule, and %d live at "
                         "once; frames mix where paths of different length join\n",
                         name_of_buffer(planning, note),
                         planning->machine->memory[note->memory].name,
                         (int)outcome->schedule.capacity[b],
                         outcome->schedule.capacity[b] == 1 ? "" : "s", (int)needed);
    }
}

/** How many frames of a buffer live at a time. */
static int64_t count_live(const pti_outcome *outcome, int buffer, int64_t at) {
    const pti_stream_tasks *tasks = &outcome->expansion.tasks;
    const pti_frame_buffer *held = &tasks->buffer[buffer];
    const int64_t period = outcome->schedule.period,
                  begin = outcome->schedule.start[held->producer];
    int64_t end = begin + tasks->task[held->producer].ticks;
    for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++) {
        const pti_buffer_reader *reader = &tasks->reader[r];
        end = pti_max(end, outcome->schedule.start[reader->task] + tasks->task[reader->task].ticks +
                               reader->delay * period);
    }
    return pti_floor_div(at - begin, period) - pti_floor_div(at - end, period);
}

static bool have_one_colour(const pti_outcome *outcome, int a, int b) {
    return outcome->stored[a].memory == outcome->stored[b].memory &&
           outcome->stored[a].colour == outcome->stored[b].colour;
}

/** A buffer of the same memory and colour that lives when another one is begun, where all of the
 * colour together are more frames than there is room for; -1: none. */
static int find_overwritten(const pti_outcome *outcome, int buffer) {
    const pti_frame_buffer *held = &outcome->expansion.tasks.buffer[buffer];
    const int64_t at = outcome->schedule.start[held->producer];
    int64_t n_live = 0, room = 0;
    int other = -1;
    for (int b = 0; b < outcome->expansion.tasks.n_buffers; b++) {
        if (!have_one_colour(outcome, buffer, b))
            continue;
        const int64_t live = pti_min(count_live(outcome, b, at), outcome->schedule.capacity[b]);
        n_live += live;
        room = pti_max(room, outcome->schedule.capacity[b]);
        other = b != buffer && live > 0 ? b : other;
    }
    return n_live > room ? other : -1;
}

/** Note buffers that share memory by the paper's rule though both live. Of a double buffer one
 * frame moves while the other one may be shared. */
static polytile_status note_overwritten(pti_planning *planning, const pti_outcome *outcome) {
    for (int b = 0; b < outcome->expansion.tasks.n_buffers; b++) {
        const int other = find_overwritten(outcome, b);
        if (other >= 0)
            pti_text_add(&planning->plan->notes,
                         "unsound: %s and %s share memory on %s by the paper's rule, and %s "
                         "overwrites %s before it is read\n",
                         name_of_buffer(planning, &outcome->expansion.buffer[b]),
                         name_of_buffer(planning, &outcome->expansion.buffer[other]),
                         planning->machine->memory[outcome->stored[b].memory].name,
                         name_of_buffer(planning, &outcome->expansion.buffer[b]),
                         name_of_buffer(planning, &outcome->expansion.buffer[other]));
    }
    return planning->plan->notes.failed ? pti_planning_fail_memory(planning) : POLYTILE_OK;
}

/** Colour by the paper's rule, and say what is unsound of it. */
static polytile_status colour_buffers(pti_planning *planning, pti_outcome *outcome) {
    const pti_stream_tasks *tasks = &outcome->expansion.tasks;
    polytile_status status;
    PTI_TRY(pti_planning_store(planning, outcome));
    if (!pti_stored_colour(tasks->n_buffers, outcome->stored, share_a_node, tasks,
                           planning->net.n_memories, outcome->memory_bytes))
        PTI_TRY(pti_planning_fail_memory(planning));
    note_mixed(planning, outcome);
    PTI_TRY(note_overwritten(planning, outcome));
done:
    return status;
}

/** Without overlap the starts are those of synchronous cycles; with it each transfer, and each
 * double buffer, is a cycle more. */
static polytile_status start_with_overlap(pti_planning *planning, pti_outcome *outcome,
                                          const bool *is_double) {
    const pti_stream_tasks *tasks = &outcome->expansion.tasks;
    pti_periodic *schedule = &outcome->schedule;
    int64_t longest[PTI_N_PHASES] = {0};
    int64_t *work = calloc((size_t)tasks->n_resources + 1, sizeof *work);
    int64_t *offset = calloc((size_t)tasks->n_tasks + 1, sizeof *offset);
    polytile_status status = POLYTILE_OK;
    schedule->start = calloc((size_t)tasks->n_tasks + 1, sizeof *schedule->start);
    schedule->capacity = calloc((size_t)tasks->n_buffers + 1, sizeof *schedule->capacity);
    if (work == NULL || offset == NULL || schedule->start == NULL || schedule->capacity == NULL)
        PTI_TRY(pti_planning_fail_memory(planning));
    line_up(planning, tasks, work, offset, longest);
    schedule->period = pti_max(1, longest_of(longest));
    if (!find_cycles(tasks, is_double, schedule->start))
        PTI_TRY(refuse_cycle(planning));
    for (int t = 0; t < tasks->n_tasks; t++)
        schedule->start[t] = schedule->start[t] * schedule->period + pti_max(0, offset[t]);
done:
    free(work);
    free(offset);
    return status;
}

polytile_status pti_planning_follow_paper(pti_planning *planning, pti_outcome *outcome) {
    const int n_buffers = outcome->expansion.tasks.n_buffers;
    bool *is_double = calloc((size_t)n_buffers + 1, sizeof *is_double);
    polytile_status status;
    if (is_double == NULL)
        return pti_planning_fail_memory(planning);
    mark_doubles(&outcome->expansion, is_double);
    if (planning->overlap) {
        PTI_TRY(start_with_overlap(planning, outcome, is_double));
    } else {
        PTI_TRY(pti_planning_synchronise(planning, outcome));
        free(outcome->stored);
        free(outcome->memory_bytes);
    }
    for (int b = 0; b < n_buffers; b++)
        outcome->schedule.capacity[b] = 1 + (planning->overlap && is_double[b]);
    PTI_TRY(colour_buffers(planning, outcome));
done:
    free(is_double);
    return status;
}
