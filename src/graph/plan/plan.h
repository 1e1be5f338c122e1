#ifndef POLYTILE_GRAPH_PLAN_PLAN_H
#define POLYTILE_GRAPH_PLAN_PLAN_H

#include "graph/machine/machine.h"
#include "graph/map/net.h"
#include "graph/read/graph.h"
#include "graph/schedule/storage.h"

/* graph/plan: a graph on a machine becomes a mapping, a periodic schedule and places in memories.
 * Here is the plan as data, which graph/show prints. */

/** An actor, as plans show it. */
typedef struct pti_planned_actor {
    const char *name;
    int unit; /* of the first turn */
    double seconds;
    int part; /* of a domain over several units: which one, from 0 */
    int n_parts;
} pti_planned_actor;

/** Where an actor runs the frames of a turn. */
typedef struct pti_planned_turn {
    int unit;
    double seconds;
} pti_planned_turn;

/** A unit, as plans show it. */
typedef struct pti_planned_unit {
    const char *name;
    const char *device; /* its text */
    int rank;
    int memory;        /* where its frames lie */
    int64_t cut_bytes; /* of its own memory, in which it runs superblocks of them; 0: it does not */
} pti_planned_unit;

/** An array in one memory, with the place of its frames. */
typedef struct pti_channel {
    const char *array; /* "NAME (scratch)" of what an actor has for itself */
    int memory;
    int64_t n_bytes; /* of all its frames */
    int64_t capacity;
    int colour;
    int64_t offset_bytes;
    int turn;
    bool is_order; /* it has no bytes, and only keeps the program's turns in order */
} pti_channel;

/** A memory, and how much of it is used. */
typedef struct pti_planned_memory {
    const char *name;
    int64_t n_bytes;
    int64_t channel_bytes; /* of these; launches take the others for superblocks */
    int64_t limit_bytes;   /* 0: none */
    bool is_host;          /* of its rank, where ports lie */
    int rank;
} pti_planned_memory;

/** A unit or a direction of a link that is used, with what it does in a period. */
typedef struct pti_lane {
    const char *name;
    bool is_unit;
    double busy_s; /* in a period, on average over the turns */
} pti_lane;

/** A task of a lane. */
typedef struct pti_planned_task {
    const char *name; /* an actor, or an array that moves */
    int lane;
    int unit; /* of its actor; -1: a transfer */
    double start_s;
    double seconds;
} pti_planned_task;

/** An arrow of the picture, from an array to an actor or back. */
typedef struct pti_drawn_edge {
    int actor;
    int array;
    bool goes_out; /* of the actor */
    int delay;
} pti_drawn_edge;

struct pti_planning;
struct pti_outcome;

/** A way of scheduling graphs, and what it can do. */
typedef struct pti_graph_strategy {
    const char *name;
    const char *note; /* for who reads a plan: by which rules it is */
    bool may_overlap; /* a frame may begin before the one before has ended */
    bool may_spread;  /* an actor may run on several units, as parts or in turn */
    bool is_sound;    /* no frame is overwritten while it is needed, so streams may run the plan */
    polytile_status (*schedule)(struct pti_planning *planning, struct pti_outcome *outcome);
    /* without overlap */
} pti_graph_strategy;

/** Return the strategy of a name; NULL as a name is the first one. Returns NULL: there is none. */
const pti_graph_strategy *pti_graph_strategy_find(const char *name);

