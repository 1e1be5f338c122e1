#include "distribute/mpi/stream/joined.h"

#include "base/checked.h"
#include "base/text.h"
#include "distribute/group/words.h"
#include "launch/host/host.h"

#include <polytile/mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Streams of the ranks of a communicator: how they begin together and end together. */

static polytile_status exchange_all(pti_joined_ranks *joined, polytile_stream *stream,
                                    bool *has_moved) {
    polytile_status status;
    PTI_TRY(pti_joined_exchange_words(joined, stream, has_moved));
    PTI_TRY(pti_joined_move_frames(joined, stream, has_moved));
    PTI_TRY(pti_joined_exchange_words(joined, stream, has_moved));
done:
    return status;
}

/** After a failure words alone go on, by which all ranks learn of it. */
static polytile_status make_progress(pti_stream_ranks *ranks, polytile_stream *stream,
                                     bool *has_moved) {
    pti_joined_ranks *joined = (pti_joined_ranks *)ranks;
    if (!pti_joined_has_failed(joined))
        pti_joined_note_failure(joined, exchange_all(joined, stream, has_moved));
    if (!pti_joined_has_failed(joined))
        return POLYTILE_OK;
    pti_joined_note_failure(joined, pti_joined_exchange_words(joined, stream, has_moved));
    return pti_joined_fail(joined, stream);
}

/* The end. */

static void take_a_nap(void) {
    nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
}

static bool have_all_ended(const pti_joined_ranks *joined) {
    bool have = true;
    for (int r = 0; r < joined->ranks.n_ranks; r++)
        have = have && (r == joined->ranks.rank || joined->ranks.ended[r].has_ended);
    return have;
}

/** This rank's program has ended the stream: what others need of it goes on until they have, too.
 * All of them hear of that from all. */
static void let_others_end(pti_stream_ranks *ranks, polytile_stream *stream) {
    pti_joined_ranks *joined = (pti_joined_ranks *)ranks;
    pti_error error = {0}, *before = pti_redirect_errors(&error);
    const bool is_up = joined->is_joined && pti_mpi_is_up();
    const double end_s = pti_joined_end_of_patience();
    joined->stage = PTI_JOINED_ENDS;
    while (is_up && !have_all_ended(joined) && !pti_joined_gives_up(joined, end_s)) {
        bool has_moved = false;
        make_progress(ranks, stream, &has_moved);
        if (!has_moved)
            take_a_nap();
    }
    pti_redirect_errors(before);
}

/** Say the last words, and take what comes; *is_done: that is all. */
static void go_on_ending(pti_joined_ranks *joined, polytile_stream *stream, bool *is_done) {
    bool are_said = false, are_there = false;
    polytile_status status = pti_joined_exchange_last_words(joined, stream, &are_said);
    if (status == POLYTILE_OK && !pti_joined_has_failed(joined))
        status = pti_joined_drain_frames(joined, stream, &are_there);
    pti_joined_note_failure(joined, status);
    *is_done = status == POLYTILE_OK && are_said && (are_there || pti_joined_has_failed(joined));
}

/** Wait until no message of the stream is under way to or from any rank. */
static void end_together(pti_joined_ranks *joined, polytile_stream *stream) {
    pti_error error = {0}, *before = pti_redirect_errors(&error);
    const double end_s = pti_joined_end_of_patience();
    bool is_done = false;
    joined->stage = PTI_JOINED_STOPPED;
    while (!is_done && !pti_joined_gives_up(joined, end_s)) {
        go_on_ending(joined, stream, &is_done);
        take_a_nap();
    }
    if (pti_joined_has_failed(joined))
        pti_joined_abandon(joined, stream);
    pti_redirect_errors(before);
}

/** After a failure messages may be left, which must not reach another communicator: so this one
 * stays. */
