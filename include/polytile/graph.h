#ifndef POLYTILE_GRAPH_H
#define POLYTILE_GRAPH_H

#include <polytile/implementation.h>
#include <polytile/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Graphs: kernels joined by arrays that carry one frame after another. docs/graphs.md has the text,
 * and how a graph is planned. polytile/stream.h runs it. */

/** A data-flow graph: actors, which are kernels with launch domains, and arrays between them. */
typedef struct polytile_graph polytile_graph;

/** The most that one firing of an actor may take. */
#define POLYTILE_GRAPH_MAX_SECONDS 1e6

/**
 * Read a graph from a file in the subset of Graphviz's DOT that docs/graphs.md has.
 *
 * Errors  IO, DECLARATION (the text shows line and column with a caret: an unknown attribute or
 *         name, two producers of an array, an operand without its edge, an edge against a role,
 *         arrays that do not agree, actors that wait for each other), CONFLICT (of a kernel on its
 *         arrays, as polytile_check()), NO_MEMORY.
 * Owns    The context owns the graph, which polytile_graph_destroy() can end sooner; on error it is
 *         NULL.
 */
polytile_status polytile_graph_read(polytile_context *ctx, const char *path,
                                    polytile_graph **graph);
/** Read a graph from a text; errors call it "graph". */
polytile_status polytile_graph_parse(polytile_context *ctx, const char *text,
                                     polytile_graph **graph);
void polytile_graph_destroy(polytile_graph *graph);

/** Say how long a firing of an actor takes, as measured; plans then predict no time for it. Errors:
 * INVALID (no such actor; seconds below 0, or above POLYTILE_GRAPH_MAX_SECONDS). */
polytile_status polytile_graph_set_seconds(polytile_graph *graph, const char *actor,
                                           double seconds);

/**
 * Say what an actor runs: the one of this name, and each actor whose kernel has it and that has no
 * implementation by its own name. Streams that are there already keep what they had.
 *
 * Errors  INVALID (neither an actor nor a kernel has the name), and those of
 *         polytile_kernel_create() for the implementation.
 * Owns    The implementation is copied, but not what it points to.
 */
polytile_status polytile_graph_bind(polytile_graph *graph, const char *name,
                                    const polytile_implementation *implementation);

/** Return the name of an array that the program feeds, counted from 0 in the text's order; NULL:
 * there are not as many. */
const char *polytile_graph_get_input_name(const polytile_graph *graph, int input);
/** Return the name of an array that the program takes; likewise. */
const char *polytile_graph_get_output_name(const polytile_graph *graph, int output);

/** Units, memories and the links between them, that a graph is planned for. */
typedef struct polytile_machine polytile_machine;

/**
 * Read a machine from a file: nodes with device= are units, edges with bandwidth= are links.
 * Nothing is opened.
 *
 * Errors  IO, DECLARATION (an unknown device or attribute, a device that is there twice, a rate
 *         that is none), NO_MEMORY.
 * Owns    As polytile_graph_read().
 */
polytile_status polytile_machine_read(polytile_context *ctx, const char *path,
                                      polytile_machine **machine);
/** Read a machine from a text; errors call it "machine". */
polytile_status polytile_machine_parse(polytile_context *ctx, const char *text,
                                       polytile_machine **machine);
/** Describe this machine, with the figures of polytile_devices_list(). Errors: as that. */
polytile_status polytile_machine_find(polytile_context *ctx, polytile_machine **machine);
void polytile_machine_destroy(polytile_machine *machine);

/** Say how fast frames go from one memory to another, latency included, as measured; it replaces
 * what is given for that direction. Memories have the names of their units; host memory beside
 * these is "host". Errors: INVALID (no such memory, one and the same, a rate that is not above 0),
 * NO_MEMORY. */
polytile_status polytile_machine_set_rate(polytile_machine *machine, const char *from,
                                          const char *to, double bytes_per_s);

