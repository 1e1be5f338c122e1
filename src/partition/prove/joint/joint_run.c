#include "access/footprint/call.h"
#include "partition/prove/joint/joint_replay.h"

#include "access/footprint/footprint.h"
#include "access/set/box_text.h"
#include "partition/prove/needs/needs.h"

static void add_touched_by_section(pti_joint_replay *replay, const pti_instance *instance,
                                   const pti_section *section, const polytile_domain *threads,
                                   pti_boxes *touched) {
    pti_boxes_clear(&replay->listed);
    pti_needs_list(instance, section, threads, &replay->listed);
    pti_joint_unite(touched, &replay->listed);
}

static void add_sections(pti_joint_replay *replay, const pti_instance *instance, int number,
                         const polytile_domain *threads, pti_touch touch, pti_boxes *touched) {
    const pti_operand *operand = &instance->operand[number];
    for (int s = 0; s < operand->n_sections; s++) {
        const pti_section *section = &instance->section[operand->first_section + s];
        if (pti_section_counts(section, touch))
            add_touched_by_section(replay, instance, section, threads, touched);
    }
}

/** The most parts of a box of threads whose hulls are taken. */
enum { MOST_PARTS = 64 };

static int longest_dimension(const polytile_domain *box) {
    int longest = 0;
    for (int d = 1; d < box->n_dims; d++)
        if (pti_range_count(box->range[d]) > pti_range_count(box->range[longest]))
            longest = d;
    return longest;
}

/** Add the hulls of what parts of some threads touch. */
static void add_hulls(const pti_instance *instance, int operand, const polytile_domain *threads,
                      int n_parts, pti_boxes *touched) {
    const int longest = longest_dimension(threads);
    const int64_t n = pti_range_count(threads->range[longest]);
    polytile_domain hull, lower = *threads, upper = *threads;
    if (!pti_footprint_find_hull(instance, operand, PTI_TOUCHES, threads, &hull))
        return;
    if (n_parts < 2 || n < 2) {
        pti_boxes_gather(touched, &hull);
        return;
    }
    lower.range[longest].hi = threads->range[longest].lo + n / 2 - 1;
    upper.range[longest].lo = threads->range[longest].lo + n / 2;
    add_hulls(instance, operand, &lower, n_parts / 2, touched);
    add_hulls(instance, operand, &upper, n_parts / 2, touched);
}

void pti_joint_add_touched(pti_joint_replay *replay, const pti_call *call, int number,
                           const pti_boxes *threads, pti_joint_touch touch, pti_boxes *touched) {
    const pti_instance *instance = call->instance;
    const bool is_hull = touch != PTI_JOINT_READS && instance->operand[number].partial;
    for (int b = 0; b < threads->n_boxes; b++) {
        if (is_hull)
            add_hulls(instance, number, &threads->box[b],
                      touch == PTI_JOINT_MAY_WRITE ? MOST_PARTS : 1, touched);
        else
            add_sections(replay, instance, number, &threads->box[b],
                         touch == PTI_JOINT_READS ? PTI_READS : PTI_WRITES, touched);
    }
}

/* Running threads. */

static bool takes_part(const pti_joint_replay *replay, pti_joint_place at, int operand,
                       bool writes) {
    const pti_call *call = &replay->schedule->launch[at.op->launch];
    const pti_operand *of = &call->instance->operand[operand];
    return (writes ? of->writes : of->reads) &&
           !pti_joint_combines(replay, at.op->launch, call->array[operand]);
}

static bool is_neighbour(const pti_joint_replay *replay, pti_joint_place at, int array, int other) {
    return other != at.op->member &&
           pti_joint_shares(replay->schedule, array, at.op->member, other);
}

/** Return whether another member with the same host memory may be writing elements of an array
 * there. */
static bool has_writers(const pti_joint_replay *replay, pti_joint_place at, int array) {
    bool has = false;
    for (int q = at.list->first; q < at.list->first + at.list->n_local && !has; q++)
        has = is_neighbour(replay, at, array, q) && !replay->schedule->keeps[q] &&
              pti_joint_cell_of(replay, array, q)->written.n_boxes > 0;
    return has;
}

