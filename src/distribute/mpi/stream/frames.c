#include "distribute/mpi/stream/joined.h"

#include "base/checked.h"

#include <stdlib.h>

/* Frames on their way from rank to rank. */

static int tag_of(int task) {
    return PTI_TAG_TASKS + 2 * task;
}

/** Describe a word and a frame's bytes as one message. A block of one is shorter than 2^31. */
static polytile_status describe_message(pti_joined_ranks *joined, const pti_joined_lane *lane,
                                        MPI_Datatype *type) {
    const int64_t n_bytes = lane->crossing.n_bytes;
    const int n = 1 + (int)pti_ceil_div(n_bytes, PTI_MPI_CHUNK_BYTES);
    int *length = calloc((size_t)n, sizeof *length);
    MPI_Aint *at = calloc((size_t)n, sizeof *at);
    polytile_status status = POLYTILE_OK;
    if (length == NULL || at == NULL) {
        status = pti_fail_memory(joined->ctx, "a message", n);
        goto done;
    }
    length[0] = sizeof lane->word;
    PTI_MPI_TRY(joined->ctx, MPI_Get_address(&lane->word, &at[0]));
    for (int k = 1; k < n; k++) {
        const int64_t first = (int64_t)(k - 1) * PTI_MPI_CHUNK_BYTES;
        length[k] = (int)pti_min(PTI_MPI_CHUNK_BYTES, n_bytes - first);
        PTI_MPI_TRY(joined->ctx, MPI_Get_address(lane->crossing.bytes + first, &at[k]));
    }
    PTI_MPI_TRY(joined->ctx, MPI_Type_create_hindexed(n, length, at, MPI_BYTE, type));
    PTI_MPI_TRY(joined->ctx, MPI_Type_commit(type));
done:
    free(length);
    free(at);
    return status;
}

/* Sending. */

static polytile_status send_frame(pti_joined_ranks *joined, pti_joined_lane *lane, int to) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    polytile_status status;
    lane->word = 0;
    PTI_TRY(describe_message(joined, lane, &type));
    PTI_MPI_TRY(joined->ctx, MPI_Isend(MPI_BOTTOM, 1, type, to, tag_of(lane->crossing.task),
                                       joined->comm, &lane->request[0]));
    PTI_MPI_TRY(joined->ctx, MPI_Type_free(&type));
done:
    return status;
}

static polytile_status send_error(pti_joined_ranks *joined, pti_joined_lane *lane, int to) {
    const int tag = tag_of(lane->crossing.task);
    polytile_status status = POLYTILE_OK;
    lane->word = 1;
    lane->note = (pti_lost_note){lane->crossing.failed_task, lane->crossing.error};
    PTI_MPI_TRY(joined->ctx, MPI_Isend(&lane->word, sizeof lane->word, MPI_BYTE, to, tag,
                                       joined->comm, &lane->request[0]));
    PTI_MPI_TRY(joined->ctx, MPI_Isend(&lane->note, sizeof lane->note, MPI_BYTE, to, tag + 1,
                                       joined->comm, &lane->request[1]));
done:
    return status;
}

/** Send the next frame that may leave by a link. */
static polytile_status begin_sending(pti_joined_ranks *joined, polytile_stream *stream, int number,
                                     bool *has_moved) {
    pti_stream_lane *of = &stream->lane[number];
    pti_joined_lane *lane = &joined->lane[number];
    pthread_mutex_lock(&stream->mutex);
    const int task = pti_stream_find_ready(of);
    if (task >= 0)
        pti_stream_begin_crossing(of, task, &lane->crossing);
    pthread_mutex_unlock(&stream->mutex);
    if (task < 0)
        return POLYTILE_OK;
    *has_moved = lane->is_under_way = true;
    const int to = stream->task_ranks[task].to;
    return lane->crossing.is_lost ? send_error(joined, lane, to) : send_frame(joined, lane, to);
}

/* Receiving. */

/** Receive a task's next frame if it has come. */
static polytile_status begin_receiving(pti_joined_ranks *joined, polytile_stream *stream,
                                       int number, int task, bool *has_moved) {
    pti_joined_lane *lane = &joined->lane[number];
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Message message;
    polytile_status status;
    int has_come = 0;
    PTI_MPI_TRY(joined->ctx, MPI_Improbe(stream->task_ranks[task].from, tag_of(task), joined->comm,
                                         &has_come, &message, MPI_STATUS_IGNORE));
    if (!has_come)
        return POLYTILE_OK;
    pthread_mutex_lock(&stream->mutex);
    pti_stream_begin_crossing(&stream->lane[number], task, &lane->crossing);
    pthread_mutex_unlock(&stream->mutex);
    *has_moved = lane->is_under_way = true;
    PTI_TRY(describe_message(joined, lane, &type));
    PTI_MPI_TRY(joined->ctx, MPI_Imrecv(MPI_BOTTOM, 1, type, &message, &lane->request[0]));
    PTI_MPI_TRY(joined->ctx, MPI_Type_free(&type));
done:
    return status;
}

/** Receive any next frame of a link that has come; while streams end, also of frames that were not
 * pushed here. */
