#ifndef POLYTILE_GRAPH_READ_GRAPH_H
#define POLYTILE_GRAPH_READ_GRAPH_H

#include "access/array/array.h"
#include "graph/dot/dot.h"
#include <polytile/graph.h>
#include <polytile/launch.h>

/* graph/read: data-flow graphs from DOT, with all that can be wrong of them. graph/machine has the
 * machines that they are planned for. */

/** An operand's edge. */
typedef struct pti_flow {
    int array;           /* of the graph; -1: the operand has no such edge */
    int delay;           /* frames between what is made and what is read */
    size_t at;           /* of the text */
    bool has_rows;       /* of an actor's part: it needs or leaves some rows of the array alone */
    polytile_range rows; /* these, along the array's first dimension */
} pti_flow;

/** An array, of which each frame has one. */
typedef struct pti_graph_array {
    const char *name;
    size_t at;
    polytile_type type;
    polytile_domain domain;
    int64_t n_bytes;
    int producer; /* an actor; -1: the program feeds it */
    int delay;    /* on the producer's edge: all readers get older frames */
    int n_readers;
    int64_t depth;             /* frames that it has to hold; 0: as few as possible */
    polytile_array *described; /* of the context */
} pti_graph_array;

/** An actor with its attributes and edges. */
typedef struct pti_actor {
    const char *name;
    size_t at;
    const pti_dot_attributes *given;
    polytile_kernel *kernel; /* of the context */
    polytile_kernel
        *looks_up; /* as declared, where kernel touches all of what it looks up in; NULL:
                                  it looks nothing up; of the context */
    int bound_by;  /* what gave its implementation: 0 nothing, 1 its kernel's name, 2 its own */
    polytile_domain domain;
    int n_parameters;
    polytile_parameter parameter[POLYTILE_MAX_PARAMETERS];
    const char *on; /* a unit; NULL: any */
    size_t on_at;
    double seconds;        /* of a frame; below 0: predicted */
    int64_t repeat;        /* times that the kernel runs for a frame */
    int n_operands;        /* arrays of the kernel */
    pti_flow *in;          /* one an operand; owned */
    pti_flow *out;         /* one an operand; owned */
    double touched_bytes;  /* by one run of the kernel, for predictions */
    double n_accesses;     /* of all its threads */
    double n_elements;     /* that it touches, each counted once */
    bool takes_planes;     /* a thread declares whole arrays, or whole planes of one */
    int64_t scratch_bytes; /* that a firing has for itself */
    int part;              /* of an actor whose domain is split: which one, from 0 */
    int n_parts;           /* 0: it is not split */
} pti_actor;

/** A part of an actor's launch domain, and the unit that runs it. */
typedef struct pti_part {
    int actor;
    int unit;
    polytile_domain threads;
} pti_part;

/** A graph as it was read. */
struct polytile_graph {
    pti_object object;
    pti_dot *dot; /* owned; has all names */
    int n_actors;
    pti_actor *actor; /* owned; in the text's order */
    int n_arrays;
    pti_graph_array *array; /* owned; in the text's order */
    int *order; /* actors so that each stands after those whose frame it reads without delay;
                  owned */
};

/** Return whether an operand needs what its array held before. */
bool pti_operand_is_read(const polytile_kernel *kernel, int operand);
/** Return whether an operand leaves a frame. */
bool pti_operand_is_written(const polytile_kernel *kernel, int operand);

/** Return whether an actor goes through its arrays once, however often its threads name an element:
 * what a launcher calls does, a transform of whole arrays, say. Where nothing is bound, as in
 * `polytile graph`, an actor whose threads declare whole planes is taken for one. */
bool pti_actor_goes_through_once(const pti_actor *actor, bool is_on_host);

/** Return the actor's delay on an operand's edge in, with that of the array's producer. */
int pti_flow_delay(const polytile_graph *graph, const pti_flow *in);

/* Steps of reading, in their order. Errors: DECLARATION with the place, CONFLICT, NO_MEMORY. */

/** Find actors and arrays, and all attributes of theirs but those that need edges. */
polytile_status pti_graph_read_nodes(polytile_graph *graph);
/** Let an actor whose subscripts hold elements of index arrays touch all of the arrays in which it
 * looks them up. */
polytile_status pti_graph_widen_lookups(pti_actor *actor);
/** Refuse look-ups that are unknown when a frame is fed. Errors: DECLARATION with the place. */
polytile_status pti_graph_check_lookups(const polytile_graph *graph, const pti_actor *actor);
/** Join operands and arrays. */
polytile_status pti_graph_read_edges(polytile_graph *graph);
/** Fill in what needs edges, and prove that each kernel is right on its arrays. */
polytile_status pti_graph_complete_actors(polytile_graph *graph);
/** Refuse what no edge feeds, and cycles without delay; finds the order. */
polytile_status pti_graph_check(polytile_graph *graph);

/**
 * Plan one run of an actor's kernel within limit_bytes of a device, and say what that takes.
 *
 * Errors  As polytile_plan_create(), with the actor's name.
 */
polytile_status pti_actor_plan_within(const polytile_graph *graph, int actor, int64_t limit_bytes,
                                      const polytile_link *link, polytile_plan_summary *summary);

/** Note what a run of an actor's kernel over its domain touches. Errors: NO_MEMORY. */
polytile_status pti_actor_measure(const polytile_graph *graph, pti_actor *actor,
                                  polytile_array *const *arrays);

/* split.c: an actor's domain over several units. The parts of an actor are actors of a graph of its
 * own, with the same arrays, of which each part needs and leaves some rows. */

/**
 * Cut an actor's domain along one dimension into n parts as large as the shares say, so that no two
 * leave the same row of an array.
 *
 * Errors  DECLARATION: the actor combines values, repeats, looks something up or has state, or its
 *         parts would write the same rows.
 */
polytile_status pti_graph_cut_domain(const polytile_graph *graph, int actor, int n,
                                     const double *share, pti_part *parts);

/** Make the graph in which parts stand for their actors; each actor's parts stand together, in the
 * actors' order. It borrows from the first graph; pti_graph_free_split() ends it. Errors:
 * NO_MEMORY. */
polytile_status pti_graph_split(const polytile_graph *graph, int n_parts, const pti_part *parts,
                                polytile_graph **split);
void pti_graph_free_split(polytile_graph *split);

/** Return the rows of its array, which it has, that an edge needs or leaves: all, unless the actor
 * is a part. */
polytile_range pti_flow_rows(const polytile_graph *graph, const pti_flow *flow);

/** Return the bytes of a row of an array: all elements of one index of the first dimension. */
int64_t pti_graph_row_bytes(const pti_graph_array *array);

#endif
