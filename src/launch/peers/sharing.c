#include "launch/peers/sharing.h"

#include "access/array/array.h"
#include "launch/peers/peers_state.h"

#include <stdlib.h>

struct pti_sharing {
    pti_peer *peer;
    pti_session *session;
    int *upload_of; /* of each operation: the session's upload; -1: it is not shared; owned */
    int *lent;      /* uploads whose own part others may copy from here; owned */
    int n_lent;
    int64_t peer_bytes; /* that came from others */
};

/* Offers of a schedule. */

/** Find operands that the schedule itself changes on the host or on the device, which it cannot
 * share. */
static void find_changed_operands(const pti_schedule *schedule, bool *is_changed) {
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        if (op->kind == PTI_DOWNLOAD || op->kind == PTI_FILL)
            is_changed[schedule->placement[op->placement].operand] = true;
    }
    for (int l = 0; l < schedule->n_launches; l++) {
        const pti_schedule_launch *launch = &schedule->launch[l];
        for (int o = 0; o < launch->call.instance->n_operands; o++)
            is_changed[launch->call.array[o]] |= launch->call.instance->operand[o].writes;
    }
}

static bool is_in_span(const pti_peers *peers, const polytile_array *array) {
    bool is = false;
    for (int k = 0; k < peers->n_spans && !is; k++) {
        const char *begin = peers->span[k].begin, *first = array->data;
        is = first != NULL && begin <= first &&
             first + pti_array_span_bytes(array) <= begin + peers->span[k].n_bytes;
    }
    return is;
}

/** Leave out operands that others do not read. is_changed becomes: whether an operand is not
 * offered. */
static void leave_out_others(const pti_execution *execution, bool *is_changed) {
    pti_peers *peers = execution->device->peer->peers;
    pthread_mutex_lock(&peers->mutex);
    for (int a = 0; a < execution->schedule->instance->n_operands; a++)
        is_changed[a] = is_changed[a] || !is_in_span(peers, execution->arrays[a]);
    pthread_mutex_unlock(&peers->mutex);
}

static pti_offer offer_of(const pti_execution *execution, int64_t k, int operand) {
    const pti_schedule *schedule = execution->schedule;
    const pti_op *op = &schedule->op[k];
    const pti_memory_layout *layout = &execution->host_layout[operand];
    return (pti_offer){.address = (const char *)execution->arrays[operand]->data +
                                  pti_memory_layout_offset_of(layout, &op->box),
                       .box = op->box,
                       .op = k,
                       .progress = (double)k / (double)schedule->n_ops};
}

static int list_offers(const pti_execution *execution, const bool *is_left_out, pti_offer *offers) {
    const pti_schedule *schedule = execution->schedule;
    int n_offers = 0;
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        if (op->kind != PTI_UPLOAD || pti_box_is_empty(&op->box))
            continue;
        int operand = schedule->placement[op->placement].operand;
        if (!is_left_out[operand])
            offers[n_offers++] = offer_of(execution, k, operand);
    }
    return n_offers;
}

static int count_uploads(const pti_schedule *schedule) {
    int n = 0;
    for (int64_t k = 0; k < schedule->n_ops && n < INT32_MAX; k++)
        n += schedule->op[k].kind == PTI_UPLOAD;
    return n;
}

/* Begin. */

/** Record the session; false when memory runs out. */
static bool note_session(pti_sharing *sharing, const pti_schedule *schedule) {
    const pti_session *session = sharing->session;
    sharing->upload_of = malloc((size_t)schedule->n_ops * sizeof *sharing->upload_of);
    sharing->lent = malloc((size_t)session->n_uploads * sizeof *sharing->lent);
    if (sharing->upload_of == NULL || sharing->lent == NULL)
        return false;
    for (int64_t k = 0; k < schedule->n_ops; k++)
        sharing->upload_of[k] = -1;
    for (int u = 0; u < session->n_uploads; u++) {
        int own = pti_shared_upload_find(&session->upload[u], sharing->peer->number);
        if (own >= 0)
            sharing->upload_of[session->upload[u].part[own].op] = u;
    }
    return true;
}

static void leave_session(pti_peer *peer) {
    pthread_mutex_lock(&peer->peers->mutex);
    pti_peers_leave(peer);
    pthread_mutex_unlock(&peer->peers->mutex);
}

