#include "distribute/exchange/interior.h"
#include "distribute/team/state.h"
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

static bool allocate_proof(const pti_team *team, proof *of) {
    const int n_members = team->transport->n_members;
    of->inner = calloc((size_t)n_members, sizeof *of->inner);
    of->name = calloc((size_t)team->n_arrays + 1, sizeof *of->name);
    of->is_lent = calloc((size_t)team->n_arrays + 1, sizeof *of->is_lent);
    return of->inner != NULL && of->name != NULL && of->is_lent != NULL &&
           pti_copies_create(team->n_arrays, n_members, &of->copies) &&
           pti_copies_assign(&of->copies, &team->copies);
}

/** Deal the superstep out to all members of all processes. */
static bool begin_proof(const pti_team *team, int at, const pti_prepared_superstep *prepared,
                        proof *of) {
    const int n_members = team->transport->n_members, n_local = team->transport->n_local;
    *of = (proof){.superstep = {.n_launches = prepared->n_launches,
                                .launch = of->launch,
                                .n_arrays = team->n_arrays,
                                .ownerships = team->ownership,
                                .n_members = n_members}};
    pti_team_list_launches(team, at, prepared->n_launches, prepared->runs_once, of->launch);
    if (!allocate_proof(team, of) ||
        !pti_superstep_deal(&of->superstep, 0, n_members, &of->copies, &of->parts))
        return false;
    for (int q = 0; q < n_members; q += n_local)
        pti_interiors_find(&of->superstep, &of->parts, team->is_shared, q, n_local, &of->inner[q]);
    for (int p = 0; p < team->n_arrays; p++)
        of->name[p] = team->array[p].array == NULL ? "scratch" : team->array[p].array->name;
    return true;
}

static polytile_status fail_memory(const pti_team *team, const proof *of) {
    return pti_fail_memory(team->ctx, of->launch[0].call.instance->kernel_name,
                           team->transport->n_members * (double)sizeof(pti_joint_holding));
}

static polytile_status report_flaw(const pti_team *team, const proof *of, const pti_text *why) {
    return pti_fail(team->ctx, POLYTILE_INTERNAL,
                    "%s: the plan of all members failed its own check and was not run: %s; please "
                    "report it",
                    of->launch[0].call.instance->kernel_name, why->data);
}

/** Whether what this process runs is what is proved. */
static bool is_list_as_proved(const pti_team *team, const pti_prepared_superstep *prepared,
                              int first_op, const pti_joint_schedule *schedule) {
    const int own = team->transport->first / team->transport->n_local;
    return pti_joint_list_ends_alike(&prepared->list, first_op, &schedule->list[own]);
}

/** Prove it, run from an operation on, with what is said to be lent. */
static polytile_status prove_lists(const pti_team *team, const pti_prepared_superstep *prepared,
                                   int first_op, const proof *of) {
    pti_joint_request request =
        pti_team_joint_request(team, &of->superstep, &of->parts, prepared->runs_once);
    pti_text why = {0};
    polytile_status status = POLYTILE_OK;
    request.inner = of->inner;
    request.meets = prepared->meets;
    request.is_lent = of->is_lent;
    request.name = of->name;
    pti_joint_schedule *schedule =
        pti_joint_plan(&request, team->transport->n_local, &team->copies, &prepared->copies);
    bool holds = schedule != NULL && pti_joint_check(schedule, &why);
    if (holds && !is_list_as_proved(team, prepared, first_op, schedule)) {
        pti_text_add(&why, "this process would do something else");
        holds = false;
    }
    if (!holds)
        status =
            schedule == NULL || why.failed ? fail_memory(team, of) : report_flaw(team, of, &why);
    pti_joint_free(schedule);
    pti_text_free(&why);
    return status;
}

/** Whatever is lent when it runs, all wait first, or none of that is written: then as much may be
 * lent as that allows. */
static polytile_status prove_both(const pti_team *team, const pti_prepared_superstep *prepared,
                                  const proof *of) {
    polytile_status status;
    for (int p = 0; p < team->n_arrays; p++)
        of->is_lent[p] = team->is_shared[p];
    PTI_TRY(prove_lists(team, prepared, 0, of));
    for (int p = 0; p < team->n_arrays; p++)
        of->is_lent[p] = team->is_shared[p] && !pti_team_writes(team, prepared, p);
    if (prepared->n_lent_ops > 0)
        PTI_TRY(prove_lists(team, prepared, prepared->n_lent_ops, of));
done:
    return status;
}

polytile_status pti_team_prove_superstep(const pti_team *team, int at,
                                         const pti_prepared_superstep *prepared) {
    proof of;
    if (!pti_get_settings(team->ctx)->check_plan)
        return POLYTILE_OK;
    polytile_status status = begin_proof(team, at, prepared, &of) ? prove_both(team, prepared, &of)
                                                                  : fail_memory(team, &of);
    free_proof(&of);
    return status;
}
