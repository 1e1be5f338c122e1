#include "launch/host/balance.h"

#include "base/checked.h"
#include "base/clock.h"

#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>

/* Affinity scheduling (Markatos and LeBlanc 1994): a thread takes of its own chunk a part at a
 * time, one over the number of threads of what is left, at most a quarter, and then the same of the
 * chunk with most left. So rows stay with their threads, whose caches may hold them, and threads
 * meet only where one takes of another's chunk. Bodies may prepare something at each call, such as
 * packed panels of a matrix; so chunks are not cut where rows are even.
 *
 * The policies of distribute/policy are not for threads: guided measures each unit by itself, but
 * threads are alike, and self(1) calls the body for each row (docs/policies.md has figures). */

/** A part takes at least so long, if its rows go on to cost what they did; a shorter difference
 * between chunks does not matter. */
static const double least_part_s = 20e-6;

/** Chunks that take longer than others by no more than this, relative to these, are even. */
static const double even_within = 0.1;

/** A thread's chunk. */
typedef struct host_chunk {
    pthread_mutex_t mutex; /* of all below */
    polytile_range left;   /* rows that nobody has taken */
    double row_s;          /* of a row, in the part that was done last; 0: none is done */
    double first_row_s;    /* the same of the part that was done first */
    double busy_s;         /* of all parts that are done */
} host_chunk;

/** A launch while threads balance it. */
typedef struct balanced_launch {
    const pti_sub_kernel *sub_kernel;
    pti_host_run_box *run;
    pti_evenness expected;
    int n_chunks;
    host_chunk *chunk; /* of each thread; owned */
    int n_not_empty;   /* chunks of which rows are left; atomic */
} balanced_launch;

bool pti_host_can_balance(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *grid) {
    bool can = grid->n_chunks > 1 && grid->n_chunks_along[0] == grid->n_chunks &&
               pti_range_count(sub_kernel->threads->range[0]) > grid->n_chunks;
    for (int a = 0; can && a < sub_kernel->instance->n_operands; a++)
        can = !sub_kernel->instance->operand[a].reduces ||
              pti_operand_lies_apart(sub_kernel->instance, a, 0);
    return can;
}

/** What is known of a kernel; one that is new takes the place of the oldest. */
static pti_host_habit *find_habit(pti_host_habits *habits, const polytile_implementation *kernel) {
    for (int h = 0; h < PTI_HOST_HABITS; h++) {
        if (habits->habit[h].kernel == kernel)
            return &habits->habit[h];
    }
    pti_host_habit *habit = &habits->habit[habits->next];
    habits->next = (habits->next + 1) % PTI_HOST_HABITS;
    *habit = (pti_host_habit){.kernel = kernel};
    return habit;
}

/** What rows of a kernel are taken to be: where parts took no less time than whole chunks, bodies
 * that prepare something cost more than uneven rows. */
static pti_evenness expect_evenness(const pti_host_habit *habit) {
    const bool was_either = habit->row_s_whole > 0 && habit->row_s_parts > 0;
    return was_either && habit->row_s_whole <= habit->row_s_parts ? PTI_EVEN : habit->evenness;
}

/** Seconds a row, of the last part of a chunk. */
static double last_row_s(host_chunk *chunk) {
    pthread_mutex_lock(&chunk->mutex);
    const double row_s = chunk->row_s;
    pthread_mutex_unlock(&chunk->mutex);
    return row_s;
}

/** Return whether a thread need not cut its chunk: rows are known to be even, or look so in a part
 * of each chunk. */
static bool look_even(const balanced_launch *of) {
    double least_s = INFINITY, most_s = 0;
    if (of->expected != PTI_EVENNESS_UNKNOWN)
        return of->expected == PTI_EVEN;
    for (int c = 0; c < of->n_chunks; c++) {
        const double row_s = last_row_s(&of->chunk[c]);
        least_s = fmin(least_s, row_s);
        most_s = fmax(most_s, row_s);
    }
    return least_s > 0 && most_s <= (1 + even_within) * least_s;
}

/** A part is at most this one of what is left of a chunk. */
enum { LEAST_DIVISOR = 4 };

static int64_t count_part(int64_t n_left, int n_chunks, double row_s) {
    const double n_worth = row_s > 0 ? least_part_s / row_s : 0;
    const int64_t part = pti_ceil_div(n_left, pti_max(n_chunks, LEAST_DIVISOR));
    return n_worth < (double)n_left ? pti_max(part, (int64_t)n_worth) : n_left;
}

int64_t pti_host_even_part(int64_t n_left, double first_row_s, double row_s) {
    const bool prepares = row_s < (1 - even_within) * first_row_s;
    const bool is_short = (double)n_left * row_s < 2 * least_part_s;
    return prepares || is_short ? n_left : pti_ceil_div(n_left, 2);
}

/** Rows that a thread takes of its own chunk where all look even. */
static int64_t count_even_part(const balanced_launch *of, const host_chunk *chunk, int64_t n_left) {
    return of->expected == PTI_EVEN ? n_left
                                    : pti_host_even_part(n_left, chunk->first_row_s, chunk->row_s);
}

/** Rows of a chunk, side by side: the first ones for its own thread, else the last; none if none
 * are left. */