/** Check that nobody else may be writing, in the same host memory, what threads read. */
static bool check_writers(const pti_joint_replay *replay, pti_joint_place at, int array,
                          const pti_boxes *read) {
    for (int q = at.list->first; q < at.list->first + at.list->n_local; q++) {
        if (!is_neighbour(replay, at, array, q) || replay->schedule->keeps[q])
            continue;
        const pti_boxes *written = &pti_joint_cell_of(replay, array, q)->written;
        const polytile_domain *box = pti_boxes_find_meeting(written, read);
        if (box != NULL)
            return pti_joint_reject(
                replay, at, box,
                "is read while another member's threads of the launch may write it");
    }
    return true;
}

/** Check that threads read nothing that the launch may be writing. Where it is not known which
 * elements are touched, threads before may have written other ones. */
static bool check_written(pti_joint_replay *replay, pti_joint_place at, int operand) {
    const pti_call *call = &replay->schedule->launch[at.op->launch];
    const pti_operand *of = &call->instance->operand[operand];
    const pti_joint_cell *cell = pti_joint_cell_of(replay, call->array[operand], at.op->member);
    const bool is_vague = of->reduces || of->partial || cell->written.n_boxes == 0;
    if (is_vague && !has_writers(replay, at, call->array[operand]))
        return true;
    pti_boxes_clear(&replay->touched);
    pti_joint_add_touched(replay, call, operand, &at.op->boxes, PTI_JOINT_READS, &replay->touched);
    const polytile_domain *box =
        is_vague ? NULL : pti_boxes_find_meeting(&cell->written, &replay->touched);
    if (box != NULL)
        return pti_joint_reject(replay, at, box,
                                "the member's threads of the same launch wrote it already");
    return check_writers(replay, at, call->array[operand], &replay->touched);
}

/** The most boxes of what some threads may be reading through a section. */
enum { MOST_READ_BOXES = 64 };

/** Return whether a member has all elements that some threads read. hull: around them. If not,
 * *missing is the first box that it lacks. */
static bool has_all_read_elements(const pti_instance *instance, const pti_section *section,
                                  const polytile_domain *threads, const pti_joint_cell *cell,
                                  const polytile_domain *hull, polytile_domain *missing) {
    return pti_boxes_cover(&cell->valid, hull) ||
           pti_needs_covered(instance, section, threads, &cell->valid, missing);
}

/** Check that what some threads read through a section is there, and note that it may be read from
 * now on: all that lies between, where it is too many boxes. If an earlier launch may be reading it
 * all, whoever waits for that one waits for these threads, too. */
static bool read_section(pti_joint_replay *replay, pti_joint_place at, const pti_section *section,
                         const polytile_domain *threads, pti_joint_cell *cell) {
    const pti_instance *instance = replay->schedule->launch[at.op->launch].instance;
    polytile_domain hull, missing;
    pti_needs_is_box(instance, section, threads, &hull);
    if (!has_all_read_elements(instance, section, threads, cell, &hull, &missing))
        return pti_joint_reject(replay, at, &missing,
                                "the member does not have all that it reads in its newest "
                                "version");
    if (pti_boxes_cover(&cell->reading, &hull))
        return true;
    pti_boxes_clear(&replay->listed);
    pti_needs_list_at_most(instance, section, threads, MOST_READ_BOXES, &replay->listed);
    pti_boxes_subtract_all(&replay->listed, &cell->held);
    pti_joint_unite(&cell->read, &replay->listed);
    return true;
}

static bool read_operand(pti_joint_replay *replay, pti_joint_place at, int operand) {
    const pti_call *call = &replay->schedule->launch[at.op->launch];
    const pti_operand *of = &call->instance->operand[operand];
    pti_joint_cell *cell = pti_joint_cell_of(replay, call->array[operand], at.op->member);
    if (!check_written(replay, at, operand))
        return false;
    for (int s = 0; s < of->n_sections; s++) {
        const pti_section *section = &call->instance->section[of->first_section + s];
        for (int b = 0; b < at.op->boxes.n_boxes && pti_section_counts(section, PTI_READS); b++)
            if (!read_section(replay, at, section, &at.op->boxes.box[b], cell))
                return false;
    }
    return true;
}

