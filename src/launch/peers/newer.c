#include "launch/peers/newer.h"

#include "access/array/array.h"
#include "launch/peers/peers_state.h"

#include <stdlib.h>
#include <string.h>

void pti_newer_free(int n_newer, pti_newer *newer) {
    for (int k = 0; newer != NULL && k < n_newer; k++)
        pti_boxes_free(&newer[k].boxes);
    free(newer);
}

pti_newer pti_newer_of(const polytile_array *array) {
    pti_newer made = {.origin = (uintptr_t)pti_array_memory(array)};
    for (int d = 0; d < array->domain.n_dims; d++) {
        made.stride_bytes[d] = array->layout.stride_bytes[d];
        made.origin -= (uintptr_t)(array->domain.range[d].lo * made.stride_bytes[d]);
    }
    return made;
}

void pti_peers_publish(polytile_device *device, int n_newer, pti_newer *newer) {
    pti_peer *peer = device->peer;
    pthread_mutex_lock(&peer->peers->mutex);
    pti_newer *former = peer->newer;
    const int n_former = peer->n_newer;
    peer->newer = newer;
    peer->n_newer = newer == NULL ? 0 : n_newer;
    peer->is_lost = newer == NULL && n_newer > 0;
    pthread_mutex_unlock(&peer->peers->mutex);
    pti_newer_free(n_former, former);
}

static bool is_same_array(const pti_newer *one, const pti_newer *other) {
    return one->origin == other->origin &&
           memcmp(one->stride_bytes, other->stride_bytes, sizeof one->stride_bytes) == 0;
}

bool pti_peers_would_overwrite(polytile_device *device, const polytile_array *array,
                               const pti_placement *placement) {
    const pti_peer *peer = device->peer;
    const pti_newer of_array = pti_newer_of(array);
    bool would = false;
    pthread_mutex_lock(&peer->peers->mutex);
    for (int k = 0; k < peer->n_newer && !would; k++) {
        const pti_newer *newer = &peer->newer[k];
        const pti_placement published = {.offset_bytes = newer->offset_bytes,
                                         .layout = newer->layout};
        const bool is_image = placement->offset_bytes == newer->offset_bytes &&
                              is_same_array(&of_array, newer) &&
                              pti_box_compare(&placement->layout.hull, &newer->layout.hull) == 0;
        would = !is_image && pti_placements_overlap(placement, &published);
    }
    pthread_mutex_unlock(&peer->peers->mutex);
    return would;
}

void pti_peers_note_arena(polytile_device *device, char *arena) {
    pthread_mutex_lock(&device->peer->peers->mutex);
    device->peer->arena = arena;
    pthread_mutex_unlock(&device->peer->peers->mutex);
}

void pti_peers_set_pulling(polytile_device *device, bool is_pulling) {
    device->peer->is_pulling = is_pulling;
}

bool pti_peers_is_pulling(const polytile_device *device) {
    return device->peer != NULL && device->peer->is_pulling;
}

/** What is done with one upload. */
typedef struct pull {
    pti_execution *execution;
    const pti_command *command;
    pti_newer_copy *copy;
    void *of;
    pti_newer array; /* whose elements are uploaded */
    pti_boxes common;
    pti_boxes *rest;
} pull;

/** Copy what an image of a peer has of the rest. */
static polytile_status copy_from_image(pull *of, const pti_peer *peer, const pti_newer *newer) {
    polytile_status status = POLYTILE_OK;
    pti_move move = of->command->move;
    pti_boxes_intersect(&of->common, of->rest, &newer->boxes);
    move.from = (pti_memory_span){peer->arena + newer->offset_bytes, &newer->layout};
    for (int b = 0; b < of->common.n_boxes && !of->common.failed; b++) {
        move.box = &of->common.box[b];
        PTI_TRY(of->copy(of->of, peer->device, &move));
        of->execution->report->p2p_bytes += pti_box_count(move.box) * move.element_bytes;
    }
    pti_boxes_subtract_all(of->rest, &of->common);
done:
    return status;
}

static polytile_status copy_from_peer(pull *of, const pti_peer *peer) {
    polytile_status status = POLYTILE_OK;
    if (peer->is_lost)
        PTI_TRY(pti_fail_memory(of->execution->device->object.context,
                                "what linked devices have newer than the host", sizeof(pti_newer)));
    for (int k = 0; k < peer->n_newer; k++)
        if (is_same_array(&of->array, &peer->newer[k]))
            PTI_TRY(copy_from_image(of, peer, &peer->newer[k]));
done:
    return status;
}

polytile_status pti_peers_pull(pti_execution *execution, const pti_command *command,
                               pti_newer_copy *copy, void *of, pti_boxes *rest) {
    pti_peers *peers = execution->device->peer->peers;
    pull made = {.execution = execution,
                 .command = command,
                 .copy = copy,
                 .of = of,
                 .array = pti_newer_of(execution->arrays[command->operand]),
                 .rest = rest};
    polytile_status status = POLYTILE_OK;
    pti_boxes_assign(rest, command->move.box);
    pthread_mutex_lock(&peers->mutex);
    for (int p = 0; p < peers->n_peers && status == POLYTILE_OK; p++)
        if (peers->peer[p].device != execution->device)
            status = copy_from_peer(&made, &peers->peer[p]);
    pthread_mutex_unlock(&peers->mutex);
    if (status == POLYTILE_OK && (rest->failed || made.common.failed))
        status = pti_fail_memory(execution->device->object.context,
                                 "what comes from linked devices", sizeof *rest->box);
    pti_boxes_free(&made.common);
    return status;
}
