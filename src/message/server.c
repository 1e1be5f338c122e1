#include "message/server.h"

#include "message/match.h"
#include "message/processes.h"
#include "message/slot_memory.h"
#include "message/wait.h"

#include <stdlib.h>
#include <string.h>

static void destroy_conditions(pti_server *server) {
    for (int p = 0; p <= server->n_slots; p++)
        pthread_cond_destroy(&server->participant[p].wake);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->mutex);
}

static void free_parts(pti_server_part *part, int n_parts) {
    for (int k = 0; part != NULL && k < n_parts; k++) {
        pti_slot_memory_free(&part[k]);
        free(part[k].rank);
    }
    free(part);
}

static void free_memory(pti_server *server) {
    free_parts(server->part, server->n_parts);
    pti_processes_free(server);
    free(server->part_of);
    free(server->participant);
    free(server->kernel_name);
    free(server);
}

/** Time limits go by a clock that nobody sets. */
static void create_conditions(pti_server *server) {
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_mutex_init(&server->mutex, NULL);
    pthread_cond_init(&server->changed, &steady);
    for (int p = 0; p <= server->n_slots; p++)
        pthread_cond_init(&server->participant[p].wake, &steady);
    pthread_condattr_destroy(&steady);
}

static int part_of_rank(const pti_server *server, int rank) {
    return server->part_of == NULL ? 0 : server->part_of[rank];
}

/** Give a slot the next place in its part. */
static void place_slot(pti_server *server, int rank) {
    const int number = part_of_rank(server, rank);
    pti_server_part *part = number < 0 ? NULL : &server->part[number];
    server->participant[rank].part = part;
    server->n_here += part != NULL;
    if (part == NULL)
        return;
    server->participant[rank].place = part->n_slots;
    part->rank[part->n_slots++] = rank;
}

/** Give each slot its place in its part; those of a part are in the order of their ranks. */
static void fill_parts(pti_server *server) {
    server->n_here = 0;
    for (int rank = 0; rank < server->n_slots; rank++)
        place_slot(server, rank);
}

/** Make parts, with room for all slots in each; NULL when memory runs out. */
static pti_server_part *make_parts(pti_server *server, int n_parts) {
    pti_server_part *made = calloc((size_t)n_parts + 1, sizeof *made);
    bool is_made = made != NULL;
    for (int k = 0; made != NULL && k < n_parts; k++) {
        made[k].server = server;
        made[k].rank = malloc((size_t)server->n_slots * sizeof *made[k].rank + 1);
        is_made &= made[k].rank != NULL;
    }
    if (is_made)
        return made;
    free_parts(made, n_parts);
    return NULL;
}

/** Have these parts in place of those so far; NULL, after an error: those stay. */
static bool set_parts(pti_server *server, pti_server_part *made, int n_parts) {
    if (made == NULL)
        return false;
    free_parts(server->part, server->n_parts);
    server->part = made;
    server->n_parts = n_parts;
    fill_parts(server);
    return true;
}

pti_server *pti_server_create(const pti_server_request *request) {
    pti_server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return NULL;
    const size_t n_participants = (size_t)request->n_slots + 1;
    server->n_slots = (int)request->n_slots;
    server->threads = request->threads;
    server->has_program = request->has_program;
    server->timeout_s = request->timeout_s;
    server->kernel_name = strdup(request->kernel_name);
    server->participant = calloc(n_participants, sizeof *server->participant);
    if (server->kernel_name == NULL || server->participant == NULL ||
        !set_parts(server, make_parts(server, 1), 1)) {
        free_memory(server);
        return NULL;
    }
    server->n_users = 1;
    create_conditions(server);
    return server;
}

bool pti_server_deal(pti_server *server, int n_parts, const int32_t *part_of) {
    const size_t n_bytes = (size_t)server->n_slots * sizeof *part_of;
    if (n_parts < 2 && server->processes == NULL)
        return true;
    int32_t *copy = malloc(n_bytes);
    pti_server_part *made = copy == NULL ? NULL : make_parts(server, n_parts);
    if (made == NULL) {
        free(copy);
        return false;
    }
    memcpy(copy, part_of, n_bytes);
    server->part_of = copy;
    return set_parts(server, made, n_parts);
}

pti_server_part *pti_server_get_part(pti_server *server, int number) {
    return &server->part[number];
}

pti_server_part *pti_server_take_part(pti_server *server, int rank) {
    pti_server_part *part = server->participant[rank].part;
    part->is_taken = true;
    pti_server_retain(server);
    return part;
}

void pti_server_give_up(pti_server *server, const pti_error *why) {
    if (server != NULL && server->processes != NULL)
        pti_server_fail(server, why == NULL ? POLYTILE_INVALID : why->status,
                        why == NULL ? "the launch did not run; the next wait says why"
                                    : why->cause);
    for (int k = 0; server != NULL && k < server->n_parts; k++)
        if (!server->part[k].is_taken)
            pti_server_abandon(&server->part[k], why);
}

pti_server *pti_server_of_part(const pti_server_part *part) {
    return part->server;
}

int pti_server_part_n_slots(const pti_server_part *part) {
    return part->n_slots;
}

const polytile_domain *pti_server_part_threads(const pti_server_part *part) {
    return &part->server->threads;
}

int pti_server_part_rank(const pti_server_part *part, int place) {
    return part->rank[place];
}

/** Return how many use it now. */
static int count_users(pti_server *server, int more) {
    pthread_mutex_lock(&server->mutex);
    const int n_users = server->n_users += more;
    pthread_mutex_unlock(&server->mutex);
    return n_users;
}

