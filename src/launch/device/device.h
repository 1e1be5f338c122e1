#ifndef POLYTILE_LAUNCH_DEVICE_DEVICE_H
#define POLYTILE_LAUNCH_DEVICE_DEVICE_H

#include "access/declare/parameter.h"
#include "access/footprint/instance.h"
#include "base/cancel.h"
#include "base/context.h"
#include "partition/schedule/schedule.h"
#include <polytile/run.h>
#include <polytile/tuning.h>

/* launch/device: a device is a table of functions. Beside it are what the executor offers devices
 * while a schedule runs (execution.h), views, traces and progress. */

/* What the executor needs of a device. To add a kind of device, add a file with these functions and
 * a row of the driver table. */

/** The memory of an array's box: the layout's first element is at base. */
typedef struct pti_memory_span {
    void *base;
    const pti_memory_layout *layout;
} pti_memory_span;

/** Elements of a box that move from one memory to another; box is inside both layouts. */
typedef struct pti_move {
    const polytile_domain *box;
    int64_t element_bytes;
    pti_memory_span to;
    pti_memory_span from; /* of a fill: one element in host memory, with strides of 0 */
} pti_move;

/** How the sub-kernels of a launch run: by which code, and with which values. */
typedef struct pti_launch_config {
    const polytile_implementation *implementation;
    const polytile_character *character;
    const int64_t *block; /* threads of a block along each index, as the user asked; NULL: the
                             device's choice */
    int n_values;
    const pti_value *values;      /* of the parameters that it takes, in its order */
    struct pti_server_part *part; /* its slots, and who serves them; NULL: it is no team kernel */
    bool is_watched; /* what it touches is looked at: all of that has to be in memory */
} pti_launch_config;

/** Return the launch configuration of a kernel with these values, which are borrowed. */
static inline pti_launch_config
pti_launch_config_of(const polytile_kernel *kernel, const int64_t *block, const pti_value *values) {
    return (pti_launch_config){.implementation = &kernel->implementation,
                               .character = &kernel->character,
                               .block = block,
                               .n_values = pti_kernel_n_values(kernel),
                               .values = values,
                               .part = NULL,
                               .is_watched = false};
}

/** One sub-kernel: a box of threads, and views: one an array, then one a value of the parameters,
 * then the pieces of arrays that have several. */
typedef struct pti_sub_kernel {
    const pti_instance *instance;
    pti_launch_config config;
    const polytile_domain *threads;
    const polytile_view *views;
    bool lacks_scratch; /* in place, where arrays are the host's and scratch is none of them: the
                           device brings memory for it */
    const struct pti_host_scratch *host_scratch; /* that memory; NULL: not yet, or not needed */
    int lane;                                    /* in which it is */
    bool is_first;                  /* every fresh accumulator that is touched holds the identity */
    struct pti_host_slices *slices; /* of a launch in place on the host; NULL: it runs in one go */
    polytile_repetition *repetition; /* of its launcher; NULL: it is called once */
} pti_sub_kernel;

/** Return whether an array is there in several pieces, in this superblock. */
static inline bool pti_sub_kernel_has_pieces(const pti_sub_kernel *sub_kernel) {
    bool has = false;
    for (int a = 0;
         sub_kernel->instance->n_further > 0 && a < pti_instance_n_arrays(sub_kernel->instance);
         a++)
        has = has || sub_kernel->views[a].n_pieces > 0;
    return has;
}

/** The most views of a sub-kernel: the pieces of an array that has several come beside its own. */
static inline size_t pti_most_views(const pti_instance *instance, int n_values) {
    const int n_pieces = instance->n_further > 0 ? instance->n_operands : 0;
    return (size_t)(pti_instance_n_arrays(instance) + n_values + n_pieces);
}

static inline int pti_sub_kernel_n_views(const pti_sub_kernel *sub_kernel) {
    return (int)pti_most_views(sub_kernel->instance, sub_kernel->config.n_values);
}

/** One operation of a schedule, with its addresses found. */
typedef struct pti_command {
    const pti_op *op;
    int64_t index; /* of op in the schedule */
    int operand;   /* whose elements move; launch: -1 */
    pti_move move; /* unless it is a launch */
    pti_sub_kernel sub_kernel;
    double n_threads; /* of launches that run as one; 0: it is one operation */
} pti_command;

/** Launches of a schedule that may run as one. */
typedef struct pti_tile_command {
    const pti_tiles *tiles;
    pti_command first;     /* the first launch, with all of its threads; of a slab with those that
                              are stored, and without addresses if these are none */
    pti_sub_kernel second; /* the launch after it, with its threads as `first` has */
    /** Of a ring's slab, what of the first launch's arrays lies in the other half; of all others
     * NULL. */
    const polytile_view *beyond;
    pti_command last; /* the last operation, without addresses; op is NULL where the other side of a
                         ring is still to come */
} pti_tile_command;

