#include "distribute/exchange/joint_plan.h"

/* One list while it is made. */
typedef struct plan {
    const pti_joint_request *request;
    pti_joint_builder builder;
    int first;
    int n_local;
    pti_boxes boxes; /* reused; owned */
} plan;

static const pti_superstep *superstep_of(const plan *of) {
    return of->request->superstep;
}

static const pti_work *work_of(const plan *of, int member) {
    return pti_joint_work_of(of->request, member);
}

static bool is_local(const plan *of, int member) {
    return member >= of->first && member < of->first + of->n_local;
}

static void await_member(plan *of, int member, int array) {
    pti_joint_await(&of->builder, (pti_joint_wait){member, array});
}

static void add_launch_wait(plan *of, int launch) {
    pti_joint_add(
        &of->builder,
        &(pti_joint_op){PTI_JOINT_WAIT, .member = -1, .peer = -1, .launch = launch, .array = -1},
        NULL);
}

/** Wait until no member does anything. */
static void wait_for_all(plan *of, int launch) {
    for (int q = of->first; q < of->first + of->n_local; q++)
        await_member(of, q, -1);
    add_launch_wait(of, launch);
}

static void add_elements(plan *of, pti_joint_kind kind, int member, int launch, int array,
                         const pti_boxes *boxes) {
    pti_joint_add(
        &of->builder,
        &(pti_joint_op){kind, .member = member, .peer = -1, .launch = launch, .array = array},
        boxes);
}

static void add_transfer(plan *of, pti_joint_kind kind, int launch, const pti_transfer *transfer) {
    bool sends = kind == PTI_JOINT_SEND;
    pti_joint_add(&of->builder,
                  &(pti_joint_op){kind, .member = sends ? transfer->from : transfer->to,
                                  .peer = sends ? transfer->to : transfer->from, .launch = launch,
                                  .array = transfer->array},
                  &transfer->boxes);
}

/* Members over one memory. */

static bool do_launches_read(const plan *of, int array) {
    bool is = false;
    for (int q = of->first; q < of->first + of->n_local && !is; q++)
        is = work_of(of, q)->reads[array].n_boxes > 0;
    return is;
}

/**
 * Owners give up what others are about to write in the same memory, and all wait for that: a device
 * that evicts it later would write older elements over the new ones. What anybody reads comes to
 * the host first.
 */
static void give_up_passed(plan *of) {
    const pti_exchange *after = &of->request->parts->after;
    bool is_given_up = false;
    for (int t = 0; t < after->n_transfers && of->request->shares_memory; t++) {
        const pti_transfer *passed = &after->transfer[t];
        if (!of->request->is_shared[passed->array] || !is_local(of, passed->to) ||
            !is_local(of, passed->from))
            continue;
        if (do_launches_read(of, passed->array))
            add_elements(of, PTI_JOINT_FETCH, passed->to, 0, passed->array, &passed->boxes);
        add_elements(of, PTI_JOINT_FORGET, passed->to, 0, passed->array, &passed->boxes);
        is_given_up = true;
    }
    if (is_given_up)
        wait_for_all(of, 0);
}

/** Return whether elements go from device to device. */
static bool is_pulled(const plan *of, const pti_transfer *transfer) {
    return of->request != NULL && is_local(of, transfer->from) && is_local(of, transfer->to) &&
           pti_joint_pulls(of->request, transfer->array);
}

/** Add what a member pulls of an array to a set. */
static void add_pulled(const plan *of, int array, int member, pti_boxes *boxes) {
    const pti_exchange *before = &of->request->parts->before;
    for (int t = 0; t < before->n_transfers; t++) {
        const pti_transfer *transfer = &before->transfer[t];
        if (transfer->array == array && transfer->to == member && is_pulled(of, transfer))
            pti_boxes_unite(boxes, &transfer->boxes, pti_boxes_gather);
    }
}

/** Keep off the host what a member computed of others' elements in shared memory, or pulled.
 * Returns whether there is any: a device could bring it to the host, in launches after that do not
 * fit it, unless that is waited for. */
static bool forget_ghosts(plan *of) {
    const pti_superstep *superstep = superstep_of(of);
    const int n_before = of->builder.list->n_ops;
    pti_boxes owned = {0};
    for (int a = 0; a < superstep->n_arrays && of->request->shares_memory; a++) {
        for (int q = of->first; q < of->first + of->n_local && of->request->is_shared[a]; q++) {
            pti_ownership_boxes(&superstep->ownerships[a], q, &owned);
            pti_boxes_copy(&of->boxes, &work_of(of, q)->writes[a]);
            add_pulled(of, a, q, &of->boxes);
            pti_boxes_subtract_all(&of->boxes, &owned);
            add_elements(of, PTI_JOINT_FORGET, q, superstep->n_launches, a, &of->boxes);
        }
    }
    of->builder.failed |= owned.failed || of->boxes.failed;
    pti_boxes_free(&owned);
    return of->builder.list->n_ops > n_before;
}

/* Exchanges. */

static bool is_own_transfer(const plan *of, const pti_transfer *transfer) {
    return is_local(of, transfer->from) || is_local(of, transfer->to);
}

