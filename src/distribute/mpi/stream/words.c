#include "distribute/mpi/stream/joined.h"

#include <string.h>

/* What ranks tell each other beside frames: how far they are, and whether a frame is dropped. */

static int64_t *words_to(const pti_joined_ranks *joined, int rank) {
    return joined->told + (int64_t)rank * pti_n_told_words(joined);
}

/** Write how far this rank is. The last words also count frames that are on their way. */
static void write_words(const pti_joined_ranks *joined, polytile_stream *stream, int64_t *words) {
    pthread_mutex_lock(&stream->mutex);
    words[PTI_TOLD_STAGE] = joined->stage;
    words[PTI_TOLD_PUSHED] = stream->n_pushed;
    words[PTI_TOLD_PULLED] = stream->n_pulled;
    words[PTI_TOLD_DECIDED] = joined->ranks.n_decided;
    memcpy(words + PTI_N_TOLD_WORDS, stream->done, (size_t)joined->n_tasks * sizeof *words);
    for (int l = 0; l < stream->n_lanes && joined->stage >= PTI_JOINED_STOPPED; l++)
        if (stream->lane[l].end == PTI_STREAM_SENDS && joined->lane[l].is_under_way)
            words[PTI_N_TOLD_WORDS + joined->lane[l].crossing.task]++;
    pthread_mutex_unlock(&stream->mutex);
    memcpy(words + pti_failure_place(joined), &joined->failure, sizeof joined->failure);
}

/** Return whether a rank was told of all that has failed. */
static bool knows_failure(const pti_joined_ranks *joined, int rank) {
    return !pti_joined_has_failed(joined) || words_to(joined, rank)[pti_failure_place(joined)] != 0;
}

/** Return whether a rank waits for what it was not told yet. The mutex is not locked. */
static bool has_news_for(const pti_joined_ranks *joined, polytile_stream *stream, int rank) {
    const int64_t *words = words_to(joined, rank), *told = words + PTI_N_TOLD_WORDS;
    const bool *must_tell = joined->must_tell + (int64_t)rank * joined->n_tasks;
    pthread_mutex_lock(&stream->mutex);
    bool has = stream->n_pushed > words[PTI_TOLD_PUSHED] || joined->stage > words[PTI_TOLD_STAGE] ||
               !knows_failure(joined, rank);
    for (int t = 0; t < joined->n_tasks; t++)
        has = has || (must_tell[t] && stream->done[t] > told[t]);
    pthread_mutex_unlock(&stream->mutex);
    return has;
}

static polytile_status send_words(pti_joined_ranks *joined, int rank) {
    polytile_status status = POLYTILE_OK;
    PTI_MPI_TRY(joined->ctx,
                MPI_Isend(words_to(joined, rank), pti_n_told_words(joined), MPI_INT64_T, rank,
                          PTI_TAG_WORDS, joined->comm, &joined->telling[rank]));
done:
    return status;
}

/** Tell a rank the newest, one message after the other: news that come meanwhile are in the next
 * one. */
static polytile_status tell_rank(pti_joined_ranks *joined, polytile_stream *stream, int rank,
                                 bool *has_moved) {
    polytile_status status;
    bool is_free = false;
    PTI_TRY(pti_joined_test(joined, 1, &joined->telling[rank], &is_free));
    if (!is_free || !has_news_for(joined, stream, rank))
        return POLYTILE_OK;
    write_words(joined, stream, words_to(joined, rank));
    PTI_TRY(send_words(joined, rank));
    *has_moved = true;
done:
    return status;
}

static void note_words(pti_joined_ranks *joined, polytile_stream *stream, int rank) {
    const int64_t *words = joined->heard;
    if (!pti_joined_has_failed(joined))
        memcpy(&joined->failure, words + pti_failure_place(joined), sizeof joined->failure);
    if (words[PTI_TOLD_STAGE] != PTI_JOINED_RUNS)
        joined->ranks.ended[rank] = (pti_ended_rank){true,
                                                     words[PTI_TOLD_STAGE] >= PTI_JOINED_STOPPED,
                                                     words[PTI_TOLD_STAGE] == PTI_JOINED_CLEARED,
                                                     words[PTI_TOLD_PUSHED],
                                                     words[PTI_TOLD_PULLED],
                                                     words[PTI_TOLD_DECIDED]};
    pthread_mutex_lock(&stream->mutex);
    joined->ranks.pushed[rank] = words[PTI_TOLD_PUSHED];
    memcpy(joined->ranks.heard + (int64_t)rank * joined->n_tasks, words + PTI_N_TOLD_WORDS,
           (size_t)joined->n_tasks * sizeof *words);
    if (!stream->is_stopping)
        pti_stream_hand_on_by_program(stream);
    pthread_mutex_unlock(&stream->mutex);
}

/** Hear all that others have told. */
static polytile_status hear_all(pti_joined_ranks *joined, polytile_stream *stream,
                                bool *has_moved) {
    polytile_status status;
    MPI_Message message;
    MPI_Status from;
    int has_come = 0;
    do {
        PTI_MPI_TRY(joined->ctx, MPI_Improbe(MPI_ANY_SOURCE, PTI_TAG_WORDS, joined->comm, &has_come,
                                             &message, &from));
        if (!has_come)
            break;
        PTI_MPI_TRY(joined->ctx, MPI_Mrecv(joined->heard, pti_n_told_words(joined), MPI_INT64_T,
                                           &message, MPI_STATUS_IGNORE));
        note_words(joined, stream, from.MPI_SOURCE);
        *has_moved = true;
    } while (has_come);
done:
    return status;
}

