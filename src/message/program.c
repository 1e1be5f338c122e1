#include "message/program.h"

#include "base/clock.h"
#include "base/context.h"
#include "message/match.h"
#include "message/processes.h"
#include "message/serve.h"
#include "message/wait.h"

#include <stdio.h>

/** The program has one request. */
enum { REQUEST = 0 };

static polytile_status refuse_call(const pti_server *server, polytile_context *ctx,
                                   const char *call, int rank, int tag, int64_t n_bytes,
                                   const char *why) {
    return pti_fail(ctx, POLYTILE_INVALID, "%s: %s: rank %d, tag %d, %lld bytes: %s",
                    server->kernel_name, call, rank, tag, (long long)n_bytes, why);
}

static polytile_status refuse_rank(const pti_server *server, polytile_context *ctx,
                                   const char *call, int rank, int tag, int64_t n_bytes) {
    char why[96];
    snprintf(why, sizeof why, "the launch has ranks 0 to %d", server->n_slots - 1);
    return refuse_call(server, ctx, call, rank, tag, n_bytes, why);
}

/** Of several processes one has the program that slots speak to. */
static polytile_status refuse_elsewhere(const pti_server *server, polytile_context *ctx,
                                        const char *call) {
    return pti_fail(ctx, POLYTILE_INVALID,
                    "%s: %s: slots speak to the program of rank %d of MPI, and this one is of rank "
                    "%d; wait for the queue here",
                    server->kernel_name, call, PTI_PROGRAM_PROCESS, server->processes->own);
}

/** What has ended the launch, for a call that waited for it. The mutex is locked. */
static polytile_status report_end(const pti_server *server, polytile_context *ctx) {
    if (server->status != POLYTILE_OK)
        return pti_fail(ctx, server->status, "%s", server->text);
    return pti_fail(ctx, POLYTILE_INVALID,
                    "%s: the launch is over, and the program's message with it; send and receive "
                    "while its slots do",
                    server->kernel_name);
}

/** Wait for the program's request, and until nobody copies from or to its memory. The mutex is
 * locked. */
static polytile_status finish_request(pti_server *server, polytile_context *ctx, uint64_t wanted) {
    const uint64_t *word = &server->program_reply.commit;
    if (PT_LOAD_ACQUIRE(word) < wanted)
        pti_wait_for_word(server, server->n_slots, word, wanted);
    while (server->n_copying > 0)
        pthread_cond_wait(&server->changed, &server->mutex);
    return *word >= wanted ? POLYTILE_OK : report_end(server, ctx);
}

static polytile_status post_request(pti_server *server, polytile_context *ctx,
                                    const pti_post *asked) {
    const uint64_t wanted = server->program_reply.commit + 1;
    if (server->is_ending)
        return report_end(server, ctx);
    pti_serve_post(server, asked, asked->n_bytes <= PT_EAGER_BYTES);
    return finish_request(server, ctx, wanted);
}

/** A program that calls again within this time takes the entries itself. */
static const double most_pause_s = 5e-6;

/** Lock the mutex, serve, and carry what comes from other processes and goes there. */
static void begin_call(pti_server *server) {
    double until_s = pti_now_s() + most_pause_s;
    __atomic_store(&server->program_serves_until_s, &until_s, __ATOMIC_RELAXED);
    pti_server_lock(server);
    pti_serve(server);
    if (server->processes != NULL && server->phase != PTI_SERVER_OVER)
        pti_wait_carry(server);
}

polytile_status pti_program_send(pti_server *server, polytile_context *ctx, const void *data,
                                 int64_t n_bytes, int to, int tag) {
    const char *call = "polytile_message_send";
    polytile_status status;
    if (to < 0 || to >= server->n_slots)
        return refuse_rank(server, ctx, call, to, tag, n_bytes);
    if (tag < 0 || n_bytes < 0 || (n_bytes > 0 && data == NULL))
        return refuse_call(server, ctx, call, to, tag, n_bytes,
                           "tags and sizes are 0 or more, and data is not NULL");
    const pti_post asked = {.owner = server->n_slots,
                            .request = REQUEST,
                            .peer = to,
                            .tag = tag,
                            .is_send = true,
                            .data = (char *)(uintptr_t)data,
                            .n_bytes = n_bytes};
    begin_call(server);
    if (pti_is_elsewhere(server, server->n_slots))
        status = refuse_elsewhere(server, ctx, call);
    else
        status = server->phase == PTI_SERVER_OVER ? report_end(server, ctx)
                                                  : post_request(server, ctx, &asked);
    pthread_mutex_unlock(&server->mutex);
    return status;
}

static polytile_status refuse_long_message(const pti_server *server, polytile_context *ctx,
                                           int from, int tag, int64_t message_bytes,
                                           int64_t n_bytes) {
    return pti_fail(ctx, POLYTILE_INVALID,
                    "%s: polytile_message_recv: the message from slot %d, tag %d, has %lld bytes, "
                    "and the memory for it %lld; receive it into as much",
                    server->kernel_name, from, tag, (long long)message_bytes, (long long)n_bytes);
}

/** Receive; a message that is longer stays. The mutex is locked. */
static polytile_status receive_message(pti_server *server, polytile_context *ctx,
                                       const pti_post *asked, pt_status *got) {
    const pt_reply *reply = &server->program_reply;
    polytile_status status = POLYTILE_OK;
    const pti_post *message = pti_match_peek(server, asked);
    if (message == NULL && server->phase == PTI_SERVER_OVER)
        return report_end(server, ctx);
    if (message != NULL && message->n_bytes > asked->n_bytes)
        return refuse_long_message(server, ctx, message->owner, message->tag, message->n_bytes,
                                   asked->n_bytes);
    PTI_TRY(post_request(server, ctx, asked));
    if (reply->n_bytes > asked->n_bytes)
        return refuse_long_message(server, ctx, reply->source, reply->tag, reply->n_bytes,
                                   asked->n_bytes);
    if (got != NULL)
        *got = (pt_status){reply->source, reply->tag, reply->n_bytes};
done:
    return status;
}

polytile_status pti_program_recv(pti_server *server, polytile_context *ctx, void *data,
                                 int64_t n_bytes, int from, int tag, pt_status *got) {
    const char *call = "polytile_message_recv";
    if (from != PT_ANY && (from < 0 || from >= server->n_slots))
        return refuse_rank(server, ctx, call, from, tag, n_bytes);
    if (tag < PT_ANY || n_bytes < 0 || (n_bytes > 0 && data == NULL))
        return refuse_call(server, ctx, call, from, tag, n_bytes,
                           "tags are 0 or more or PT_ANY, sizes 0 or more, and data is not NULL");
    const pti_post asked = {.owner = server->n_slots,
                            .request = REQUEST,
                            .peer = from,
                            .tag = tag,
                            .data = data,
                            .n_bytes = n_bytes};
    begin_call(server);
    const polytile_status status = pti_is_elsewhere(server, server->n_slots)
                                       ? refuse_elsewhere(server, ctx, call)
                                       : receive_message(server, ctx, &asked, got);
    pthread_mutex_unlock(&server->mutex);
    return status;
}

void pti_program_begin_wait(pti_server *server) {
    if (server == NULL)
        return;
    pthread_mutex_lock(&server->mutex);
    server->n_program_waits++;
    pti_wait_serve(server);
    pthread_mutex_unlock(&server->mutex);
}

void pti_program_end_wait(pti_server *server) {
    if (server == NULL)
        return;
    pthread_mutex_lock(&server->mutex);
    server->n_program_waits--;
    pthread_mutex_unlock(&server->mutex);
}
