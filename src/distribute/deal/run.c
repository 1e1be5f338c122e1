#include "base/checked.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/text.h"
#include "distribute/deal/launch.h"
#include "distribute/members/launch_box.h"
#include "distribute/members/member_array.h"
#include "distribute/members/wait.h"

#include <math.h>
#include <stdlib.h>

/* A launch whose rows are dealt out while it runs: who takes which. The program's thread deals;
 * members' queues wake it when they are done with half of what they have. */

static int n_local_of(const pti_dealt_launch *dealt) {
    return dealt->group->transport->n_local;
}

/** Return a local member's number among the units. */
static int unit_of(const pti_dealt_launch *dealt, int local) {
    return dealt->group->transport->first + local;
}

static double now_in_launch(const pti_dealt_launch *dealt) {
    return pti_now_s() - dealt->begin_s;
}

static const char *name_of_launch(const pti_dealt_launch *dealt) {
    return dealt->recorded->prepared->instance->kernel_name;
}

/* Beginning and end. */

/** Begin the deal with all members as units. */
static polytile_status begin_dealing(pti_dealt_launch *dealt, const pti_gathered *told) {
    const pti_instance *instance = dealt->recorded->prepared->instance;
    const pti_transport *transport = dealt->group->transport;
    polytile_unit units[PTI_DEAL_MAX_UNITS];
    polytile_status status;
    dealt->member = calloc((size_t)n_local_of(dealt), sizeof *dealt->member);
    if (dealt->member == NULL)
        PTI_TRY(pti_fail_memory(dealt->group->ctx, name_of_launch(dealt), sizeof *dealt->member));
    if (told != NULL)
        pti_deal_list_units(dealt->group, told, units);
    else
        pti_group_describe_units(dealt->group, dealt->recorded, dealt->sums->pieces.n_sums == 0,
                                 units);
    PTI_TRY(pti_deal_begin(dealt->group->ctx, &dealt->group->options.policy, name_of_launch(dealt),
                           dealt->sums->pieces.n_sums > 0
                               ? dealt->sums->pieces.n_pieces
                               : pti_range_count(instance->threads.range[0]),
                           transport->n_members, units, &dealt->deal));
    if (told != NULL)
        PTI_TRY(
            pti_deal_join(&dealt->deal, transport->counter, transport->first, transport->n_local));
done:
    return status;
}

static void end_dealing(pti_dealt_launch *dealt) {
    pti_deal_end(&dealt->deal);
    free(dealt->piece);
    free(dealt->member);
}

/** Let each member's arrays contain all that any row touches. */
static polytile_status extend_over_touched(const pti_dealt_launch *dealt) {
    const pti_prepared *prepared = dealt->recorded->prepared;
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < n_local_of(dealt); m++) {
        for (int a = 0; a < prepared->n_arrays; a++)
            if (!prepared->instance->operand[a].is_scratch)
                PTI_TRY(pti_group_extend_array(dealt->group, prepared->position[a], m,
                                               &prepared->touched[a]));
        PTI_TRY(pti_group_extend_for_launch(dealt->group, dealt->recorded, m));
    }
done:
    return status;
}

/** So many launches leave what they touched on a device: each plan goes through all boxes there. */
enum { MOST_KEPT_LAUNCHES = 32 };

static polytile_status keep_few_pieces(pti_dealt_launch *dealt, int local, pti_rows newest,
                                       int64_t n_launches) {
    pti_member_pieces *member = &dealt->member[local];
    const int64_t end = newest.first + newest.count;
    if (member->n_kept == 0)
        member->first_kept = newest.first;
    member->n_kept += (int)n_launches;
    if (member->n_kept < MOST_KEPT_LAUNCHES || dealt->group->member[local]->device->reaches_host)
        return POLYTILE_OK;
    member->n_kept = 0;
    return pti_dealt_forget(dealt, local, (pti_rows){member->first_kept, end - member->first_kept});
}

/* Taking rows. */

static polytile_status add_piece(pti_dealt_launch *dealt, int local, pti_rows rows) {
    pti_member_pieces *member = &dealt->member[local];
    if (!PTI_GROW(dealt->piece, dealt->n_pieces, &dealt->capacity))
        return pti_fail_memory(dealt->group->ctx, name_of_launch(dealt),
                               2 * (double)dealt->n_pieces * (double)sizeof *dealt->piece);
    member->piece[member->n_pieces++] = dealt->n_pieces;
    member->n_rows += rows.count;
    member->n_taken++;
    dealt->piece[dealt->n_pieces++] = (pti_taken_piece){
        .rows = rows, .local = local, .process = pti_transport_process(dealt->group->transport)};
    return POLYTILE_OK;
}

