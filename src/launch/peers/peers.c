#include "launch/peers/peers_state.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int default_meet_s = 2, default_run_s = 30;

struct timespec pti_peers_deadline(int timeout_s) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_s;
    return until;
}

bool pti_peers_wait(pti_peers *peers, const struct timespec *deadline) {
    return pthread_cond_timedwait(&peers->changed, &peers->mutex, deadline) == 0;
}

static bool create_locks(pti_peers *peers) {
    pthread_condattr_t steady;
    if (pthread_condattr_init(&steady) != 0)
        return false;
    bool is_made = pthread_condattr_setclock(&steady, CLOCK_MONOTONIC) == 0 &&
                   pthread_cond_init(&peers->changed, &steady) == 0;
    pthread_condattr_destroy(&steady);
    if (is_made && pthread_mutex_init(&peers->mutex, NULL) != 0) {
        pthread_cond_destroy(&peers->changed);
        is_made = false;
    }
    return is_made;
}

pti_peers *pti_peers_create(int n_devices, polytile_device *const *devices) {
    pti_peers *made = calloc(1, sizeof *made);
    if (made == NULL || !create_locks(made)) {
        free(made);
        return NULL;
    }
    made->meet_s = default_meet_s;
    made->run_s = default_run_s;
    made->n_peers = n_devices;
    for (int p = 0; p < n_devices; p++) {
        made->peer[p] = (pti_peer){.peers = made, .device = devices[p], .number = p};
        devices[p]->peer = &made->peer[p];
    }
    return made;
}

void pti_peers_free(pti_peers *peers) {
    if (peers == NULL)
        return;
    for (int p = 0; p < peers->n_peers; p++)
        pti_newer_free(peers->peer[p].n_newer, peers->peer[p].newer);
    pthread_cond_destroy(&peers->changed);
    pthread_mutex_destroy(&peers->mutex);
    free(peers);
}

pti_peers *pti_peers_of(const polytile_device *device) {
    return device->peer->peers;
}

void pti_peers_set_spans(pti_peers *peers, int n_spans, const pti_host_span *spans) {
    pthread_mutex_lock(&peers->mutex);
    peers->n_spans = n_spans;
    memcpy(peers->span, spans, (size_t)n_spans * sizeof *spans);
    pthread_mutex_unlock(&peers->mutex);
}

void pti_peers_expect(polytile_device *device, int64_t number) {
    pti_peers *peers = device->peer->peers;
    pthread_mutex_lock(&peers->mutex);
    device->peer->expected_number = number;
    pthread_mutex_unlock(&peers->mutex);
}

void pti_peers_note_passed(polytile_device *device, int64_t number) {
    if (device == NULL || device->peer == NULL)
        return;
    pti_peers *peers = device->peer->peers;
    pthread_mutex_lock(&peers->mutex);
    if (device->peer->passed_number < number)
        device->peer->passed_number = number;
    pthread_cond_broadcast(&peers->changed);
    pthread_mutex_unlock(&peers->mutex);
}

static bool is_expected(const pti_peer *peer) {
    return peer->passed_number < peer->expected_number;
}

static bool are_all_here(const pti_peers *peers) {
    bool are = true;
    for (int p = 0; p < peers->n_peers; p++)
        are = are && (peers->peer[p].is_offering || !is_expected(&peers->peer[p]));
    return are;
}

static bool takes_part(const pti_session *session, int peer) {
    bool does = false;
    for (int k = 0; session != NULL && k < session->n_uploads && !does; k++)
        does = pti_shared_upload_find(&session->upload[k], peer) >= 0;
    return does;
}

/** Begin the session for all; the last one to arrive does this. */
static void begin_session(pti_peers *peers) {
    pti_session *session = pti_peers_match(peers);
    for (int p = 0; p < peers->n_peers; p++) {
        pti_peer *peer = &peers->peer[p];
        if (!peer->is_offering)
            continue;
        peer->is_offering = false;
        peer->session = takes_part(session, p) ? session : NULL;
        if (session != NULL)
            session->n_members += peer->session != NULL;
    }
    pthread_cond_broadcast(&peers->changed);
}

/** Stop expecting those who have not come, until they are expected anew: each further schedule
 * would wait as long again. The mutex is held. */
static void give_up_absent(pti_peers *peers) {
    for (int p = 0; p < peers->n_peers; p++) {
        pti_peer *peer = &peers->peer[p];
        if (!peer->is_offering && is_expected(peer))
            peer->passed_number = peer->expected_number;
    }
}

/** Wait for the other devices. The mutex is held. */
static void wait_for_others(pti_peer *peer, const pti_offer *offers, int n_offers) {
    pti_peers *peers = peer->peers;
    struct timespec deadline = pti_peers_deadline(peers->meet_s);
    peer->is_offering = true;
    peer->offer = offers;
    peer->n_offers = n_offers;
    pthread_cond_broadcast(&peers->changed);
    while (peer->is_offering && !are_all_here(peers) && pti_peers_wait(peers, &deadline))
        continue;
    if (peer->is_offering) {
        give_up_absent(peers);
        begin_session(peers);
    }
    peer->offer = NULL;
}

/** Others need not wait for a device that has all that it reads. */
void pti_peers_meet(pti_peer *peer, const pti_offer *offers, int n_offers) {
    pti_peers *peers = peer->peers;
    pthread_mutex_lock(&peers->mutex);
    if (is_expected(peer) && n_offers > 0) {
        wait_for_others(peer, offers, n_offers);
    } else if (is_expected(peer)) {
        peer->passed_number = peer->expected_number;
        pthread_cond_broadcast(&peers->changed);
    }
    pthread_mutex_unlock(&peers->mutex);
}

int pti_shared_upload_find(const pti_shared_upload *upload, int peer) {
    for (int q = 0; q < upload->n_parts; q++) {
        if (upload->part[q].peer == peer)
            return q;
    }
    return -1;
}

/** Take a device out of a shared upload: nobody gets its part, and it copies nobody's. */
static void leave_upload(pti_shared_upload *upload, int own) {
    upload->part[own].phase = PTI_PART_GONE;
    for (int q = 0; q < upload->n_parts; q++)
        upload->part[q].done |= 1U << own;
}

void pti_peers_leave(pti_peer *peer) {
    pti_session *session = peer->session;
    if (session == NULL)
        return;
    for (int k = 0; k < session->n_uploads; k++) {
        int own = pti_shared_upload_find(&session->upload[k], peer->number);
        if (own >= 0)
            leave_upload(&session->upload[k], own);
    }
    peer->session = NULL;
    if (--session->n_members == 0)
        pti_session_free(session);
    pthread_cond_broadcast(&peer->peers->changed);
}
