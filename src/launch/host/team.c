#include "launch/host/team.h"

#include "access/set/box.h"
#include "base/crash.h"
#include "base/signals.h"
#include "message/server.h"
#include "message/wait.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef enum start_state { START_HELD, START_GIVEN, START_CANCELLED } start_state;

/** The threads of a launch. */
typedef struct team {
    const pti_sub_kernel *sub_kernel;
    pti_server_part *part;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    start_state start; /* slots run only when all threads have started */
    struct team_slot *slot;
    pt_memory *memory;
} team;

typedef struct team_slot {
    team *of;
    int place;
    pthread_t thread;
} team_slot;

/** Return the thread of the declaration whose number in C order is a rank. */
static polytile_domain find_thread(const polytile_domain *threads, int64_t rank) {
    polytile_domain one = *threads;
    int64_t at[POLYTILE_MAX_DIMS];
    pti_box_find_point(threads, rank, at);
    for (int d = 0; d < threads->n_dims; d++)
        one.range[d].lo = one.range[d].hi = at[d];
    return one;
}

static start_state await_start(team *of) {
    pthread_mutex_lock(&of->mutex);
    while (of->start == START_HELD)
        pthread_cond_wait(&of->moved, &of->mutex);
    const start_state state = of->start;
    pthread_mutex_unlock(&of->mutex);
    return state;
}

static void set_start(team *of, start_state state) {
    pthread_mutex_lock(&of->mutex);
    of->start = state;
    pthread_cond_broadcast(&of->moved);
    pthread_mutex_unlock(&of->mutex);
}

static void *run_slot(void *argument) {
    const team_slot *slot = argument;
    const pti_sub_kernel *sub_kernel = slot->of->sub_kernel;
    pti_server_part *part = slot->of->part;
    const int rank = pti_server_part_rank(part, slot->place);
    const polytile_domain thread = find_thread(pti_server_part_threads(part), rank);
    const pti_crash_note note = {sub_kernel->instance->kernel_name,
                                 "was something touched that is not declared?"};
    if (await_start(slot->of) != START_GIVEN)
        return NULL;
    pti_crash_enter(&note);
    sub_kernel->config.implementation->team->host(&thread, sub_kernel->views,
                                                  pti_server_get_slot(part, slot->place));
    pti_crash_enter(NULL);
    pti_server_end_slot(part, rank);
    return NULL;
}

/** Start a thread a slot, which wait for the start; returns how many have started. */
static int start_slots(team *of, int n_slots, int *error) {
    int n_started = 0;
    sigset_t before;
    pti_signals_block(&before);
    while (n_started < n_slots) {
        team_slot *slot = &of->slot[n_started];
        *slot = (team_slot){.of = of, .place = n_started};
        *error = pthread_create(&slot->thread, NULL, run_slot, slot);
        if (*error != 0)
            break;
        n_started++;
    }
    pti_signals_restore(&before);
    return n_started;
}

static void join_threads(team *of, int n_started) {
    for (int k = 0; k < n_started; k++)
        pthread_join(of->slot[k].thread, NULL);
}

static polytile_status refuse_slots(polytile_context *ctx, const pti_sub_kernel *sub_kernel,
                                    int64_t n_slots, int64_t n_most, const char *why) {
    return pti_fail(ctx, POLYTILE_NO_FIT,
                    "%s: %lld slots, and the host runs %lld at once (%s); launch fewer, each of "
                    "which does more",
                    sub_kernel->instance->kernel_name, (long long)n_slots, (long long)n_most, why);
}

/** Let slots run that have all started, when those of other devices are there, too. */
static polytile_status run_threads(polytile_context *ctx, team *of, int n_slots) {
    const pt_memory *memories = of->memory;
    const int n_memories = of->sub_kernel->instance->n_operands;
    int error = 0;
    const int n_started = start_slots(of, n_slots, &error);
    polytile_status status =
        n_started < n_slots
            ? refuse_slots(ctx, of->sub_kernel, n_slots, n_started, strerror(error))
            : pti_server_begin(of->part, ctx, memories, of->sub_kernel->views, n_memories, NULL);
    if (status == POLYTILE_OK)
        status = pti_server_meet(of->part, ctx);
    set_start(of, status == POLYTILE_OK ? START_GIVEN : START_CANCELLED);
    if (status == POLYTILE_OK)
        pti_server_wait(of->part);
    join_threads(of, n_started);
    return status == POLYTILE_OK ? pti_server_finish(of->part, ctx) : status;
}

/** Return where an operand's elements lie. */
static pt_memory find_operand_memory(const pti_operand *operand, const polytile_view *view) {
    int64_t first_bytes = 0, last_bytes = 0;
    for (int d = 0; d < operand->domain.n_dims; d++) {
        first_bytes += view->resident.range[d].lo * view->stride_bytes[d];
        last_bytes += view->resident.range[d].hi * view->stride_bytes[d];
    }
    return (pt_memory){.begin = (const char *)view->origin + first_bytes,
                       .end = (const char *)view->origin + last_bytes + operand->element_bytes,
                       .is_written = operand->writes};
}

void pti_team_find_memories(const pti_sub_kernel *sub_kernel, pt_memory *memories) {
    for (int o = 0; o < sub_kernel->instance->n_operands; o++)
        memories[o] = find_operand_memory(&sub_kernel->instance->operand[o], &sub_kernel->views[o]);
}

static polytile_status serve_threads(polytile_context *ctx, team *of, int n_slots) {
    const pti_instance *instance = of->sub_kernel->instance;
    of->slot = calloc((size_t)n_slots, sizeof *of->slot);
    of->memory = calloc((size_t)instance->n_operands, sizeof *of->memory);
    if (of->slot == NULL || of->memory == NULL)
        return pti_fail_memory(ctx, instance->kernel_name, n_slots * (double)sizeof *of->slot);
    pti_team_find_memories(of->sub_kernel, of->memory);
    return run_threads(ctx, of, n_slots);
}

polytile_status pti_host_run_team(polytile_context *ctx, const pti_sub_kernel *sub_kernel) {
    team of = {.sub_kernel = sub_kernel, .part = sub_kernel->config.part};
    const int n_slots = pti_server_part_n_slots(of.part);
    pthread_mutex_init(&of.mutex, NULL);
    pthread_cond_init(&of.moved, NULL);
    const polytile_status status = serve_threads(ctx, &of, n_slots);
    pthread_cond_destroy(&of.moved);
    pthread_mutex_destroy(&of.mutex);
    free(of.slot);
    free(of.memory);
    return status;
}