/** A schedule being run; launch/device/execution.h. */
typedef struct pti_execution pti_execution;

/** A point of a device's stream, for which streams of other devices can wait; the device owns
 * it. */
typedef struct pti_event pti_event;

/** What a device does with the memory of a linked one. One thread calls them at a time, except for
 * wait_for_event. */
typedef struct pti_peer_functions {
    /** Enable access to another device's memory; if that is impossible, return false and a static
     * text in *why_not. */
    bool (*reaches)(polytile_device *device, polytile_device *other, const char **why_not);
    /** Record an event after what was submitted to a stream so far. */
    polytile_status (*record_event)(polytile_device *device, pti_stream stream, pti_event **event);
    /** Let what is submitted to a stream from now on wait for any device's event. */
    polytile_status (*await_event)(polytile_device *device, pti_stream stream,
                                   const pti_event *event);
    /** Submit a copy from another device's memory, after an event of that, to the stream of
     * uploads, and record an event after it. After an error nothing of it runs. */
    polytile_status (*copy)(polytile_device *device, polytile_device *from, const pti_move *move,
                            const pti_event *ready, pti_event **done);
    /** Wait for an event in the calling thread, as well as possible if the device has failed.
     * Meanwhile other threads may call functions for other events. */
    void (*wait_for_event)(const pti_event *event);
    /** Release an event; NULL does nothing. */
    void (*drop_event)(pti_event *event);
} pti_peer_functions;

/** Which way bytes go; memory of the host, and the device's own. */
typedef enum pti_copy_way {
    PTI_WAY_IN,
    PTI_WAY_OUT,
    PTI_WAY_WITHIN,
    PTI_WAY_FROM_PEER
} pti_copy_way;

/** Bytes that are copied as one piece. */
typedef struct pti_byte_copy {
    pti_copy_way way;
    void *to;
    const void *from; /* within the device's memory NULL stands for zeros */
    int64_t n_bytes;
    polytile_device *peer; /* in whose memory they lie, of PTI_WAY_FROM_PEER */
} pti_byte_copy;

/** A function that fails leaves the error's text on the device's context. */
typedef struct pti_device_functions {
    /** Return whether an implementation has what this device runs; *wanted names that. */
    bool (*can_run)(const polytile_implementation *implementation, const char **wanted);
    /** Find the bytes that a plan may use now, at most limit_bytes; 0: no limit. */
    polytile_status (*usable)(polytile_device *device, int64_t *usable_bytes);
    /** Reserve device memory for a schedule's arena. The device owns it; it is valid until the next
     * reserve. Errors: NO_FIT if there is not as much. */
    polytile_status (*reserve)(polytile_device *device, int64_t arena_bytes, void **arena);
    /** Prepare for several runs, the stretches of a schedule with a period, by all that these move.
     * NULL: each prepares by itself. */
    polytile_status (*begin_stretches)(polytile_device *device, const pti_schedule *schedule,
                                       polytile_array *const *arrays);
    /** Undo that after the last one. Called once after each begin_stretches, also if that or a run
     * failed. */
    polytile_status (*end_stretches)(polytile_device *device);
    /** Begin a run, after reserve. */
    polytile_status (*begin)(polytile_device *device, pti_execution *execution);
    /** Run a command, or enqueue it after its stream and what its operation waits for. Commands
     * come in the schedule's order. */
    polytile_status (*submit)(polytile_device *device, const pti_command *command);
    /** Return whether launches of the run can run as one. NULL: they never can. */
    bool (*may_run_tiles)(polytile_device *device, const pti_tile_command *command);
    /** Run launches as one, which can, as submit() runs one. */
    polytile_status (*submit_tiles)(polytile_device *device, const pti_tile_command *command);
    /** Run all operations of the execution, if there is a faster way than command by command and
     * none can fail; false: nothing was done. NULL: there is never one. */
    bool (*run_all)(polytile_device *device);
    /** Wait for all that was submitted, also after a failure, and set the report's times. Called
     * once after each begin, also if that failed. */
    polytile_status (*finish)(polytile_device *device);
    /** Copy bytes outside of runs, and wait for that. NULL: it has no memory but the host's. */
    polytile_status (*copy_bytes)(polytile_device *device, const pti_byte_copy *copy);
    /** Pin memory of the host, so that copies are fast; false: it stays as it is. NULL: it has no
     * memory but the host's. */
    bool (*pin)(polytile_device *device, void *memory, int64_t n_bytes);
    void (*unpin)(polytile_device *device, void *memory);
    /** Free the device and all that it owns. */
    void (*close)(polytile_device *device);
    const pti_peer_functions *peer; /* NULL: no other device's memory is in its reach */
} pti_device_functions;

