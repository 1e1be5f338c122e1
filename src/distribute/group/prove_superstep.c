#include "distribute/exchange/interior.h"
#include "distribute/group/run.h"
#include "distribute/members/prepared_superstep.h"
#include "distribute/members/wait.h"
#include "partition/prove/joint/joint_check.h"

#include <stdlib.h>

/* The proof that what all members are about to do is right. */

/** What all members do, whoever has them. */
typedef struct proof {
    pti_shared_launch launch[PTI_SUPERSTEP_LAUNCHES];
    pti_superstep superstep;
    pti_superstep_parts parts;
    pti_copies copies;      /* reused */
    polytile_domain *inner; /* of each member; owned, as all below */
    const char **name;      /* of each array; borrowed each */
    bool *is_lent;
} proof;

static void free_proof(proof *of) {
    pti_superstep_parts_free(&of->parts);
    pti_copies_free(&of->copies);
    free(of->inner);
    free(of->name);
    free(of->is_lent);
}

static bool allocate_proof(const pti_group *group, proof *of) {
    const int n_members = group->transport->n_members;
    of->inner = calloc((size_t)n_members, sizeof *of->inner);
    of->name = calloc((size_t)group->n_arrays + 1, sizeof *of->name);
    of->is_lent = calloc((size_t)group->n_arrays + 1, sizeof *of->is_lent);
    return of->inner != NULL && of->name != NULL && of->is_lent != NULL &&
           pti_copies_create(group->n_arrays, n_members, &of->copies) &&
           pti_copies_assign(&of->copies, &group->copies);
}

/** Deal the superstep out to all members of all processes. */
static bool begin_proof(const pti_group *group, int at, const pti_prepared_superstep *prepared,
                        proof *of) {
    const int n_members = group->transport->n_members, n_local = group->transport->n_local;
    *of = (proof){.superstep = {.n_launches = prepared->n_launches,
                                .launch = of->launch,
                                .n_arrays = group->n_arrays,
                                .ownerships = group->ownership,
                                .n_members = n_members}};
    pti_group_list_launches(group, at, prepared->n_launches, prepared->runs_once, of->launch);
    if (!allocate_proof(group, of) ||
        !pti_superstep_cut(&of->superstep, 0, n_members, &of->copies, &of->parts))
        return false;
    for (int q = 0; q < n_members; q += n_local)
        pti_interiors_find(&of->superstep, &of->parts, group->is_shared, q, n_local, &of->inner[q]);
    for (int p = 0; p < group->n_arrays; p++)
        of->name[p] = group->array[p].array == NULL ? "scratch" : group->array[p].array->name;
    return true;
}

static polytile_status fail_proof(const pti_group *group, const proof *of) {
    return pti_fail_memory(group->ctx, of->launch[0].call.instance->kernel_name,
                           group->transport->n_members * (double)sizeof(pti_joint_holding));
}

static polytile_status report_flaw(const pti_group *group, const proof *of, const pti_text *why) {
    return pti_fail(group->ctx, POLYTILE_INTERNAL,
                    "%s: the plan of all members failed its own check and was not run: %s; please "
                    "report it",
                    of->launch[0].call.instance->kernel_name, why->data);
}

/** Return whether what this process runs is what is proved. */
static bool is_list_as_proved(const pti_group *group, const pti_joint_list *list, int first_op,
                              const pti_joint_schedule *schedule) {
    const int own = group->transport->first / group->transport->n_local;
    return pti_joint_list_ends_alike(list, first_op, &schedule->list[own]);
}

/** Prove it, run from an operation on, with what is noted as lent. */
static polytile_status prove_lists(const pti_group *group, const pti_prepared_superstep *prepared,
                                   const pti_joint_list *list, int first_op, const proof *of) {
    pti_joint_request request = pti_group_joint_request(
        group, &of->superstep, &of->parts, prepared->runs_once, list == &prepared->pull_list);
    pti_text why = {0};
    polytile_status status = POLYTILE_OK;
    request.inner = of->inner;
    request.meets = prepared->meets;
    request.is_lent = of->is_lent;
    request.name = of->name;
    pti_joint_schedule *schedule =
        pti_joint_plan(&request, group->transport->n_local, &group->copies, &prepared->copies);
    bool holds = schedule != NULL && pti_joint_check(schedule, &why);
    if (holds && !is_list_as_proved(group, list, first_op, schedule)) {
        pti_text_add(&why, "this process would do something else");
        holds = false;
    }
    if (!holds)
        status =
            schedule == NULL || why.failed ? fail_proof(group, of) : report_flaw(group, of, &why);
    pti_joint_free(schedule);
    pti_text_free(&why);
    return status;
}

/** Prove a list in both of its forms: with the operations that wait first, when all shared arrays
 * may be lent; and without them, when only those may be lent that the superstep does not write. */
static polytile_status prove_both(const pti_group *group, const pti_prepared_superstep *prepared,
                                  const pti_joint_list *list, const proof *of) {
    polytile_status status;
    for (int p = 0; p < group->n_arrays; p++)
        of->is_lent[p] = group->is_shared[p];
    PTI_TRY(prove_lists(group, prepared, list, 0, of));
    for (int p = 0; p < group->n_arrays; p++)
        of->is_lent[p] = group->is_shared[p] && !pti_group_writes(group, prepared, p);
    if (prepared->n_lent_ops > 0)
        PTI_TRY(prove_lists(group, prepared, list, prepared->n_lent_ops, of));
done:
    return status;
}

polytile_status pti_group_prove_superstep(const pti_group *group, int at,
                                          const pti_prepared_superstep *prepared) {
    proof of;
    if (!pti_get_settings(group->ctx)->check_plan)
        return POLYTILE_OK;
    polytile_status status = begin_proof(group, at, prepared, &of)
                                 ? prove_both(group, prepared, &prepared->list, &of)
                                 : fail_proof(group, &of);
    if (status == POLYTILE_OK && prepared->pull_list.n_ops > 0)
        status = prove_both(group, prepared, &prepared->pull_list, &of);
    free_proof(&of);
    return status;
}
