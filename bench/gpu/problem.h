#ifndef BENCH_GPU_PROBLEM_H
#define BENCH_GPU_PROBLEM_H

#include "common/bench.h"

/* A launch of the library on the first GPU, planned once and run often. */

enum { PROBLEM_MOST_ARRAYS = 3 };

typedef struct problem {
    polytile_context *ctx;
    polytile_device *device;
    polytile_kernel *kernel;
    polytile_array *arrays[PROBLEM_MOST_ARRAYS];
    int n_arrays;
    polytile_launch_options values; /* of the parameters, in each run */
    polytile_plan *plan;
    polytile_plan_summary summary;
    double plan_s;
} problem;

/** Open cuda:0 with a limit and create the kernel. Units: bytes. */
void problem_open(problem *p, int64_t memory_bytes, const char *declaration,
                  const polytile_implementation *implementation);

/** Wrap the next array of the kernel, of 32-bit floats. */
void problem_wrap(problem *p, int n_dims, const int64_t *extents, float *data);

/** Plan with the device's limit and link, unless the options say others; NULL: defaults. */
void problem_plan(problem *p, const polytile_domain *threads,
                  const polytile_launch_options *options);

/** Run the plan; returns the seconds from the call to its return. */
double problem_run(const problem *p);

void problem_close(problem *p);

/** How many repetitions of problem_run() an overhead is the median of. */
enum { PROBLEM_OVERHEAD_RUNS = 5 };

/** Report planning plus the CPU time of the calling thread during a run, against the run. The
 * process must wait for the GPU asleep, or its waiting would count as work. */
void problem_report_overhead(const problem *p, const char *name);

#endif
