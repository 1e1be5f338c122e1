#include "graph/stream/stream.h"

#include "base/clock.h"

#include <inttypes.h>
#include <time.h>

/* How the program's thread waits for other ranks, and finds out that one has ended. */

bool pti_stream_is_broken(const polytile_stream *stream) {
    return stream->ranks != NULL && stream->ranks->broken.status != POLYTILE_OK;
}

bool pti_stream_progress(polytile_stream *stream) {
    pti_stream_ranks *ranks = stream->ranks;
    bool has_moved = false;
    pti_error error = {0};
    if (ranks == NULL || pti_stream_is_broken(stream))
        return false;
    pti_error *before = pti_redirect_errors(&error);
    const polytile_status status = ranks->functions->progress(ranks, stream, &has_moved);
    pti_error_keep(&ranks->broken, stream->object.context, status);
    pti_redirect_errors(before);
    return has_moved;
}

/** How long the program looks for what others do before it sleeps between looks, and how long it
 * sleeps then. */
static const double look_s = 50e-6;
enum { SLEEP_NS = 20000 };

/** How long a call goes on to tell others at most: a rank that is busy elsewhere may take no
 * message until then. */
static const double tell_s = 1;

void pti_stream_tell_ranks(polytile_stream *stream) {
    pti_stream_ranks *ranks = stream->ranks;
    bool has_moved = pti_stream_progress(stream);
    if (ranks == NULL || !stream->is_synchronous)
        return;
    const double end_s = pti_now_s() + tell_s;
    while (!pti_stream_is_broken(stream) && !ranks->functions->has_told(ranks, stream) &&
           pti_now_s() < end_s) {
        if (!has_moved)
            nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
        has_moved = pti_stream_progress(stream);
    }
}

/** Return whether a rank has ended without a frame that is awaited. What it has pushed goes on
 * until all have ended. */
static bool lacks_frame(const polytile_stream *stream, const pti_ended_rank *ended,
                        pti_stream_await what) {
    if (!ended->has_ended || ended->n_decided > stream->ranks->n_decided)
        return false;
    return what == PTI_STREAM_AWAITS_FRAME ? ended->n_pulled <= stream->n_pulled
                                           : ended->n_pushed <= stream->n_pushed;
}

/** Find out whether what is awaited needs a rank that has ended. The mutex is locked. */
static void look_for_ended(polytile_stream *stream, pti_stream_await what) {
    pti_stream_ranks *ranks = stream->ranks;
    pti_error error = {0}, *before = pti_redirect_errors(&error);
    const int64_t frame = what == PTI_STREAM_AWAITS_FRAME ? stream->n_pulled : stream->n_pushed;
    for (int r = 0; r < ranks->n_ranks && !pti_stream_is_broken(stream); r++)
        if (lacks_frame(stream, &ranks->ended[r], what))
            pti_error_keep(&ranks->broken, stream->object.context,
                           pti_fail(stream->object.context, POLYTILE_DEVICE,
                                    "%s: frame %" PRId64 " does not go on: rank %d has ended its "
                                    "stream after %" PRId64 " frame%s; push and pull the same "
                                    "frames on all ranks",
                                    stream->name, frame, r, ranks->ended[r].n_pulled,
                                    ranks->ended[r].n_pulled == 1 ? "" : "s"));
    pti_redirect_errors(before);
}

/** Sleep until a lane has what is awaited, at most a moment. The mutex is locked. */
static void sleep_a_moment(polytile_stream *stream, pti_stream_await what) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += SLEEP_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    __atomic_store_n(&stream->program, what, __ATOMIC_RELAXED);
    pthread_cond_timedwait(&stream->wake, &stream->mutex, &until);
    __atomic_store_n(&stream->program, PTI_STREAM_AWAITS_NOTHING, __ATOMIC_RELAXED);
}

void pti_stream_await_ranks(polytile_stream *stream, pti_stream_await what) {
    pthread_mutex_unlock(&stream->mutex);
    const bool has_moved = pti_stream_progress(stream);
    const double now_s = pti_now_s();
    pthread_mutex_lock(&stream->mutex);
    if (has_moved) {
        stream->ranks->idle_since_s = 0;
        return;
    }
    if (stream->ranks->idle_since_s == 0)
        stream->ranks->idle_since_s = now_s;
    look_for_ended(stream, what);
    if (now_s - stream->ranks->idle_since_s > look_s)
        sleep_a_moment(stream, what);
}

static bool try_to_agree(pti_stream_ranks *ranks, const polytile_stream *stream, bool *drops) {
    pti_error error = {0};
    bool is_known = false;
    pti_error *before = pti_redirect_errors(&error);
    const polytile_status status = ranks->functions->agree_to_drop(ranks, stream, drops, &is_known);
    pti_error_keep(&ranks->broken, stream->object.context, status);
    pti_redirect_errors(before);
    return is_known;
}

void pti_stream_agree_to_drop(polytile_stream *stream, bool *drops) {
    if (stream->ranks == NULL || stream->ranks->n_ranks == 1)
        return;
    while (!pti_stream_is_broken(stream) && !try_to_agree(stream->ranks, stream, drops)) {
        pthread_mutex_lock(&stream->mutex);
        pti_stream_await_ranks(stream, PTI_STREAM_AWAITS_ROOM);
        pthread_mutex_unlock(&stream->mutex);
    }
}
