#include "distribute/members/peers.h"

#include "access/set/boxes.h"
#include "distribute/members/wait.h"
#include "launch/peers/peers.h"

#include <stdlib.h>

/* Members whose GPUs are linked: what several of them need of one memory crosses the host's link
 * once (launch/peers/peers.h). */

/** Members' devices, each of which reaches all others. */
typedef struct island {
    int n;
    polytile_device *device[PTI_MOST_PEERS];
} island;

static bool reach_each_other(polytile_device *one, polytile_device *other, const char **why_not) {
    const pti_peer_functions *functions = one->functions->peer;
    *why_not = "a host has no such memory";
    return functions != NULL && functions == other->functions->peer &&
           functions->reaches(one, other, why_not) && functions->reaches(other, one, why_not);
}

static bool belongs_to(const island *of, polytile_device *device, const char **why_not) {
    bool does = of->n < PTI_MOST_PEERS;
    *why_not = "there are too many";
    for (int k = 0; k < of->n && does; k++)
        does = reach_each_other(of->device[k], device, why_not);
    return does;
}

static bool is_member_linked(const pti_group *group, int member) {
    return group->member[member]->device->peer != NULL;
}

/** Find a member and those after it whose devices are all linked with each other. */
static island find_island(const pti_group *group, int first) {
    island found = {.n = 1, .device = {group->member[first]->device}};
    for (int m = first + 1; m < group->transport->n_local; m++) {
        polytile_device *device = group->member[m]->device;
        const char *why_not;
        if (is_member_linked(group, m))
            continue;
        if (belongs_to(&found, device, &why_not))
            found.device[found.n++] = device;
        else
            pti_log(group->ctx, PTI_LOG_INFO,
                    "%s and %s do not copy from each other's memory (%s): what both read is "
                    "uploaded to each",
                    found.device[0]->text, device->text, why_not);
    }
    return found;
}

static void log_linked(const pti_group *group, const island *of) {
    for (int k = 1; k < of->n; k++)
        pti_log(group->ctx, PTI_LOG_INFO,
                "%s and %s copy from each other's memory: what both read is uploaded once",
                of->device[0]->text, of->device[k]->text);
}

polytile_status pti_group_link(pti_group *group) {
    int n_local = group->transport->n_local;
    if (!pti_transport_is_alone(group->transport))
        return POLYTILE_OK;
    group->peers = calloc((size_t)n_local, sizeof *group->peers);
    if (group->peers == NULL)
        return pti_fail_memory(group->ctx, "the links between devices", sizeof *group->peers);
    for (int m = 0; m < n_local; m++) {
        island found = is_member_linked(group, m) ? (island){0} : find_island(group, m);
        if (found.n < 2)
            continue;
        pti_peers *made = pti_peers_create(found.n, found.device);
        if (made == NULL)
            return pti_fail_memory(group->ctx, "the links between devices", sizeof *group->peers);
        group->peers[group->n_peers++] = made;
        log_linked(group, &found);
    }
    return POLYTILE_OK;
}

void pti_group_unlink(pti_group *group) {
    for (int k = 0; k < group->n_peers; k++)
        pti_peers_free(group->peers[k]);
    free(group->peers);
}

bool pti_group_are_all_linked(const pti_group *group) {
    bool are = group->n_peers == 1;
    for (int m = 0; m < group->transport->n_local && are; m++)
        are = is_member_linked(group, m);
    return are;
}

/* Panels. */

static bool is_of_peers(const pti_group *group, int member, const pti_peers *peers) {
    const polytile_device *device = group->member[member]->device;
    return device->peer != NULL && pti_peers_of(device) == peers;
}

static polytile_domain read_hull(const pti_prepared_superstep *prepared, int member, int position) {
    const pti_boxes *reads = &prepared->parts.work[member].reads[position];
    return reads->n_boxes == 0 ? pti_box_empty(1) : pti_boxes_bounding(reads, reads->box[0].n_dims);
}

