#include "base/clock.h"
#include "distribute/group/run.h"
#include "distribute/group/sums.h"
#include "distribute/members/gates.h"
#include "distribute/members/launch_box.h"
#include "distribute/members/member_array.h"
#include "distribute/members/member_box.h"
#include "distribute/members/peers.h"
#include "distribute/members/prepared_superstep.h"
#include "launch/device/trace.h"

/* The one walk over a list of operations. Members' queues get launches, downloads and what they
 * forget; all else is done here, in the program's thread. */

/** The walk. */
typedef struct list_walk {
    const pti_list_run *run;
    pti_group *group;
    bool is_paused;    /* members, until all is queued that is planned together */
    bool has_launched; /* something is queued of which linked devices do not know yet */
    bool are_spans_shared;
    bool has_agreed; /* all processes came to the first combination: that they can take part */
    pti_group_sums sums;
} list_walk;

static bool has_walk_failed(const list_walk *of) {
    return of->group->failure.status != POLYTILE_OK;
}

static int local_of(const list_walk *of, int member) {
    return member - of->group->transport->first;
}

static polytile_array *array_of_member(const list_walk *of, int array, int member) {
    const int n_local = of->group->transport->n_local;
    return of->group->member_arrays[array * n_local + local_of(of, member)];
}

/* Operations. */

static int number_of_op(const list_walk *of, const pti_joint_op *op) {
    return (int)(op - of->run->list->op);
}

static const pti_recorded *launch_of(const list_walk *of, const pti_joint_op *op) {
    return &of->run->recorded[op->launch];
}

static bool runs_combined_launch(const list_walk *of, const pti_joint_op *op) {
    return op->kind == PTI_JOINT_RUN && of->run->prepared->parts.work[0].home[op->launch].splits;
}

static polytile_status run_threads(list_walk *of, const pti_joint_op *op) {
    const int local = local_of(of, op->member);
    polytile_status status = POLYTILE_OK;
    if (launch_of(of, op)->server != NULL)
        return op->boxes.n_boxes > 0
                   ? pti_group_launch_slots(of->group, launch_of(of, op), local, &op->boxes)
                   : POLYTILE_OK;
    if (runs_combined_launch(of, op))
        return pti_group_sums_launch(of->group, of->run->prepared, launch_of(of, op), &of->sums,
                                     local, &op->boxes);
    of->has_launched = true;
    for (int b = 0; b < op->boxes.n_boxes; b++)
        PTI_TRY(pti_group_launch_box(of->group, launch_of(of, op), local, &op->boxes.box[b]));
done:
    return status;
}

static polytile_status fetch_to_host(list_walk *of, const pti_joint_op *op) {
    return pti_queue_fetch(of->group->member[local_of(of, op->member)],
                           array_of_member(of, op->array, op->member), &op->boxes);
}

static polytile_status pull_elements(list_walk *of, const pti_joint_op *op) {
    return pti_queue_pull(of->group->member[local_of(of, op->member)],
                          array_of_member(of, op->array, op->member), &op->boxes);
}

static polytile_status forget_elements(list_walk *of, const pti_joint_op *op) {
    return pti_queue_invalidate(of->group->member[local_of(of, op->member)],
                                array_of_member(of, op->array, op->member), &op->boxes);
}

/** Arrays that have left their queues are in host memory. */
static polytile_status find_host_memory(const list_walk *of, int array, int member) {
    return of->run->prepared == NULL
               ? POLYTILE_OK
               : pti_group_find_memory(of->group, array, local_of(of, member));
}

static polytile_status send_or_receive(list_walk *of, const pti_joint_op *op) {
    pti_transport *transport = of->group->transport;
    const pti_transport_functions *functions = transport->functions;
    if (!has_walk_failed(of))
        pti_group_note_failure(of->group, find_host_memory(of, op->array, op->member));
    return (op->kind == PTI_JOINT_SEND ? functions->send : functions->receive)(
        transport, of->run->messages, number_of_op(of, op), has_walk_failed(of));
}