static void free_sharing(pti_sharing *sharing) {
    if (sharing == NULL)
        return;
    free(sharing->upload_of);
    free(sharing->lent);
    free(sharing);
}

static pti_shared_upload *upload_of(const pti_sharing *sharing, int64_t op_index) {
    if (sharing == NULL || sharing->upload_of[op_index] < 0)
        return NULL;
    return &sharing->session->upload[sharing->upload_of[op_index]];
}

static pti_upload_share *own_part(const pti_sharing *sharing, pti_shared_upload *upload) {
    return &upload->part[pti_shared_upload_find(upload, sharing->peer->number)];
}

/** Return the box of an upload that this device uploads; NULL: all of it, it is not shared. */
static const polytile_domain *own_box(const pti_sharing *sharing, int64_t op_index) {
    pti_shared_upload *upload = upload_of(sharing, op_index);
    return upload == NULL ? NULL : &own_part(sharing, upload)->box;
}

static void join_session(pti_execution *execution) {
    pti_peer *peer = execution->device->peer;
    pti_sharing *made = calloc(1, sizeof *made);
    if (made != NULL) {
        *made = (pti_sharing){.peer = peer, .session = peer->session};
        if (note_session(made, execution->schedule)) {
            execution->sharing = made;
            execution->own_part = own_box;
            return;
        }
    }
    free_sharing(made);
    leave_session(peer);
}

static void meet_peers(pti_execution *execution, pti_offer *offers, bool *is_left_out) {
    pti_peer *peer = execution->device->peer;
    find_changed_operands(execution->schedule, is_left_out);
    leave_out_others(execution, is_left_out);
    pti_peers_meet(peer, offers, list_offers(execution, is_left_out, offers));
    if (peer->session != NULL)
        join_session(execution);
}

void pti_sharing_begin(pti_execution *execution) {
    const pti_schedule *schedule = execution->schedule;
    if (execution->device->peer != NULL && !schedule->in_place)
        pti_peers_note_arena(execution->device, execution->arena);
    if (execution->device->peer == NULL || schedule->in_place || schedule->n_launches == 0 ||
        pti_schedule_is_of_one_launch(schedule))
        return;
    pti_offer *offers = calloc((size_t)count_uploads(schedule) + 1, sizeof *offers);
    bool *is_left_out = calloc((size_t)schedule->instance->n_operands + 1, sizeof *is_left_out);
    if (offers != NULL && is_left_out != NULL)
        meet_peers(execution, offers, is_left_out);
    free(offers);
    free(is_left_out);
}

/* Share one operation. */

static const pti_peer_functions *functions_of(const pti_sharing *sharing) {
    return sharing->peer->device->functions->peer;
}

/** Wait until all others have copied a part, or will not any more; then nobody begins to. The mutex
 * is held. */
static void end_copies(pti_sharing *sharing, pti_shared_upload *upload,
                       const struct timespec *deadline) {
    pti_upload_share *part = own_part(sharing, upload);
    unsigned all = (1U << upload->n_parts) - 1;
    while (part->done != all && pti_peers_wait(sharing->peer->peers, deadline))
        continue;
    part->phase = PTI_PART_GONE;
}

/** Wait until the copies of a part, to which none are added, are done. The mutex is free: this may
 * take as long as all that the others' streams have to do. */
static void wait_for_copies(const pti_sharing *sharing, const pti_upload_share *part) {
    for (int q = 0; q < PTI_MOST_PEERS; q++) {
        if (part->copied[q] != NULL)
            functions_of(sharing)->wait_for_event(part->copied[q]);
    }
}

/** Drop the events of a part. The mutex is locked. */
static void drop_events(const pti_sharing *sharing, pti_upload_share *part) {
    for (int q = 0; q < PTI_MOST_PEERS; q++) {
        functions_of(sharing)->drop_event(part->copied[q]);
        part->copied[q] = NULL;
    }
    functions_of(sharing)->drop_event(part->ready);
    part->ready = NULL;
}

/** Let a stream wait for all copies of a part. The mutex is held. */
static polytile_status await_copies(const pti_sharing *sharing, const pti_upload_share *part,
                                    pti_stream stream) {
    polytile_status status = POLYTILE_OK;
    for (int q = 0; q < PTI_MOST_PEERS; q++) {
        if (part->copied[q] != NULL && status == POLYTILE_OK)
            status =
                functions_of(sharing)->await_event(sharing->peer->device, stream, part->copied[q]);
    }
    return status;
}