static bool has_local(const plan *of, const pti_exchange *exchange) {
    bool has = false;
    for (int t = 0; t < exchange->n_transfers && !has; t++)
        has = is_own_transfer(of, &exchange->transfer[t]);
    return has;
}

/** Wait until what is sent is in host memory, and nothing uses what is received; over one memory
 * nothing at all. */
static void await_exchange(plan *of, const pti_exchange *exchange, int launch) {
    bool waits_for_all = of->request->shares_memory && has_local(of, exchange);
    for (int q = of->first; q < of->first + of->n_local && waits_for_all; q++)
        await_member(of, q, -1);
    for (int t = 0; t < exchange->n_transfers; t++) {
        const pti_transfer *transfer = &exchange->transfer[t];
        if (is_local(of, transfer->from))
            await_member(of, transfer->from, transfer->array);
        if (is_local(of, transfer->to))
            await_member(of, transfer->to, transfer->array);
    }
    add_launch_wait(of, launch);
}

static void add_sends(plan *of, const pti_exchange *exchange, int launch) {
    for (int t = 0; t < exchange->n_transfers; t++)
        if (is_local(of, exchange->transfer[t].from) && !is_local(of, exchange->transfer[t].to))
            add_transfer(of, PTI_JOINT_SEND, launch, &exchange->transfer[t]);
}

static void add_arrivals(plan *of, const pti_exchange *exchange, int launch) {
    for (int t = 0; t < exchange->n_transfers; t++)
        if (is_local(of, exchange->transfer[t].to) && !is_pulled(of, &exchange->transfer[t]))
            add_transfer(
                of, is_local(of, exchange->transfer[t].from) ? PTI_JOINT_COPY : PTI_JOINT_RECEIVE,
                launch, &exchange->transfer[t]);
}

/** Nobody changes what others pull meanwhile. */
static void add_pulls(plan *of, const pti_exchange *exchange, int launch) {
    bool pulls = false;
    for (int t = 0; t < exchange->n_transfers; t++) {
        if (!is_pulled(of, &exchange->transfer[t]))
            continue;
        add_transfer(of, PTI_JOINT_PULL, launch, &exchange->transfer[t]);
        pulls = true;
    }
    if (pulls)
        wait_for_all(of, launch);
}

/** Elements that members send come to the host; devices forget what they receive, or bring it to
 * the host no more. What goes from device to device does so now. */
static void begin_exchange(plan *of, const pti_exchange *exchange, int launch) {
    for (int t = 0; t < exchange->n_transfers; t++)
        if (is_local(of, exchange->transfer[t].from) && !is_pulled(of, &exchange->transfer[t]))
            add_elements(of, PTI_JOINT_FETCH, exchange->transfer[t].from, launch,
                         exchange->transfer[t].array, &exchange->transfer[t].boxes);
    for (int t = 0; t < exchange->n_transfers; t++)
        if (is_local(of, exchange->transfer[t].to) && !is_pulled(of, &exchange->transfer[t]))
            add_elements(of, PTI_JOINT_FORGET, exchange->transfer[t].to, launch,
                         exchange->transfer[t].array, &exchange->transfer[t].boxes);
    await_exchange(of, exchange, launch);
    add_sends(of, exchange, launch);
    add_pulls(of, exchange, launch);
}

/** Move elements; what devices have of those is out of date. */
static void end_exchange(plan *of, const pti_exchange *exchange, int launch) {
    add_arrivals(of, exchange, launch);
    for (int t = 0; t < exchange->n_transfers; t++)
        if (is_local(of, exchange->transfer[t].to) && !is_pulled(of, &exchange->transfer[t]))
            add_elements(of, PTI_JOINT_FORGET, exchange->transfer[t].to, launch,
                         exchange->transfer[t].array, &exchange->transfer[t].boxes);
}

/* Launches. */

static const polytile_domain *inner_of(const plan *of, int member) {
    const polytile_domain *inner =
        of->request->inner == NULL ? NULL : &of->request->inner[member - of->request->parts->first];
    return inner == NULL || inner->n_dims == 0 || pti_box_is_empty(inner) ? NULL : inner;
}

static void add_member_run(plan *of, int member, int launch, const pti_boxes *threads) {
    pti_joint_add(
        &of->builder,
        &(pti_joint_op){PTI_JOINT_RUN, .member = member, .peer = -1, .launch = launch, .array = -1},
        threads);
}

/** Run the threads that need nothing that is on its way. */
static void add_inner_runs(plan *of) {
    for (int q = of->first; q < of->first + of->n_local; q++) {
        if (inner_of(of, q) == NULL)
            continue;
        pti_boxes_assign(&of->boxes, inner_of(of, q));
        add_member_run(of, q, 0, &of->boxes);
    }
}

/** Run all launches but what was added before, and what is combined. */
static void add_other_runs(plan *of) {
    for (int l = 0; l < superstep_of(of)->n_launches; l++) {
        for (int q = of->first; q < of->first + of->n_local; q++) {
            if (work_of(of, q)->home[l].splits)
                continue;
            pti_boxes_copy(&of->boxes, &work_of(of, q)->threads[l]);
            if (inner_of(of, q) != NULL)
                pti_boxes_subtract(&of->boxes, inner_of(of, q));
            add_member_run(of, q, l, &of->boxes);
        }
    }
}

