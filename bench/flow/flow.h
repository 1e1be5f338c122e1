#ifndef BENCH_FLOW_FLOW_H
#define BENCH_FLOW_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A stream of frames through two kernels, each on a thread of its own, in several ways. */

/** A stream: frames of so many numbers, each kernel so many sweeps over its frame. */
typedef struct flow_case {
    const char *name;
    int64_t n_numbers;
    int64_t n_sweeps;
    int64_t n_frames;
} flow_case;

/** The frames that all ways may have in flight. */
enum { FLOW_DEPTH = 4 };

/** What all ways run for a frame. */
void flow_smooth(const flow_case *of, const float *from, float *to);

/** Write what a frame is, as a camera would; its first number is that of the frame. */
void flow_feed(const flow_case *of, int64_t frame, float *to);

/** Add up a result; what comes out of all frames is compared. */
double flow_take(const flow_case *of, const float *from);

/** Stream all frames, each through two kernels; returns the seconds from the first frame that is
 * fed to the last that is taken. *sum: of all results. */
typedef double flow_run(const flow_case *of, double *sum);

flow_run flow_by_stream;

/* tbb.cc; tbb_missing.c where oneTBB is not installed */

extern const bool flow_has_tbb;
flow_run flow_by_tbb;

#ifdef __cplusplus
}
#endif

#endif
