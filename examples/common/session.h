#ifndef EXAMPLES_SESSION_H
#define EXAMPLES_SESSION_H

#include "device_text.h"
#include "options.h"

#include <polytile/polytile.h>

enum { SESSION_MAX_MEMORIES = 8, SESSION_ERROR_SIZE = 512 };

/** Host memory of the example's own. */
typedef struct session_memory {
    void *data;
    int64_t n_bytes;
    bool is_pinned;
} session_memory;

/** One run of an example: its command line and what was opened for it. */
typedef struct session {
    const example_spec *spec;
    example_options options;
    polytile_context *ctx;
    polytile_queue *queue; /* of examples that use one, unless only planning; else NULL */
    polytile_device *
        device; /* the queue's, where there is one; NULL when only planning for a GPU, which need not be here */
    char device_text[2 * DEVICE_TEXT_SIZE];
    bool is_cuda;
    bool has_limit;                     /* the user gave one */
    int64_t limit_bytes;                /* as given, or else the device's; 0: none */
    polytile_plan_options plan_options; /* from the command line, and what the device can take */
    int n_memories;
    session_memory memory[SESSION_MAX_MEMORIES];
    char error[SESSION_ERROR_SIZE]; /* an error of the example's own; "": look at the context */
} session;

/** What an example found out, for the report. */
typedef struct result {
    polytile_type type;
    int n_dims; /* of the shape, as n x n or rows x columns */
    int64_t shape[POLYTILE_MAX_DIMS];
    int64_t n_steps; /* 0: the example has none */
    polytile_plan_summary plan;
    bool ran;
    polytile_report run; /* of the fastest repetition */
    bool checked;
    double max_error;
    double tolerance; /* 0 unless the inputs are the user's and rounding is to be expected */
} result;

/** The work of one example. */
typedef polytile_status example_body(session *s, result *r);

/** Everything around an example's body: options, context, device, report. Returns the exit code. */
int example_main(const example_spec *spec, int argc, char **argv, example_body *body);

/** Record an error of the example's own and return its status. */
polytile_status session_fail(session *s, polytile_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Zeroed, page-aligned host memory that lives as long as the session; pinned: for copies to and
 * from GPUs. Errors: NO_MEMORY. */
polytile_status session_allocate(session *s, const char *name, int64_t n_bytes, bool pinned,
                                 void **data);
void session_free_memory(session *s);

/** The options of a launch in the session's queue, whose limit is the device's. */
polytile_plan_options session_launch_options(const session *s);

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
