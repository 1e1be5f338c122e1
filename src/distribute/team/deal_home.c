#include "access/set/boxes.h"
#include "distribute/team/deal_launch.h"

/* What a launch touches, in the memory that members share: whether it is there, and bringing it. */

/** What a launch touches of an operand, and what lies between. */
static polytile_domain find_touched(const pti_prepared *prepared, int operand) {
    return pti_box_without_steps(&prepared->touched[operand]);
}

/** What a member has neither as an owner nor as a copy of all that a launch touches of an
 * operand. If no member lacks anything, the host's memory has the newest version of all of it. */
static void find_lacking(const pti_team *team, const pti_prepared *prepared, int operand,
                         int member, pti_boxes *lacks) {
    int position = prepared->position[operand];
    polytile_domain touched = find_touched(prepared, operand);
    pti_boxes owned = {0};
    pti_boxes_clear(lacks);
    if (prepared->instance->operand[operand].is_scratch)
        return;
    pti_boxes_assign(lacks, &touched);
    pti_ownership_boxes(&team->ownership[position], member, &owned);
    pti_boxes_subtract_all(lacks, &owned);
    pti_boxes_subtract_all(lacks, pti_copies_get(&team->copies, position, member));
    pti_boxes_free(&owned);
}

static polytile_status fail_memory(const pti_team *team, const pti_prepared *prepared) {
    return pti_fail_memory(team->ctx, prepared->instance->kernel_name, sizeof(polytile_domain));
}

polytile_status pti_team_find_home(const pti_team *team, const pti_prepared *prepared,
                                   bool *is_home) {
    pti_boxes lacks = {0};
    polytile_status status = POLYTILE_OK;
    *is_home = true;
    for (int a = 0; a < prepared->n_arrays && *is_home; a++) {
        for (int m = 0; m < team->transport->n_members && *is_home; m++) {
            find_lacking(team, prepared, a, m, &lacks);
            *is_home = lacks.n_boxes == 0;
            if (lacks.failed)
                PTI_TRY(fail_memory(team, prepared));
        }
    }
done:
    pti_boxes_free(&lacks);
    return status;
}

/** Notify a local member's queue of those elements that the member's array contains. */
static polytile_status notify_inside(const pti_team *team, int position, int local,
                                     const pti_boxes *elements, pti_team_notify *notify) {
    polytile_array *array = team->array[position].member[local];
    pti_boxes inside = {0};
    polytile_status status = POLYTILE_OK;
    if (array == NULL)
        return POLYTILE_OK;
    pti_boxes_copy(&inside, elements);
    pti_boxes_clip(&inside, &array->domain);
    if (inside.failed)
        PTI_TRY(pti_fail_memory(team->ctx, array->name, sizeof *inside.box));
    if (inside.n_boxes > 0)
        PTI_TRY(notify(team->member[local], array, &inside));
done:
    pti_boxes_free(&inside);
    return status;
}

/** Let a member forget older versions, and note that it has the newest at home. */
static polytile_status catch_up(pti_team *team, const pti_prepared *prepared, int operand,
                                int local) {
    int position = prepared->position[operand];
    pti_boxes *copies = pti_copies_get(&team->copies, position, local);
    pti_boxes lacks = {0};
    polytile_status status = POLYTILE_OK;
    find_lacking(team, prepared, operand, local, &lacks);
    if (!lacks.failed)
        pti_boxes_unite(copies, &lacks, pti_boxes_add);
    if (lacks.failed || copies->failed)
        PTI_TRY(fail_memory(team, prepared));
    if (lacks.n_boxes > 0)
        PTI_TRY(notify_inside(team, position, local, &lacks, pti_queue_invalidate));
done:
    pti_boxes_free(&lacks);
    return status;
}

/** Bring home what a member owns of all that a launch touches. */
static polytile_status bring_owned(const pti_team *team, const pti_prepared *prepared, int operand,
                                   int local) {
    int position = prepared->position[operand];
    polytile_domain touched = find_touched(prepared, operand);
    pti_boxes owned = {0};
    polytile_status status = POLYTILE_OK;
    if (prepared->instance->operand[operand].is_scratch)
        return POLYTILE_OK;
    pti_ownership_boxes(&team->ownership[position], local, &owned);
    pti_boxes_clip(&owned, &touched);
    if (owned.failed)
        PTI_TRY(fail_memory(team, prepared));
    PTI_TRY(notify_inside(team, position, local, &owned, pti_queue_fetch));
done:
    pti_boxes_free(&owned);
    return status;
}

polytile_status pti_team_bring_home(pti_team *team, const pti_prepared *prepared) {
    bool is_home;
    polytile_status status = pti_team_find_home(team, prepared, &is_home);
    if (status != POLYTILE_OK || is_home)
        return status;
    for (int a = 0; a < prepared->n_arrays; a++) {
        for (int m = 0; m < team->transport->n_local; m++)
            PTI_TRY(bring_owned(team, prepared, a, m));
    }
    PTI_TRY(pti_team_wait_members(team, POLYTILE_OK));
    pti_team_touch_copies(team);
    for (int a = 0; a < prepared->n_arrays; a++) {
        for (int m = 0; m < team->transport->n_local; m++)
            PTI_TRY(catch_up(team, prepared, a, m));
    }
done:
    return status;
}