static polytile_status launch_rows(const pti_dealt_launch *dealt, int local, pti_rows rows) {
    const polytile_domain threads = pti_dealt_threads(dealt, rows);
    polytile_status status = POLYTILE_OK;
    if (dealt->sums->pieces.n_sums == 0)
        return pti_group_launch_box(dealt->group, dealt->recorded, local, &threads);
    for (int64_t p = rows.first; p < rows.first + rows.count && status == POLYTILE_OK; p++)
        status = pti_dealt_sums_launch(dealt->group, dealt->recorded, dealt->sums, p, local);
    return status;
}

/** Queue the member's newest piece, and that its results come to the host: those of each launch
 * behind the next launch, which they do not wait for. */
static polytile_status queue_piece(pti_dealt_launch *dealt, int local, pti_rows rows) {
    polytile_queue *queue = dealt->group->member[local];
    const int64_t part = pti_dealt_find_part(dealt, local, rows.count);
    const int64_t end = rows.first + rows.count;
    pti_rows before = {0}, now;
    polytile_status status;
    polytile_queue_pause(queue);
    for (int64_t first = rows.first; first < end; first += part) {
        now = (pti_rows){first, pti_min(part, end - first)};
        PTI_TRY(launch_rows(dealt, local, now));
        if (before.count > 0)
            PTI_TRY(pti_dealt_fetch(dealt, local, before));
        before = now;
    }
    PTI_TRY(pti_dealt_fetch(dealt, local, before));
    PTI_TRY(keep_few_pieces(dealt, local, rows, pti_ceil_div(rows.count, part)));
done:
    polytile_queue_resume(queue);
    return status;
}

static polytile_status take_piece(pti_dealt_launch *dealt, int local, pti_rows rows) {
    polytile_queue *queue = dealt->group->member[local];
    polytile_status status;
    PTI_TRY(add_piece(dealt, local, rows));
    PTI_TRY(queue_piece(dealt, local, rows));
    pthread_mutex_lock(&queue->mutex);
    dealt->piece[dealt->n_pieces - 1].last_item = queue->n_queued;
    pthread_mutex_unlock(&queue->mutex);
done:
    return status;
}

/** So long pieces last that a member has at a time, if they are as short as those before. */
static const double ahead_s = 100e-6;

/** Pieces like those before that a member may have ahead of others, which may be longer than they
 * were: a quarter of an equal share of what is left. */
static double most_ahead(const pti_dealt_launch *dealt, const polytile_unit *unit) {
    const double rows_a_piece = (double)unit->done_rows / fmax((double)unit->done_pieces, 1);
    return (double)dealt->deal.work.rows_left / fmax(rows_a_piece, 1) /
           (4 * dealt->deal.work.n_units);
}

/** A device with memory of its own has a second piece ready while it runs one. Short pieces are run
 * faster than they are handed out one by one. */
static int most_pieces(const pti_dealt_launch *dealt, int local) {
    const polytile_unit *unit = &dealt->deal.unit[unit_of(dealt, local)];
    const double n_ahead = fmin(ahead_s * (double)unit->done_pieces / fmax(unit->busy_s, 1e-9),
                                most_ahead(dealt, unit));
    const int least = dealt->group->member[local]->device->reaches_host ? 1 : 2;
    return n_ahead > least ? (int)fmin(n_ahead, PTI_DEAL_MAX_PIECES) : least;
}

/** Have a member's queue ring when it is done with half of its pieces. */
static void await_half(const pti_dealt_launch *dealt, int local) {
    const pti_member_pieces *member = &dealt->member[local];
    const int64_t piece = member->piece[(member->n_pieces - 1) / 2];
    pti_queue_ring_from(dealt->group->member[local], dealt->piece[piece].last_item);
}

/** Give a member what it gets now; *has_taken stays if that is nothing. */
static polytile_status feed_member(pti_dealt_launch *dealt, int local, bool *has_taken) {
    polytile_status status = POLYTILE_OK;
    const int n_most = most_pieces(dealt, local), n_had = dealt->member[local].n_pieces;
    while (dealt->member[local].n_pieces < n_most) {
        const pti_rows rows =
            pti_deal_take(&dealt->deal, unit_of(dealt, local), now_in_launch(dealt));
        PTI_TRY(dealt->deal.status);
        if (rows.count == 0)
            break;
        PTI_TRY(take_piece(dealt, local, rows));
    }
    if (dealt->member[local].n_pieces > n_had) {
        *has_taken = true;
        await_half(dealt, local);
    }
done:
    return status;
}

