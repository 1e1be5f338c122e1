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

/** A piece may take this many standard deviations longer than it should: rows that differ much have
 * a long tail. */
static const double trust = 4;

/** An exponential distribution is assumed before any row has run, with the weight of this many
 * pieces. */
static const double assumed_pieces = 2;

/** Rows as slow as the slowest one that was seen are taken to come this many times as often: one of
 * them is few to judge by. */
static const double more_often = 3;

/** The speed of others counts as less until they have run several rows: the reciprocal of what rows
 * take on average is too large, by about their variance over their number, and of several units the
 * one that was lucky looks fastest. */
static const double doubt = 2;

/** The speeds of other units, of those that are known. */
typedef struct rest_speed {
    double all;  /* together */
    double most; /* of the fastest */
} rest_speed;

/** What is known of a launch, in units of rows and seconds. */
typedef struct outlook {
    double speed;       /* of the unit that asks */
    rest_speed rest;    /* with doubt */
    rest_speed at_risk; /* with the doubt that rows of an exponential distribution leave, at most */
    double rows_own;    /* that the unit has taken and not done, about */
    double rows_rest;   /* the same of the others */
    double piece_s;     /* what one more piece costs the unit beside its rows */
    double variance;    /* of what rows cost, relative to the square of the average */
    double rows_beyond; /* rows that would take as long as the slowest one did beyond the average */
    double rows_seen;   /* of which it was the slowest */
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

/** Note the slowest row of units whose pieces take as long as their rows. Those of a device with
 * memory of its own take longer also for what is brought and planned. */
static void note_slowest(const polytile_work *work, outlook *of) {
    for (int u = 0; u < work->n_units; u++) {
        const polytile_unit *unit = &work->units[u];
        const double row_s = unit->done_rows > 0 ? unit->busy_s / (double)unit->done_rows : 0;
        if (unit->n_threads == 0 || !(row_s > 0))
            continue;
        of->rows_seen += (double)unit->done_rows;
        of->rows_beyond = fmax(of->rows_beyond, unit->slowest_s / row_s - 1);
    }
}

/** The speed of another unit with doubt, by the rows that it was measured by, its own or those of
 * the unit that asks; without, as of earlier launches. */
static double doubt_speed(const polytile_unit *other, int64_t own_rows, double speed,
                          double variance) {
    const bool is_prior = other->done_rows == 0 && other->prior_rows_per_s > 0;
    const double n_rows = (double)pti_max(1, other->done_rows > 0 ? other->done_rows : own_rows);
    return is_prior ? speed : speed * n_rows / (n_rows + doubt * variance);
}

static void add_speed(rest_speed *rest, double speed) {
    rest->all += speed;
    rest->most = fmax(rest->most, speed);
}

/** One slow row makes rows seem to differ much, and so the others' speed doubtful, when it is to
 * tell how slow a row may be. So the doubt by which a risk is weighed does not grow by it. */
static outlook look_ahead(const polytile_work *work, int unit) {
    outlook of = {.speed = pti_unit_rows_per_s(&work->units[unit]),
                  .piece_s = work->units[unit].piece_s,
                  .variance = find_variance(work)};
    for (int u = 0; u < work->n_units; u++) {
        const polytile_unit *other = &work->units[u];
        const double speed = bound_speed(other, of.speed);
        const int64_t own_rows = work->units[unit].done_rows;
        if (u == unit)
            continue;
        add_speed(&of.rest, doubt_speed(other, own_rows, speed, of.variance));
        add_speed(&of.at_risk, doubt_speed(other, own_rows, speed, fmin(of.variance, 1)));
        of.rows_rest += rows_running(other, speed);
    }
    of.rows_own = rows_running(&work->units[unit], of.speed);
    note_slowest(work, &of);
    return of;
}

/** Return how long other units run some rows, at least one. */
static double rest_seconds(const rest_speed *rest, double rows) {
    return fmax(rows / rest->all, 1 / rest->most);
}

/** Return whether rows that take own_s save the others more than it is likely that they cost, if a
 * row among them is as slow as the slowest one, and all wait for it. Each row saves one; rest: rows
 * that the others run meanwhile. */
static bool is_worth_its_risk(const outlook *of, double own_s, double rest) {
    const double rest_s = rest_seconds(&of->at_risk, rest) + of->piece_s;
    const double late_s = own_s + of->rows_beyond / of->speed - rest_s;
    return of->rows_seen == 0 || more_often * late_s * of->at_risk.all <= of->rows_seen;
}

/** Return whether a unit ends a piece before the others end all the rest, or later by less than one
 * more piece costs. The least piece counts as part of the rest: the others could run it, too. Rows
 * may take longer than expected; both sides get the time for that, the others as the fastest of
 * them needs it. */
static bool is_done_in_time(const outlook *of, int64_t rows, int64_t least, int64_t left) {
    const double n_rows = (double)rows, later = trust * sqrt(of->variance * n_rows);
    const double own_s = (of->rows_own + fmax(n_rows, (double)least)) / of->speed;
    const double rest = (double)(rows > least ? left - rows : left) + of->rows_rest;
    const double rest_s = rest_seconds(&of->rest, rest);
    return own_s + later / of->speed <= rest_s + later / of->rest.most + of->piece_s &&
           is_worth_its_risk(of, own_s, rest);
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

/** A piece costs at most this part of what its rows take, unless the unit's share is less. */
static const double most_overhead = 0.05;

/** The rows that a unit would still take if all that is left were run in equal time. */
static double find_share(const outlook *of, int64_t left) {
    double all_s = ((double)left + of->rows_own + of->rows_rest) / (of->speed + of->rest.all);
    return fmax(0, all_s * of->speed - of->rows_own);
}

/** Return whether a unit that still runs rows had better run no more: the rest of its share takes
 * less than a piece costs. */
static bool has_its_share(const outlook *of, double share) {
    return of->rows_own > 0 && share < of->speed * of->piece_s;
}

/** The part of a unit's share that it takes at a time. */
static double part_of_share(const polytile_unit *unit) {
    return unit->n_threads > 0 ? share_at_a_time : share_of_copies;
}

/** Shares that are taken whole are multiples of this part of a launch's rows, so that those of the
 * next launch are as large, though units ran a little faster or slower: to plan pieces of a new
 * size takes as long as to run some rows. */
enum { GRAINS_PER_LAUNCH = 256, LEAST_GRAINS = 8 };

/** Rows that shares are multiples of; 0: any number. */
static double find_grain(const polytile_work *work, double share, double piece_rows) {
    const double grain = floor((double)work->n_rows / GRAINS_PER_LAUNCH);
    return share >= LEAST_GRAINS * grain && piece_rows >= grain ? grain : 0;
}

/** All of a unit's share, with the few rows beside it that nobody need begin another piece for. */
static double take_whole(const polytile_work *work, double share, double piece_rows) {
    const double grain = find_grain(work, share, piece_rows), left = (double)work->rows_left;
    const double rows = grain > 0 ? grain * round(share / grain) : ceil(share);
    const double beside = fmax(most_overhead * piece_rows, fmin(piece_rows, work->n_units * grain));
    return rows + beside < left ? rows : left;
}

/** A part of a unit's share, as long as pieces of it are worth what they cost; else all of it. */
static int64_t cut_share(const polytile_work *work, const polytile_unit *unit, const outlook *of,
                         double share) {
    const int64_t left = work->rows_left, least = find_least(work, unit);
    const double piece_rows = of->speed * of->piece_s;
    double rows = part_of_share(unit) * share;
    if (unit->done_rows > 0)
        rows = fmin(rows, (double)unit->done_rows);
    rows = fmax(rows, piece_rows / most_overhead);
    if (rows >= share)
        rows = take_whole(work, share, piece_rows);
    return rows < (double)left ? pti_max(least, (int64_t)rows) : left;
}

static int64_t take_share(const pti_policy *policy, const polytile_work *work, int unit) {
    const polytile_unit *of_unit = &work->units[unit];
    const int64_t left = work->rows_left, least = find_least(work, of_unit);
    (void)policy;
    const outlook of = look_ahead(work, unit);
    if (!(of.speed > 0))
        return take_unmeasured(work, unit, least);
    const double share = find_share(&of, left);
    if (has_its_share(&of, share))
        return 0;
    const int64_t taken = cut_share(work, of_unit, &of, share);
    return of.rest.all > 0 ? lower_to_be_in_time(&of, taken, least, left) : taken;
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
    .looks_at_units = true,
};
