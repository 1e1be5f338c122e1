#include "partition/window/fusion_in_place.h"

#include "partition/cache_blocking/in_place.h"

#include <inttypes.h>

/** Why columns of a chain could not run side by side; NULL: they can. */
static const char *find_obstacle(const pti_chain *chain) {
    for (int l = 0; l < chain->n_launches; l++) {
        const pti_instance *instance = chain->launch[l].call.instance;
        for (int o = 0; o < instance->n_operands; o++)
            if (instance->operand[o].reduces)
                return "combines values";
        if (instance->n_further > 0)
            return "has an array in pieces";
    }
    return NULL;
}

/** The chain along whose indices columns go. */
static const pti_chain *chain_of_columns(const pti_fusion_group *group) {
    return group->across.n_launches > 0 ? &group->across : &group->chain;
}

static void describe_columns(const pti_fusion_group *group, const pti_text *why, pti_text *text) {
    if (group->shape.column > 0)
        pti_text_add(
            text,
            "their slabs of %" PRId64 " threads are cut into columns of %" PRId64 " along index %d",
            group->shape.slab, group->shape.column, chain_of_columns(group)->launch[0].index + 1);
    else if (why->length > 0)
        pti_text_add(text, "their slabs are not cut into columns: %s", why->data);
}

/** Choose slabs in place that are cut into columns, where that pays; *is_chosen: it does. */
static polytile_status choose_columns(const pti_skew_request *wanted, pti_fusion_group *group,
                                      bool *is_chosen) {
    pti_text why = {0};
    polytile_status status = POLYTILE_OK;
    const char *obstacle = find_obstacle(&group->chain);
    *is_chosen = false;
    if (wanted->core_bytes == 0)
        return POLYTILE_OK;
    if (obstacle != NULL) {
        pti_text_add(&why, "a launch %s", obstacle);
    } else {
        PTI_TRY(pti_chain_find_across(&group->chain, &group->across, &why));
        *is_chosen = group->across.n_launches > 0
                         ? pti_blocking_choose_columns(wanted, &group->across, &group->shape, &why)
                         : pti_blocking_choose_columns_alone(wanted, &group->shape, &why);
    }
    describe_columns(group, &why, &group->columns);
    status = why.failed || group->columns.failed ? POLYTILE_NO_MEMORY : POLYTILE_OK;
done:
    pti_text_free(&why);
    return status;
}

polytile_status pti_fusion_choose_in_place(const pti_skew_request *wanted, pti_fusion_group *group,
                                           bool *is_chosen) {
    polytile_status status = choose_columns(wanted, group, is_chosen);
    if (status == POLYTILE_OK && !*is_chosen)
        *is_chosen = pti_blocking_choose_in_place(wanted, &group->shape, &group->apart);
    return status;
}

pti_schedule *pti_fusion_build_in_place(const pti_fusion_group *group) {
    pti_schedule *made = pti_blocking_build_in_place(&group->chain, &group->shape);
    if (made == NULL || group->shape.column == 0 ||
        pti_blocking_add_columns(chain_of_columns(group), &group->shape, made))
        return made;
    pti_schedule_free(made);
    return NULL;
}