static bool splits_last(const plan *of) {
    return work_of(of, of->first)->home[superstep_of(of)->n_launches - 1].splits;
}

/** All that any thread of the last launch reduces into, where that is combined. */
static bool find_combined(plan *of, int operand) {
    const pti_superstep *superstep = superstep_of(of);
    const int last = superstep->n_launches - 1;
    const pti_shared_launch *launch = &superstep->launch[last];
    const pti_instance *instance = launch->call.instance;
    const pti_home *home = &work_of(of, of->first)->home[last];
    polytile_domain hull;
    if (!pti_home_combines(home, launch, superstep->ownerships, operand) ||
        !pti_footprint_find_hull(instance, operand, PTI_WRITES, &instance->threads, &hull))
        return false;
    hull = pti_box_without_steps(&hull);
    pti_boxes_assign(&of->boxes, &hull);
    return true;
}

/** Former values come to the host, and members wait until that is so. */
static void fetch_former(plan *of, int operand) {
    const int last = superstep_of(of)->n_launches - 1;
    const int array = superstep_of(of)->launch[last].call.array[operand];
    for (int q = of->first; q < of->first + of->n_local; q++) {
        add_elements(of, PTI_JOINT_FETCH, q, last, array, &of->boxes);
        await_member(of, q, array);
        add_launch_wait(of, last);
    }
}

/** Once all is combined, devices forget what they had. */
static void combine_operand(plan *of, int operand, bool forgets) {
    const int last = superstep_of(of)->n_launches - 1;
    const int array = superstep_of(of)->launch[last].call.array[operand];
    if (!forgets)
        add_elements(of, PTI_JOINT_COMBINE, -1, last, array, &of->boxes);
    for (int q = of->first; q < of->first + of->n_local && forgets; q++)
        add_elements(of, PTI_JOINT_FORGET, q, last + 1, array, &of->boxes);
}

static void combine_operands(plan *of, const pti_call *call, bool forgets) {
    for (int o = 0; o < call->instance->n_operands; o++)
        if (find_combined(of, o))
            combine_operand(of, o, forgets);
}

/** Run the last launch, whose results are combined. */
static void add_combinations(plan *of) {
    const int last = superstep_of(of)->n_launches - 1;
    const pti_call *call = &superstep_of(of)->launch[last].call;
    for (int o = 0; o < call->instance->n_operands; o++)
        if (find_combined(of, o))
            fetch_former(of, o);
    for (int q = of->first; q < of->first + of->n_local; q++)
        add_member_run(of, q, last, &work_of(of, q)->threads[last]);
    for (int o = 0; o < call->instance->n_operands; o++)
        for (int q = of->first; q < of->first + of->n_local && find_combined(of, o); q++)
            await_member(of, q, call->array[o]);
    add_launch_wait(of, last);
    combine_operands(of, call, false);
    combine_operands(of, call, true);
}

/** Return whether what members computed of others' elements is read, or moved, after the
 * launches. */
static bool needs_ghosts_later(const plan *of) {
    return splits_last(of) || has_local(of, &of->request->parts->after);
}

/** List what a process does of a superstep, from beginning to end. */
static void fill_list(plan *of) {
    const pti_superstep_parts *parts = of->request->parts;
    const int n_launches = superstep_of(of)->n_launches;
    bool is_later = needs_ghosts_later(of);
    if (pti_joint_waits_first(of->request, of->first, of->n_local))
        wait_for_all(of, 0);
    give_up_passed(of);
    begin_exchange(of, &parts->before, 0);
    add_inner_runs(of);
    end_exchange(of, &parts->before, 0);
    add_other_runs(of);
    const bool forgets = !is_later && forget_ghosts(of);
    if (of->request->meets || forgets)
        wait_for_all(of, splits_last(of) ? n_launches - 1 : n_launches);
    if (splits_last(of))
        add_combinations(of);
    begin_exchange(of, &parts->after, n_launches);
    end_exchange(of, &parts->after, n_launches);
    if (is_later && forget_ghosts(of))
        wait_for_all(of, n_launches);
}

bool pti_joint_plan_list(const pti_joint_request *request, int first, int n_local,
                         pti_joint_list *list) {
    *list = (pti_joint_list){.first = first, .n_local = n_local};
    plan of = {.request = request, .builder = {.list = list}, .first = first, .n_local = n_local};
    fill_list(&of);
    bool failed = of.builder.failed || of.boxes.failed;
    pti_boxes_free(&of.boxes);
    return !failed;
}

bool pti_joint_plan_messages(const pti_exchange *exchange, int first, int n_local,
                             pti_joint_list *list) {
    *list = (pti_joint_list){.first = first, .n_local = n_local};
    plan of = {.builder = {.list = list}, .first = first, .n_local = n_local};
    add_sends(&of, exchange, 0);
    add_arrivals(&of, exchange, 0);
    return !of.builder.failed;
}
