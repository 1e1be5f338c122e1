#include "distribute/team/member_box.h"
#include "distribute/team/transport.h"
#include "launch/device/reduction.h"

#include <stdlib.h>
#include <string.h>

typedef struct transport_within {
    pti_transport transport;
    bool has_failed; /* the exchange that is under way: what would move may not be there */
} transport_within;

static polytile_status agree(pti_transport *transport, polytile_status status) {
    (void)transport;
    return status;
}

static polytile_status compare(pti_transport *transport, uint64_t hash, const char *words) {
    (void)transport;
    (void)hash;
    (void)words;
    return POLYTILE_OK;
}

static polytile_status start(pti_transport *transport, pti_persistent_exchange *persistent,
                             bool has_failed) {
    (void)persistent;
    ((transport_within *)transport)->has_failed = has_failed;
    return POLYTILE_OK;
}

/** Where the element with all indices 0 would lie. */
static const char *origin_of(const polytile_array *array) {
    const char *origin = array->data;
    for (int d = 0; d < array->domain.n_dims; d++)
        origin -= array->domain.range[d].lo * array->layout.stride_bytes[d];
    return origin;
}

static bool lie_together(const polytile_array *from, const polytile_array *to) {
    size_t n_dims = (size_t)from->domain.n_dims;
    return origin_of(from) == origin_of(to) &&
           memcmp(from->layout.stride_bytes, to->layout.stride_bytes,
                  n_dims * sizeof *from->layout.stride_bytes) == 0;
}

static void move_transfer(const pti_persistent_exchange *persistent, int n_members,
                          const pti_transfer *transfer) {
    const polytile_array *from = persistent->arrays[transfer->array * n_members + transfer->from];
    const polytile_array *to = persistent->arrays[transfer->array * n_members + transfer->to];
    if (lie_together(from, to))
        return;
    for (int b = 0; b < transfer->boxes.n_boxes; b++)
        pti_member_copy(from, to, &transfer->boxes.box[b]);
}

static polytile_status finish(pti_transport *transport, pti_persistent_exchange *persistent) {
    if (((transport_within *)transport)->has_failed)
        return PTI_PEER_FAILED;
    for (int t = 0; t < persistent->exchange->n_transfers; t++)
        move_transfer(persistent, transport->n_members, &persistent->exchange->transfer[t]);
    return POLYTILE_OK;
}

static void forget_exchange(pti_transport *transport, pti_persistent_exchange *persistent) {
    (void)transport;
    (void)persistent;
}

static polytile_status combine(pti_transport *transport, const pti_combination *of,
                               bool has_failed) {
    (void)has_failed;
    int64_t element_bytes = polytile_type_get_bytes(of->type);
    polytile_domain all = polytile_domain_from_extents(1, &of->n_elements);
    pti_memory_layout layout = pti_memory_layout_of(&all, element_bytes);
    memcpy(of->result, of->partial[0], (size_t)layout.size_bytes);
    for (int m = 1; m < transport->n_members; m++) {
        pti_move part = {.box = &all,
                         .element_bytes = element_bytes,
                         .to = {of->result, &layout},
                         .from = {of->partial[m], &layout}};
        pti_reduction_combine(of->role, of->type, &part);
    }
    return POLYTILE_OK;
}

static void close_transport(pti_transport *transport) {
    free(transport);
}

static const pti_transport_functions within = {
    .agree = agree,
    .compare = compare,
    .start = start,
    .finish = finish,
    .forget_exchange = forget_exchange,
    .combine = combine,
    .close = close_transport,
};

pti_transport *pti_transport_within(polytile_context *ctx, int n_members) {
    transport_within *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->transport = (pti_transport){.functions = &within,
                                      .ctx = ctx,
                                      .n_members = n_members,
                                      .n_local = n_members,
                                      .shares_memory = true};
    return &made->transport;
}