/* Being done. */

/** Return the items of a member's queue that are done. */
static int64_t count_done(pti_dealt_launch *dealt, int local) {
    polytile_queue *queue = dealt->group->member[local];
    pthread_mutex_lock(&queue->mutex);
    const int64_t n_done = queue->n_queued - queue->n_left;
    dealt->has_failed |= queue->error.status != POLYTILE_OK;
    pthread_mutex_unlock(&queue->mutex);
    return n_done;
}

/** Return the rows of a member's pieces before one. */
static int64_t rows_before(const pti_dealt_launch *dealt, int local, int piece) {
    int64_t n_rows = 0;
    for (int p = 0; p < piece; p++)
        n_rows += dealt->piece[dealt->member[local].piece[p]].rows.count;
    return n_rows;
}

/** Note the pieces that a member is done with, one after the other since it was last noted, as if
 * their rows took equal time. */
static void note_done(pti_dealt_launch *dealt, int local) {
    pti_member_pieces *member = &dealt->member[local];
    const int64_t n_items = count_done(dealt, local);
    const double begin_s = dealt->deal.dealt[unit_of(dealt, local)].begin_s;
    const double now_s = now_in_launch(dealt);
    int n_done = 0;
    while (n_done < member->n_pieces && dealt->piece[member->piece[n_done]].last_item <= n_items)
        n_done++;
    for (int p = 0; p < n_done; p++)
        pti_deal_done(&dealt->deal, unit_of(dealt, local),
                      begin_s + (now_s - begin_s) * (double)rows_before(dealt, local, p + 1) /
                                    (double)rows_before(dealt, local, n_done));
    member->n_pieces -= n_done;
    for (int p = 0; p < member->n_pieces; p++)
        member->piece[p] = member->piece[p + n_done];
}

/** Let all members take what they get now. */
static polytile_status feed_members(pti_dealt_launch *dealt, bool *has_taken) {
    polytile_status status = POLYTILE_OK;
    *has_taken = false;
    for (int m = 0; m < n_local_of(dealt); m++)
        note_done(dealt, m);
    for (int m = 0; m < n_local_of(dealt) && !dealt->has_failed; m++)
        PTI_TRY(feed_member(dealt, m, has_taken));
done:
    return status;
}

/** A member that is free asks again after so long where members of other processes run rows: nobody
 * rings for these. */
static const double ask_again_s = 50e-6;

/** Return how long to wait for members at most; 0: as long as they run; less: not at all. */
static double longest_wait(const pti_dealt_launch *dealt) {
    const bool is_spread = pti_dealt_is_spread(dealt);
    bool any_runs = false, any_is_free = false;
    for (int m = 0; m < n_local_of(dealt); m++) {
        any_runs |= dealt->member[m].n_pieces > 0;
        any_is_free |= dealt->member[m].n_pieces == 0;
    }
    if (is_spread && any_is_free)
        return ask_again_s;
    if (is_spread)
        return dealt->deal.counter->serve_every_s;
    return any_runs ? 0 : -1;
}

/** Wait until a member is done with something, or asks again; other processes may want to be
 * served. */
static polytile_status await_members(const pti_dealt_launch *dealt, int64_t n_rings) {
    pti_counter *counter = dealt->deal.counter;
    const double most_s = longest_wait(dealt);
    if (most_s == 0)
        pti_bell_wait(&dealt->group->bell, n_rings);
    else if (most_s > 0)
        pti_bell_wait_for(&dealt->group->bell, n_rings, most_s);
    return counter->serve_every_s > 0 ? counter->functions->serve(counter) : POLYTILE_OK;
}

/** After a failure let no process take more rows. Returns the failure, whose text stays. */
static polytile_status stop_dealing(pti_dealt_launch *dealt, polytile_status status) {
    pti_error first = {0};
    pti_error_keep(&first, dealt->group->ctx, status);
    pti_deal_stop(&dealt->deal);
    return pti_error_restore(dealt->group->ctx, &first);
}

/** Deal rows out until all have been, and wait where nobody takes any. If all refuse and nobody
 * runs, they are asked once more: see pti_deal_take(). */
