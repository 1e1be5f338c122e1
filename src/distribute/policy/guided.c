#include "distribute/policy/policy.h"

#include "base/checked.h"

#include <math.h>

/* A unit that is free takes a share of what is left by its measured speed (guided self-scheduling:
 * Polychronopoulos and Kuck 1987; by weights: Hummel et al. 1996). How far a speed is trusted
 * follows from how much rows have differed so far. */

/** A unit takes this part of the rows that it would run until all are done. Others can then make up
 * for rows that turn out slow, and small pieces soon tell how much rows differ. To a device with
 * memory of its own each piece brings again what all of its rows read, and leaves a part of it idle
 * until the slowest row is done. */
static const double share_at_a_time = 0.1, share_of_copies = 0.7;

/** A piece may take so many standard deviations longer than it should: rows that differ much have a
 * long tail. */
static const double trust = 4;

/** An exponential distribution is assumed before any row has run, with the weight of so many
 * pieces. */
static const double assumed_pieces = 2;

/** What is known of a launch, in units of rows and seconds. */
typedef struct outlook {
    double speed;      /* of the unit that asks */
    double speed_rest; /* of all others that are known, together */
    double speed_most; /* of the fastest of these */
    double rows_own;   /* that the unit has taken and not done, about */
    double rows_rest;  /* the same of the others */
    double variance;   /* of what rows cost, relative to the square of the average */
} outlook;

/** How much rows differ, by pieces of all units and what is assumed. It is never trusted to be less
 * than a row in those seen. */
static double find_variance(const polytile_work *work) {
    double sum = assumed_pieces, n_free = assumed_pieces, n_done = 0;
    for (int u = 0; u < work->n_units; u++) {
        const polytile_unit *unit = &work->units[u];
        double row_s = unit->done_rows > 0 ? unit->busy_s / (double)unit->done_rows : 0;
        n_done += (double)unit->done_rows;
        if (row_s > 0) {
            sum += fmax(0, unit->squares_s2 / (row_s * row_s) - (double)unit->done_rows);
            n_free += (double)(unit->done_pieces - 1);
        }
    }
    return fmax(sum / n_free, 1 / (1 + n_done));
}

/** The speed of a unit: as known, else as that of the unit that asks, and not above what the piece
 * that it runs leaves possible; 0 of one that has taken nothing yet. */
static double bound_speed(const polytile_unit *unit, double other) {
    double speed = pti_unit_rows_per_s(unit);
    double running = (double)(unit->taken_rows - unit->done_rows);
    if (!(speed > 0))
        speed = running > 0 ? other : 0;
    return running > 0 && unit->running_s > 0 ? fmin(speed, running / unit->running_s) : speed;
}

/** Rows that a unit of a speed has taken and not done, about. */
static double rows_running(const polytile_unit *unit, double speed) {
    return fmax(0, (double)(unit->taken_rows - unit->done_rows) - unit->running_s * speed);
}

static outlook look_ahead(const polytile_work *work, int unit) {
    outlook of = {.speed = pti_unit_rows_per_s(&work->units[unit]),
                  .variance = find_variance(work)};
    for (int u = 0; u < work->n_units; u++) {
        const polytile_unit *other = &work->units[u];
        double speed = bound_speed(other, of.speed);
        if (u == unit)
            continue;
        of.speed_rest += speed;
        of.speed_most = fmax(of.speed_most, speed);
        of.rows_rest += rows_running(other, speed);
    }
    of.rows_own = rows_running(&work->units[unit], of.speed);
    return of;
}

/** Whether a unit would be done with a piece before the others are with all the rest; of the least
 * piece, before they would be if they ran that, too. Rows that take longer than they should take
 * longer for the fastest of these as well. */
static bool is_done_in_time(const outlook *of, int64_t rows, int64_t least, int64_t left) {
    const double n_rows = (double)rows, later = trust * sqrt(of->variance * n_rows);
    const double own_s = (of->rows_own + fmax(n_rows, (double)least) + later) / of->speed;
    const double rest = (double)(rows > least ? left - rows : left) + of->rows_rest;
    return own_s <= fmax(rest / of->speed_rest, 1 / of->speed_most) + later / of->speed_most;
}

/** Return as many of some rows as are done in time; 0: a unit is too slow for the least piece. */
static int64_t lower_to_be_in_time(const outlook *of, int64_t rows, int64_t least, int64_t left) {
    while (rows > 0 && !is_done_in_time(of, rows, least, left))
        rows = rows > least ? pti_max(least, rows / 2) : 0;
    return rows;
}

/** The least piece of a unit: what fills it, or half of an equal part where that is less, so that
 * more than one unit is measured. */
static int64_t find_least(const polytile_work *work, const polytile_unit *unit) {
    const int64_t half = pti_ceil_div(work->n_rows, 2 * (int64_t)work->n_units);
    return pti_min(pti_max(pti_min(unit->fill_rows, half), 1), work->rows_left);
}

/** Return what a unit without a known speed takes: what fills it, or as much again as it has done
 * in no time; nothing more as long as it runs that. */
static int64_t take_unmeasured(const polytile_work *work, int unit, int64_t least) {
    const polytile_unit *of = &work->units[unit];
    if (of->taken_rows > of->done_rows)
        return 0;
    return pti_min(work->rows_left, pti_max(least, of->done_rows));
}

/** Rows that run so long that what a piece costs beside them matters little. */
static double rows_worth_asking(const polytile_unit *unit, double speed) {
    static const double most_overhead = 0.05;
    return speed * unit->piece_s / most_overhead;
}

/** The part of a unit's share that it takes at a time. */
static double part_of_share(const polytile_unit *unit) {
    return unit->n_threads > 0 ? share_at_a_time : share_of_copies;
}

static int64_t take_share(const pti_policy *policy, const polytile_work *work, int unit) {
    const polytile_unit *of_unit = &work->units[unit];
    const int64_t left = work->rows_left, least = find_least(work, of_unit);
    (void)policy;
    const outlook of = look_ahead(work, unit);
    if (!(of.speed > 0))
        return take_unmeasured(work, unit, least);
    double all_s = ((double)left + of.rows_own + of.rows_rest) / (of.speed + of.speed_rest);
    double share = all_s * of.speed, rows = part_of_share(of_unit) * share;
    if (of_unit->done_rows > 0)
        rows = fmin(rows, (double)of_unit->done_rows);
    rows = fmax(rows, fmin(share, rows_worth_asking(of_unit, of.speed)));
    int64_t taken = rows < (double)left ? pti_max(least, (int64_t)rows) : left;
    return of.speed_rest > 0 ? lower_to_be_in_time(&of, taken, least, left) : taken;
}

static bool parse_guided(const char *arguments, pti_policy *policy) {
    (void)policy;
    return arguments == NULL;
}

const pti_policy_kind pti_policy_guided = {
    .name = "guided",
    .forms = "guided",
    .parse = parse_guided,
    .take = take_share,
};
