#include "access/declare/declaration.h"

#include <stdlib.h>
#include <string.h>

static polytile_status copy_access(const polytile_declaration *from, int k,
                                   polytile_declaration *copy, pti_text *why) {
    pti_access access = from->access[k];
    if (access.relation != NULL) {
        access.relation = pti_relation_copy(access.relation);
        if (access.relation == NULL)
            return pti_out_of_memory(why);
    }
    if (access.indirect != NULL) {
        const pti_indirect *indirect = access.indirect;
        access.indirect = malloc(sizeof *indirect);
        if (access.indirect == NULL) {
            pti_relation_free(access.relation);
            return pti_out_of_memory(why);
        }
        *access.indirect = *indirect;
    }
    polytile_status status =
        pti_declaration_add_access(copy, from->array_name[access.array], &access, why);
    if (status != POLYTILE_OK)
        pti_access_free(&access);
    return status;
}

polytile_status pti_declaration_copy(const polytile_declaration *declaration,
                                     polytile_declaration **copy) {
    pti_text why = {0};
    polytile_declaration *made;
    polytile_status status;
    PTI_TRY(pti_declaration_new(declaration->object.context, declaration->name, &made, &why));
    for (int k = 0; k < declaration->n_indices; k++)
        PTI_TRY(pti_declaration_add_index(made, declaration->index_name[k], &why));
    for (int k = 0; k < declaration->n_parameters; k++)
        PTI_TRY(pti_declaration_add_parameter(made, declaration->parameter_name[k], &why));
    memcpy(made->parameter_type, declaration->parameter_type, sizeof made->parameter_type);
    memcpy(made->is_typed, declaration->is_typed, sizeof made->is_typed);
    memcpy(made->is_in_subscripts, declaration->is_in_subscripts, sizeof made->is_in_subscripts);
    for (int k = 0; k < declaration->n_accesses; k++)
        PTI_TRY(copy_access(declaration, k, made, &why));
done:
    if (status != POLYTILE_OK) {
        pti_declaration_free(made);
        made = NULL;
        pti_fail_memory(declaration->object.context, declaration->name, sizeof *made);
        status = POLYTILE_NO_MEMORY;
    }
    pti_text_free(&why);
    *copy = made;
    return status;
}