/** Return whether two members read nearly the same of an array; not mere ghost cells. */
static bool read_alike(const pti_prepared_superstep *prepared, int one, int other, int position) {
    polytile_domain a = read_hull(prepared, one, position),
                    b = read_hull(prepared, other, position);
    polytile_domain common;
    if (pti_box_is_empty(&a) || pti_box_is_empty(&b) || !pti_box_intersect(&a, &b, &common))
        return false;
    return 2 * pti_box_count(&common) >= pti_box_count(&a) &&
           2 * pti_box_count(&common) >= pti_box_count(&b);
}

/** Note which of linked members read an array alike; false: none. */
static bool find_readers(const pti_group *group, const pti_prepared_superstep *prepared,
                         const pti_peers *peers, int position, bool *is_reader) {
    bool found = false;
    int n_local = group->transport->n_local;
    if (group->array[position].array == NULL ||
        group->array[position].memory != PTI_GROUP_PROGRAMS ||
        pti_group_writes(group, prepared, position))
        return false;
    for (int one = 0; one < n_local; one++) {
        for (int other = 0; other < one; other++) {
            if (!is_of_peers(group, one, peers) || !is_of_peers(group, other, peers) ||
                !read_alike(prepared, one, other, position))
                continue;
            is_reader[one] = is_reader[other] = found = true;
        }
    }
    return found;
}

/** Return whether linked members read any array alike. */
static bool has_readers(const pti_group *group, const pti_prepared_superstep *prepared,
                        const pti_peers *peers, bool *is_reader) {
    bool has = false;
    for (int p = 0; p < group->n_arrays && !has; p++)
        has = find_readers(group, prepared, peers, p, is_reader);
    return has;
}

/** Without memory to find out, it counts as having some. */
bool pti_group_has_panels(const pti_group *group, const pti_prepared_superstep *prepared) {
    bool *is_reader = calloc((size_t)group->transport->n_local, sizeof *is_reader);
    bool has = is_reader == NULL;
    for (int k = 0; k < group->n_peers && !has; k++)
        has = has_readers(group, prepared, group->peers[k], is_reader);
    free(is_reader);
    return has;
}

/** Nothing begins meanwhile: the item queued last is the superstep's. */
static void expect_readers(const pti_group *group, const bool *is_reader) {
    for (int m = 0; m < group->transport->n_local; m++) {
        polytile_queue *queue = group->member[m];
        if (!is_reader[m])
            continue;
        pthread_mutex_lock(&queue->mutex);
        int64_t number = queue->n_queued;
        pthread_mutex_unlock(&queue->mutex);
        pti_peers_expect(queue->device, number);
    }
}

static void share_spans_of_readers(const pti_group *group, const pti_prepared_superstep *prepared,
                                   pti_peers *peers, bool *is_reader) {
    pti_host_span span[PTI_MOST_HOST_SPANS];
    int n_spans = 0;
    for (int p = 0; p < group->n_arrays && n_spans < PTI_MOST_HOST_SPANS; p++) {
        const polytile_array *array = group->array[p].array;
        if (find_readers(group, prepared, peers, p, is_reader))
            span[n_spans++] = (pti_host_span){array->data, pti_array_span_bytes(array)};
    }
    if (n_spans == 0)
        return;
    pti_peers_set_spans(peers, n_spans, span);
    expect_readers(group, is_reader);
}

polytile_status pti_group_share_spans(pti_group *group, const pti_prepared_superstep *prepared) {
    size_t n_local = (size_t)group->transport->n_local;
    for (int k = 0; k < group->n_peers; k++) {
        bool *is_reader = calloc(n_local, sizeof *is_reader);
        if (is_reader == NULL)
            return pti_fail_memory(group->ctx, "the links between devices", (double)n_local);
        share_spans_of_readers(group, prepared, group->peers[k], is_reader);
        free(is_reader);
    }
    return POLYTILE_OK;
}