static void close_ranks(pti_stream_ranks *ranks, polytile_stream *stream) {
    pti_joined_ranks *joined = (pti_joined_ranks *)ranks;
    if (joined->is_joined && pti_mpi_is_up())
        end_together(joined, stream);
    if (joined->comm != MPI_COMM_NULL && pti_mpi_is_up() && !pti_joined_has_failed(joined))
        MPI_Comm_free(&joined->comm);
    free(joined->lane);
    free(joined->request);
    free(joined->must_tell);
    free(joined->told);
    free(joined->telling);
    free(joined->said);
    free(joined->saying);
    free(joined->heard);
    free(joined);
}

const pti_stream_ranks_functions pti_joined_functions = {.progress = make_progress,
                                                         .agree_to_drop = pti_joined_agree_to_drop,
                                                         .has_told = pti_joined_has_told,
                                                         .end = let_others_end,
                                                         .close = close_ranks};

/* The beginning. */

/** Join a rank with the others of a transport; *joined is closed by its functions. */
static polytile_status join_rank(polytile_context *ctx, pti_transport *setup,
                                 pti_joined_ranks **joined) {
    const pti_mpi_transport *mpi = pti_mpi_of(setup);
    polytile_status status = POLYTILE_OK;
    pti_joined_ranks *made = calloc(1, sizeof *made);
    *joined = made;
    if (made == NULL)
        return pti_fail_memory(ctx, "a stream over ranks", sizeof *made);
    made->ranks = (pti_stream_ranks){
        .functions = &pti_joined_functions, .rank = mpi->rank, .n_ranks = mpi->n_ranks};
    made->ctx = ctx;
    made->comm = MPI_COMM_NULL;
    return status;
}

/** Return the most messages of a transfer. */
static size_t count_requests(const polytile_stream *stream) {
    int64_t most_bytes = 1;
    for (int b = 0; b < stream->expansion.tasks.n_buffers; b++)
        most_bytes = pti_max(most_bytes, stream->expansion.tasks.buffer[b].frame_bytes);
    return 1 + (size_t)pti_ceil_div(most_bytes, PTI_MPI_CHUNK_BYTES);
}

/** Give a rank's part the lists that go with the others. */
static polytile_status prepare_lists(pti_joined_ranks *joined, const polytile_stream *stream) {
    const size_t n_ranks = (size_t)joined->ranks.n_ranks;
    const size_t n_requests = count_requests(stream);
    const int n_tasks = stream->expansion.tasks.n_tasks;
    joined->n_tasks = n_tasks;
    joined->n_lanes = stream->n_lanes;
    joined->n_requests = n_requests * (size_t)stream->n_lanes;
    joined->lane = calloc((size_t)stream->n_lanes + 1, sizeof *joined->lane);
    joined->request = calloc(n_requests * ((size_t)stream->n_lanes + 1), sizeof *joined->request);
    joined->must_tell = calloc(n_ranks * ((size_t)n_tasks + 1), sizeof *joined->must_tell);
    joined->told = calloc(n_ranks * (size_t)pti_n_told_words(joined), sizeof *joined->told);
    joined->telling = calloc(n_ranks, sizeof(MPI_Request));
    joined->said = calloc(1, sizeof *joined->said);
    joined->saying = calloc(n_ranks, sizeof(MPI_Request));
    joined->heard = calloc((size_t)pti_n_told_words(joined), sizeof *joined->heard);
    if (joined->lane == NULL || joined->request == NULL || joined->must_tell == NULL ||
        joined->told == NULL || joined->telling == NULL || joined->said == NULL ||
        joined->saying == NULL || joined->heard == NULL)
        return pti_stream_fail_memory(stream, PTI_UNKNOWN_BYTES);
    for (size_t r = 0; r < n_ranks; r++)
        joined->telling[r] = joined->saying[r] = MPI_REQUEST_NULL;
    for (size_t k = 0; k < n_requests * (size_t)stream->n_lanes; k++)
        joined->request[k] = MPI_REQUEST_NULL;
    for (int l = 0; l < stream->n_lanes; l++)
        joined->lane[l].request = &joined->request[(size_t)l * n_requests];
    for (int r = 0; r < joined->ranks.n_ranks; r++)
        for (int t = 0; t < n_tasks; t++)
            joined->must_tell[r * n_tasks + t] = pti_stream_must_tell(stream, r, t);
    return POLYTILE_OK;
}