/** A plan of a graph on a machine. */
struct polytile_graph_plan {
    pti_object object;
    const char *name; /* of the graph's text */
    int64_t n_strings, string_capacity;
    char **string; /* all names; owned */
    int n_actors;
    pti_planned_actor *actor; /* in the text's order; owned, as all lists */
    int n_turns;              /* frames of a round */
    pti_planned_turn *turn;   /* of each actor: [actor * n_turns + turn] */
    int n_units;
    pti_planned_unit *unit;
    int n_channels;
    pti_channel *channel; /* one a buffer of the tasks */
    int n_memories;
    pti_planned_memory *memory;
    int n_lanes;
    pti_lane *lane;
    int n_tasks;
    pti_planned_task *task;
    int n_arrays;
    const char **array;
    int *level; /* of each actor: how many stand before it at least */
    int n_edges;
    pti_drawn_edge *edge;
    double period_s;
    double bound_s;
    const char *bound;
    double latency_s;
    int64_t frames_in_flight;
    const pti_graph_strategy *strategy;
    const char *objective;
    bool overlap;
    bool mapping_is_exact;
    bool channels_are_least;
    int64_t graph_serial;    /* of the graph that was planned */
    int n_parts;             /* of actors whose domains are split */
    pti_part *part;          /* these; each is an actor of the plan */
    pti_expansion expansion; /* tasks, which units and links run, and buffers: arrays and actors
                                are numbered turn after turn; owned */
    pti_periodic schedule;   /* of these, of rounds; owned */
    pti_text notes;          /* warnings, each with its end of line; owned */
    pti_dot *dot;            /* the graph's text, held */
    double plan_s;
};

/** The most units over which a domain is split, and the most actors that are split unasked. */
enum { PTI_MAX_PARTS = 32, PTI_MAX_SPLIT = 8 };

/** The units of an actor's parts, and how large the parts are, in any measure. */
typedef struct pti_shares {
    int actor;
    int n;
    int unit[PTI_MAX_PARTS];
    double share[PTI_MAX_PARTS];
} pti_shares;

/** What is planned, while it is. */
typedef struct pti_planning {
    polytile_context *ctx;
    const polytile_graph *graph;
    const polytile_machine *machine;
    pti_map_objective objective;
    bool overlap;
    const pti_graph_strategy *strategy;
    bool keeps_map;
    bool in_turn; /* actors without state may take frames in turn */
    double ticks_per_s;
    bool in_parts; /* actors that on= does not say may be split */
    int n_wanted;  /* that are */
    pti_shares wanted[PTI_MAX_SPLIT];
    const polytile_graph *whole; /* the graph that was given, while its parts are planned */
    polytile_graph *split; /* the graph with parts for actors, where some are split: then it is what
                              is planned; owned */
    pti_net net;           /* owned */
    double *seconds;       /* of each actor on each unit; owned */
    bool may_cut;          /* units may run superblocks of frames */
    bool cuts_all;         /* all with memories of their own do */
    bool *is_cut;          /* units that do; owned, as the next two */
    double *cut_s;      /* of each actor on each such unit; below 0: it does not fit there either */
    int64_t *cut_bytes; /* of each unit's own memory, that superblocks take at most */
    bool *allowed;      /* whether a frame of an actor fits a unit; the same for each turn; owned */
    int *n_on;          /* of each actor: units of its on=; 0: it is free; owned */
    int *on;            /* these: [actor * PTI_MAX_TURNS + k]; owned */
    int n_turns;        /* that on= asks for */
    pti_net round;      /* the net with its turns, where there are several; owned */
    polytile_graph_plan *plan;
} pti_planning;

/** A mapping with its schedule and its places. */
typedef struct pti_outcome {
    int *unit; /* borrowed */
    pti_expansion expansion;
    pti_period_bound bound;
    pti_periodic schedule;
    pti_stored *stored;    /* one a buffer; owned */
    int64_t *memory_bytes; /* one a memory; owned */
    int64_t latency;
    int64_t n_bytes; /* of all memories */
} pti_outcome;

void pti_outcome_free(pti_outcome *outcome);

/** The most frames of a round. */
enum { PTI_MAX_TURNS = 32 };

/** Return the net that is planned: that of a round where there are several turns. */
static inline const pti_net *pti_planned_net(const pti_planning *planning) {
    return planning->round.n_turns > 1 ? &planning->round : &planning->net;
}

/** Return after how many turns the units of an actor repeat, the fewest: 3 for units a, a, b. */
int pti_plan_count_turns(const polytile_graph_plan *plan, int actor);

/** Record that host memory ran out. Returns NO_MEMORY. */
static inline polytile_status pti_planning_fail_memory(const pti_planning *planning) {
    return pti_fail_memory(planning->ctx, "planning a graph", PTI_UNKNOWN_BYTES);
}

