#include "base/checked.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/text.h"
#include "distribute/group/deal_launch.h"

#include <math.h>
#include <stdlib.h>

/* A launch whose rows are dealt out while it runs: who takes which. The program's thread deals;
 * members' queues wake it when they are done with half of what they have. */

static int n_local_of(const pti_dealt_launch *of) {
    return of->group->transport->n_local;
}

static const char *name_of_launch(const pti_dealt_launch *of) {
    return of->recorded->prepared->instance->kernel_name;
}

/* Beginning and end. */

static polytile_status begin_dealing(pti_dealt_launch *of) {
    const pti_instance *instance = of->recorded->prepared->instance;
    polytile_unit units[PTI_DEAL_MAX_UNITS];
    polytile_status status;
    of->member = calloc((size_t)n_local_of(of), sizeof *of->member);
    if (of->member == NULL)
        PTI_TRY(pti_fail_memory(of->group->ctx, name_of_launch(of), sizeof *of->member));
    pti_group_describe_units(of->group, of->recorded, of->sums->pieces.n_sums == 0, units);
    PTI_TRY(pti_deal_begin(of->group->ctx, &of->group->options.policy, name_of_launch(of),
                           of->sums->pieces.n_sums > 0
                               ? of->sums->pieces.n_pieces
                               : pti_range_count(instance->threads.range[0]),
                           n_local_of(of), units, &of->deal));
done:
    return status;
}

static void end_dealing(pti_dealt_launch *of) {
    pti_deal_end(&of->deal);
    free(of->piece);
    free(of->member);
}

/** Let each member's arrays contain all that any row touches. */
static polytile_status reach_touched(const pti_dealt_launch *of) {
    const pti_prepared *prepared = of->recorded->prepared;
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < n_local_of(of); m++) {
        for (int a = 0; a < prepared->n_arrays; a++)
            if (!prepared->instance->operand[a].is_scratch)
                PTI_TRY(
                    pti_group_reach(of->group, prepared->position[a], m, &prepared->touched[a]));
        PTI_TRY(pti_group_reach_operands(of->group, of->recorded, m));
    }
done:
    return status;
}

/** So many pieces leave what they touched on a device: each plan goes through all boxes there. */
enum { MOST_KEPT_PIECES = 32 };

static polytile_status keep_few_pieces(pti_dealt_launch *of, int local, pti_rows newest) {
    pti_member_pieces *member = &of->member[local];
    const int64_t first = member->n_kept == 0 ? newest.first : member->first_kept;
    const int64_t end = newest.first + newest.count;
    member->first_kept = first;
    member->n_kept = (member->n_kept + 1) % MOST_KEPT_PIECES;
    if (member->n_kept > 0 || of->group->member[local]->device->reaches_host)
        return POLYTILE_OK;
    return pti_dealt_forget(of, local, (pti_rows){first, end - first});
}

/* Taking rows. */

static polytile_status add_piece(pti_dealt_launch *of, int local, pti_rows rows) {
    pti_member_pieces *member = &of->member[local];
    if (!PTI_GROW(of->piece, of->n_pieces, &of->capacity))
        return pti_fail_memory(of->group->ctx, name_of_launch(of),
                               2 * (double)of->n_pieces * (double)sizeof *of->piece);
    member->piece[member->n_pieces++] = of->n_pieces;
    member->n_rows += rows.count;
    member->n_taken++;
    of->piece[of->n_pieces++] = (pti_taken_piece){.rows = rows, .local = local};
    return POLYTILE_OK;
}

static polytile_status launch_rows(const pti_dealt_launch *of, int local, pti_rows rows) {
    const polytile_domain threads = pti_dealt_threads(of, rows);
    polytile_status status = POLYTILE_OK;
    if (of->sums->pieces.n_sums == 0)
        return pti_group_launch_box(of->group, of->recorded, local, &threads);
    for (int64_t p = rows.first; p < rows.first + rows.count && status == POLYTILE_OK; p++)
        status = pti_dealt_sums_launch(of->group, of->recorded, of->sums, p, local);
    return status;
}

