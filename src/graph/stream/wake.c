#include "graph/stream/stream.h"

#include "base/clock.h"
#include "launch/host/wait/spin.h"

/* Who sleeps, and who is woken. A broadcast would wake all lanes for each task, most of them for
 * nothing. */

/** How long a thread looks for what it waits for before it sleeps, about what it takes to wake. */
static const double spin_s = 20e-6;

void pti_stream_end_waking(polytile_stream *stream) {
    for (int l = 0; l < stream->n_lanes; l++)
        if (stream->lane[l].has_wake)
            pthread_cond_destroy(&stream->lane[l].wake);
    if (!stream->has_mutex)
        return;
    pthread_cond_destroy(&stream->wake);
    pthread_mutex_destroy(&stream->mutex);
}

polytile_status pti_stream_begin_waking(polytile_stream *stream) {
    if (pthread_mutex_init(&stream->mutex, NULL) != 0)
        return pti_stream_fail_memory(stream, PTI_UNKNOWN_BYTES);
    if (pthread_cond_init(&stream->wake, NULL) != 0) {
        pthread_mutex_destroy(&stream->mutex);
        return pti_stream_fail_memory(stream, PTI_UNKNOWN_BYTES);
    }
    stream->has_mutex = true;
    for (int l = 0; l < stream->n_lanes; l++) {
        stream->lane[l].has_wake = pthread_cond_init(&stream->lane[l].wake, NULL) == 0;
        if (!stream->lane[l].has_wake)
            return pti_stream_fail_memory(stream, PTI_UNKNOWN_BYTES);
    }
    for (int l = 0; l < stream->n_lanes; l++)
        stream->n_awake += stream->lane[l].end == PTI_STREAM_BOTH_ENDS;
    return POLYTILE_OK;
}

static void wake_lane(pti_stream_lane *lane) {
    if (!lane->sleeps)
        return;
    __atomic_store_n(&lane->sleeps, false, __ATOMIC_RELAXED);
    lane->stream->n_awake++;
    pthread_cond_signal(&lane->wake);
}

/** Return whether a frame may leave for another rank, which the program sends. */
static bool has_to_send(const polytile_stream *stream) {
    bool has = false;
    for (int l = 0; l < stream->n_lanes; l++)
        has = has || (stream->lane[l].end == PTI_STREAM_SENDS &&
                      pti_stream_find_ready(&stream->lane[l]) >= 0);
    return has;
}

/** The program also has to know when nothing goes on any more: then it waits for itself. */
static void wake_program(polytile_stream *stream) {
    const bool has_room = stream->program == PTI_STREAM_AWAITS_ROOM && pti_stream_has_room(stream);
    const bool has_frame =
        stream->program == PTI_STREAM_AWAITS_FRAME && stream->n_finished > stream->n_pulled;
    if (stream->program == PTI_STREAM_AWAITS_NOTHING ||
        (!has_room && !has_frame && stream->n_awake > 0 && !has_to_send(stream)))
        return;
    __atomic_store_n(&stream->program, PTI_STREAM_AWAITS_NOTHING, __ATOMIC_RELAXED);
    pthread_cond_signal(&stream->wake);
}

void pti_stream_wake(polytile_stream *stream) {
    for (int l = 0; l < stream->n_lanes; l++)
        if (stream->lane[l].sleeps && pti_stream_find_ready(&stream->lane[l]) >= 0)
            wake_lane(&stream->lane[l]);
    wake_program(stream);
}

void pti_stream_wake_long(polytile_stream *stream) {
    for (int l = 0; l < stream->n_lanes; l++) {
        const int task = stream->lane[l].sleeps ? pti_stream_find_ready(&stream->lane[l]) : -1;
        if (task >= 0 && !pti_stream_is_short(&stream->lane[l], task))
            wake_lane(&stream->lane[l]);
    }
    wake_program(stream);
}

void pti_stream_wake_all_lanes(polytile_stream *stream) {
    for (int l = 0; l < stream->n_lanes; l++)
        wake_lane(&stream->lane[l]);
}

static bool is_asleep(const void *lane) {
    return __atomic_load_n(&((const pti_stream_lane *)lane)->sleeps, __ATOMIC_RELAXED);
}

static bool does_program_wait(const void *stream) {
    return __atomic_load_n(&((const polytile_stream *)stream)->program, __ATOMIC_RELAXED) !=
           PTI_STREAM_AWAITS_NOTHING;
}

/** Look a while whether a thread waits no more, without the mutex. */
static void look_a_while(polytile_stream *stream, bool (*waits)(const void *of), const void *of) {
    const double end_s = pti_now_s() + spin_s;
    if (!stream->spins)
        return;
    pthread_mutex_unlock(&stream->mutex);
    while (waits(of) && pti_now_s() < end_s)
        pti_spin_pause();
    pthread_mutex_lock(&stream->mutex);
}

void pti_stream_sleep(pti_stream_lane *lane) {
    polytile_stream *stream = lane->stream;
    lane->sleeps = true;
    stream->n_awake--;
    wake_program(stream);
    look_a_while(stream, is_asleep, lane);
    while (lane->sleeps)
        pthread_cond_wait(&lane->wake, &stream->mutex);
}

void pti_stream_await_lanes(polytile_stream *stream, pti_stream_await what) {
    if (stream->ranks != NULL) {
        pti_stream_await_ranks(stream, what);
        return;
    }
    stream->program = what;
    wake_program(stream);
    look_a_while(stream, does_program_wait, stream);
    while (stream->program != PTI_STREAM_AWAITS_NOTHING)
        pthread_cond_wait(&stream->wake, &stream->mutex);
}
