#ifndef POLYTILE_REPORT_TRACE_H
#define POLYTILE_REPORT_TRACE_H

#include "base/context.h"
#include <polytile/trace.h>
#include <stdint.h>

/* report: what the trace of a run says, as text, JSON and a page. It knows traces as files alone,
 * and nothing of devices. events.h reads a file event by event, collect.h keeps what the events
 * say, measure.h adds it up, and advice.h says what to change. */

/** X-macro: work, its word in traces, and for people. */
#define PTI_WORKS(X)                                                                               \
    X(LAUNCH, "launch", "kernel")                                                                  \
    X(UPLOAD, "upload", "upload")                                                                  \
    X(DOWNLOAD, "download", "download")                                                            \
    X(COPY, "copy", "copy on the device")                                                          \
    X(FILL, "fill", "fill")                                                                        \
    X(PLAN, "plan", "planning")                                                                    \
    X(OTHER, "", "the program")

/** What a slice of a trace is about. */
typedef enum pti_traced_work {
#define PTI_WORK(name, word, noun) PTI_WORK_##name,
    PTI_WORKS(PTI_WORK)
#undef PTI_WORK
        PTI_N_WORKS
} pti_traced_work;

/** Its word for people: "kernel". */
const char *pti_traced_work_noun(pti_traced_work work);

/** Operations of one name on one device: "upload A". */
typedef struct pti_traced_kind {
    char *name; /* without the word of its work; owned */
    pti_traced_work work;
    int process;
    int64_t n;
    int64_t total_ns, least_ns, most_ns;
    int64_t bytes;
} pti_traced_kind;

/** One operation. Units: nanoseconds since the trace began. */
typedef struct pti_traced_slice {
    int64_t begin_ns, end_ns;
    int track;
    int kind;
} pti_traced_slice;

/** A stream of a device, or another track of the file. */
typedef struct pti_traced_track {
    int process;
    int64_t tid;
    char *name; /* owned; NULL: the file has none */
    int64_t place;
    int64_t n_slices;
} pti_traced_track;

/** How a device's time was spent, from its first operation to its last. */
typedef struct pti_occupancy {
    int64_t span_ns;
    int64_t kernels_ns; /* at least one kernel runs, as for the others */
    int64_t in_ns, out_ns;
    int64_t link_ns;       /* uploads or downloads */
    int64_t both_ns;       /* kernels, and the link beside them */
    int64_t busy_ns;       /* anything but planning */
    int64_t plan_ns;       /* planning */
    int64_t plan_alone_ns; /* planning, and nothing else */
    int64_t idle_ns;       /* nothing, planning neither */
} pti_occupancy;

/** A device, or the program that uses several. */
typedef struct pti_traced_process {
    int64_t pid;
    char *name;                             /* owned; NULL: the file has none; no two have one */
    bool is_device;                         /* it has operations of a device */
    bool is_program;                        /* all that it does is the program's own */
    int64_t limit_bytes;                    /* 0: not known, as the rates are */
    double in_bytes_per_s, out_bytes_per_s; /* of its link, as measured before the run */
    int64_t last_run;                       /* by its number; 0: none yet */
    int64_t n_runs;
    int64_t n_bounded_runs; /* of those of which the bound is known */
    int64_t n_launches;
    int64_t n_superblocks;
    int64_t peak_bytes;
    int64_t planned_bytes;
    int64_t bound_bytes; /* of all runs together */
    int64_t in_bytes, out_bytes;
    int64_t n_kernels;
    pti_occupancy time;
} pti_traced_process;

/** Something to change, or to know. */
typedef struct pti_advice {
    const char *rule; /* as docs/report.md names it; static */
    int process;      /* -1: all */
    char *text;       /* owned */
} pti_advice;

/** A trace as it was read, with what it says. */
struct polytile_trace {
    pti_object object;
    int64_t begin_ns, end_ns; /* of all operations */
    int n_processes;
    pti_traced_process *process; /* owned, as are the other lists */
    int n_tracks;
    pti_traced_track *track;
    int64_t n_kinds, kind_capacity;
    pti_traced_kind *kind;
    int64_t n_slices, slice_capacity;
    pti_traced_slice *slice; /* by their begin */
    int64_t n_left_out;      /* events that are about nothing known */
    int n_advice;
    pti_advice *advice;
};

/** The name of a process for people. */
const char *pti_process_name(const polytile_trace *trace, int process);

/** Give devices of one text, such as two of the host, names that tell them apart. Errors:
 * NO_MEMORY. */
polytile_status pti_number_namesakes(polytile_context *ctx, polytile_trace *trace);

#endif
