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
                       .within = pti_counter_of_one_process(),
                       .n_own = n_units,
                       .work = {.kernel = kernel, .n_rows = n_rows, .rows_left = n_rows},
                       .unit = malloc((size_t)n_units * sizeof *deal->unit),
                       .dealt = calloc((size_t)n_units, sizeof *deal->dealt)};
    deal->counter = &deal->within.counter;
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
    free(deal->shown);
    *deal = (pti_deal){0};
}

bool pti_deal_is_over(const pti_deal *deal) {
    return deal->work.rows_left == 0;
}

void pti_deal_stop(pti_deal *deal) {
    int64_t before;
    if (deal->counter == NULL)
        return;
    deal->counter->functions->take(deal->counter, deal->work.n_rows, &before);
    deal->work.rows_left = 0;
}

/** Note a failure of the counter. */
static void note_status(pti_deal *deal, polytile_status status) {
    deal->status = deal->status == POLYTILE_OK ? status : deal->status;
}

/* Units of other processes. */

polytile_status pti_deal_join(pti_deal *deal, pti_counter *counter, int first_own, int n_own) {
    deal->counter = counter;
    deal->first_own = first_own;
    deal->n_own = n_own;
    if (!deal->policy->kind->looks_at_units)
        return POLYTILE_OK;
    deal->shown = calloc((size_t)deal->work.n_units, sizeof *deal->shown);
    return deal->shown != NULL ? POLYTILE_OK
                               : pti_fail_memory(deal->ctx, deal->work.kernel,
                                                 deal->work.n_units * (double)sizeof *deal->shown);
}

static bool is_own(const pti_deal *deal, int unit) {
    return unit >= deal->first_own && unit < deal->first_own + deal->n_own;
}

/** Let others see what a unit has done. */
static void show_unit(pti_deal *deal, int unit) {
    const polytile_unit *of = &deal->unit[unit];
    if (deal->shown == NULL)
        return;
    const pti_shown_unit shown = {.taken_rows = of->taken_rows,
                                  .done_rows = of->done_rows,
                                  .done_pieces = of->done_pieces,
                                  .refused_at = deal->dealt[unit].refused_at,
                                  .busy_s = of->busy_s,
                                  .squares_s2 = of->squares_s2,
                                  .slowest_s = of->slowest_s,
                                  .begin_s = deal->dealt[unit].begin_s};
    note_status(deal, deal->counter->functions->show(deal->counter, unit, &shown));
}

/** Take over what a unit of another process lets see. */
static void copy_shown(const pti_shown_unit *shown, polytile_unit *unit, pti_dealt *dealt) {
    unit->taken_rows = shown->taken_rows;
    unit->done_rows = pti_min(shown->done_rows, shown->taken_rows);
    unit->done_pieces = shown->done_pieces;
    unit->busy_s = shown->busy_s;
    unit->squares_s2 = shown->squares_s2;
    unit->slowest_s = shown->slowest_s;
    dealt->n_pieces = unit->taken_rows > unit->done_rows;
    dealt->begin_s = shown->begin_s;
    dealt->refused_at = shown->refused_at;
}

/** See what units of others have done, and what is left. */
static void look_at_others(pti_deal *deal) {
    int64_t n_taken = deal->work.n_rows - deal->work.rows_left;
    if (deal->shown == NULL)
        return;
    note_status(deal, deal->counter->functions->look(deal->counter, &n_taken, deal->work.n_units,
                                                     deal->shown));
    deal->work.rows_left = pti_max(0, deal->work.n_rows - n_taken);
    for (int u = 0; u < deal->work.n_units; u++) {
        if (!is_own(deal, u))
            copy_shown(&deal->shown[u], &deal->unit[u], &deal->dealt[u]);
    }
}

/* Taking. */

/** The refusal of a unit that is refused rows now. */
static int64_t refusal_now(const pti_deal *deal) {
    int64_t n_done = 0;
    for (int u = 0; u < deal->work.n_units; u++)
        n_done += deal->unit[u].done_pieces;
    return 1 + n_done;
}

/** Return whether nobody has rows, and nobody gets any. */
static bool is_stuck(const pti_deal *deal) {
    const int64_t now = refusal_now(deal);
    for (int u = 0; u < deal->work.n_units; u++) {
        if (deal->dealt[u].n_pieces > 0 || deal->dealt[u].refused_at != now)
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

/** Take rows from the counter. Others may have taken meanwhile: what is not there is not taken. */
static pti_rows take_counted_rows(pti_deal *deal, int64_t count) {
    const int64_t n_rows = deal->work.n_rows;
    int64_t before = n_rows;
    if (count == 0)
        return (pti_rows){.first = n_rows - deal->work.rows_left};
    note_status(deal, deal->counter->functions->take(deal->counter, count, &before));
    if (deal->status != POLYTILE_OK)
        return (pti_rows){0};
    before = pti_min(before, n_rows);
    count = pti_min(count, n_rows - before);
    deal->work.rows_left = n_rows - before - count;
    return (pti_rows){before, count};
}

static pti_rows take_next(pti_deal *deal, int unit) {
    if (is_stuck(deal) && pti_fastest_unit(&deal->work) == unit)
        return take_counted_rows(deal, deal->work.rows_left);
    return take_counted_rows(deal, deal->work.rows_left > 0 ? ask_policy(deal, unit) : 0);
}

static pti_rows take_own(pti_deal *deal, int unit) {
    const pti_rows rows = deal->dealt[unit].own;
    deal->dealt[unit].own = (pti_rows){0};
    deal->work.rows_left -= rows.count;
    return rows;
}

/** The piece that a unit gets, if it gets one, is its own now. */
static void note_piece(pti_deal *deal, int unit, int64_t n_rows, double now_s) {
    pti_dealt *dealt = &deal->dealt[unit];
    dealt->refused_at = n_rows == 0 ? refusal_now(deal) : 0;
    if (n_rows > 0 && dealt->n_pieces == 0)
        dealt->begin_s = now_s;
    if (n_rows > 0)
        dealt->piece[dealt->n_pieces++] = n_rows;
    deal->unit[unit].taken_rows += n_rows;
    show_unit(deal, unit);
}

static void note_time(pti_deal *deal, double now_s) {
    for (int u = 0; u < deal->work.n_units; u++)
        deal->unit[u].running_s =
            deal->dealt[u].n_pieces > 0 ? fmax(0, now_s - deal->dealt[u].begin_s) : 0;
}

pti_rows pti_deal_take(pti_deal *deal, int unit, double now_s) {
    if (deal->dealt[unit].n_pieces == PTI_DEAL_MAX_PIECES || deal->status != POLYTILE_OK)
        return (pti_rows){0};
    look_at_others(deal);
    note_time(deal, now_s);
    const pti_rows rows =
        pti_policy_is_dynamic(deal->policy) ? take_next(deal, unit) : take_own(deal, unit);
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
    of->slowest_s = fmax(of->slowest_s, took_s - (n_rows - 1) * of->busy_s / (double)of->done_rows);
    dealt->n_pieces--;
    dealt->begin_s = now_s;
    for (int p = 0; p < dealt->n_pieces; p++)
        dealt->piece[p] = dealt->piece[p + 1];
    show_unit(deal, unit);
}
