#include "distribute/policy/deal.h"

#include "base/checked.h"

#include <math.h>
#include <stdlib.h>

/** Split the rows before the launch, as policies do that weigh. */
static bool split_rows(pti_deal *deal) {
    int64_t *rows = calloc((size_t)deal->work.n_units, sizeof *rows), first = 0;
    if (rows == NULL)
        return false;
    deal->was_clamped = deal->policy->kind->split(deal->policy, &deal->work, rows);
    for (int u = 0; u < deal->work.n_units; u++) {
        deal->dealt[u].own = (pti_rows){first, rows[u]};
        first += rows[u];
    }
    free(rows);
    return true;
}

polytile_status pti_deal_begin(polytile_context *ctx, const pti_policy *policy, const char *kernel,
                               int64_t n_rows, int n_units, const polytile_unit *units,
                               pti_deal *deal) {
    *deal = (pti_deal){.ctx = ctx,
                       .policy = policy,
                       .work = {.kernel = kernel, .n_rows = n_rows, .rows_left = n_rows},
                       .unit = malloc((size_t)n_units * sizeof *deal->unit),
                       .dealt = calloc((size_t)n_units, sizeof *deal->dealt)};
    bool is_made = deal->unit != NULL && deal->dealt != NULL;
    for (int u = 0; is_made && u < n_units; u++)
        deal->unit[u] = units[u];
    deal->work.n_units = is_made ? n_units : 0;
    deal->work.units = deal->unit;
    is_made = is_made && (pti_policy_is_dynamic(policy) || split_rows(deal));
    return is_made ? POLYTILE_OK
                   : pti_fail_memory(ctx, kernel, n_units * (double)sizeof *deal->unit);
}

void pti_deal_end(pti_deal *deal) {
    if (deal->was_clamped)
        pti_policy_tell_clamped(deal->ctx, deal->policy);
    free(deal->unit);
    free(deal->dealt);
    *deal = (pti_deal){0};
}

bool pti_deal_is_over(const pti_deal *deal) {
    return deal->work.rows_left == 0;
}

/** Whether nobody has rows, and nobody gets any. */
static bool is_stuck(const pti_deal *deal) {
    for (int u = 0; u < deal->work.n_units; u++) {
        if (deal->dealt[u].n_pieces > 0 || !deal->dealt[u].has_refused)
            return false;
    }
    return true;
}

/** What the policy answers, clamped. */
static int64_t ask_policy(pti_deal *deal, int unit) {
    int64_t answer = deal->policy->kind->take(deal->policy, &deal->work, unit);
    deal->was_clamped |= answer < 0 || answer > deal->work.n_rows;
    return pti_min(pti_max(answer, 0), deal->work.rows_left);
}

static pti_rows take_next(pti_deal *deal, int unit) {
    pti_rows rows = {.first = deal->work.n_rows - deal->work.rows_left};
    if (is_stuck(deal) && pti_fastest_unit(&deal->work) == unit)
        rows.count = deal->work.rows_left;
    else if (deal->work.rows_left > 0)
        rows.count = ask_policy(deal, unit);
    return rows;
}

/** The piece that a unit gets, if it gets one, is its own now. */
static void note_piece(pti_deal *deal, int unit, int64_t n_rows, double now_s) {
    pti_dealt *dealt = &deal->dealt[unit];
    dealt->has_refused = n_rows == 0;
    if (n_rows == 0)
        return;
    if (dealt->n_pieces == 0)
        dealt->begin_s = now_s;
    dealt->piece[dealt->n_pieces++] = n_rows;
    deal->unit[unit].taken_rows += n_rows;
    deal->work.rows_left -= n_rows;
}

static void note_time(pti_deal *deal, double now_s) {
    for (int u = 0; u < deal->work.n_units; u++)
        deal->unit[u].running_s =
            deal->dealt[u].n_pieces > 0 ? fmax(0, now_s - deal->dealt[u].begin_s) : 0;
}

pti_rows pti_deal_take(pti_deal *deal, int unit, double now_s) {
    pti_dealt *dealt = &deal->dealt[unit];
    pti_rows rows;
    if (dealt->n_pieces == PTI_DEAL_MAX_PIECES)
        return (pti_rows){0};
    note_time(deal, now_s);
    if (pti_policy_is_dynamic(deal->policy)) {
        rows = take_next(deal, unit);
    } else {
        rows = dealt->own;
        dealt->own = (pti_rows){0};
    }
    note_piece(deal, unit, rows.count, now_s);
    return rows;
}

void pti_deal_done(pti_deal *deal, int unit, double now_s) {
    pti_dealt *dealt = &deal->dealt[unit];
    polytile_unit *of = &deal->unit[unit];
    const double took_s = fmax(0, now_s - dealt->begin_s), n_rows = (double)dealt->piece[0];
    of->done_rows += dealt->piece[0];
    of->done_pieces++;
    of->busy_s += took_s;
    of->squares_s2 += took_s * took_s / n_rows;
    dealt->n_pieces--;
    dealt->begin_s = now_s;
    for (int p = 0; p < dealt->n_pieces; p++)
        dealt->piece[p] = dealt->piece[p + 1];
    for (int u = 0; u < deal->work.n_units; u++)
        deal->dealt[u].has_refused = false;
}
