#include "message/copy.h"

#include "message/processes.h"
#include "message/spare.h"

#include <stdlib.h>
#include <string.h>

bool pti_copy_is_far(const pti_server *server, int participant) {
    return pti_device_of(server, participant) != NULL;
}

bool pti_copy_is_near(const pti_server *server, const pti_post *send) {
    return !pti_copy_is_far(server, send->owner) || send->data == send->kept;
}

/** Copy to memory of the host, from where it is. */
static bool copy_to_host(const pti_server *server, const pti_copy *copy, char *to, int64_t at,
                         int64_t n_bytes) {
    const pti_post *send = copy->send;
    if (!pti_copy_is_near(server, send)) {
        const pti_slot_device *device = copy->part->device;
        return device->fetch(device->device, to, send->data + at, n_bytes);
    }
    memcpy(to, send->data + at, (size_t)n_bytes);
    return true;
}

/** Copy a message to its receive. */
static bool copy_to_receive(const pti_server *server, const pti_copy *copy) {
    const pti_post *send = copy->send, *receive = copy->receive;
    const pti_slot_device *target = pti_device_of(server, receive->owner);
    if (target == NULL)
        return copy_to_host(server, copy, receive->data, 0, send->n_bytes);
    const pti_slot_device *device = copy->part->device;
    return pti_copy_is_near(server, send)
               ? device->store(device->device, receive->data, send->data, send->n_bytes)
               : device->pass(device->device, target->device, receive->data, send->data,
                              send->n_bytes);
}

/** Store a piece that has come where it belongs on a device. */
static bool store_piece(const pti_copy *copy) {
    const pti_slot_device *device = copy->part->device;
    return device->store(device->device, copy->incoming->receive->data + copy->at, copy->piece,
                         copy->n_bytes);
}

bool pti_copy_data(const pti_server *server, const pti_copy *copy) {
    const pti_post *send = copy->send, *receive = copy->receive;
    if (copy->incoming != NULL)
        return store_piece(copy);
    if (copy->leaves)
        return copy->packet != NULL &&
               copy_to_host(server, copy, copy->packet->data, copy->at, copy->n_bytes);
    if (send->n_bytes == 0 || (receive != NULL && receive->comes_with_reply))
        return true;
    return receive == NULL ? copy_to_host(server, copy, send->kept, 0, send->n_bytes)
                           : copy_to_receive(server, copy);
}

pti_server_part *pti_copy_find_part(const pti_server *server, const pti_post *send,
                                    const pti_post *receive) {
    const bool brings_nothing =
        send->n_bytes == 0 || (receive != NULL && receive->comes_with_reply);
    if (brings_nothing)
        return NULL;
    if (!pti_copy_is_near(server, send))
        return server->participant[send->owner].part;
    return receive != NULL && pti_copy_is_far(server, receive->owner)
               ? server->participant[receive->owner].part
               : NULL;
}

bool pti_copy_append(pti_server *server, const pti_copy *copy) {
    pti_copy *later = malloc(sizeof *later), **last = &server->copy;
    if (later == NULL)
        return false;
    while (*last != NULL)
        last = &(*last)->next;
    *later = *copy;
    later->next = NULL;
    __atomic_store_n(last, later, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&server->changed);
    return true;
}

/** Return whether a thread may make a copy now. */
static bool may_make(const pti_server *server, const pti_copy *copy, const pti_server_part *part) {
    const bool is_of_thread = copy->part == NULL || copy->part == part;
    return is_of_thread && (!copy->leaves || pti_processes_want_pieces(server));
}

/** Where the list has the first copy that a thread may make. */
static pti_copy **find_copy(pti_server *server, const pti_server_part *part) {
    pti_copy **at = &server->copy;
    while (*at != NULL && !may_make(server, *at, part))
        at = &(*at)->next;
    return at;
}

pti_copy *pti_copy_take(pti_server *server, const pti_server_part *part) {
    pti_copy **at = find_copy(server, part), *taken = *at;
    if (taken == NULL || server->is_ending)
        return NULL;
    __atomic_store_n(at, taken->next, __ATOMIC_RELAXED);
    return taken;
}

void pti_copy_put_back(pti_server *server, pti_copy *copy) {
    copy->next = server->copy;
    __atomic_store_n(&server->copy, copy, __ATOMIC_RELAXED);
}

/** Make the packet of the next piece that leaves. Without memory there is none, and the launch is
 * ended. */
static void begin_piece(pti_server *server, pti_copy *copy) {
    copy->n_bytes = pti_processes_size_piece(copy->send, copy->at);
    copy->packet = pti_processes_make_piece(server, copy->send, copy->at, copy->n_bytes);
}

bool pti_copy_make(pti_server *server, pti_copy *copy) {
    if (copy->leaves)
        begin_piece(server, copy);
    server->n_copying++;
    pthread_mutex_unlock(&server->mutex);
    const bool is_done = pti_copy_data(server, copy);
    pthread_mutex_lock(&server->mutex);
    if (--server->n_copying == 0)
        pti_server_call_carrier(server);
    pthread_cond_broadcast(&server->changed);
    return is_done;
}

void pti_copy_free(pti_copy *copy) {
    pti_spare_release(copy->came);
    pti_spare_release(copy->packet);
    free(copy);
}
