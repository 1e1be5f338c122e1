#include "distribute/exchange/transport.h"
#include "launch/device/reduction.h"

#include <stdlib.h>
#include <string.h>

static polytile_status agree_alone(pti_transport *transport, polytile_status status) {
    (void)transport;
    return status;
}

static polytile_status compare_alone(pti_transport *transport, uint64_t hash, const char *words) {
    (void)transport;
    (void)hash;
    (void)words;
    return POLYTILE_OK;
}

static polytile_status combine_members(pti_transport *transport, const pti_combination *combination,
                                       bool has_failed) {
    (void)has_failed;
    int64_t element_bytes = polytile_type_get_bytes(combination->type);
    polytile_domain all = polytile_domain_from_extents(1, &combination->n_elements);
    pti_memory_layout layout = pti_memory_layout_of(&all, element_bytes);
    memcpy(combination->result, combination->partial[0], (size_t)layout.size_bytes);
    for (int m = 1; m < transport->n_members; m++) {
        pti_move part = {.box = &all,
                         .element_bytes = element_bytes,
                         .to = {combination->result, &layout},
                         .from = {combination->partial[m], &layout}};
        pti_reduction_combine(combination->role, combination->type, &part);
    }
    return POLYTILE_OK;
}

static void close_transport(pti_transport *transport) {
    free(transport);
}

static const pti_transport_functions within = {
    .agree = agree_alone,
    .compare = compare_alone,
    .combine = combine_members,
    .close = close_transport,
};

pti_transport *pti_transport_within(polytile_context *ctx, int n_members) {
    pti_transport *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    *made = (pti_transport){.functions = &within,
                            .ctx = ctx,
                            .n_members = n_members,
                            .n_local = n_members,
                            .shares_memory = true};
    return made;
}