static bool may_reach_host(const pti_joint_replay *replay, int one, int other) {
    return !replay->schedule->keeps[one] || !replay->schedule->keeps[other];
}

/** A box of a set of which downloads are under way, though the device has forgotten it; NULL:
 * none. */
static const polytile_domain *find_download(pti_joint_replay *replay, const pti_joint_cell *cell,
                                            const pti_boxes *set) {
    const polytile_domain *box = pti_boxes_find_meeting(&cell->outdated, set);
    if (box != NULL || cell->late.n_boxes == 0 || cell->fetching.n_boxes == 0)
        return box;
    pti_boxes_intersect(&replay->old, &cell->late, &cell->fetching);
    return pti_boxes_find_meeting(&replay->old, set);
}

/** Check that nobody else may be using, in the same host memory, what threads write. */
static bool check_users(pti_joint_replay *replay, pti_joint_place at, int array,
                        const pti_boxes *written) {
    for (int q = at.list->first; q < at.list->first + at.list->n_local; q++) {
        if (!is_neighbour(replay, at, array, q))
            continue;
        const pti_joint_cell *cell = pti_joint_cell_of(replay, array, q);
        const polytile_domain *box =
            replay->schedule->keeps[at.op->member] ? NULL : pti_joint_find_reading(cell, written);
        if (box != NULL)
            return pti_joint_reject(replay, at, box,
                                    "is written while another member may still read it");
        box = may_reach_host(replay, at.op->member, q)
                  ? pti_boxes_find_meeting(&cell->loose, written)
                  : NULL;
        if (box != NULL)
            return pti_joint_reject(replay, at, box,
                                    "another member's device may bring it to the host, too");
        box = replay->schedule->keeps[at.op->member] ? NULL : find_download(replay, cell, written);
        if (box != NULL)
            return pti_joint_reject(replay, at, box,
                                    "another member's download may bring it to the host, too");
    }
    return true;
}

static bool write_operand(pti_joint_replay *replay, pti_joint_place at, int operand) {
    pti_boxes *written = &replay->touched;
    const pti_call *call = &replay->schedule->launch[at.op->launch];
    pti_joint_cell *cell = pti_joint_cell_of(replay, call->array[operand], at.op->member);
    pti_boxes_clear(written);
    pti_joint_add_touched(replay, call, operand, &at.op->boxes, PTI_JOINT_MOVES, written);
    const polytile_domain *box = call->instance->operand[operand].fresh
                                     ? pti_boxes_find_meeting(&cell->written, written)
                                     : NULL;
    if (box != NULL)
        return pti_joint_reject(replay, at, box, "starts from the identity twice");
    if (!check_users(replay, at, call->array[operand], written))
        return false;
    pti_joint_outdate(replay, cell, written);
    pti_joint_unite(&cell->loose, written);
    if (replay->schedule->keeps[at.op->member])
        pti_joint_unite(&cell->held, written);
    pti_joint_unite(&cell->written, written);
    pti_boxes_subtract_all(&cell->forgetting, written);
    return true;
}

/** Check and note what threads read, or write, operand by operand. */
static bool touch_operands(pti_joint_replay *replay, pti_joint_place at, bool writes) {
    const pti_instance *instance = replay->schedule->launch[at.op->launch].instance;
    bool holds = true;
    for (int o = 0; holds && o < instance->n_operands; o++)
        if (takes_part(replay, at, o, writes))
            holds = writes ? write_operand(replay, at, o) : read_operand(replay, at, o);
    return holds;
}

static bool combines_any(const pti_joint_replay *replay, int launch) {
    bool any = false;
    for (int a = 0; a < replay->schedule->n_arrays; a++)
        any |= pti_joint_combines(replay, launch, a);
    return any;
}

static bool take_threads(pti_joint_replay *replay, pti_joint_place at) {
    bool combines = combines_any(replay, at.op->launch);
    for (int q = 0; q < replay->schedule->n_members; q++) {
        const polytile_domain *box =
            q == at.op->member || combines
                ? pti_boxes_find_meeting(&replay->threads[q], &at.op->boxes)
                : NULL;
        if (box != NULL)
            return pti_joint_reject(replay, at, box, "runs twice");
    }
    pti_joint_unite(&replay->threads[at.op->member], &at.op->boxes);
    return true;
}