pti_server *pti_server_retain(pti_server *server) {
    if (server != NULL)
        count_users(server, 1);
    return server;
}

void pti_server_release(pti_server *server) {
    if (server == NULL || count_users(server, -1) > 0)
        return;
    server->is_ending = true;
    pti_match_forget_all(server);
    pti_processes_free(server);
    pti_posts_free_spare(server);
    destroy_conditions(server);
    free_memory(server);
}

static polytile_status fail_server_memory(const pti_server_part *part, polytile_context *ctx,
                                          int n_memories) {
    const pti_server_bytes bytes = pti_server_count_bytes(part, n_memories);
    if (part->device != NULL && part->memory.slots != NULL)
        return pti_fail(ctx, POLYTILE_DEVICE, "%s: the device cannot be given the slots",
                        part->server->kernel_name);
    return pti_fail_memory(ctx, part->server->kernel_name,
                           (double)bytes.shared_bytes + (double)bytes.slots_bytes);
}

polytile_status pti_server_begin(pti_server_part *part, polytile_context *ctx,
                                 const pt_memory *memories, const polytile_view *views,
                                 int n_memories, const pti_slot_device *device) {
    pti_server *server = part->server;
    pthread_mutex_lock(&server->mutex);
    part->device = device;
    part->views = views;
    if (device != NULL && server->processes != NULL)
        server->processes->is_lent = false;
    const bool is_made = pti_slot_memory_create(part, memories, n_memories);
    if (is_made) {
        part->phase = PTI_SERVER_BEGUN;
        server->n_begun++;
        pti_server_check_begun(server);
    }
    pthread_mutex_unlock(&server->mutex);
    return is_made ? POLYTILE_OK : fail_server_memory(part, ctx, n_memories);
}

pt_slot *pti_server_get_slot(pti_server_part *part, int place) {
    return (pt_slot *)(uintptr_t)&part->slot[place];
}

/** A part is over; with the last one the launch is. The mutex is locked. */
static void end_part(pti_server_part *part) {
    pti_server *server = part->server;
    if (part->phase == PTI_SERVER_OVER)
        return;
    server->n_begun += part->phase == PTI_SERVER_QUEUED;
    part->phase = PTI_SERVER_OVER;
    if (++server->n_over == server->n_parts)
        pti_server_close(server);
    pthread_cond_broadcast(&server->changed);
}

void pti_server_abandon(pti_server_part *part, const pti_error *why) {
    if (part == NULL)
        return;
    pti_server *server = part->server;
    pthread_mutex_lock(&server->mutex);
    if (part->phase != PTI_SERVER_OVER && !pti_is_one_part(server) && why != NULL &&
        why->status != POLYTILE_OK)
        pti_server_end(server, why->status, "%s", why->cause);
    else if (part->phase != PTI_SERVER_OVER)
        pti_server_end(server, POLYTILE_INVALID,
                       "%s: the launch did not run; the next wait says why", server->kernel_name);
    end_part(part);
    pthread_mutex_unlock(&server->mutex);
}

/** Wait until all parts are over: nobody stores in the memory of one any more. */
static void await_parts(pti_server *server) {
    while (server->n_over < server->n_parts || pti_is_memory_used(server))
        pthread_cond_wait(&server->changed, &server->mutex);
}

/** What ended a launch, with its text on the context. The mutex is not locked. */
static polytile_status tell_end(const pti_server *server, polytile_context *ctx,
                                polytile_status status) {
    return status == POLYTILE_OK ? status : pti_fail(ctx, status, "%s", server->text);
}

polytile_status pti_server_meet(pti_server_part *part, polytile_context *ctx) {
    pti_server *server = part->server;
    pthread_mutex_lock(&server->mutex);
    while (server->phase == PTI_SERVER_QUEUED && !server->is_ending)
        pthread_cond_wait(&server->changed, &server->mutex);
    if (server->phase == PTI_SERVER_RUNS && !server->is_ending && !pti_slot_memory_link(part))
        pti_server_end(server, POLYTILE_DEVICE, "%s: the device cannot be given what slots reach",
                       server->kernel_name);
    const bool may_run = server->phase == PTI_SERVER_RUNS && !server->is_ending;
    const bool do_others_run = server->phase == PTI_SERVER_RUNS;
    if (!may_run)
        end_part(part);
    if (!may_run && do_others_run)
        await_parts(server);
    const polytile_status status = may_run ? POLYTILE_OK : server->status;
    pthread_mutex_unlock(&server->mutex);
    return tell_end(server, ctx, status);
}

polytile_status pti_server_finish(pti_server_part *part, polytile_context *ctx) {
    pti_server *server = part->server;
    pthread_mutex_lock(&server->mutex);
    end_part(part);
    await_parts(server);
    const polytile_status status = server->status;
    pthread_mutex_unlock(&server->mutex);
    return tell_end(server, ctx, status);
}

void pti_server_fail(pti_server *server, polytile_status status, const char *text) {
    pthread_mutex_lock(&server->mutex);
    pti_server_end(server, status, "%s", text);
    pthread_mutex_unlock(&server->mutex);
}

polytile_status pti_server_carry(pti_server *server, polytile_context *ctx, bool *is_of_peer) {
    pthread_mutex_lock(&server->mutex);
    pti_wait_for_processes(server);
    if (server->n_parts == 0)
        pti_server_close(server);
    const polytile_status status = server->status;
    *is_of_peer = server->is_ended_by_peer;
    pthread_mutex_unlock(&server->mutex);
    return tell_end(server, ctx, status);
}