polytile_status pti_joined_exchange_words(pti_joined_ranks *joined, polytile_stream *stream,
                                          bool *has_moved) {
    polytile_status status;
    PTI_TRY(hear_all(joined, stream, has_moved));
    for (int r = 0; r < joined->ranks.n_ranks; r++)
        if (r != joined->ranks.rank)
            PTI_TRY(tell_rank(joined, stream, r, has_moved));
done:
    return status;
}

bool pti_joined_has_told(pti_stream_ranks *ranks, polytile_stream *stream) {
    const pti_joined_ranks *joined = (const pti_joined_ranks *)ranks;
    bool has = true;
    for (int r = 0; r < ranks->n_ranks && has; r++)
        has = r == ranks->rank || !has_news_for(joined, stream, r);
    return has;
}

/* Frames that are dropped. */

/** The root says whether a frame is dropped once all have heard of the one before. */
static polytile_status say_to_all(pti_joined_ranks *joined, bool drops, bool *is_known) {
    const int n_ranks = joined->ranks.n_ranks;
    polytile_status status = POLYTILE_OK;
    bool are_free = false;
    PTI_TRY(pti_joined_test(joined, n_ranks, joined->saying, &are_free));
    if (!are_free)
        return POLYTILE_OK;
    *joined->said = drops;
    for (int r = 0; r < n_ranks; r++)
        if (r != joined->ranks.rank)
            PTI_MPI_TRY(joined->ctx, MPI_Issend(joined->said, 1, MPI_INT64_T, r, PTI_TAG_DROPS,
                                                joined->comm, &joined->saying[r]));
    joined->ranks.n_decided++;
    *is_known = true;
done:
    return status;
}

/** Hear what the root says of the next frame. */
static polytile_status hear_of_next(pti_joined_ranks *joined, bool *drops, bool *is_known) {
    polytile_status status = POLYTILE_OK;
    MPI_Message message;
    int64_t word = 0;
    int has_come = 0;
    PTI_MPI_TRY(joined->ctx, MPI_Improbe(joined->ranks.root, PTI_TAG_DROPS, joined->comm, &has_come,
                                         &message, MPI_STATUS_IGNORE));
    if (!has_come)
        return POLYTILE_OK;
    PTI_MPI_TRY(joined->ctx, MPI_Mrecv(&word, 1, MPI_INT64_T, &message, MPI_STATUS_IGNORE));
    joined->ranks.n_decided++;
    *drops = word != 0;
    *is_known = true;
done:
    return status;
}

polytile_status pti_joined_agree_to_drop(pti_stream_ranks *ranks, const polytile_stream *stream,
                                         bool *drops, bool *is_known) {
    pti_joined_ranks *joined = (pti_joined_ranks *)ranks;
    pti_joined_note_failure(joined, ranks->rank == ranks->root
                                        ? say_to_all(joined, *drops, is_known)
                                        : hear_of_next(joined, drops, is_known));
    return pti_joined_has_failed(joined) ? pti_joined_fail(joined, stream) : POLYTILE_OK;
}

/* The end. */

/** Say to a rank that this one has ended, once the words before are sent; *is_done: it has them. */
static polytile_status say_last(pti_joined_ranks *joined, polytile_stream *stream, int rank,
                                bool *is_done) {
    int64_t *words = words_to(joined, rank);
    polytile_status status;
    bool is_free = false;
    PTI_TRY(pti_joined_test(joined, 1, &joined->telling[rank], &is_free));
    *is_done = is_free && words[PTI_TOLD_STAGE] == joined->stage && knows_failure(joined, rank);
    if (!is_free || *is_done)
        return POLYTILE_OK;
    write_words(joined, stream, words);
    PTI_TRY(send_words(joined, rank));
done:
    return status;
}

static bool has_come_as_far(const pti_joined_ranks *joined, int rank) {
    const pti_ended_rank *other = &joined->ranks.ended[rank];
    return joined->stage == PTI_JOINED_CLEARED ? other->has_cleared : other->has_stopped;
}

polytile_status pti_joined_exchange_last_words(pti_joined_ranks *joined, polytile_stream *stream,
                                               bool *is_done) {
    const int n_ranks = joined->ranks.n_ranks;
    bool drops, is_known, has_moved, has_heard;
    polytile_status status;
    bool are_free = false;
    *is_done = true;
    PTI_TRY(hear_all(joined, stream, &has_moved));
    if (joined->ranks.rank != joined->ranks.root && !pti_joined_has_failed(joined))
        PTI_TRY(hear_of_next(joined, &drops, &is_known));
    for (int r = 0; r < n_ranks; r++) {
        if (r == joined->ranks.rank)
            continue;
        PTI_TRY(say_last(joined, stream, r, &has_heard));
        *is_done = *is_done && has_heard && has_come_as_far(joined, r);
    }
    if (pti_joined_has_failed(joined))
        return POLYTILE_OK;
    PTI_TRY(pti_joined_test(joined, n_ranks, joined->saying, &are_free));
    const pti_ended_rank *root = &joined->ranks.ended[joined->ranks.root];
    *is_done =
        *is_done && are_free &&
        (joined->ranks.rank == joined->ranks.root || root->n_decided == joined->ranks.n_decided);
done:
    return status;
}
