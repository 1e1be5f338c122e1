#include "access/declare/declaration.h"

#include "base/list.h"

#include <stdlib.h>

pti_relation *pti_relation_new(void) {
    return calloc(1, sizeof(pti_relation));
}

pti_relation *pti_relation_copy(const pti_relation *relation) {
    pti_relation *copy = pti_relation_new();
    if (copy == NULL)
        return NULL;
    copy->n_exists = relation->n_exists;
    for (int c = 0; c < relation->n_constraints; c++) {
        if (!pti_relation_add(copy, &relation->constraint[c])) {
            pti_relation_free(copy);
            return NULL;
        }
    }
    return copy;
}

bool pti_relation_add(pti_relation *relation, const pti_constraint *constraint) {
    if (!PTI_RESIZE(relation->constraint, relation->n_constraints + 1))
        return false;
    relation->constraint[relation->n_constraints++] = *constraint;
    return true;
}

void pti_relation_free(pti_relation *relation) {
    if (relation == NULL)
        return;
    free(relation->constraint);
    free(relation);
}

void pti_access_free(pti_access *access) {
    pti_relation_free(access->relation);
    free(access->indirect);
    access->relation = NULL;
    access->indirect = NULL;
}