static polytile_status deal_out(pti_dealt_launch *dealt) {
    polytile_status status = POLYTILE_OK;
    bool has_taken;
    while (!pti_deal_is_over(&dealt->deal) && !dealt->has_failed) {
        const int64_t n_rings = pti_bell_count(&dealt->group->bell);
        PTI_TRY(feed_members(dealt, &has_taken));
        if (!has_taken && !pti_deal_is_over(&dealt->deal))
            PTI_TRY(await_members(dealt, n_rings));
    }
done:
    return status != POLYTILE_OK || dealt->has_failed ? stop_dealing(dealt, status) : status;
}

static polytile_status deal_out_and_wait(pti_dealt_launch *dealt) {
    polytile_status status;
    for (int m = 0; m < n_local_of(dealt); m++)
        pti_queue_set_bell(dealt->group->member[m], &dealt->group->bell);
    status = pti_group_wait_members(dealt->group, deal_out(dealt));
    for (int m = 0; m < n_local_of(dealt); m++) {
        pti_queue_set_bell(dealt->group->member[m], NULL);
        note_done(dealt, m);
    }
    return status;
}

/** Forget, after a failure, what members kept to be written, also of rows that nobody took. */
static void forget_takers(pti_dealt_launch *dealt) {
    dealt->n_pieces = pti_min(dealt->n_pieces, 1);
    if (dealt->n_pieces > 0)
        dealt->piece[0] =
            (pti_taken_piece){.rows = {0, dealt->deal.work.n_rows}, .local = PTI_NOBODY};
}

/** Run all rows; with those of other processes, results are where they belong, and where all know
 * that they are. status: a failure before, of which other processes have to learn. */
static polytile_status run_rows(pti_dealt_launch *dealt, polytile_status status) {
    if (status == POLYTILE_OK)
        status = deal_out_and_wait(dealt);
    else
        status = stop_dealing(dealt, status);
    if (pti_dealt_is_spread(dealt))
        status = pti_dealt_meet_after(dealt, status);
    if (status == POLYTILE_OK && pti_dealt_is_spread(dealt))
        status = pti_dealt_sums_spread(dealt);
    if (status == POLYTILE_OK)
        status = pti_dealt_sums_combine(dealt->group, dealt->recorded, dealt->sums);
    return pti_dealt_sums_end(dealt->group, dealt->sums, status);
}

static polytile_status run_dealt(pti_dealt_launch *dealt, polytile_status before) {
    pti_error first = {0};
    const polytile_status status = run_rows(dealt, before);
    if (status != POLYTILE_OK)
        forget_takers(dealt);
    pti_error_keep(&first, dealt->group->ctx, status);
    for (int m = 0; m < n_local_of(dealt); m++)
        pti_error_keep(&first, dealt->group->ctx, pti_dealt_forget_others(dealt, m));
    return pti_error_restore(dealt->group->ctx, &first);
}

static void log_rows(const pti_dealt_launch *dealt) {
    pti_text text = {0};
    for (int m = 0; m < n_local_of(dealt); m++)
        pti_text_add(&text, "%s %lld in %lld pieces on %s", m == 0 ? "" : ",",
                     (long long)dealt->member[m].n_rows, (long long)dealt->member[m].n_taken,
                     pti_queue_text(dealt->group->member[m]));
    if (!text.failed)
        pti_log(dealt->group->ctx, PTI_LOG_INFO, "%s: rows by %s:%s", name_of_launch(dealt),
                dealt->group->options.policy.kind->name, text.data);
    pti_text_free(&text);
}

polytile_status pti_group_deal_rows(pti_group *group, const pti_recorded *recorded,
                                    pti_dealt_sums *sums, const pti_gathered *told) {
    pti_dealt_launch dealt = {
        .group = group, .recorded = recorded, .sums = sums, .begin_s = pti_now_s()};
    polytile_status status;
    status = begin_dealing(&dealt, told);
    if (status == POLYTILE_OK)
        status = extend_over_touched(&dealt);
    if (status == POLYTILE_OK)
        status = pti_group_open_messages(group);
    if (status == POLYTILE_OK || pti_dealt_is_spread(&dealt))
        status = run_dealt(&dealt, status);
    if (status == POLYTILE_OK && sums->pieces.n_sums == 0)
        pti_group_note_speeds(group, recorded, &dealt.deal);
    if (status == POLYTILE_OK)
        log_rows(&dealt);
    end_dealing(&dealt);
    return status;
}