/** The number of a run that must not end before it is done, as one that brings results to the
 * host. */
#define PTI_NOT_CANCELLABLE INT64_MAX

/** Of how many kernels it is known how long they take in lanes. */
enum { PTI_N_LANE_TIMES = 64 };

/** The first member of every driver's own structure. */
struct polytile_device {
    pti_object object;
    const pti_device_functions *functions;
    char *text;
    int64_t limit_bytes;  /* 0: none */
    int cuda_capability;  /* of a GPU, 10 * major + minor; 0: it is none */
    bool reaches_host;    /* computes on host memory: plans without a limit run in place */
    int64_t fill_threads; /* of kernels, that fill it: with fewer a part of it is idle */
    int n_lanes;          /* to which launches are dealt; 0 is as 1 */
    struct pti_lane_times *lane_times; /* PTI_N_LANE_TIMES, of launches that are dealt to as many
                                          as take least time; NULL: all are to n_lanes; owned */
    int next_lane_times;               /* to be replaced */
    pti_tile_room tile_room;           /* what it runs of launches that may run as one */
    polytile_link link;                /* what plans for it assume */
    bool has_measured_link;            /* of this device; otherwise the link has defaults */
    polytile_report report;            /* of the last run */
    bool is_running;              /* a run is in progress, also while it is inside a launcher */
    pti_cancel runs;              /* of a device of the user's: its runs, counted */
    pti_cancel *cancel;           /* these, or what the queue has; who asks to cancel asks here */
    int64_t cancel_number;        /* of the run in progress; PTI_NOT_CANCELLABLE: it goes on */
    int64_t n_ops;                /* of the schedule that runs; these two are atomic */
    int64_t n_ops_done;           /* of these, about */
    int64_t n_ops_begun;          /* of these, at most, whether or not they ended well */
    struct polytile_queue *queue; /* whose device this is; NULL: the user's */
    void (*wait)(struct polytile_queue *of); /* of a queue: wait until nothing runs on the device */
    struct pti_trace *trace;                 /* NULL: none is written; owned */
    struct pti_peer *peer; /* as one of several that are linked; NULL: it is not */
};

/* A device's text, NAME, NAME:NUMBER, NAME(OPTION=VALUE,...), as its driver gets it. */

/** The options that a text may have. */
typedef enum pti_option_kind {
    PTI_OPTION_MEMORY,
    PTI_OPTION_THREADS,
    PTI_OPTION_STREAMS,
    PTI_N_OPTIONS
} pti_option_kind;

/** An option that a driver takes. */
typedef struct pti_device_option {
    pti_option_kind kind;
    const char *name;
    const char *form; /* what a value looks like, for error texts */
    /** Parse a value; false if it is invalid. */
    bool (*parse)(const char *value, int64_t *number);
    /** Explain why a value is invalid, in a buffer of POLYTILE_SIZE_WHY_BYTES; NULL: the form
     * does. */
    char *(*explain)(const char *value, char *buffer);
} pti_device_option;

/** A parsed text. */
typedef struct pti_device_text {
    const struct pti_driver *driver;
    int64_t number;               /* 0 unless given */
    int64_t value[PTI_N_OPTIONS]; /* 0 unless given */
} pti_device_text;

enum { PTI_MAX_THREADS = 1024 };

/** Parse a number of host threads, from 1 to PTI_MAX_THREADS; false: invalid. */
bool pti_parse_threads(const char *value, int64_t *n_threads);

/** Of streams=: as many as turn out to be fastest. */
enum { PTI_STREAMS_AUTO = -1 };

/** Parse a number of streams, from 1 to PTI_MAX_LANES, or auto; false: invalid. */
bool pti_parse_streams(const char *value, int64_t *n_streams);

/** A kind of device. */
typedef struct pti_driver {
    const char *name;  /* in a device's text, before a colon or a parenthesis */
    const char *forms; /* for error texts */
    bool is_numbered;  /* several of one kind: name:0, name:1, ... */
    bool reaches_host; /* it works in the host's memory, unless its text gives it some of its own */
    const pti_device_option *options;
    int n_options;
    /** Create a device with functions, limit_bytes and link; the caller sets text and object. */
    polytile_status (*open)(polytile_context *ctx, const pti_device_text *text,
                            polytile_device **device);
    /** Append entries as polytile_devices_list() does, and add their number to *n_devices. */
    polytile_status (*list)(polytile_context *ctx, int capacity, polytile_device_info *infos,
                            int *n_devices);
} pti_driver;

/** The options of the CUDA driver, in builds with CUDA and without. */
extern const pti_device_option pti_cuda_options[PTI_N_OPTIONS];

#endif
