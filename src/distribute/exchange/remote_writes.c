#include "distribute/exchange/transfers.h"

/* The search for what members write of each other's elements of one operand. */
typedef struct remote_search {
    pti_transfers *transfers;
    pti_home home;
    int operand;
    int array;
    pti_boxes written; /* by all members together */
    pti_boxes reused;  /* owned, as are all */
} remote_search;

typedef void thread_list(const pti_home *home, const pti_shared_launch *launch,
                         const pti_ownership *ownerships, int member, pti_boxes *threads);

/* Replace *written by what a member writes, or passes on. */
static void find_member_writes(remote_search *search, thread_list *threads_of, int member,
                               pti_boxes *written) {
    const pti_superstep *superstep = search->transfers->superstep;
    threads_of(&search->home, superstep->launch, superstep->ownerships, member, &search->reused);
    pti_boxes_clear(written);
    pti_threads_gather(superstep->launch->call.instance, search->operand, PTI_WRITES,
                       &search->reused, written);
}

/* Replace *lost by what a member owns of some elements and does not write. */
static void find_lost(remote_search *search, int member, const pti_boxes *elements,
                      pti_boxes *lost) {
    const pti_ownership *ownership = &search->transfers->superstep->ownerships[search->array];
    pti_boxes other = {0};
    polytile_domain hull = pti_ownership_hull(ownership, member);
    pti_boxes_clear(lost);
    if (pti_boxes_meet(elements, &hull)) {
        pti_ownership_boxes(ownership, member, &other);
        pti_boxes_intersect(lost, elements, &other);
    }
    if (lost->n_boxes > 0) {
        find_member_writes(search, pti_home_threads, member, &other);
        pti_boxes_subtract_all(lost, &other);
    }
    pti_boxes_free(&other);
}

/* Add what one member passes on and another one has lost. Each of the two packs or unpacks by a
 * list of its own: this finds the same boxes in the same order, whichever of them is local. */
static void add_between(remote_search *search, int from, int to, const pti_boxes *passed) {
    pti_boxes lost = {0};
    find_lost(search, to, passed, &lost);
    pti_transfers_add(search->transfers, search->array, from, to, &lost);
    search->transfers->failed = search->transfers->failed || lost.failed;
    pti_boxes_free(&lost);
}

/* Add what comes from all others to a local member. */
static void receive_all(remote_search *search, int member) {
    pti_boxes passed = {0}, lost = {0};
    find_lost(search, member, &search->written, &lost);
    for (int from = 0; from < search->transfers->superstep->n_members && lost.n_boxes > 0; from++)
        if (from != member) {
            find_member_writes(search, pti_home_threads_once, from, &passed);
            add_between(search, from, member, &passed);
        }
    search->transfers->failed = search->transfers->failed || passed.failed || lost.failed;
    pti_boxes_free(&passed);
    pti_boxes_free(&lost);
}

/* Add what goes from a local member to those that are not: what local ones receive is added
 * already. */
static void send_all(remote_search *search, int member) {
    const pti_superstep *superstep = search->transfers->superstep;
    pti_boxes passed = {0}, away = {0}, owned = {0};
    find_member_writes(search, pti_home_threads_once, member, &passed);
    pti_ownership_boxes(&superstep->ownerships[search->array], member, &owned);
    pti_boxes_copy(&away, &passed);
    pti_boxes_subtract_all(&away, &owned);
    for (int to = 0; to < superstep->n_members && away.n_boxes > 0; to++)
        if (!pti_transfers_is_local(search->transfers, to))
            add_between(search, member, to, &passed);
    search->transfers->failed =
        search->transfers->failed || passed.failed || away.failed || owned.failed;
    pti_boxes_free(&passed);
    pti_boxes_free(&away);
    pti_boxes_free(&owned);
}

static void send_to_owners(remote_search *search) {
    const pti_transfers *transfers = search->transfers;
    const pti_instance *instance = transfers->superstep->launch->call.instance;
    pti_boxes_append(&search->reused, &instance->threads);
    pti_threads_gather(instance, search->operand, PTI_WRITES, &search->reused, &search->written);
    for (int q = transfers->first; q < transfers->first + transfers->n_local; q++) {
        receive_all(search, q);
        send_all(search, q);
    }
    search->transfers->failed =
        transfers->failed || search->written.failed || search->reused.failed;
    pti_boxes_free(&search->written);
    pti_boxes_free(&search->reused);
}

void pti_remote_writes_to_owners(pti_transfers *transfers) {
    const pti_shared_launch *launch = transfers->superstep->launch;
    pti_home home = pti_home_of(launch, transfers->superstep->ownerships);
    transfers->failed = transfers->failed || home.failed;
    for (int p = 0; p < launch->call.instance->n_operands; p++) {
        const pti_operand *operand = &launch->call.instance->operand[p];
        remote_search search = {
            .transfers = transfers, .home = home, .operand = p, .array = launch->call.array[p]};
        if (operand->writes && (!operand->partial || home.is_alone) &&
            !pti_home_is_everywhere(&home) &&
            !pti_home_combines(&home, launch, transfers->superstep->ownerships, p))
            send_to_owners(&search);
    }
}