/** How to plan a graph; zeros are the defaults. */
typedef struct polytile_graph_options {
    const char *objective; /* "period" (default), "latency" or "memory" */
    const char *strategy;  /* "best" (default); "paper": the paper's rules, for comparison */
    bool keep_map;   /* each actor has its unit by on=; without it those without one are free */
    bool no_overlap; /* synchronous cycles: transfers, then work, as in the paper */
    /* For the period actors without state and on= may take frames in turn on several units. */
    bool in_turn;
    /* Units in whose memory a frame does not fit run their actors in superblocks; frames of these
     * units lie in host memory. Without it such a graph does not fit. */
    bool in_superblocks;
    /* For the period domains of actors without on= may be split over several units. */
    bool in_parts;
    int64_t reserved[4]; /* zeros */
} polytile_graph_options;

/** A mapping of actors to units, a periodic schedule, and what lies where; immutable. */
typedef struct polytile_graph_plan polytile_graph_plan;

/**
 * Plan a graph for a machine: map its actors, schedule firings and transfers, and place channels.
 *
 * Units   seconds, bytes.
 * Errors  NO_FIT (what an actor touches, or all channels together, exceed a memory's limit; the
 *         text names what and how much), DECLARATION (on= names no unit, or is missing with
 *         keep_map; depths that no schedule can keep; frames in turn through state), UNSUPPORTED
 *         (frames in turn by on=, or state over several units, without overlap), INVALID (such as
 *         in_turn beside keep_map, no_overlap or "paper"), NO_MEMORY.
 * Owns    The context owns the plan, which polytile_graph_plan_destroy() can end sooner; it needs
 *         neither graph nor machine. On error it is NULL.
 * Source  docs/graphs.md; Boulos et al., "Efficient implementation of data flow graphs on multi-gpu
 *         clusters", 2012, for strategy "paper" and for cycles without overlap.
 */
polytile_status polytile_graph_plan_create(const polytile_graph *graph,
                                           const polytile_machine *machine,
                                           const polytile_graph_options *options,
                                           polytile_graph_plan **plan);
void polytile_graph_plan_destroy(polytile_graph_plan *plan);

/** The figures of a plan. */
typedef struct polytile_graph_summary {
    double period_s;          /* from one result to the next, on average over the turns */
    double bound_s;           /* no schedule of the mapping has a shorter period */
    const char *bound;        /* what bounds it; lives as long as the plan */
    double latency_s;         /* from a frame's input to its results */
    int64_t frames_in_flight; /* that are begun and not done, at most */
    int n_actors;
    int n_channels;
    bool mapping_is_exact;   /* no other mapping has a better bound; false: not proved */
    bool channels_are_least; /* no schedule of this period has channels of fewer bytes; likewise */
    double plan_seconds;
    int64_t h2d_bytes; /* that a frame moves from host memory to units with a memory of their own */
    int64_t d2h_bytes; /* back */
    int64_t p2p_bytes; /* between memories of units, or hosts */
    int64_t device_bytes; /* the most of a unit's own memory that channels have; 0: none has one */
    int64_t reserved[4];  /* zeros */
} polytile_graph_summary;
void polytile_graph_plan_get_summary(const polytile_graph_plan *plan,
                                     polytile_graph_summary *summary);

/** Write the plan as text for people, JSON for programs, or a picture: the graph coloured by unit,
 * and a Gantt chart of a period. Owns: the caller frees *text with free(). */
polytile_status polytile_graph_plan_to_string(const polytile_graph_plan *plan,
                                              polytile_format format, char **text);

/** Write the graph as DOT, with on= of each actor as planned, coloured by unit; it can be read
 * again. Owns: as above. */
polytile_status polytile_graph_plan_to_dot(const polytile_graph_plan *plan, char **text);

/** Return what is assumed or unsound, a line each; "": nothing. */
const char *polytile_graph_plan_get_notes(const polytile_graph_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