static polytile_status copy_from_member(list_walk *of, const pti_joint_op *op) {
    polytile_status status;
    PTI_TRY(find_host_memory(of, op->array, op->peer));
    PTI_TRY(find_host_memory(of, op->array, op->member));
    const polytile_array *from = array_of_member(of, op->array, op->peer);
    const polytile_array *to = array_of_member(of, op->array, op->member);
    for (int b = 0; b < op->boxes.n_boxes && !pti_member_lies_with(from, to); b++)
        pti_member_copy(from, to, &op->boxes.box[b]);
done:
    return status;
}

/** Let all agree that they have what is combined, before they do: nobody combines with one that has
 * not. Returns whether they have. */
static bool agree_to_combine(list_walk *of, const pti_joint_op *op) {
    pti_group *group = of->group;
    if (of->has_agreed)
        return of->sums.are_made;
    if (!has_walk_failed(of))
        pti_group_note_failure(
            group, pti_group_sums_begin(group, of->run->prepared, launch_of(of, op), &of->sums));
    polytile_status status = group->transport->functions->agree(
        group->transport, pti_error_restore(group->ctx, &group->failure));
    pti_group_note_failure(group, status);
    of->has_agreed = true;
    of->sums.are_made &= status == POLYTILE_OK;
    return status == POLYTILE_OK;
}

static polytile_status combine_results(list_walk *of, const pti_joint_op *op) {
    return agree_to_combine(of, op)
               ? pti_group_sums_combine(of->group, launch_of(of, op), &of->sums, op->array,
                                        has_walk_failed(of))
               : POLYTILE_OK;
}

/** Operations wait before they are handed out, and this one does nothing else. */
static polytile_status only_wait(list_walk *of, const pti_joint_op *op) {
    (void)of;
    (void)op;
    return POLYTILE_OK;
}

/** What each kind of operation does. A process that has failed still does what others wait for. */
static const struct {
    polytile_status (*run)(list_walk *of, const pti_joint_op *op);
    bool is_awaited; /* by other processes */
} kinds[] = {
    [PTI_JOINT_RUN] = {run_threads, false},        [PTI_JOINT_FETCH] = {fetch_to_host, false},
    [PTI_JOINT_FORGET] = {forget_elements, false}, [PTI_JOINT_SEND] = {send_or_receive, true},
    [PTI_JOINT_RECEIVE] = {send_or_receive, true}, [PTI_JOINT_COPY] = {copy_from_member, false},
    [PTI_JOINT_PULL] = {pull_elements, false},     [PTI_JOINT_COMBINE] = {combine_results, true},
    [PTI_JOINT_WAIT] = {only_wait, false},
};

/* Waiting. */

static polytile_status wait_for_launch(list_walk *of, const pti_joint_wait *on) {
    const int local = local_of(of, on->member);
    polytile_queue *queue = of->group->member[local];
    polytile_status status;
    if (on->array < 0)
        return polytile_queue_wait(queue);
    PTI_TRY(pti_queue_wait_for_elements(queue, array_of_member(of, on->array, on->member)));
    if (of->sums.n_sums > 0)
        PTI_TRY(pti_group_sums_wait(of->group,
                                    &of->run->recorded[of->run->prepared->n_launches - 1],
                                    &of->sums, on->array, local));
done:
    return status;
}

/** For all, whatever fails; or have members wait for each other. */
static void wait_for_all(list_walk *of, const pti_joint_op *op) {
    if (of->run->is_ahead && op->n_waits > 0)
        pti_group_set_gates(of->group);
    for (int w = 0; w < op->n_waits && !of->run->is_ahead; w++)
        pti_group_note_failure(of->group,
                               wait_for_launch(of, &of->run->list->wait[op->first_wait + w]));
}

/* What is queued together is planned together. */

/** Where all fits and nobody shares the memory, launches run one by one anyway and need not wait
 * for that. */
static void pause_members(list_walk *of) {
    const pti_group *group = of->group;
    for (int m = 0; m < group->transport->n_local; m++) {
        bool runs_at_once = !group->transport->shares_memory &&
                            !group->member[m]->device->reaches_host && pti_group_fits(group, m);
        if (!runs_at_once)
            polytile_queue_pause(group->member[m]);
    }
    of->is_paused = true;
}

