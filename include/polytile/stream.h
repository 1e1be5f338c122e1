#ifndef POLYTILE_STREAM_H
#define POLYTILE_STREAM_H

#include <polytile/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A graph that runs: frames go in, and results come out in the same order.
 *
 *     for (int f = 0; f < n_frames + depth; f++) {
 *         if (f >= depth)
 *             polytile_stream_pull(stream, POLYTILE_ARRAYS(result), NULL);
 *         if (f < n_frames)
 *             polytile_stream_push(stream, POLYTILE_ARRAYS(frame), NULL);
 *     }
 *
 * where depth is what polytile_stream_get_depth() returns, or less. Units and links work at the
 * same time, on different frames; nothing drains between frames. docs/graphs.md has what is
 * guaranteed.
 *
 * One host thread at a time uses a stream, like all objects of a context.
 */
typedef struct polytile_stream polytile_stream;

/** How a stream runs; zeros are the defaults. */
typedef struct polytile_stream_options {
    bool drops_when_full; /* a frame is left out, and counted, while units still use its place, also
                             where fewer are in flight than the depth; without it pushing waits */
    int64_t reserved[4];  /* zeros */
} polytile_stream_options;

/**
 * Begin to run a graph as it was planned.
 *
 * Opens the devices of the units, takes all memory that the plan says, and starts a thread for each
 * unit and each direction of a link. The graph may be destroyed and bound anew meanwhile; what its
 * implementations point to must live as long as the stream.
 *
 * Errors  INVALID (a plan of another graph or context; an actor without an implementation, or with
 *         one for other types), UNSUPPORTED (strategy "paper", units of other ranks, team kernels,
 *         an implementation for another kind of device), NO_FIT, NO_MEMORY, DEVICE (a thread does
 *         not start), and those of polytile_device_open().
 * Owns    The context owns the stream, which polytile_stream_destroy() can end sooner; on error it
 *         is NULL. The stream does not need the plan later.
 */
polytile_status polytile_stream_create(const polytile_graph *graph, const polytile_graph_plan *plan,
                                       const polytile_stream_options *options,
                                       polytile_stream **stream);

/** End a stream; frames in flight are lost. NULL does nothing. */
void polytile_stream_destroy(polytile_stream *stream);

/** Return how many frames may always be in flight, pushed and not pulled. */
int64_t polytile_stream_get_depth(const polytile_stream *stream);

/**
 * Hand in a frame. Its elements are copied, so the arrays are free when this returns.
 *
 * Waits for the units while there is no room. Where only polytile_stream_pull() makes room, waiting
 * would not end: that is INVALID, and the frame is not taken.
 *
 * Shapes  arrays: one an input, in the order of polytile_graph_get_input_name(), of its type and
 *         extents. *frame: its number from 0; -1: it was dropped. NULL: nobody asks.
 * Errors  INVALID (other arrays; nothing was pulled for too long).
 */
polytile_status polytile_stream_push(polytile_stream *stream, int n_arrays,
                                     polytile_array *const *arrays, int64_t *frame);

/**
 * Wait for the results of the next frame, and copy them.
 *
 * A frame in which something failed returns that error here, and is done with; later frames go on.
 * What such a frame would have left for later ones is as the frame before left it, or zero where
 * the channel has room for one frame alone.
 *
 * Shapes  arrays: one an output, as of polytile_stream_push(); or none, so that nothing is copied.
 *         *frame: its number. NULL: nobody asks.
 * Errors  INVALID (no frame is in flight; other arrays: the frame can be pulled again then), and
 *         what failed in the frame, with the actor's name.
 */
polytile_status polytile_stream_pull(polytile_stream *stream, int n_arrays,
                                     polytile_array *const *arrays, int64_t *frame);

/**
 * Wait for the results of the next frame, and lend them until it is pulled.
 *
 * Shapes  memory: n_outputs of them, each in C order, or NULL of an output without elements.
 * Errors  As polytile_stream_pull().
 */
polytile_status polytile_stream_peek(polytile_stream *stream, int n_outputs, const void **memory);

/** What a stream did so far. */
typedef struct polytile_stream_report {
    int64_t n_pushed;
    int64_t n_pulled;
    int64_t n_failed;        /* of those that are done */
    int64_t n_dropped;       /* for which there was no room */
    double period_s;         /* between results, on average; 0: there are not two yet */
    double latency_median_s; /* from push to results, of the last 1024 frames */
    double latency_99_s;     /* of 99 of 100 at most */
    double latency_most_s;
    int64_t n_bytes; /* of all channels, in all memories */
    int n_lanes;
    int64_t reserved[4]; /* zeros */
} polytile_stream_report;
void polytile_stream_get_report(polytile_stream *stream, polytile_stream_report *report);

/** A unit, or one direction of a link, and how much of the time it works. */
typedef struct polytile_stream_lane {
    const char *name; /* lives as long as the stream */
    bool is_unit;
    double busy_s; /* since the stream began */
    double
        occupancy; /* of the time from the first push to the last result; 0: nothing is done yet */
    int64_t n_bytes;     /* that a link moved */
    int64_t reserved[4]; /* zeros */
} polytile_stream_lane;

/** Write at most capacity lanes; returns how many there are. */
int polytile_stream_get_lanes(polytile_stream *stream, int capacity, polytile_stream_lane *lanes);

/** Return how long a firing of an actor takes, on average, for polytile_graph_set_seconds(); 0: it
 * has not fired, or there is none of that name. */
double polytile_stream_get_seconds(polytile_stream *stream, const char *actor);

/**
 * Write what a stream measured so far as JSON: the report, seconds of actors and rates of links.
 *
 * `polytile graph --profile` plans with these; so do polytile_graph_set_seconds() and
 * polytile_machine_set_rate().
 *
 * Owns    The caller frees *text with free().
 */
polytile_status polytile_stream_to_json(polytile_stream *stream, char **text);

#ifdef __cplusplus
}
#endif

#endif
