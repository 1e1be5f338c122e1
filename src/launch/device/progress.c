#include "launch/device/progress.h"

#include "access/set/boxes.h"
#include "base/checked.h"
#include "base/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const double first_shown_s = 2.0;
static const double redraw_s = 0.1;

enum { DEFAULT_COLUMNS = 80, MAX_COLUMNS = 512, MIN_BAR = 8, MAX_BAR = 40, TEXT_BYTES = 256 };

/** Return whether a file is a terminal that can wipe a line; a dumb one cannot. */
static bool is_capable_terminal(int file) {
    const char *kind = getenv("TERM");
    return kind != NULL && strcmp(kind, "dumb") != 0 && isatty(file) == 1;
}

pti_progress pti_progress_begin(const pti_schedule *schedule) {
    double now_s = pti_now_s();
    bool may_show = is_capable_terminal(STDERR_FILENO);
    return (pti_progress){.whole = schedule,
                          .schedule = schedule,
                          .start_s = now_s,
                          .due_s = may_show ? now_s + first_shown_s : INFINITY};
}

bool pti_progress_may_show(const pti_progress *progress) {
    return isfinite(progress->due_s);
}

static bool crosses_the_link(const pti_op *op) {
    return op->kind == PTI_UPLOAD || op->kind == PTI_DOWNLOAD;
}

static void count_totals(pti_progress *progress) {
    const pti_schedule *schedule = progress->whole;
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        if (crosses_the_link(op))
            progress->bytes_total += pti_schedule_times(schedule, k) * op->bytes;
        if (op->kind == PTI_LAUNCH)
            progress->threads_total += pti_schedule_times(schedule, k) * pti_box_count(&op->box);
    }
}

static void count_op(pti_progress *progress, const pti_op *op) {
    if (crosses_the_link(op))
        progress->bytes_done += op->bytes;
    if (op->kind == PTI_LAUNCH) {
        progress->threads_done += pti_box_count(&op->box);
        progress->superblocks_done++;
    }
}

/** Update the sums of what is done. Only a drawn line needs them, so short and silent runs never
 * pay for it. */
static void catch_up(pti_progress *progress) {
    if (progress->threads_total == 0)
        count_totals(progress);
    for (int s = 0; s < pti_schedule_n_streams(progress->schedule); s++) {
        for (; progress->n_counted[s] < progress->n_done[s]; progress->n_counted[s]++) {
            const pti_op *op = &progress->schedule->op[progress->n_counted[s]];
            if ((int)pti_op_stream(op) == s)
                count_op(progress, op);
        }
    }
}

/** Count operations of a schedule, none of which is done. */
static void begin_counts(pti_progress *progress, const pti_schedule *schedule) {
    progress->schedule = schedule;
    memset(progress->n_done, 0, sizeof progress->n_done);
    memset(progress->n_counted, 0, sizeof progress->n_counted);
}

void pti_progress_begin_stretch(pti_progress *progress, const pti_schedule *stretch) {
    begin_counts(progress, stretch);
}

void pti_progress_end_stretch(pti_progress *progress) {
    for (int s = 0; s < PTI_MAX_STREAMS; s++)
        progress->n_done[s] = progress->schedule->n_ops;
    if (pti_progress_may_show(progress))
        catch_up(progress);
    begin_counts(progress, progress->whole);
}

/**
 * Return how much of the run is done, 0 to 1: half of it is the bytes moved, half the threads run.
 *
 * Streams wait for each other, so away from the run's ends bytes and threads both grow evenly with
 * time. Their mean is robust where one stream says little: a single download at the end,
 * superblocks without upload.
 */
static double fraction_done(const pti_progress *progress) {
    const int64_t n_done = progress->threads_done + progress->threads_within;
    double threads = (double)n_done / (double)pti_max(progress->threads_total, 1);
    if (progress->bytes_total == 0)
        return threads;
    return 0.5 * (threads + (double)progress->bytes_done / (double)progress->bytes_total);
}

/** Units of time from the largest, each with its length in the next. */
static const struct {
    double unit_s;
    const char *unit;
    double part_s;
    const char *part;
} durations[] = {
    {86400, "d", 3600, "h"},
    {3600, "h", 60, "min"},
    {60, "min", 1, "s"},
};

