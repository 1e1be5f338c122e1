#include "message/server.h"

#include "message/match.h"
#include "message/slot_memory.h"

#include <stdlib.h>
#include <string.h>

static void destroy_conditions(pti_server *server) {
    for (int p = 0; p <= server->n_slots; p++)
        pthread_cond_destroy(&server->participant[p].wake);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->mutex);
}

static void free_memory(pti_server *server) {
    pti_slot_memory_free(server);
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

pti_server *pti_server_create(const pti_server_request *request) {
    pti_server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return NULL;
    const size_t n_participants = (size_t)request->n_slots + 1;
    server->n_slots = (int)request->n_slots;
    server->has_program = request->has_program;
    server->timeout_s = request->timeout_s;
    server->kernel_name = strdup(request->kernel_name);
    server->participant = calloc(n_participants, sizeof *server->participant);
    if (server->kernel_name == NULL || server->participant == NULL) {
        free_memory(server);
        return NULL;
    }
    server->n_users = 1;
    create_conditions(server);
    return server;
}

/** Returns how many use it now. */
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
    destroy_conditions(server);
    free_memory(server);
}

static polytile_status fail_server_memory(const pti_server *server, polytile_context *ctx,
                                          int n_memories) {
    const pti_server_bytes bytes = pti_server_count_bytes(server, n_memories);
    if (server->device != NULL && server->memory.slots != NULL)
        return pti_fail(ctx, POLYTILE_DEVICE, "%s: the device cannot be given the slots",
                        server->kernel_name);
    return pti_fail_memory(ctx, server->kernel_name,
                           (double)bytes.shared_bytes + (double)bytes.slots_bytes);
}

polytile_status pti_server_begin(pti_server *server, polytile_context *ctx,
                                 const pt_memory *memories, int n_memories,
                                 const pti_slot_device *device) {
    pthread_mutex_lock(&server->mutex);
    server->device = device;
    const bool is_made = pti_slot_memory_create(server, memories, n_memories);
    if (is_made) {
        pti_server_note_progress(server);
        server->phase = PTI_SERVER_RUNS;
    }
    pthread_mutex_unlock(&server->mutex);
    return is_made ? POLYTILE_OK : fail_server_memory(server, ctx, n_memories);
}

pt_slot *pti_server_get_slot(pti_server *server, int rank) {
    return (pt_slot *)(uintptr_t)&server->slot[rank];
}

/** Nobody waits for what is under way any more. The mutex is locked. */
static void close_server(pti_server *server) {
    server->phase = PTI_SERVER_OVER;
    server->words = NULL;
    server->device = NULL;
    pti_match_forget_all(server);
    pti_server_wake(server, server->n_slots);
}

void pti_server_abandon(pti_server *server) {
    if (server == NULL)
        return;
    pthread_mutex_lock(&server->mutex);
    if (server->phase != PTI_SERVER_OVER)
        pti_server_end(server, POLYTILE_INVALID,
                       "%s: the launch did not run; the next wait says why", server->kernel_name);
    close_server(server);
    pthread_mutex_unlock(&server->mutex);
}

polytile_status pti_server_finish(pti_server *server, polytile_context *ctx) {
    pthread_mutex_lock(&server->mutex);
    close_server(server);
    const polytile_status status = server->status;
    pthread_mutex_unlock(&server->mutex);
    return status == POLYTILE_OK ? status : pti_fail(ctx, status, "%s", server->text);
}