static polytile_status begin_receiving_any(pti_joined_ranks *joined, polytile_stream *stream,
                                           int number, bool drains, bool *has_moved) {
    const pti_stream_lane *of = &stream->lane[number];
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < of->n_tasks && !joined->lane[number].is_under_way; k++)
        if (drains || pti_stream_expects(of, of->task[k]))
            PTI_TRY(begin_receiving(joined, stream, number, of->task[k], has_moved));
done:
    return status;
}

/* Both. */

polytile_status pti_joined_test(pti_joined_ranks *joined, int n, MPI_Request *requests,
                                bool *are_done) {
    polytile_status status = POLYTILE_OK;
    *are_done = true;
    for (int k = 0; k < n; k++) {
        int is_done = 0;
        PTI_MPI_TRY(joined->ctx, MPI_Test(&requests[k], &is_done, MPI_STATUS_IGNORE));
        *are_done = *are_done && is_done;
    }
done:
    return status;
}

/** A word says that the frame is lost: what failed comes apart. */
static polytile_status receive_note(pti_joined_ranks *joined, pti_joined_lane *lane, int from) {
    polytile_status status = POLYTILE_OK;
    lane->has_word = true;
    PTI_MPI_TRY(joined->ctx,
                MPI_Irecv(&lane->note, sizeof lane->note, MPI_BYTE, from,
                          tag_of(lane->crossing.task) + 1, joined->comm, &lane->request[1]));
done:
    return status;
}

/** Go on with a transfer under way; *is_done: it has ended. */
static polytile_status go_on(pti_joined_ranks *joined, const polytile_stream *stream, int number,
                             bool *is_done) {
    pti_joined_lane *lane = &joined->lane[number];
    const bool receives = stream->lane[number].end == PTI_STREAM_RECEIVES;
    polytile_status status;
    bool are_done = false;
    *is_done = false;
    PTI_TRY(pti_joined_test(joined, 2, lane->request, &are_done));
    if (are_done && receives && lane->word != 0 && !lane->has_word) {
        PTI_TRY(receive_note(joined, lane, stream->task_ranks[lane->crossing.task].from));
        return POLYTILE_OK;
    }
    if (!are_done)
        return POLYTILE_OK;
    if (lane->has_word) {
        lane->crossing.is_lost = true;
        lane->crossing.failed_task = lane->note.failed_task;
        lane->crossing.error = lane->note.error;
    }
    lane->is_under_way = lane->has_word = false;
    *is_done = true;
done:
    return status;
}

static polytile_status end_transfer(pti_joined_ranks *joined, polytile_stream *stream, int number,
                                    bool *has_moved) {
    bool is_done;
    const polytile_status status = go_on(joined, stream, number, &is_done);
    if (!is_done)
        return status;
    *has_moved = true;
    pthread_mutex_lock(&stream->mutex);
    pti_stream_end_crossing(&stream->lane[number], &joined->lane[number].crossing);
    pti_stream_hand_on_by_program(stream);
    pthread_mutex_unlock(&stream->mutex);
    return status;
}

polytile_status pti_joined_move_frames(pti_joined_ranks *joined, polytile_stream *stream,
                                       bool *has_moved) {
    polytile_status status = POLYTILE_OK;
    for (int l = 0; l < stream->n_lanes; l++) {
        const pti_stream_end end = stream->lane[l].end;
        if (joined->lane[l].is_under_way)
            PTI_TRY(end_transfer(joined, stream, l, has_moved));
        if (end == PTI_STREAM_SENDS && !joined->lane[l].is_under_way)
            PTI_TRY(begin_sending(joined, stream, l, has_moved));
        if (end == PTI_STREAM_RECEIVES)
            PTI_TRY(begin_receiving_any(joined, stream, l, false, has_moved));
    }
done:
    return status;
}

/** Return whether all frames have come that a link's other rank has sent in the end. */
static bool has_all(const pti_joined_ranks *joined, const polytile_stream *stream, int number) {
    const pti_stream_lane *of = &stream->lane[number];
    bool has = !joined->lane[number].is_under_way;
    for (int k = 0; k < of->n_tasks && of->end == PTI_STREAM_RECEIVES; k++) {
        const int from = stream->task_ranks[of->task[k]].from;
        has =
            has && joined->ranks.ended[from].has_ended &&
            stream->done[of->task[k]] >= joined->ranks.heard[from * joined->n_tasks + of->task[k]];
    }
    return has;
}

polytile_status pti_joined_drain_frames(pti_joined_ranks *joined, polytile_stream *stream,
                                        bool *is_done) {
    polytile_status status = POLYTILE_OK;
    bool has_moved;
    *is_done = true;
    for (int l = 0; l < stream->n_lanes; l++) {
        bool has_ended = false;
        if (joined->lane[l].is_under_way)
            PTI_TRY(go_on(joined, stream, l, &has_ended));
        if (has_ended)
            stream->done[joined->lane[l].crossing.task]++;
        if (stream->lane[l].end == PTI_STREAM_RECEIVES)
            PTI_TRY(begin_receiving_any(joined, stream, l, true, &has_moved));
        *is_done = *is_done && has_all(joined, stream, l);
    }
done:
    return status;
}