/** Print "3 s", "2 min 5 s", "1 h 10 min". */
static void print_duration(double seconds, char *text, size_t text_bytes) {
    double whole_s = ceil(seconds);
    for (size_t k = 0; k < sizeof durations / sizeof *durations; k++) {
        double n_units = floor(whole_s / durations[k].unit_s);
        if (n_units < 1)
            continue;
        double n_parts = floor((whole_s - n_units * durations[k].unit_s) / durations[k].part_s);
        snprintf(text, text_bytes, "%.0f %s %.0f %s", n_units, durations[k].unit, n_parts,
                 durations[k].part);
        return;
    }
    snprintf(text, text_bytes, "%.0f s", whole_s);
}

/** Print how far the run is. Returns the length. */
static int print_share(const pti_progress *progress, double fraction, char *text) {
    const int64_t n_superblocks = pti_schedule_n_kernels(progress->whole);
    if (n_superblocks == 1)
        return snprintf(text, TEXT_BYTES, "%.0f %%", floor(100 * fraction));
    return snprintf(text, TEXT_BYTES, "%" PRId64 "/%" PRId64 " superblocks",
                    progress->superblocks_done, n_superblocks);
}

/** Print what follows the bar: the share that is done, and rate and time left if known. */
static void print_figures(const pti_progress *progress, double taken_s, char *text) {
    char left[64];
    double fraction = fraction_done(progress);
    int length = print_share(progress, fraction, text);
    if (progress->bytes_total > 0)
        length += snprintf(text + length, (size_t)(TEXT_BYTES - length), "  %.1f GB/s",
                           1e-9 * (double)progress->bytes_done / taken_s);
    if (fraction <= 0)
        return;
    print_duration(taken_s * (1 - fraction) / fraction, left, sizeof left);
    snprintf(text + length, (size_t)(TEXT_BYTES - length), "  %s left", left);
}

static void print_bar(double fraction, int64_t width, char *bar) {
    int64_t n_full = pti_min((int64_t)(fraction * (double)width), width);
    memset(bar, '#', (size_t)n_full);
    memset(bar + n_full, '.', (size_t)(width - n_full));
    bar[width] = '\0';
}

void pti_progress_print(pti_progress *progress, double now_s, int n_columns, char *text) {
    char figures[TEXT_BYTES], bar[MAX_BAR + 1];
    const char *name = progress->schedule->instance->kernel_name;
    catch_up(progress);
    print_figures(progress, now_s - progress->start_s, figures);
    int64_t width = n_columns - 1 - (int64_t)(strlen(name) + strlen("  [] ") + strlen(figures));
    if (width < MIN_BAR) {
        snprintf(text, (size_t)n_columns, "%s  %s", name, figures);
        return;
    }
    print_bar(fraction_done(progress), pti_min(width, MAX_BAR), bar);
    snprintf(text, (size_t)n_columns, "%s  [%s] %s", name, bar, figures);
}

static int columns_of(int file) {
    struct winsize size;
    bool is_known = ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return is_known ? (int)pti_min(size.ws_col, MAX_COLUMNS) : DEFAULT_COLUMNS;
}

/** Replace the line by a text, in one write, so that it does not flicker. */
static void put_line(const char *text) {
    fprintf(stderr, "\r%s\033[K", text);
}

void pti_progress_show(pti_progress *progress) {
    char text[MAX_COLUMNS];
    double now_s;
    if (!pti_progress_may_show(progress) || (now_s = pti_now_s()) < progress->due_s)
        return;
    pti_progress_print(progress, now_s, columns_of(STDERR_FILENO), text);
    put_line(text);
    progress->is_shown = true;
    progress->due_s = now_s + redraw_s;
}

void pti_progress_show_within(pti_progress *progress, int64_t n_threads) {
    progress->threads_within = n_threads;
    pti_progress_show(progress);
}

void pti_progress_update(pti_progress *progress, int64_t op_index) {
    if (!pti_progress_may_show(progress))
        return;
    int stream = (int)pti_op_stream(&progress->schedule->op[op_index]);
    progress->n_done[stream] = op_index + 1;
    progress->threads_within = 0;
    pti_progress_show(progress);
}

void pti_progress_end(pti_progress *progress) {
    if (progress->is_shown)
        put_line("");
    progress->is_shown = false;
    progress->due_s = INFINITY;
}