/** Queue the member's newest piece, and that its results come to the host. */
static polytile_status queue_piece(pti_dealt_launch *of, int local, pti_rows rows) {
    polytile_queue *queue = of->group->member[local];
    polytile_status status;
    polytile_queue_pause(queue);
    PTI_TRY(launch_rows(of, local, rows));
    PTI_TRY(pti_dealt_fetch(of, local, rows));
    PTI_TRY(keep_few_pieces(of, local, rows));
done:
    polytile_queue_resume(queue);
    return status;
}

static polytile_status take_piece(pti_dealt_launch *of, int local, pti_rows rows) {
    polytile_queue *queue = of->group->member[local];
    polytile_status status;
    PTI_TRY(add_piece(of, local, rows));
    PTI_TRY(queue_piece(of, local, rows));
    pthread_mutex_lock(&queue->mutex);
    of->piece[of->n_pieces - 1].last_item = queue->n_queued;
    pthread_mutex_unlock(&queue->mutex);
done:
    return status;
}

/** So long pieces last that a member has at a time, if they are as short as those before. */
static const double ahead_s = 100e-6;

/** Pieces like those before that a member may have ahead of others, which may be longer than they
 * were: a quarter of an equal share of what is left. */
static double most_ahead(const pti_dealt_launch *of, const polytile_unit *unit) {
    const double rows_a_piece = (double)unit->done_rows / fmax((double)unit->done_pieces, 1);
    return (double)of->deal.work.rows_left / fmax(rows_a_piece, 1) / (4 * n_local_of(of));
}

/** A device with memory of its own has a second piece ready while it runs one. Short pieces are run
 * faster than they are handed out one by one. */
static int most_pieces(const pti_dealt_launch *of, int local) {
    const polytile_unit *unit = &of->deal.unit[local];
    const double n_ahead =
        fmin(ahead_s * (double)unit->done_pieces / fmax(unit->busy_s, 1e-9), most_ahead(of, unit));
    const int least = of->group->member[local]->device->reaches_host ? 1 : 2;
    return n_ahead > least ? (int)fmin(n_ahead, PTI_DEAL_MAX_PIECES) : least;
}

/** A member tells when it is done with half of its pieces. */
static void await_half(const pti_dealt_launch *of, int local) {
    const pti_member_pieces *member = &of->member[local];
    const int64_t piece = member->piece[(member->n_pieces - 1) / 2];
    pti_queue_ring_from(of->group->member[local], of->piece[piece].last_item);
}

/** Give a member what it gets now; *has_taken stays if that is nothing. */
static polytile_status feed_member(pti_dealt_launch *of, int local, bool *has_taken) {
    polytile_status status = POLYTILE_OK;
    const int n_most = most_pieces(of, local), n_had = of->member[local].n_pieces;
    while (of->member[local].n_pieces < n_most) {
        const pti_rows rows = pti_deal_take(&of->deal, local, pti_now_s());
        if (rows.count == 0)
            break;
        PTI_TRY(take_piece(of, local, rows));
    }
    if (of->member[local].n_pieces > n_had) {
        *has_taken = true;
        await_half(of, local);
    }
done:
    return status;
}

/* Being done. */

/** The items of a member's queue that are done. */
static int64_t count_done(pti_dealt_launch *of, int local) {
    polytile_queue *queue = of->group->member[local];
    pthread_mutex_lock(&queue->mutex);
    const int64_t n_done = queue->n_queued - queue->n_left;
    of->has_failed |= queue->error.status != POLYTILE_OK;
    pthread_mutex_unlock(&queue->mutex);
    return n_done;
}

/** The rows of a member's pieces before one. */
static int64_t rows_before(const pti_dealt_launch *of, int local, int piece) {
    int64_t n_rows = 0;
    for (int p = 0; p < piece; p++)
        n_rows += of->piece[of->member[local].piece[p]].rows.count;
    return n_rows;
}

/** Note the pieces that a member is done with, one after the other since it was last noted, as if
 * their rows took equal time. */
static void note_done(pti_dealt_launch *of, int local) {
    pti_member_pieces *member = &of->member[local];
    const int64_t n_items = count_done(of, local);
    const double begin_s = of->deal.dealt[local].begin_s, now_s = pti_now_s();
    int n_done = 0;
    while (n_done < member->n_pieces && of->piece[member->piece[n_done]].last_item <= n_items)
        n_done++;
    for (int p = 0; p < n_done; p++)
        pti_deal_done(&of->deal, local,
                      begin_s + (now_s - begin_s) * (double)rows_before(of, local, p + 1) /
                                    (double)rows_before(of, local, n_done));
    member->n_pieces -= n_done;
    for (int p = 0; p < member->n_pieces; p++)
        member->piece[p] = member->piece[p + n_done];
}