static void resume_members(list_walk *of) {
    for (int m = 0; m < of->group->transport->n_local && of->is_paused; m++)
        polytile_queue_resume(of->group->member[m]);
    of->is_paused = false;
}

static void share_spans_once(list_walk *of) {
    if (!of->are_spans_shared && !has_walk_failed(of))
        pti_group_note_failure(of->group, pti_group_share_spans(of->group, of->run->prepared));
    of->are_spans_shared = true;
}

/** Return whether threads run before anything arrives: linked devices are told of those alone that
 * come after. */
static bool brings_elements(const pti_joint_op *op) {
    return op->kind == PTI_JOINT_COPY || op->kind == PTI_JOINT_RECEIVE;
}

/** Launches, and what devices forget right after them, are planned together. Whoever waits, or
 * moves elements, or launches what is combined, finds members running. */
static void begin_op(list_walk *of, const pti_joint_op *op) {
    const bool launches = op->kind == PTI_JOINT_RUN &&
                          (launch_of(of, op)->server != NULL || !runs_combined_launch(of, op));
    if (of->has_launched && !launches && !brings_elements(op))
        share_spans_once(of);
    of->has_launched &= launches;
    if (launches && !of->is_paused && !has_walk_failed(of))
        pause_members(of);
    else if (of->is_paused && !launches && op->kind != PTI_JOINT_FORGET)
        resume_members(of);
    if (!launches && runs_combined_launch(of, op))
        share_spans_once(of);
}

/** Arrays leave with what runs last, if nothing is done with them after it. */
static void end_walk(list_walk *of) {
    const pti_group_last *last = of->run->last;
    if (of->has_launched)
        share_spans_once(of);
    for (int a = 0; a < last->n_arrays && of->is_paused && !has_walk_failed(of); a++)
        pti_group_note_failure(of->group, last->notify(of->group, last->arrays[a]));
    resume_members(of);
    pti_group_sums_end(of->group, &of->sums);
}

/** Write what the program's thread did for a member, or for all, into the devices' trace. */
static void trace_op(const list_walk *of, const char *word, const pti_joint_op *op,
                     double start_s) {
    const polytile_queue *member = of->group->member[op->member < 0 ? 0 : local_of(of, op->member)];
    pti_trace_program(of->group->member[0]->device, word,
                      op->member < 0 ? "all" : pti_queue_text(member), start_s);
}

static void run_op(list_walk *of, const pti_joint_op *op) {
    double start_s = pti_now_s();
    begin_op(of, op);
    if (!has_walk_failed(of))
        wait_for_all(of, op);
    if (op->n_waits > 0)
        trace_op(of, "wait", op, start_s);
    start_s = op->n_waits > 0 ? pti_now_s() : start_s;
    if (!has_walk_failed(of) || kinds[op->kind].is_awaited)
        pti_group_note_failure(of->group, kinds[op->kind].run(of, op));
    if (op->kind != PTI_JOINT_WAIT)
        trace_op(of, pti_joint_word(op->kind), op, start_s);
}

/** A process may have no threads of a launch, and still sends what those of others read. */
int pti_group_end_of_launches(const pti_joint_list *list, int n_launches) {
    int n = 0;
    while (n < list->n_ops && list->op[n].kind != PTI_JOINT_COMBINE &&
           list->op[n].launch < n_launches)
        n++;
    while (n > 0 && list->op[n - 1].kind == PTI_JOINT_WAIT)
        n--;
    return n;
}

void pti_group_run_list(const pti_list_run *run) {
    const int n_ops = run->only_launches
                          ? pti_group_end_of_launches(run->list, run->prepared->n_launches)
                          : run->list->n_ops;
    list_walk of = {.run = run, .group = run->group};
    for (int k = run->first_op; k < n_ops; k++)
        run_op(&of, &run->list->op[k]);
    end_walk(&of);
}