/** The longest name of a unit in a list, with its end. */
enum { PTI_MAX_UNIT_NAME = 256 };

/** Copy the next name of a list with marks between, without the blanks around it, and go on behind
 * it. A name that is too long is empty. */
const char *pti_planning_take_name(const char *at, char mark, char *name);

/** Find the actors whose on= has several units at a time, and go on with their parts. Errors:
 * DECLARATION (no unit of the machine, or what cannot be split), UNSUPPORTED (the paper's
 * strategy), NO_MEMORY. */
polytile_status pti_planning_split_actors(pti_planning *planning);

/** Split actors without on= one after the other, the longest first, so that all units have as much
 * to do, where frames come faster with that. plan is the plan so far, and is replaced
 * by better ones; make() makes one, which the caller destroys by end(). On a machine of several
 * ranks a note says that none is split. Errors: NO_MEMORY. */
polytile_status pti_planning_split_longest(pti_planning *planning,
                                           polytile_status (*make)(pti_planning *planning),
                                           void (*end)(polytile_graph_plan *plan));

/** Find arrays with who makes and reads them. Errors: NO_MEMORY. */
polytile_status pti_planning_find_arrays(pti_planning *planning);

/** Return what an actor's firing takes on a unit by the figures of that. A run touches what it
 * touches as kernels of plans do; repeats touch it again. */
double pti_planning_predict(const pti_actor *actor, const pti_machine_unit *unit);

/** Find seconds, ticks and links. Errors: DECLARATION (on= names no unit), UNSUPPORTED,
 * NO_MEMORY. */
polytile_status pti_planning_find_net(pti_planning *planning);

/** Find the units of on=. Errors: DECLARATION (no unit of the machine, frames in turn through
 * state, too many turns), UNSUPPORTED (turns without overlap), NO_MEMORY. */
polytile_status pti_planning_read_units(pti_planning *planning);

/** Plan rounds of n_turns frames from now on, 1: no rounds. Actors of on= run where that says, all
 * others on one unit, or, with in_turn and without state, where they like. Errors: NO_MEMORY. */
polytile_status pti_planning_take_turns(pti_planning *planning, int n_turns);

/** Find units that run superblocks of frames, and what that takes. Errors: NO_FIT, with what one
 * superblock of an actor touches, NO_MEMORY. */
polytile_status pti_planning_cut_frames(pti_planning *planning);
void pti_planning_forget_cuts(pti_planning *planning);

/** Return the bytes of the distinct arrays of an actor's frame, and of what it has for itself, and
 * write them down where a text is given. */
int64_t pti_planning_frame_bytes(const pti_planning *planning, int actor, pti_text *names);

/** Return whether on= leaves an actor a unit. */
bool pti_planning_may_be_on(const pti_planning *planning, int actor, int unit);

/** Find which actors fit where. Errors: NO_FIT, with what the actor touches, NO_MEMORY. */
polytile_status pti_planning_check_actors(pti_planning *planning);

/** Find the best mapping and schedule that fit. Errors: NO_FIT, UNSUPPORTED, NO_MEMORY; DECLARATION
 * (depths that no schedule can keep). */
polytile_status pti_planning_choose(pti_planning *planning, pti_mapping *mapping,
                                    pti_outcome *outcome);

/** Schedule in synchronous cycles. Errors: UNSUPPORTED (a cycle through several units),
 * NO_MEMORY. */
polytile_status pti_planning_synchronise(pti_planning *planning, pti_outcome *outcome);

/** Schedule by the paper's rules, and note what is unsound of them. Errors: as
 * pti_planning_synchronise(). */
polytile_status pti_planning_follow_paper(pti_planning *planning, pti_outcome *outcome);

/** Find where buffers lie. Errors: NO_MEMORY. */
polytile_status pti_planning_store(pti_planning *planning, pti_outcome *outcome);

/** Write down what was found. Errors: NO_MEMORY. */
polytile_status pti_planning_write(pti_planning *planning, const pti_mapping *mapping,
                                   const pti_outcome *outcome);

/** The tasks and their schedule become the plan's. */
void pti_planning_hand_over(pti_planning *planning, pti_outcome *outcome);

#endif
