#include "threads.h"

#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 1024 };

/** OpenMP's number of threads, or what OMP_NUM_THREADS says if an int has no room for it. */
static long long count_wanted(void) {
    int n_threads = omp_get_max_threads();
    const char *text = getenv("OMP_NUM_THREADS");
    long long given = text == NULL ? 0 : strtoll(text, NULL, 10);
    return given > INT_MAX && (unsigned)given == (unsigned)n_threads ? given : n_threads;
}

void threads_limit(const char *program) {
    long long n_threads = count_wanted();
    if (n_threads <= MOST_THREADS)
        return;
    omp_set_num_threads(MOST_THREADS);
    if (program != NULL)
        fprintf(stderr, "%s: OMP_NUM_THREADS asks for %lld threads; %d are used, the most\n",
                program, n_threads, MOST_THREADS);
}