/** All implementations of MPI have as many tags. */
enum { MOST_TAGS = 32767 };

static polytile_status check_tags(const polytile_stream *stream) {
    const int most = (MOST_TAGS - PTI_TAG_TASKS) / 2;
    if (stream->expansion.tasks.n_tasks <= most)
        return POLYTILE_OK;
    return pti_fail(stream->object.context, POLYTILE_UNSUPPORTED,
                    "%s: a round has %d firings and transfers, and streams over ranks run at most "
                    "%d; use fewer actors, or fewer frames in turn",
                    stream->name, stream->expansion.tasks.n_tasks, most);
}

static void write_part(const pti_part *part, pti_text *words) {
    pti_text_add(words, "%d %d ", part->actor, part->unit);
    for (int d = 0; d < part->threads.n_dims; d++)
        pti_text_add(words, "%lld:%lld;", (long long)part->threads.range[d].lo,
                     (long long)part->threads.range[d].hi);
}

/** Everything of a plan by which ranks must agree: tasks, buffers, when and where they are. */
static void write_plan(const polytile_graph_plan *plan, pti_text *words) {
    const pti_stream_tasks *tasks = &plan->expansion.tasks;
    pti_text_add(words, "%d %lld;", pti_n_turns(tasks), (long long)plan->schedule.period);
    for (int t = 0; t < tasks->n_tasks; t++) {
        const pti_task_note *note = &plan->expansion.task[t];
        pti_text_add(words, "%d %d %d %d %d %d %d %lld %lld %lld;", tasks->task[t].resource,
                     tasks->task[t].turn, (int)note->kind, note->actor, note->array, note->from,
                     note->to, (long long)note->offset_bytes, (long long)note->n_bytes,
                     (long long)plan->schedule.start[t]);
    }
    for (int b = 0; b < tasks->n_buffers; b++) {
        const pti_channel *channel = &plan->channel[b];
        pti_text_add(words, "%s %d %d %lld %lld %d %lld;", channel->array, channel->memory,
                     tasks->buffer[b].producer, (long long)tasks->buffer[b].frame_bytes,
                     (long long)channel->capacity, channel->colour,
                     (long long)channel->offset_bytes);
    }
    for (int r = 0; r < tasks->n_readers; r++)
        pti_text_add(words, "%d %d;", tasks->reader[r].task, tasks->reader[r].delay);
    for (int p = 0; p < plan->n_parts; p++)
        write_part(&plan->part[p], words);
    for (int u = 0; u < plan->n_units; u++)
        pti_text_add(words, "%s %d;", plan->unit[u].name, plan->unit[u].rank);
}

/** Say what ranks compare; the text has the hash of all of it. False: no memory. */
static bool describe_stream(const polytile_graph *graph, const polytile_graph_plan *plan,
                            bool drops, uint64_t *hash, pti_text *shown) {
    pti_text graph_words = {0}, plan_words = {0};
    pti_stream_write_graph(graph, &graph_words);
    write_plan(plan, &plan_words);
    const bool is_written = !graph_words.failed && !plan_words.failed;
    if (is_written)
        pti_text_add(shown, "a stream of %.100s %016llx by plan %016llx, a frame every %.3g s%s",
                     plan->name, (unsigned long long)pti_words_hash(graph_words.data),
                     (unsigned long long)pti_words_hash(plan_words.data), plan->period_s,
                     drops ? ", which drops frames" : "");
    pti_text_free(&graph_words);
    pti_text_free(&plan_words);
    if (!is_written || shown->failed)
        return false;
    *hash = pti_words_hash(shown->data);
    return true;
}

