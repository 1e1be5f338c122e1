#include "distribute/exchange/interior.h"

#include "queue/aliased.h"

/* Which side of a box is cut off, and how many indices of it. */
typedef struct cut {
    int dim;
    bool is_low;
    int64_t n_indices;
} cut;

/** Return whether threads read or write an element of a box of an array. */
static bool uses_box(const pti_shared_launch *launch, const polytile_domain *threads, int array,
                     const polytile_domain *box) {
    polytile_domain hull, common;
    for (int a = 0; a < launch->call.instance->n_operands; a++) {
        if (launch->call.array[a] == array &&
            pti_footprint_find_hull(launch->call.instance, a, PTI_TOUCHES, threads, &hull) &&
            pti_box_intersect(&hull, box, &common))
            return true;
    }
    return false;
}

static polytile_domain without_cut(const polytile_domain *threads, cut of) {
    polytile_domain left = *threads;
    polytile_range *range = &left.range[of.dim];
    if (of.is_low)
        range->lo += of.n_indices;
    else
        range->hi -= of.n_indices;
    return left;
}

/** Return the fewest indices of one side without which the box is not read; all of them if there is
 * no such number. */
static cut least_cut(const pti_shared_launch *launch, const polytile_domain *threads, int dim,
                     bool is_low, int array, const polytile_domain *box) {
    const polytile_range *range = &threads->range[dim];
    int64_t too_few = 0, enough = range->hi - range->lo + 1;
    while (enough - too_few > 1) {
        cut tried = {dim, is_low, too_few + (enough - too_few) / 2};
        polytile_domain left = without_cut(threads, tried);
        if (uses_box(launch, &left, array, box))
            too_few = tried.n_indices;
        else
            enough = tried.n_indices;
    }
    return (cut){dim, is_low, enough};
}

/** Return whether a launch can be cut along an index: what is reduced into one element is reduced
 * at once, in its order, and initialised once. */
static bool may_cut(const pti_instance *instance, int index) {
    for (int a = 0; a < instance->n_operands; a++) {
        if (instance->operand[a].reduces &&
            (!pti_operand_is_regular(instance, a) || !pti_operand_lies_apart(instance, a, index)))
            return false;
    }
    return true;
}

/** Take threads off until a box is not read, at the side that loses the fewest. */
static polytile_domain avoid_box(const pti_shared_launch *launch, const polytile_domain *threads,
                                 int array, const polytile_domain *box) {
    polytile_domain best = pti_box_empty(threads->n_dims);
    for (int side = 0; side < 2 * threads->n_dims; side++) {
        if (!may_cut(launch->call.instance, side / 2))
            continue;
        cut tried = least_cut(launch, threads, side / 2, side % 2 == 0, array, box);
        polytile_domain left = without_cut(threads, tried);
        if (pti_box_count(&left) > pti_box_count(&best))
            best = left;
    }
    return best;
}

static polytile_domain avoid_transfer(const pti_shared_launch *launch, const pti_transfer *transfer,
                                      polytile_domain threads) {
    for (int b = 0; b < transfer->boxes.n_boxes && !pti_box_is_empty(&threads); b++) {
        const polytile_domain *box = &transfer->boxes.box[b];
        if (uses_box(launch, &threads, transfer->array, box))
            threads = avoid_box(launch, &threads, transfer->array, box);
    }
    return threads;
}

/** The members of one process, and of each array whether they have the same memory of it. */
typedef struct process {
    int first;
    int n_local;
    const bool *is_shared;
} process;

static bool has_member(const process *of, int member) {
    return member >= of->first && member < of->first + of->n_local;
}

/** Return whether what is received arrives in host memory that a member uses. */
static bool arrives_in_memory_of(const process *of, const pti_transfer *transfer, int member) {
    return transfer->to == member ||
           (of->is_shared[transfer->array] && has_member(of, transfer->to) &&
            !has_member(of, transfer->from));
}

/**
 * The threads of a box that use nothing of what a member is about to receive: they can run while
 * it is on its way.
 *
 * A box inside `threads`, made by taking the fewest threads off one side at a time. It is empty if
 * that leaves less than half of them, or nothing is received, or one array stands for several
 * operands: a part of the threads may need more memory than all then (queue/aliased.h).
 */
static polytile_domain find_interior(const pti_shared_launch *launch, const pti_exchange *exchange,
                                     const process *of, int member,
                                     const polytile_domain *threads) {
    polytile_domain left = *threads;
    bool is_received = false;
    if (pti_is_aliased(launch->call))
        return pti_box_empty(threads->n_dims);
    for (int t = 0; t < exchange->n_transfers && !pti_box_is_empty(&left); t++) {
        if (!arrives_in_memory_of(of, &exchange->transfer[t], member))
            continue;
        is_received = true;
        left = avoid_transfer(launch, &exchange->transfer[t], left);
    }
    bool is_worth_it = is_received && pti_box_count(&left) >= pti_box_count(threads) / 2;
    return is_worth_it ? left : pti_box_empty(threads->n_dims);
}

static bool is_moved(const pti_exchange *exchange, const process *of, int array) {
    bool is = false;
    for (int t = 0; t < exchange->n_transfers; t++) {
        const pti_transfer *transfer = &exchange->transfer[t];
        is |= transfer->array == array &&
              (has_member(of, transfer->from) || has_member(of, transfer->to));
    }
    return is;
}

/** Return whether threads that several members run write what these send each other before: it must
 * not be on its way any more. */
static bool writes_moved(const pti_superstep *superstep, const pti_superstep_parts *parts,
                         const process *of) {
    const pti_shared_launch *launch = superstep->launch;
    const pti_home *home = &parts->work[0].home[0];
    bool does = false;
    for (int a = 0; a < launch->call.instance->n_operands; a++) {
        does |= launch->call.instance->operand[a].writes &&
                is_moved(&parts->before, of, launch->call.array[a]);
    }
    return does && pti_home_repeats(home, launch, superstep->ownerships);
}

void pti_interiors_find(const pti_superstep *superstep, const pti_superstep_parts *parts,
                        const bool *is_shared, int first, int n_local, polytile_domain *inner) {
    const process of = {first, n_local, is_shared};
    bool has_interiors = superstep->n_launches == 1 &&
                         !superstep->launch[0].call.instance->is_team &&
                         !parts->work[0].home[0].splits && !writes_moved(superstep, parts, &of);
    for (int q = first; q < first + n_local; q++) {
        const pti_boxes *threads = &parts->work[q - parts->first].threads[0];
        inner[q - first] = (polytile_domain){0};
        if (has_interiors && threads->n_boxes == 1)
            inner[q - first] =
                find_interior(&superstep->launch[0], &parts->before, &of, q, &threads->box[0]);
    }
}
