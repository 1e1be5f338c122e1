#include "distribute/outer_plan.h"

#include "distribute/enclose.h"
#include "distribute/exchange.h"

#include <stdlib.h>
#include <string.h>

void pti_outer_plan_free(pti_outer_plan *plan) {
    for (int q = 0; plan != NULL && plan->member != NULL && q < plan->n_members; q++)
        free(plan->member[q].neighbour);
    if (plan != NULL) {
        free(plan->member);
        free(plan->kernel);
        free(plan->layout);
    }
    free(plan);
}

/* A launch of which operand p is array p. */
typedef struct shared_example {
    pti_shared_launch launch;
    pti_group group;
    int *array;                /* owned */
    pti_ownership *ownerships; /* owned */
    pti_copies copies;         /* owned */
} shared_example;

static void free_example(shared_example *of) {
    free(of->array);
    free(of->ownerships);
    pti_copies_free(&of->copies);
}

static bool fill_example(const pti_instance *instance, int n_members, const pti_member_grid *given,
                         const pti_distribution *distribution, shared_example *of) {
    size_t n = (size_t)instance->n_operands;
    *of = (shared_example){.array = calloc(n + 1, sizeof *of->array),
                           .ownerships = calloc(n + 1, sizeof *of->ownerships)};
    if (of->array == NULL || of->ownerships == NULL ||
        !pti_copies_create(instance->n_operands, n_members, &of->copies))
        return false;
    for (int p = 0; p < instance->n_operands; p++) {
        of->array[p] = p;
        of->ownerships[p] =
            pti_ownership_of(&instance->operand[p].domain, n_members, given, distribution);
    }
    of->launch = (pti_shared_launch){.instance = instance, .array = of->array};
    of->group = (pti_group){.n_launches = 1,
                            .launch = &of->launch,
                            .n_arrays = instance->n_operands,
                            .ownerships = of->ownerships,
                            .n_members = n_members};
    return true;
}

static int compare_neighbours(const void *first, const void *second) {
    const pti_outer_neighbour *a = first, *b = second;
    return (a->member > b->member) - (a->member < b->member);
}

/* The neighbour's entry, which is made if there is none; NULL: memory ran out. */
static pti_outer_neighbour *find_neighbour(pti_outer_member *member, int neighbour) {
    for (int k = 0; k < member->n_neighbours; k++)
        if (member->neighbour[k].member == neighbour)
            return &member->neighbour[k];
    size_t n = (size_t)member->n_neighbours + 1;
    pti_outer_neighbour *grown = realloc(member->neighbour, n * sizeof *grown);
    if (grown == NULL)
        return NULL;
    member->neighbour = grown;
    member->n_neighbours++;
    grown[n - 1] = (pti_outer_neighbour){.member = neighbour};
    return &grown[n - 1];
}

/* By receiver, then by sender: what goes the same way is one message. */
static int compare_ways(const void *first, const void *second) {
    const pti_transfer *a = first, *b = second;
    int order = (a->to > b->to) - (a->to < b->to);
    return order != 0 ? order : (a->from > b->from) - (a->from < b->from);
}

static bool add_transfer(pti_outer_plan *plan, const pti_transfer *transfer, int64_t element_bytes,
                         bool is_new_message) {
    pti_outer_member *member = &plan->member[transfer->to];
    pti_outer_neighbour *neighbour = find_neighbour(member, transfer->from);
    if (neighbour == NULL)
        return false;
    neighbour->n_bytes += transfer->n_elements * element_bytes;
    neighbour->n_messages += is_new_message;
    member->received_bytes += transfer->n_elements * element_bytes;
    member->n_messages += is_new_message;
    return true;
}

/* The exchange is brought into another order. */
static bool add_exchange(const pti_instance *instance, pti_exchange *exchange,
                         pti_outer_plan *plan) {
    bool added = true;
    if (exchange->n_transfers > 0)
        qsort(exchange->transfer, (size_t)exchange->n_transfers, sizeof *exchange->transfer,
              compare_ways);
    for (int t = 0; t < exchange->n_transfers && added; t++) {
        const pti_transfer *transfer = &exchange->transfer[t];
        bool is_new = t == 0 || compare_ways(transfer - 1, transfer) != 0;
        added =
            add_transfer(plan, transfer, instance->operand[transfer->array].element_bytes, is_new);
    }
    return added;
}

