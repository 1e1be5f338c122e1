#include "distribute/mpi/stream/joined.h"

#include "base/checked.h"

/* Frames on their way from rank to rank. */

static int tag_of(int task) {
    return PTI_TAG_TASKS + 2 * task;
}

/** Begin to send or receive a frame's bytes, or what comes in place of them. */
static polytile_status move_bytes(pti_joined_ranks *joined, pti_joined_lane *lane, int rank,
                                  bool sends) {
    const int tag = tag_of(lane->crossing.task) + 1;
    char *bytes = lane->word ? (char *)&lane->note : lane->crossing.bytes;
    const int64_t n_bytes = lane->word ? (int64_t)sizeof lane->note : lane->crossing.n_bytes;
    polytile_status status = POLYTILE_OK;
    for (int64_t at = 0; at < n_bytes; at += PTI_MPI_CHUNK_BYTES) {
        const int n = (int)pti_min(PTI_MPI_CHUNK_BYTES, n_bytes - at);
        MPI_Request *request = &lane->request[lane->n_requests];
        if (sends)
            PTI_MPI_TRY(joined->ctx,
                        MPI_Isend(bytes + at, n, MPI_BYTE, rank, tag, joined->comm, request));
        else
            PTI_MPI_TRY(joined->ctx,
                        MPI_Irecv(bytes + at, n, MPI_BYTE, rank, tag, joined->comm, request));
        lane->n_requests++;
    }
done:
    return status;
}

/* Sending. */

static polytile_status send_frame(pti_joined_ranks *joined, pti_joined_lane *lane, int to) {
    polytile_status status = POLYTILE_OK;
    lane->word = lane->crossing.is_lost;
    lane->n_requests = 0;
    if (lane->crossing.is_lost)
        lane->note = (pti_lost_note){lane->crossing.failed_task, lane->crossing.error};
    PTI_MPI_TRY(joined->ctx, MPI_Isend(&lane->word, 1, MPI_INT64_T, to, tag_of(lane->crossing.task),
                                       joined->comm, &lane->request[0]));
    lane->n_requests = 1;
    PTI_TRY(move_bytes(joined, lane, to, true));
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
    return send_frame(joined, lane, stream->task_ranks[task].to);
}

/* Receiving. */

/** Look whether a task's next frame has come. */
static polytile_status look_for_frame(pti_joined_ranks *joined, const polytile_stream *stream,
                                      int number, int task) {
    pti_joined_lane *lane = &joined->lane[number];
    polytile_status status = POLYTILE_OK;
    int has_come = 0;
    PTI_MPI_TRY(joined->ctx, MPI_Improbe(stream->task_ranks[task].from, tag_of(task), joined->comm,
                                         &has_come, &lane->come, MPI_STATUS_IGNORE));
    lane->has_come = has_come;
    lane->come_task = task;
done:
    return status;
}

/** Receive a frame that has come, unless units work in a synchronous cycle. */
static polytile_status begin_receiving(pti_joined_ranks *joined, polytile_stream *stream,
                                       int number, bool drains, bool *has_moved) {
    pti_joined_lane *lane = &joined->lane[number];
    const int task = lane->come_task;
    polytile_status status = POLYTILE_OK;
    pthread_mutex_lock(&stream->mutex);
    const bool begins = drains || !pti_stream_is_busy_in_other(stream, task);
    if (begins)
        pti_stream_begin_crossing(&stream->lane[number], task, &lane->crossing);
    pthread_mutex_unlock(&stream->mutex);
    if (!begins)
        return POLYTILE_OK;
    *has_moved = lane->is_under_way = true;
    lane->has_come = false;
    lane->n_requests = 0;
    PTI_MPI_TRY(joined->ctx,
                MPI_Mrecv(&lane->word, 1, MPI_INT64_T, &lane->come, MPI_STATUS_IGNORE));
    PTI_TRY(move_bytes(joined, lane, stream->task_ranks[task].from, false));
done:
    return status;
}

/** Receive any next frame of a link that has come; while streams end, also of frames that were not
 * pushed here. */
static polytile_status begin_receiving_any(pti_joined_ranks *joined, polytile_stream *stream,
                                           int number, bool drains, bool *has_moved) {
    pti_stream_lane *of = &stream->lane[number];
    pti_joined_lane *lane = &joined->lane[number];
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < of->n_tasks && !lane->is_under_way && !lane->has_come; k++)
        if (drains || pti_stream_expects(of, of->task[k]))
            PTI_TRY(look_for_frame(joined, stream, number, of->task[k]));
    if (lane->has_come && !lane->is_under_way)
        PTI_TRY(begin_receiving(joined, stream, number, drains, has_moved));
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

/** Go on with a transfer under way; *is_done: it has ended. */
static polytile_status go_on(pti_joined_ranks *joined, int number, bool *is_done) {
    pti_joined_lane *lane = &joined->lane[number];
    polytile_status status;
    *is_done = false;
    PTI_TRY(pti_joined_test(joined, lane->n_requests, lane->request, is_done));
    if (!*is_done)
        return POLYTILE_OK;
    lane->is_under_way = false;
    if (lane->word) {
        lane->crossing.is_lost = true;
        lane->crossing.failed_task = lane->note.failed_task;
        lane->crossing.error = lane->note.error;
    }
done:
    return status;
}

static polytile_status end_transfer(pti_joined_ranks *joined, polytile_stream *stream, int number,
                                    bool *has_moved) {
    bool is_done;
    const polytile_status status = go_on(joined, number, &is_done);
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
            has && joined->ranks.ended[from].has_stopped &&
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
            PTI_TRY(go_on(joined, l, &has_ended));
        if (has_ended)
            stream->done[joined->lane[l].crossing.task]++;
        if (stream->lane[l].end == PTI_STREAM_RECEIVES)
            PTI_TRY(begin_receiving_any(joined, stream, l, true, &has_moved));
        *is_done = *is_done && has_all(joined, stream, l);
    }
done:
    return status;
}