static void note_reductions(pti_joint_replay *replay, pti_joint_place at) {
    for (int a = 0; a < replay->schedule->n_arrays; a++)
        pti_joint_cell_of(replay, a, at.op->member)->reduces |=
            pti_joint_combines(replay, at.op->launch, a);
}

static const polytile_domain *find_combined(const pti_joint_replay *replay) {
    for (int a = 0; a < replay->schedule->n_arrays; a++)
        if (replay->combined[a].n_boxes > 0)
            return &replay->combined[a].box[0];
    return NULL;
}

bool pti_joint_run(pti_joint_replay *replay, pti_joint_place at) {
    const polytile_domain *box = find_combined(replay);
    if (box != NULL)
        return pti_joint_reject(replay, at, box, "the launch's results were combined already");
    if (pti_joint_find_pulling(replay, at.list))
        return pti_joint_reject(replay, at, NULL, "runs while members pull from each other");
    replay->is_busy[at.op->member] = true;
    note_reductions(replay, at);
    return take_threads(replay, at) && touch_operands(replay, at, false) &&
           touch_operands(replay, at, true);
}

/* The end of a launch. */

/** Check that threads that nobody runs write nothing. */
static bool check_idle_threads(pti_joint_replay *replay) {
    const pti_call *call = &replay->schedule->launch[replay->launch];
    pti_boxes *rest = &replay->rest, *written = &replay->touched;
    pti_boxes_assign(rest, &call->instance->threads);
    for (int q = 0; q < replay->schedule->n_members && rest->n_boxes > 0; q++)
        pti_boxes_subtract_all(rest, &replay->threads[q]);
    pti_boxes_clear(written);
    for (int o = 0; o < call->instance->n_operands && written->n_boxes == 0; o++)
        if (call->instance->operand[o].writes)
            pti_joint_add_touched(replay, call, o, rest, PTI_JOINT_MAY_WRITE, written);
    if (written->n_boxes == 0)
        return true;
    pti_text_add(replay->why, "launch %d, %s: nobody runs threads ", replay->launch,
                 call->instance->kernel_name);
    pti_box_write(replay->why, &rest->box[0]);
    return false;
}

/** Return whether several threads may write an element of an array, or some thread may leave
 * one. */
static bool is_by_several(const pti_call *call, int array) {
    bool is = false;
    for (int o = 0; o < call->instance->n_operands; o++) {
        const pti_operand *operand = &call->instance->operand[o];
        is |= call->array[o] == array && operand->writes && (operand->reduces || operand->partial);
    }
    return is;
}

static bool is_partial(const pti_call *call, int array) {
    bool is = false;
    for (int o = 0; o < call->instance->n_operands; o++)
        is |= call->array[o] == array && call->instance->operand[o].writes &&
              call->instance->operand[o].partial;
    return is;
}

static void add_written_by_threads(pti_joint_replay *replay, int array, const pti_boxes *threads,
                                   pti_boxes *written) {
    const pti_call *call = &replay->schedule->launch[replay->launch];
    for (int o = 0; o < call->instance->n_operands; o++)
        if (call->array[o] == array && call->instance->operand[o].writes)
            pti_joint_add_touched(replay, call, o, threads, PTI_JOINT_MAY_WRITE, written);
}

/** Find what a member has in its newest version after the launch: what it had and wrote itself, but
 * for elements that threads write that it does not run, which some other thread may write, too.
 * Where a thread may have left an element as it was, that was the newest. */