/** Let all streams of a schedule that write wait for all copies of a part. The mutex is held. */
static polytile_status hold_back_writers(const pti_sharing *sharing, const pti_upload_share *part,
                                         const pti_schedule *schedule) {
    polytile_status status;
    PTI_TRY(await_copies(sharing, part, PTI_STREAM_IN));
    for (int s = PTI_STREAM_COMPUTE; s < pti_schedule_n_streams(schedule); s++)
        PTI_TRY(await_copies(sharing, part, (pti_stream)s));
done:
    return status;
}

/** Take the memory of a part back: streams wait for the copies, or else this thread does. Several
 * pieces may come to where it was, each in another stream. */
static polytile_status take_memory_back(pti_sharing *sharing, int upload_number,
                                        const pti_schedule *schedule) {
    pti_peers *peers = sharing->peer->peers;
    pti_shared_upload *upload = &sharing->session->upload[upload_number];
    pti_upload_share *part = own_part(sharing, upload);
    struct timespec deadline = pti_peers_deadline(peers->run_s);
    pthread_mutex_lock(&peers->mutex);
    end_copies(sharing, upload, &deadline);
    polytile_status status = hold_back_writers(sharing, part, schedule);
    if (status != POLYTILE_OK) {
        pthread_mutex_unlock(&peers->mutex);
        wait_for_copies(sharing, part);
        pthread_mutex_lock(&peers->mutex);
    }
    drop_events(sharing, part);
    pthread_cond_broadcast(&peers->changed);
    pthread_mutex_unlock(&peers->mutex);
    return status;
}

/** Return whether an operation changes lent elements of a placement. */
static bool changes_lent_part(const pti_schedule *schedule, const pti_op *op,
                              const pti_upload_share *lent) {
    polytile_domain common;
    int64_t placement = schedule->op[lent->op].placement;
    if (op->placement == placement)
        return pti_box_intersect(&op->box, &lent->box, &common);
    return pti_placements_overlap(&schedule->placement[op->placement],
                                  &schedule->placement[placement]);
}

/** Return whether a launch changes lent elements, also as the first to use their memory. */
static bool launch_changes(const pti_schedule *schedule, const pti_op *op,
                           const pti_upload_share *lent) {
    const pti_placement *own = &schedule->placement[schedule->op[lent->op].placement];
    bool does = false;
    int n_operands = schedule->launch[op->launch].call.instance->n_operands;
    for (int o = 0; o < n_operands && !does; o++) {
        const pti_placement *used = pti_schedule_placement(schedule, op->launch, op->superblock, o);
        does = used != NULL && used != own && pti_placements_overlap(used, own);
    }
    return does;
}

static bool is_taken_back(const pti_schedule *schedule, const pti_op *op,
                          const pti_upload_share *lent) {
    if (op->kind == PTI_DOWNLOAD)
        return false;
    return op->kind == PTI_LAUNCH ? launch_changes(schedule, op, lent)
                                  : changes_lent_part(schedule, op, lent);
}

polytile_status pti_sharing_prepare(pti_execution *execution, const pti_command *command) {
    pti_sharing *sharing = execution->sharing;
    polytile_status status = POLYTILE_OK;
    for (int k = sharing == NULL ? 0 : sharing->n_lent; k-- > 0;) {
        pti_shared_upload *upload = &sharing->session->upload[sharing->lent[k]];
        if (!is_taken_back(execution->schedule, command->op, own_part(sharing, upload)))
            continue;
        int taken = sharing->lent[k];
        sharing->lent[k] = sharing->lent[--sharing->n_lent];
        PTI_TRY(take_memory_back(sharing, taken, execution->schedule));
    }
done:
    return status;
}

/** Lend a part: note its image, and record when it is ready. The mutex is locked. */
static polytile_status lend_part(pti_sharing *sharing, pti_upload_share *own,
                                 const pti_command *command, int upload_number) {
    polytile_status status =
        functions_of(sharing)->record_event(sharing->peer->device, PTI_STREAM_IN, &own->ready);
    own->phase = status == POLYTILE_OK ? PTI_PART_READY : PTI_PART_GONE;
    own->image = command->move.to;
    if (status == POLYTILE_OK)
        sharing->lent[sharing->n_lent++] = upload_number;
    pthread_cond_broadcast(&sharing->peer->peers->changed);
    return status;
}