/** Predictions depend on what is bound, and plans on predictions. */
static polytile_status explain_difference(polytile_context *ctx, const char *name,
                                          polytile_status status) {
    return status != POLYTILE_INVALID
               ? status
               : pti_error_prefix(ctx, status,
                                  "%s: the ranks have not the same graph, plan and options (bind "
                                  "after planning, or the same on all ranks, or give seconds=): ",
                                  name);
}

static polytile_status compare_plans(pti_transport *setup, const polytile_graph *graph,
                                     const polytile_graph_plan *plan, bool drops) {
    pti_text shown = {0};
    uint64_t hash = 0;
    polytile_status status =
        describe_stream(graph, plan, drops, &hash, &shown)
            ? POLYTILE_OK
            : pti_fail_memory(setup->ctx, "comparing plans", PTI_UNKNOWN_BYTES);
    PTI_TRY(setup->functions->agree(setup, status));
    status = explain_difference(setup->ctx, plan->name,
                                setup->functions->compare(setup, hash, shown.data));
done:
    pti_text_free(&shown);
    return status;
}

/** Create a rank's part, with no more threads than its share of the cores. */
static polytile_status create_part(pti_transport *setup, const polytile_graph *graph,
                                   const polytile_graph_plan *plan,
                                   const polytile_stream_options *options, polytile_stream **made) {
    pti_joined_ranks *joined = NULL;
    int n_cores;
    polytile_status status;
    PTI_TRY(pti_mpi_share_cores(setup->ctx, pti_mpi_of(setup)->comm, &n_cores));
    PTI_TRY(join_rank(setup->ctx, setup, &joined));
    const int n_threads = pti_host_lower_threads(n_cores);
    status = pti_stream_create_part(graph, plan, options, &joined->ranks, made);
    pti_host_restore_threads(n_threads);
    if (status != POLYTILE_OK)
        return status;
    PTI_TRY(check_tags(*made));
    status = prepare_lists(joined, *made);
done:
    return status;
}

/** The communicator of the setup becomes the stream's. */
static void begin_together(pti_transport *setup, polytile_stream *made) {
    pti_joined_ranks *joined = (pti_joined_ranks *)made->ranks;
    joined->comm = pti_mpi_of(setup)->comm;
    pti_mpi_of(setup)->comm = MPI_COMM_NULL;
    joined->is_joined = true;
}

/** Create the parts of all ranks, or none. */
static polytile_status create_on_ranks(pti_transport *setup, const polytile_graph *graph,
                                       const polytile_graph_plan *plan,
                                       const polytile_stream_options *options,
                                       polytile_stream **stream) {
    polytile_stream *made = NULL;
    polytile_status status;
    PTI_TRY(compare_plans(setup, graph, plan, options != NULL && options->drops_when_full));
    status = setup->functions->agree(setup, create_part(setup, graph, plan, options, &made));
    if (status == POLYTILE_OK) {
        begin_together(setup, made);
        *stream = made;
        return POLYTILE_OK;
    }
    pti_error failed = {0};
    pti_error_keep(&failed, setup->ctx, status);
    polytile_stream_destroy(made);
    return pti_error_restore(setup->ctx, &failed);
done:
    return status;
}

polytile_status polytile_mpi_stream_create(const polytile_graph *graph,
                                           const polytile_graph_plan *plan, MPI_Comm comm,
                                           const polytile_stream_options *options,
                                           polytile_stream **stream) {
    polytile_status status;
    pti_transport *setup = NULL;
    if (stream != NULL)
        *stream = NULL;
    PTI_ENTER(graph, graph->object.context, "graph");
    polytile_context *ctx = graph->object.context;
    if (plan == NULL || stream == NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: a stream needs a plan of the graph, and a place for it",
                        graph->dot->source);
    PTI_TRY(pti_mpi_check_use(ctx, comm, "a stream"));
    PTI_TRY(pti_transport_mpi_create(ctx, comm, 1, &setup));
    PTI_TRY(create_on_ranks(setup, graph, plan, options, stream));
done:
    if (setup != NULL)
        setup->functions->close(setup);
    return status;
}
