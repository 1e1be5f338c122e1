#ifndef POLYTILE_LAUNCH_DEVICE_DEVICE_H
#define POLYTILE_LAUNCH_DEVICE_DEVICE_H

#include "access/footprint/instance.h"
#include "base/context.h"
#include "launch/device/device_text.h"
#include "partition/schedule/schedule.h"
#include <polytile/run.h>
#include <polytile/tuning.h>

/* launch/device: what a device is: a table of functions, and beside it what the executor offers
 * devices while a schedule runs (execution.h), views, traces and progress. */

/* What the executor needs of a device. One more kind of device is one file that implements these
 * functions and one row of the driver table. */

/** Where the elements of an array's box lie: the layout's first element is at base. */
typedef struct pti_image {
    void *base;
    const pti_layout *layout;
} pti_image;

/** The elements of a box, from one memory to another; box is inside both layouts. */
typedef struct pti_move {
    const polytile_domain *box;
    int64_t element_bytes;
    pti_image to;
    pti_image from; /* of a fill: one element in host memory, with strides of 0 */
} pti_move;

/** What runs the sub-kernels of a launch, and how. */
typedef struct pti_body {
    const polytile_implementation *implementation;
    const polytile_character *character;
    const int64_t *block; /* threads of a block along each index, as the user asked; NULL: the
                             device's choice */
} pti_body;

/** One sub-kernel: a box of threads and one view an operand. */
typedef struct pti_launch {
    const pti_instance *instance;
    const polytile_implementation *implementation;
    const polytile_character *character;
    const polytile_domain *threads;
    const polytile_view *views;
    const int64_t *block; /* threads of a block along each index, as the user asked; NULL: the
                             device's choice */
    bool abreast;         /* it has the second of the streams for launches */
    bool is_first;        /* every fresh accumulator that is touched holds the identity */
} pti_launch;

/** One operation of a schedule, with what it works on found in memory. */
typedef struct pti_command {
    const pti_op *op;
    int64_t index; /* of op in the schedule */
    int operand;   /* whose elements move; launch: -1 */
    pti_move move; /* unless it is a launch */
    pti_launch launch;
} pti_command;

/** A schedule being run; launch/device/execution.h. */
typedef struct pti_execution pti_execution;

/** A moment of a device's stream, which streams of other devices can wait for; the device's. */
typedef struct pti_mark pti_mark;

/** What a device does with the memory of another one that it is linked to. One of several threads
 * calls them at a time, but for settle. */
typedef struct pti_peer_functions {
    /** Whether it can read another device's memory, which is made possible; if not, *why_not says
     * why: text that stays. */
    bool (*reaches)(polytile_device *device, polytile_device *other, const char **why_not);
    /** Mark what was submitted to a stream so far. */
    polytile_status (*mark)(polytile_device *device, pti_stream stream, pti_mark **mark);
    /** Let what is submitted to a stream from now on wait for any device's mark. */
    polytile_status (*await)(polytile_device *device, pti_stream stream, const pti_mark *mark);
    /** Submit a copy from another device's memory, behind a mark of that, to the stream of uploads,
     * and mark its end. Nothing of it is under way after an error. */
    polytile_status (*copy)(polytile_device *device, polytile_device *from, const pti_move *move,
                            const pti_mark *ready, pti_mark **done);
    /** Wait for a mark, as well as can be where the device has failed, while other threads call the
     * functions for other marks. */
    void (*settle)(const pti_mark *mark);
    /** Give a mark back; NULL does nothing. */
    void (*drop)(pti_mark *mark);
} pti_peer_functions;

/** Each function that can fail leaves the error's text on the device's context. */
typedef struct pti_device_functions {
    /** Whether an implementation has what this device runs; *wanted names it. */
    bool (*can_run)(const polytile_implementation *implementation, const char **wanted);
    /** What a plan may use at present, in bytes, at most limit_bytes; 0: there is no limit. */
    polytile_status (*usable)(polytile_device *device, int64_t *usable_bytes);
    /** Device memory for a schedule's arena; it is the device's and stays valid until the next
     * reserve. Errors: NO_FIT when there is not as much. */
    polytile_status (*reserve)(polytile_device *device, int64_t arena_bytes, void **arena);
    /** Get ready for a run, after reserve. */
    polytile_status (*begin)(polytile_device *device, pti_execution *execution);
    /** Run a command, or enqueue it behind its stream and what its operation waits for. Commands
     * come in the schedule's order. */
    polytile_status (*submit)(polytile_device *device, const pti_command *command);
    /** Run all operations of the execution that began, where there is a faster way than command by
     * command and none of them can fail; false: nothing was done. NULL: there is never one. */
    bool (*run_all)(polytile_device *device);
    /** Wait for all that was submitted, also after a failure, and fill in the report's times.
     * Called once after each begin, whether or not that succeeded. */
    polytile_status (*finish)(polytile_device *device);
    /** Free what the device holds, and the device. */
    void (*close)(polytile_device *device);
    const pti_peer_functions *peer; /* NULL: no other device's memory is in its reach */
} pti_device_functions;

/** The first member of every driver's own structure. */
struct polytile_device {
    pti_object object;
    const pti_device_functions *functions;
    char *text;
    int64_t limit_bytes;          /* 0: none */
    bool reaches_host;            /* computes on host memory: plans without a limit run in place */
    polytile_link link;           /* what plans for it assume */
    polytile_report report;       /* of the last run */
    bool is_running;              /* a run is in progress, also while it is inside a launcher */
    struct polytile_queue *queue; /* whose device this is; NULL: the user's */
    void (*settle)(
        struct polytile_queue *of); /* of a queue: wait until nothing runs on the device */
    struct pti_trace *trace;        /* NULL: none is written; owned */
    struct pti_peer *peer;          /* as one of several that are linked; NULL: it is not */
};

/** A kind of device. */
typedef struct pti_driver {
    const char *name;  /* in a device's text, before a colon or a parenthesis */
    const char *forms; /* for error texts */
    bool is_numbered;  /* several of one kind: name:0, name:1, ... */
    const pti_device_option *options;
    int n_options;
    /** The device is made, with functions, limit_bytes and link; text and object are filled in by
     * the caller. */
    polytile_status (*open)(polytile_context *ctx, const pti_device_text *text,
                            polytile_device **device);
    /** Append entries as polytile_devices_list() does; *n_devices grows by as many as there are. */
    polytile_status (*list)(polytile_context *ctx, int capacity, polytile_device_info *infos,
                            int *n_devices);
} pti_driver;

/** What the CUDA driver takes, in builds with CUDA and without. */
extern const pti_device_option pti_cuda_options[PTI_N_OPTIONS];

extern const pti_driver pti_host_driver;
extern const pti_driver pti_cuda_driver;

#endif