/** Copy a part from another device's memory, or find that it is not there. The mutex is held. */
static polytile_status borrow_part(pti_sharing *sharing, pti_upload_share *part, int own,
                                   const pti_command *command, bool *is_there) {
    const polytile_device *device = sharing->peer->device;
    pti_peers *peers = sharing->peer->peers;
    struct timespec deadline = pti_peers_deadline(peers->run_s);
    polytile_status status = POLYTILE_OK;
    pti_move move = command->move;
    while (part->phase == PTI_PART_AWAITED && pti_peers_wait(peers, &deadline))
        continue;
    *is_there = part->phase == PTI_PART_READY;
    move.box = &part->box;
    move.from = part->image;
    if (*is_there)
        status =
            device->functions->peer->copy(sharing->peer->device, peers->peer[part->peer].device,
                                          &move, part->ready, &part->copied[own]);
    part->done |= 1U << own;
    pthread_cond_broadcast(&peers->changed);
    if (*is_there && status == POLYTILE_OK)
        sharing->peer_bytes += pti_box_count(&part->box) * move.element_bytes;
    return status;
}

/** Copy all others' parts. The mutex is held. */
static polytile_status borrow_all_parts(pti_sharing *sharing, pti_shared_upload *upload,
                                        const pti_command *command, polytile_domain *missing,
                                        int *n_missing) {
    int own = pti_shared_upload_find(upload, sharing->peer->number);
    polytile_status status = POLYTILE_OK;
    for (int k = 1; k < upload->n_parts; k++) {
        bool is_there;
        pti_upload_share *part = &upload->part[(own + k) % upload->n_parts];
        PTI_TRY(borrow_part(sharing, part, own, command, &is_there));
        if (!is_there)
            missing[(*n_missing)++] = part->box;
    }
done:
    return status;
}

polytile_status pti_sharing_exchange(pti_execution *execution, const pti_command *command,
                                     polytile_domain *missing, int *n_missing) {
    pti_sharing *sharing = execution->sharing;
    pti_shared_upload *upload = upload_of(sharing, command->index);
    polytile_status status;
    *n_missing = 0;
    if (upload == NULL)
        return POLYTILE_OK;
    pthread_mutex_lock(&sharing->peer->peers->mutex);
    PTI_TRY(
        lend_part(sharing, own_part(sharing, upload), command, sharing->upload_of[command->index]));
    status = borrow_all_parts(sharing, upload, command, missing, n_missing);
done:
    pthread_mutex_unlock(&sharing->peer->peers->mutex);
    return status;
}

/* End. */

static pti_shared_upload *lent_upload(const pti_sharing *sharing, int k) {
    return &sharing->session->upload[sharing->lent[k]];
}

/** End all copies from this device: those that began are done, no others begin. All lent parts
 * together wait as long as one. */
static void end_all_copies(pti_sharing *sharing, bool has_failed) {
    pti_peers *peers = sharing->peer->peers;
    struct timespec deadline = pti_peers_deadline(has_failed ? 0 : peers->run_s);
    pthread_mutex_lock(&peers->mutex);
    for (int k = 0; k < sharing->n_lent; k++)
        end_copies(sharing, lent_upload(sharing, k), &deadline);
    pthread_mutex_unlock(&peers->mutex);
    for (int k = 0; k < sharing->n_lent; k++)
        wait_for_copies(sharing, own_part(sharing, lent_upload(sharing, k)));
}

/** Drop the events of all parts that are lent. The mutex is locked. */
static void drop_lent_events(const pti_sharing *sharing) {
    for (int k = 0; k < sharing->n_lent; k++)
        drop_events(sharing, own_part(sharing, lent_upload(sharing, k)));
}

void pti_sharing_end(pti_execution *execution, bool has_failed) {
    pti_sharing *sharing = execution->sharing;
    if (sharing == NULL)
        return;
    end_all_copies(sharing, has_failed);
    pthread_mutex_lock(&sharing->peer->peers->mutex);
    drop_lent_events(sharing);
    pti_peers_leave(sharing->peer);
    pthread_mutex_unlock(&sharing->peer->peers->mutex);
    execution->report->h2d_bytes -= sharing->peer_bytes;
    execution->report->p2p_bytes += sharing->peer_bytes;
    execution->sharing = NULL;
    free_sharing(sharing);
}