static bool does_anyone_run(const pti_dealt_launch *of) {
    for (int m = 0; m < n_local_of(of); m++) {
        if (of->member[m].n_pieces > 0)
            return true;
    }
    return false;
}

/** Let all members take what they get now. */
static polytile_status feed_members(pti_dealt_launch *of, bool *has_taken) {
    polytile_status status = POLYTILE_OK;
    *has_taken = false;
    for (int m = 0; m < n_local_of(of); m++)
        note_done(of, m);
    for (int m = 0; m < n_local_of(of) && !of->has_failed; m++)
        PTI_TRY(feed_member(of, m, has_taken));
done:
    return status;
}

/** Where all refuse and nobody runs, they are asked once more: see pti_deal_take(). */
static polytile_status deal_out(pti_dealt_launch *of) {
    polytile_status status = POLYTILE_OK;
    bool has_taken;
    while (!pti_deal_is_over(&of->deal) && !of->has_failed) {
        const int64_t n_rings = pti_bell_count(&of->group->bell);
        PTI_TRY(feed_members(of, &has_taken));
        if (!has_taken && does_anyone_run(of))
            pti_bell_wait(&of->group->bell, n_rings);
    }
done:
    return status;
}

static polytile_status deal_out_and_wait(pti_dealt_launch *of) {
    polytile_status status;
    for (int m = 0; m < n_local_of(of); m++)
        pti_queue_set_bell(of->group->member[m], &of->group->bell);
    status = pti_group_wait_members(of->group, deal_out(of));
    for (int m = 0; m < n_local_of(of); m++) {
        pti_queue_set_bell(of->group->member[m], NULL);
        note_done(of, m);
    }
    return status;
}

/** After a failure no member keeps anything that was to be written, also of rows that nobody
 * took. */
static void forget_takers(pti_dealt_launch *of) {
    of->n_pieces = pti_min(of->n_pieces, 1);
    if (of->n_pieces > 0)
        of->piece[0] = (pti_taken_piece){.rows = {0, of->deal.work.n_rows}, .local = PTI_NOBODY};
}

static polytile_status run_dealt(pti_dealt_launch *of) {
    pti_error first = {0};
    polytile_status status = deal_out_and_wait(of);
    if (status == POLYTILE_OK)
        status = pti_dealt_sums_combine(of->group, of->recorded, of->sums);
    status = pti_dealt_sums_end(of->group, of->sums, status);
    if (status != POLYTILE_OK)
        forget_takers(of);
    pti_error_keep(&first, of->group->ctx, status);
    for (int m = 0; m < n_local_of(of); m++)
        pti_error_keep(&first, of->group->ctx, pti_dealt_forget_others(of, m));
    return pti_error_restore(of->group->ctx, &first);
}

static void log_rows(const pti_dealt_launch *of) {
    pti_text text = {0};
    for (int m = 0; m < n_local_of(of); m++)
        pti_text_add(&text, "%s %lld in %lld pieces on %s", m == 0 ? "" : ",",
                     (long long)of->member[m].n_rows, (long long)of->member[m].n_taken,
                     pti_queue_text(of->group->member[m]));
    if (!text.failed)
        pti_log(of->group->ctx, PTI_LOG_INFO, "%s: rows by %s:%s", name_of_launch(of),
                of->group->options.policy.kind->name, text.data);
    pti_text_free(&text);
}

polytile_status pti_group_deal_rows(pti_group *group, const pti_recorded *recorded,
                                    pti_dealt_sums *sums) {
    pti_dealt_launch of = {.group = group, .recorded = recorded, .sums = sums};
    polytile_status status;
    PTI_TRY(begin_dealing(&of));
    PTI_TRY(reach_touched(&of));
    PTI_TRY(run_dealt(&of));
    if (sums->pieces.n_sums == 0)
        pti_group_note_speeds(group, recorded, &of.deal);
    log_rows(&of);
done:
    end_dealing(&of);
    return status;
}