static void renew_vague_cell(pti_joint_replay *replay, int array, int member) {
    const pti_call *call = &replay->schedule->launch[replay->launch];
    pti_joint_cell *cell = pti_joint_cell_of(replay, array, member);
    pti_boxes *missed = &replay->touched, *whole = &replay->old;
    pti_boxes_assign(&replay->rest, &call->instance->threads);
    pti_boxes_subtract_all(&replay->rest, &replay->threads[member]);
    pti_boxes_clear(missed);
    add_written_by_threads(replay, array, &replay->rest, missed);
    if (is_partial(call, array))
        pti_boxes_intersect(whole, &cell->written, &cell->valid);
    else
        pti_boxes_copy(whole, &cell->written);
    pti_boxes_subtract_all(whole, missed);
    pti_boxes_subtract_all(&cell->valid, missed);
    pti_boxes_subtract_all(&cell->valid, &replay->combined[array]);
    pti_boxes_subtract_all(&cell->valid, &cell->written);
    pti_joint_unite(&cell->valid, whole);
    pti_boxes_clear(&cell->written);
}

/** Find the same for an array of which no two threads write an element, and each writes all of its
 * own. */
static void renew_cell(const pti_joint_replay *replay, int array, int member) {
    pti_joint_cell *cell = pti_joint_cell_of(replay, array, member);
    pti_boxes_subtract_all(&cell->valid, &replay->changed);
    pti_joint_unite_sets(&cell->valid, &cell->written);
    pti_boxes_clear(&cell->written);
}

/** Note that what the launch read may still be read, and that all that may be read is old where it
 * changed. */
static void age_reading(pti_joint_replay *replay, pti_joint_cell *cell) {
    pti_joint_unite(&cell->reading, &cell->read);
    pti_boxes_clear(&cell->read);
    if (replay->changed.n_boxes == 0 || cell->reading.n_boxes == 0)
        return;
    pti_boxes_intersect(&replay->old, &cell->reading, &replay->changed);
    pti_joint_unite(&cell->former, &replay->old);
}

/** Find all that the launch changed of an array. Somebody runs every thread that writes. is_vague:
 * not all of that is known by threads alone, as where several threads write an element; then what
 * members wrote and what was combined counts. */
static void find_changed_of_array(pti_joint_replay *replay, int array, bool is_vague) {
    const pti_call *call = &replay->schedule->launch[replay->launch];
    pti_boxes *changed = &replay->changed;
    pti_boxes_clear(changed);
    if (!is_vague) {
        pti_boxes_assign(&replay->rest, &call->instance->threads);
        add_written_by_threads(replay, array, &replay->rest, changed);
        return;
    }
    for (int q = 0; q < replay->schedule->n_members; q++)
        pti_joint_unite(changed, &pti_joint_cell_of(replay, array, q)->written);
    pti_joint_unite(changed, &replay->combined[array]);
}

/** Note that host memory is old where the launch changed it, and the newest where it was combined.
 */
static void renew_host(pti_joint_replay *replay, int array, int member) {
    if (replay->schedule->memory[array * replay->schedule->n_members + member] != member)
        return;
    pti_boxes_subtract_all(pti_joint_on_host(replay, array, member), &replay->changed);
    pti_joint_unite(pti_joint_on_host(replay, array, member), &replay->combined[array]);
}

/** Note that what the launch changed is the newest where it is whole, or combined, and old
 * elsewhere. */
static void renew_array(pti_joint_replay *replay, int array) {
    const pti_call *call = &replay->schedule->launch[replay->launch];
    const bool is_vague =
        is_by_several(call, array) || pti_joint_combines(replay, replay->launch, array);
    pti_boxes_clear(&replay->changed);
    if (pti_call_writes(call, array))
        find_changed_of_array(replay, array, is_vague);
    for (int q = 0; q < replay->schedule->n_members; q++) {
        pti_joint_cell *cell = pti_joint_cell_of(replay, array, q);
        age_reading(replay, cell);
        if (replay->changed.n_boxes == 0)
            continue;
        if (is_vague)
            renew_vague_cell(replay, array, q);
        else
            renew_cell(replay, array, q);
        pti_joint_outdate(replay, cell, &replay->changed);
        renew_host(replay, array, q);
    }
    pti_boxes_clear(&replay->combined[array]);
}

bool pti_joint_end_launch(pti_joint_replay *replay) {
    if (!check_idle_threads(replay))
        return false;
    for (int a = 0; a < replay->schedule->n_arrays; a++)
        renew_array(replay, a);
    for (int q = 0; q < replay->schedule->n_members; q++)
        pti_boxes_clear(&replay->threads[q]);
    return true;
}
