#include "access/declare/declaration.h"
#include "base/mix.h"

static uint64_t mix_all(uint64_t hash, int n, const int64_t *values) {
    for (int k = 0; k < n; k++)
        hash = pti_mix(hash, values[k]);
    return hash;
}

static uint64_t mix_affine(uint64_t hash, const polytile_affine *affine) {
    hash = pti_mix(hash, affine->constant);
    hash = mix_all(hash, POLYTILE_MAX_DIMS, affine->index);
    return mix_all(hash, POLYTILE_MAX_PARAMETERS, affine->parameter);
}

static uint64_t mix_subscript(uint64_t hash, const polytile_subscript *subscript) {
    hash = mix_affine(hash, &subscript->lo);
    hash = mix_affine(hash, &subscript->hi);
    hash = pti_mix(hash, subscript->step);
    return pti_mix(hash, subscript->from_first + 2 * subscript->to_last + 4 * (int)subscript->edge);
}

static uint64_t mix_constraint(uint64_t hash, const pti_constraint *constraint) {
    hash = pti_mix(hash, constraint->is_equality);
    hash = pti_mix(hash, constraint->constant);
    hash = mix_all(hash, POLYTILE_MAX_DIMS, constraint->index);
    hash = mix_all(hash, POLYTILE_MAX_DIMS, constraint->element);
    hash = mix_all(hash, POLYTILE_MAX_PARAMETERS, constraint->parameter);
    return mix_all(hash, POLYTILE_MAX_DIMS, constraint->exists);
}

static uint64_t mix_relation(uint64_t hash, const pti_relation *relation) {
    hash = pti_mix(hash, relation->n_exists);
    hash = pti_mix(hash, relation->n_constraints);
    for (int c = 0; c < relation->n_constraints; c++)
        hash = mix_constraint(hash, &relation->constraint[c]);
    return hash;
}

static uint64_t mix_end(uint64_t hash, const pti_indirect_end *end) {
    return mix_affine(pti_mix(hash, end->access), &end->plus);
}

static uint64_t mix_indirect(uint64_t hash, const pti_indirect *indirect, int n_dims) {
    for (int d = 0; d < n_dims; d++) {
        hash = pti_mix(hash, indirect->is_indirect[d]);
        if (indirect->is_indirect[d])
            hash = mix_end(mix_end(hash, &indirect->lo[d]), &indirect->hi[d]);
    }
    return hash;
}

static uint64_t mix_access(uint64_t hash, const pti_access *access) {
    hash = pti_mix(hash, access->array);
    hash = pti_mix(hash, access->role);
    hash = pti_mix(hash, access->type);
    hash = pti_mix(hash, access->fresh);
    hash = pti_mix(hash, access->n_dims);
    for (int d = 0; d < access->n_dims; d++)
        hash = mix_subscript(hash, &access->subscript[d]);
    if (access->indirect != NULL)
        hash = mix_indirect(hash, access->indirect, access->n_dims);
    return access->relation == NULL ? hash : mix_relation(hash, access->relation);
}

uint64_t pti_declaration_hash(const polytile_declaration *declaration) {
    uint64_t hash = pti_mix_text(pti_mix(0, declaration->n_indices), declaration->name);
    for (int p = 0; p < declaration->n_parameters; p++)
        hash = pti_mix(pti_mix_text(hash, declaration->parameter_name[p]),
                       declaration->parameter_type[p]);
    hash = pti_mix(hash, declaration->n_arrays);
    for (int a = 0; a < declaration->n_accesses; a++)
        hash = mix_access(hash, &declaration->access[a]);
    return hash;
}