static polytile_range take_rows(balanced_launch *of, host_chunk *chunk, bool is_own) {
    const bool are_even = is_own && look_even(of);
    pthread_mutex_lock(&chunk->mutex);
    const polytile_range left = chunk->left;
    const int64_t n_left = pti_range_count(left);
    const int64_t n_rows = are_even ? count_even_part(of, chunk, n_left)
                                    : count_part(n_left, of->n_chunks, chunk->row_s);
    chunk->left = pti_range_slice(left, is_own ? n_rows : 0, n_left - n_rows);
    if (n_rows > 0 && n_rows == n_left)
        __atomic_sub_fetch(&of->n_not_empty, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&chunk->mutex);
    return pti_range_slice(left, is_own ? 0 : n_left - n_rows, n_rows);
}

static void run_rows(const balanced_launch *of, host_chunk *chunk, polytile_range rows,
                     int thread) {
    const double begin_s = pti_now_s();
    polytile_domain threads = *of->sub_kernel->threads;
    threads.range[0] = rows;
    of->run(of->sub_kernel, &threads, thread);
    const double took_s = pti_now_s() - begin_s;
    pthread_mutex_lock(&chunk->mutex);
    chunk->row_s = took_s / (double)pti_range_count(rows);
    if (!(chunk->first_row_s > 0))
        chunk->first_row_s = chunk->row_s;
    chunk->busy_s += took_s;
    pthread_mutex_unlock(&chunk->mutex);
}

static int64_t count_left(host_chunk *chunk) {
    pthread_mutex_lock(&chunk->mutex);
    const int64_t n_left = pti_range_count(chunk->left);
    pthread_mutex_unlock(&chunk->mutex);
    return n_left;
}

/** The chunk with most rows left; NULL: all are taken. */
static host_chunk *find_fullest(balanced_launch *of) {
    host_chunk *fullest = NULL;
    int64_t n_most = 0;
    if (__atomic_load_n(&of->n_not_empty, __ATOMIC_SEQ_CST) == 0)
        return NULL;
    for (int c = 0; c < of->n_chunks; c++) {
        const int64_t n_left = count_left(&of->chunk[c]);
        if (n_left > n_most) {
            fullest = &of->chunk[c];
            n_most = n_left;
        }
    }
    return fullest;
}

static void run_thread(balanced_launch *of, int thread) {
    host_chunk *const own = &of->chunk[thread];
    for (host_chunk *from = own; from != NULL;) {
        const polytile_range rows = take_rows(of, from, from == own);
        if (!pti_range_is_empty(rows))
            run_rows(of, from, rows, thread);
        if (from != own || pti_range_is_empty(rows))
            from = find_fullest(of);
    }
}

static void begin_chunks(balanced_launch *of) {
    of->n_not_empty = of->n_chunks;
    for (int c = 0; c < of->n_chunks; c++) {
        pthread_mutex_init(&of->chunk[c].mutex, NULL);
        of->chunk[c].left = pti_range_cut(of->sub_kernel->threads->range[0], of->n_chunks, c);
    }
}

static void end_chunks(balanced_launch *of) {
    for (int c = 0; c < of->n_chunks; c++)
        pthread_mutex_destroy(&of->chunk[c].mutex);
    free(of->chunk);
}

static double mean_chunk_s(const balanced_launch *of) {
    double sum_s = 0;
    for (int c = 0; c < of->n_chunks; c++)
        sum_s += of->chunk[c].busy_s;
    return sum_s / of->n_chunks;
}

/** Whether chunks took about as long as each other, whoever ran what of them. */
static pti_evenness compare_chunks(const balanced_launch *of, double mean_s) {
    double most_s = 0;
    for (int c = 0; c < of->n_chunks; c++)
        most_s = fmax(most_s, of->chunk[c].busy_s);
    return most_s - mean_s <= fmax(even_within * mean_s, least_part_s) ? PTI_EVEN : PTI_UNEVEN;
}

/** Launches much shorter than the one noted last, as of a coarse grid, tell less and are not
 * noted. */
static void note_launch(const balanced_launch *of, double took_s, pti_host_habit *habit) {
    const double row_s = took_s / (double)pti_range_count(of->sub_kernel->threads->range[0]);
    const double mean_s = mean_chunk_s(of);
    if (mean_s < habit->chunk_s / 4)
        return;
    habit->chunk_s = mean_s;
    habit->evenness = compare_chunks(of, mean_s);
    if (of->expected == PTI_EVEN)
        habit->row_s_whole = row_s;
    else
        habit->row_s_parts = row_s;
}

bool pti_host_balance(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *grid,
                      pti_host_habits *habits, pti_host_run_box *run) {
    pti_host_habit *habit = find_habit(habits, sub_kernel->config.implementation);
    balanced_launch of = {.sub_kernel = sub_kernel,
                          .run = run,
                          .expected = expect_evenness(habit),
                          .n_chunks = (int)grid->n_chunks,
                          .chunk = calloc((size_t)grid->n_chunks, sizeof *of.chunk)};
    const double begin_s = pti_now_s();
    if (of.chunk == NULL)
        return false;
    begin_chunks(&of);
#pragma omp parallel num_threads(of.n_chunks)
    run_thread(&of, omp_get_thread_num());
    note_launch(&of, pti_now_s() - begin_s, habit);
    end_chunks(&of);
    return true;
}
