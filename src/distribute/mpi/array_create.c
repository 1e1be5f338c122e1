#include "distribute/mpi/array_open.h"

#include "queue/queue.h"
#include <polytile/mpi.h>

/** A call of polytile_mpi_array_create(). */
typedef struct array_request {
    polytile_queue *queue;
    const char *name;
    polytile_type type;
    int n_dims;
    const int64_t *extents;
    const char *layout;
    pti_distribution distribution;
} array_request;

/** Write the words that ranks compare. */
static polytile_status write_words(const array_request *of, pti_text *words) {
    pti_text_add(words, "polytile_mpi_array_create() of %s, type %d, layout %s, extents",
                 of->name == NULL ? "NULL" : of->name, of->type,
                 of->layout == NULL ? "NULL" : of->layout);
    for (int d = 0; of->extents != NULL && d < of->n_dims && d < POLYTILE_MAX_DIMS; d++)
        pti_text_add(words, " %lld", (long long)of->extents[d]);
    return words->failed ? pti_fail_memory(of->queue->object.context, "array", PTI_UNKNOWN_BYTES)
                         : POLYTILE_OK;
}

static polytile_status hold_array(polytile_queue *queue, polytile_array *array) {
    array->is_internal = true;
    pti_queue_claim(queue);
    polytile_status status = pti_queue_hold(queue, array, true);
    pti_queue_unclaim(queue);
    return status;
}

/** Destroy an array that some rank failed to make. */
static void destroy_array(polytile_queue *queue, polytile_array *array) {
    if (array == NULL || array->queue == NULL)
        return;
    pti_queue_claim(queue);
    pti_queue_let_go(queue, array);
    pti_queue_unclaim(queue);
}

/** Make this rank's array. */
static polytile_status make_array(array_request *of, polytile_array **made) {
    polytile_context *ctx = of->queue->object.context;
    polytile_domain domain;
    polytile_status status = POLYTILE_OK;
    if (of->extents == NULL)
        PTI_TRY(pti_fail(ctx, POLYTILE_INVALID, "array %s: its extents are NULL",
                         of->name == NULL ? "?" : of->name));
    if (of->layout != NULL)
        PTI_TRY(pti_distribution_parse(ctx, of->layout, &of->distribution));
    domain = polytile_domain_from_extents(of->n_dims, of->extents);
    PTI_TRY(pti_array_create(ctx, of->name, of->type, &domain, made));
    PTI_TRY(hold_array(of->queue, *made));
done:
    return status;
}

static polytile_status compare_requests(const array_request *of, pti_transport *transport) {
    pti_text words = {0};
    polytile_status status;
    PTI_TRY(transport->functions->agree(transport, write_words(of, &words)));
    PTI_TRY(pti_mpi_compare_words(transport, words.data));
done:
    pti_text_free(&words);
    return status;
}

/** Make the array on every rank or none. */
static polytile_status make_on_all(array_request *of, pti_transport *transport,
                                   polytile_array **made) {
    polytile_context *ctx = of->queue->object.context;
    pti_error first = {0};
    polytile_status status = transport->functions->agree(transport, make_array(of, made));
    if (pti_error_keep(&first, ctx, status) == POLYTILE_OK)
        return POLYTILE_OK;
    destroy_array(of->queue, *made);
    polytile_array_destroy(*made);
    *made = NULL;
    return pti_error_restore(ctx, &first);
}

/** End an array of the group. Returns the error. */
static polytile_status end_group_array(const array_request *of, polytile_array **made,
                                       polytile_status status) {
    polytile_context *ctx = of->queue->object.context;
    pti_error first = {0};
    pti_error_keep(&first, ctx, status);
    polytile_array_destroy(*made);
    *made = NULL;
    return pti_error_restore(ctx, &first);
}

/** Add the array to the group on every rank, or on none if one has no memory for its part. */
static polytile_status add_on_all(array_request *of, pti_group *group, polytile_array **made) {
    pti_transport *transport = pti_group_transport(group);
    const pti_distribution *distribution = of->layout == NULL ? NULL : &of->distribution;
    polytile_status status = transport->functions->agree(
        transport, pti_group_add_distributed(group, *made, distribution));
    return status == POLYTILE_OK ? POLYTILE_OK : end_group_array(of, made, status);
}

static polytile_status create_array_on_ranks(array_request *of, pti_group *group,
                                             polytile_array **made) {
    pti_transport *transport = pti_group_transport(group);
    polytile_status status;
    PTI_TRY(compare_requests(of, transport));
    PTI_TRY(make_on_all(of, transport, made));
    PTI_TRY(add_on_all(of, group, made));
done:
    return status;
}

static polytile_status find_group_of_queue(const polytile_queue *queue, pti_group **group) {
    *group = pti_group_over_mpi(queue);
    if (*group != NULL)
        return POLYTILE_OK;
    return pti_fail(queue->object.context, POLYTILE_INVALID,
                    "queue on %s: is not over a communicator; polytile_mpi_queue_create() makes "
                    "one that is",
                    pti_queue_text(queue));
}

polytile_status polytile_mpi_array_create(polytile_queue *queue, const char *name,
                                          polytile_type type, int n_dims, const int64_t *extents,
                                          const char *layout, polytile_array **array) {
    array_request of = {.queue = queue,
                        .name = name,
                        .type = type,
                        .n_dims = n_dims,
                        .extents = extents,
                        .layout = layout};
    pti_group *group;
    polytile_status status;
    if (array != NULL)
        *array = NULL;
    PTI_TRY(pti_queue_enter(queue));
    if (array == NULL)
        return pti_fail(queue->object.context, POLYTILE_INVALID,
                        "%s: the place for the array is NULL", __func__);
    PTI_TRY(find_group_of_queue(queue, &group));
    PTI_TRY(create_array_on_ranks(&of, group, array));
done:
    return status;
}
