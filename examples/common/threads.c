#include "threads.h"

#include <omp.h>
#include <stdio.h>

enum { MOST_THREADS = 1024 };

void threads_limit(const char *program) {
    int n_threads = omp_get_max_threads();
    if (n_threads <= MOST_THREADS)
        return;
    omp_set_num_threads(MOST_THREADS);
    if (program != NULL)
        fprintf(stderr, "%s: OMP_NUM_THREADS asks for %d threads; %d are used, the most\n", program,
                n_threads, MOST_THREADS);
}