static bool add_exchanges(shared_example *of, pti_outer_plan *plan) {
    bool (*const exchanges[])(const pti_group *, pti_copies *, int, int,
                              pti_exchange *) = {pti_exchange_before, pti_exchange_after};
    bool added = true;
    for (int k = 0; k < 2 && added; k++) {
        pti_exchange exchange = {0};
        added = exchanges[k](&of->group, &of->copies, 0, plan->n_members, &exchange) &&
                add_exchange(of->launch.instance, &exchange, plan);
        pti_exchange_free(&exchange);
    }
    for (int q = 0; q < plan->n_members; q++)
        if (plan->member[q].n_neighbours > 0)
            qsort(plan->member[q].neighbour, (size_t)plan->member[q].n_neighbours,
                  sizeof *plan->member[q].neighbour, compare_neighbours);
    return added;
}

static bool add_members(const shared_example *of, const pti_share *share, pti_outer_plan *plan) {
    pti_boxes boxes = {0};
    const pti_instance *instance = of->launch.instance;
    for (int q = 0; q < plan->n_members; q++) {
        pti_outer_member *member = &plan->member[q];
        pti_share_threads(share, &of->launch, of->ownerships, q, &boxes);
        member->n_threads = pti_boxes_count(&boxes);
        member->threads = pti_enclose_all(&boxes, instance->n_indices);
        for (int p = 0; p < instance->n_operands; p++) {
            pti_ownership_boxes(&of->ownerships[p], q, &boxes);
            member->owned_bytes += pti_boxes_count(&boxes) * instance->operand[p].element_bytes;
        }
    }
    bool added = !boxes.failed;
    pti_boxes_free(&boxes);
    return added;
}

static int64_t count_combined_bytes(const shared_example *of, const pti_share *share) {
    const pti_instance *instance = of->launch.instance;
    int64_t n_bytes = 0;
    for (int p = 0; p < instance->n_operands; p++) {
        polytile_domain hull = pti_footprint_hull(instance, p, PTI_WRITES, &instance->threads);
        if (pti_share_combines(share, &of->launch, of->ownerships, p))
            n_bytes += pti_box_count(&hull) * instance->operand[p].element_bytes;
    }
    return n_bytes;
}

static bool fill_plan(shared_example *of, const char *layout, pti_outer_plan *plan) {
    pti_share share = pti_share_of(&of->launch, of->ownerships);
    int leader = share.operand < 0 ? 0 : share.operand;
    plan->n_members = of->group.n_members;
    plan->grid = of->ownerships[leader].grid;
    plan->kernel = strdup(of->launch.instance->kernel_name);
    plan->layout = strdup(layout);
    plan->member = calloc((size_t)plan->n_members, sizeof *plan->member);
    plan->combined_bytes = count_combined_bytes(of, &share);
    return plan->kernel != NULL && plan->layout != NULL && plan->member != NULL &&
           add_members(of, &share, plan) && add_exchanges(of, plan);
}

polytile_status pti_outer_plan_create(polytile_context *ctx, const pti_instance *instance,
                                      int n_members, const pti_member_grid *given,
                                      const char *layout, pti_outer_plan **plan) {
    polytile_status status;
    pti_distribution distribution;
    shared_example example = {0};
    *plan = NULL;
    PTI_TRY(pti_distribution_parse(ctx, layout, &distribution));
    PTI_TRY(pti_ownership_check(ctx, n_members, given, &distribution));
    *plan = calloc(1, sizeof **plan);
    if (*plan == NULL || !fill_example(instance, n_members, given, &distribution, &example) ||
        !fill_plan(&example, layout == NULL ? distribution.kind->name : layout, *plan))
        PTI_TRY(pti_fail_memory(ctx, instance->kernel_name,
                                (double)n_members * (double)sizeof *(*plan)->member));
done:
    free_example(&example);
    if (status != POLYTILE_OK) {
        pti_outer_plan_free(*plan);
        *plan = NULL;
    }
    return status;
}
