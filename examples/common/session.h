#ifndef EXAMPLES_SESSION_H
#define EXAMPLES_SESSION_H

#include "device_text.h"
#include "options.h"
#include "ranks.h"

#include <polytile/graph.h>
#include <polytile/polytile.h>

enum { SESSION_MAX_MEMORIES = 8, SESSION_ERROR_SIZE = EXAMPLE_MISUSE_SIZE };

/** Host memory that the example owns. */
typedef struct session_memory {
    void *data;
    int64_t n_bytes;
    bool is_pinned;
} session_memory;

/** One run of an example: its command line and what was opened for it. */
typedef struct session {
    const example_spec *spec;
    example_options options;
    ranks ranks;
    bool has_agreed_to_fail; /* all ranks have the error */
    polytile_context *ctx;
    polytile_queue *queue;   /* of examples that use one, and of all on several devices or ranks,
                              unless only planning; else NULL */
    polytile_device *device; /* the queue's, where there is one; NULL when only planning for a GPU,
                                which need not be here */
    device_list devices;     /* as given; of several ranks each has one of them, in turn */
    int own;                 /* this rank's first, and the one that is planned for */
    int n_own;               /* this rank's */
    char device_text[DEVICE_LIST_SIZE];
    bool is_cuda;        /* one of them at least */
    bool has_limit;      /* the user gave one, for this rank's */
    int64_t limit_bytes; /* of one device, the largest of all ranks', as given or
                                           else as they have it; 0: none */
    polytile_launch_options
        launch_options; /* from the command line, and what the device can take */
    polytile_array *output[EXAMPLE_MAX_FILES]; /* the files; NULL: none, or another rank's */
    int n_memories;
    session_memory memory[SESSION_MAX_MEMORIES];
    char error[SESSION_ERROR_SIZE]; /* an error of the example's own; "": look at the context */
} session;

/** A count that one example reports beside what all do. */
typedef struct result_count {
    const char *name; /* NULL: there is none */
    int64_t count;
} result_count;

enum { RESULT_MAX_COUNTS = 4 };

/** The result of an example, for the report. */
typedef struct result {
    polytile_type type;
    int n_dims; /* of the shape, as n x n or rows x columns */
    int64_t shape[POLYTILE_MAX_DIMS];
    int64_t n_steps; /* 0: the example has none */
    result_count counts[RESULT_MAX_COUNTS];
    polytile_plan_summary plan;
    polytile_graph_summary graph; /* of a program that uses a stream */
    double period_s;              /* as measured; 0: fewer than two results */
    bool ran;
    polytile_report run; /* of the fastest repetition */
    bool checked;
    double max_error;
    double tolerance; /* 0 unless the inputs are the user's and rounding is to be expected */
} result;

/** The work of one example. */
typedef polytile_status example_body(session *s, result *r);

/** Run an example's body with all around it: options, context, device, report. Returns the exit
 * code. */
int example_main(const example_spec *spec, int argc, char **argv, example_body *body);

/** Record an error of the example's own and return its status. */
polytile_status session_fail(session *s, polytile_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Zeroed, page-aligned host memory that lives as long as the session; pinned: for copies to and
 * from GPUs, in small pages, since those of four GPUs to huge ones stall at random
 * (docs/scaling.md). Errors: NO_MEMORY. */
polytile_status session_allocate(session *s, const char *name, int64_t n_bytes, bool pinned,
                                 void **data);
void session_free_memory(session *s);

/** Agree with all ranks on a status; call this before what they do together. If one has failed, all
 * have its error, and this returns its status. */
polytile_status session_agree(session *s, polytile_status status);

/** Return how many devices compute, of all ranks together. */
int session_count_devices(const session *s);

/** One launch, and its plan for a device that runs it alone. */
typedef struct session_launch {
    const polytile_kernel *kernel;
    const polytile_domain *threads;
    const polytile_plan *plan;
    int n_arrays;
    polytile_array *const *arrays;
    int n_parameters;
    const polytile_parameter *parameters;
    /** The program's part in the messages of a queue's launch, of several ranks the first one's;
     * NULL: it has none. */
    polytile_status (*talk)(session *s, polytile_array *const *arrays);
} session_launch;

/** Run a launch once, by the session's queue where there is one, and keep what it took if it is the
 * fastest so far. All ranks call it. */
polytile_status session_run(session *s, const session_launch *launch, result *r);

/** Return the options of a launch in the session's queue, whose limit is the device's. */
polytile_launch_options session_launch_options(const session *s);

/** Refuse a --block that has not one number an index. */
polytile_status session_check_block(session *s, int n_indices);

/** Leave the current function when an expression is not POLYTILE_OK. */
#define TRY(expression)                                                                            \
    do {                                                                                           \
        polytile_status try_status = (expression);                                                 \
        if (try_status != POLYTILE_OK)                                                             \
            return try_status;                                                                     \
    } while (0)

#endif
