#ifndef POLYTILE_GRAPH_MAP_NET_H
#define POLYTILE_GRAPH_MAP_NET_H

#include "graph/schedule/periodic.h"

/* graph/map: which unit runs which actor, and the tasks and buffers that follow: firings, transfers
 * over links, and what lies in which memory. Numbers alone, so that it is tested by itself. */

/** A reader of an array. */
typedef struct pti_net_flow {
    int actor; /* that reads */
    int delay;
} pti_net_flow;

/** An array, who makes it and who reads it. Where parts of actors need or leave some rows of one,
 * it is several pieces, which stand one after the other, each with a producer of its own. */
typedef struct pti_net_array {
    int64_t n_bytes;
    int producer; /* an actor; -1: a port, which lies in host memory */
    int first_flow;
    int n_flows; /* 0: a port, which is taken to host memory */
    int64_t depth;
    int n_before;         /* pieces of the same array before it */
    int64_t offset_bytes; /* of the piece in the array */
} pti_net_array;

/** A graph on a machine; all lists are owned. */
typedef struct pti_net {
    int n_actors;
    int n_units;
    int n_memories;
    int n_arrays;
    int64_t *ticks;         /* of each actor on each unit: [actor * n_units + unit] */
    int *fixed;             /* of each actor: its unit; -1: free */
    int *order;             /* actors, each after those that it reads from without delay */
    int64_t *scratch_bytes; /* of each actor */
    pti_net_array *array;
    pti_net_flow *flow;
    int *unit_memory;
    int *host;         /* of each memory: the host memory of its rank */
    double *rate;      /* bytes a tick from memory to memory; 0: no link */
    double *latency;   /* ticks from memory to memory */
    int64_t *in_first; /* of each actor, its place in in_flow; one more at the end */
    int *in_array;     /* arrays that an actor reads, with the delays beside */
    int *in_delay;
    int64_t *out_first; /* of each actor, in out_array */
    int *out_array;
    bool has_delays;
    int n_turns; /* of a round that the net has: actor a of turn t is a + t * (n_actors / n_turns),
                      and arrays in the same way; 0 and 1: a frame is a round */
    bool *is_tied;       /* of each actor: it has the unit of its first turn; NULL: none is */
    bool is_synchronous; /* a period is a cycle: transfers between ranks, then all others, then
                           work */
} pti_net;

/** Where in a synchronous cycle a resource works. */
typedef enum pti_phase {
    PTI_PHASE_RANKS,   /* between hosts */
    PTI_PHASE_DEVICES, /* all other transfers */
    PTI_PHASE_WORK,
    PTI_N_PHASES
} pti_phase;
pti_phase pti_net_phase(const pti_net *net, int resource);

void pti_net_free(pti_net *net);

/** Return how many reads of arrays there are. */
int pti_net_count_flows(const pti_net *net);

/** Return how many frames are a round of the net. */
static inline int pti_net_n_turns(const pti_net *net) {
    return net->n_turns > 1 ? net->n_turns : 1;
}

/** Return an actor's turn. */
static inline int pti_net_turn_of_actor(const pti_net *net, int actor) {
    return actor / (net->n_actors / pti_net_n_turns(net));
}

/** Return an array's turn. */
static inline int pti_net_turn_of_array(const pti_net *net, int array) {
    return array / (net->n_arrays / pti_net_n_turns(net));
}

/**
 * Write out a net's rounds of several frames: each turn has actors and arrays of its own, and
 * delays count rounds. All actors are tied, those of one turn are fixed as the net's own.
 *
 * Returns false when memory runs out.
 */
bool pti_net_unroll(const pti_net *net, int n_turns, pti_net *unrolled);

/** Fill in the lists by actor, from those by array. Returns false when memory runs out. */
bool pti_net_index(pti_net *net);

/** Return the memory from which a frame comes to another one than its origin: the origin by a
 * direct link, else a host's on the way. */
int pti_net_comes_from(const pti_net *net, int origin, int memory);

/** Return the ticks of a transfer. */
int64_t pti_net_transfer_ticks(const pti_net *net, int from, int to, int64_t n_bytes);

/** Return the memory where an array is made, or fed; -1: the unit that decides is not chosen yet.
 * unit: of each actor, -1: not chosen. */
int pti_net_origin(const pti_net *net, int array, const int *unit);

/** Return the host memory where an array is taken; all pieces of one where its first one is. */
int pti_net_taken_at(const pti_net *net, int array, const int *unit);

/** The number of the resource that is a unit, or a direction between two memories. */
static inline int pti_net_link_resource(const pti_net *net, int from, int to) {
    return net->n_units + from * net->n_memories + to;
}

/** What a mapping achieves; of one that is not whole, a bound of what it can. */
typedef struct pti_score {
    int64_t period; /* the work of the busiest unit or direction, and cycles over their delays */
    int64_t latency;
    int64_t n_bytes; /* of a frame of each array in each memory */
} pti_score;

/** What a mapping is to be best at. */
typedef enum pti_map_objective {
    PTI_OBJECTIVE_PERIOD,
    PTI_OBJECTIVE_LATENCY,
    PTI_OBJECTIVE_MEMORY
} pti_map_objective;

/** Return whether a score is better than another one. */
bool pti_score_is_better(pti_map_objective objective, const pti_score *a, const pti_score *b);

/** Memory that scoring uses again and again. */
typedef struct pti_scorer {
    const pti_net *net;
    int64_t *work;  /* of each resource; owned */
    int64_t *ready; /* of each array and memory; -1: it is not there; owned */
} pti_scorer;
bool pti_scorer_begin(pti_scorer *scorer, const pti_net *net);
void pti_scorer_end(pti_scorer *scorer);

/** Score a mapping without looking at cycles. */
pti_score pti_score_mapping(pti_scorer *scorer, const int *unit);

/** The result of a search for a mapping. */
typedef struct pti_mapping {
    int *unit; /* of each actor; owned */
    pti_score score;
    bool is_exact; /* no mapping has a better score */
} pti_mapping;

/**
 * Find the best mapping: by branch and bound up to 12 free actors, else by list scheduling and
 * local search. allowed: of each actor on each unit, whether it may run there; NULL: all may.
 *
 * Returns FOUND; NONE_FOUND where an actor may run nowhere.
 */
pti_found pti_mapping_find(const pti_net *net, pti_map_objective objective, const bool *allowed,
                           pti_mapping *mapping);

/** The program feeds all ports of a frame at once, and takes all at once; both take no time. */
typedef enum pti_task_kind {
    PTI_TASK_FIRE,
    PTI_TASK_MOVE,
    PTI_TASK_FEED,
    PTI_TASK_TAKE,
    PTI_TASK_BEGIN /* there is a place for a frame that several tasks make together */
} pti_task_kind;

/** What a task is. */
typedef struct pti_task_note {
    pti_task_kind kind;
    int actor; /* of PTI_TASK_FIRE */
    int array; /* of PTI_TASK_MOVE */
    int from;  /* memories, of PTI_TASK_MOVE */
    int to;
    int64_t offset_bytes; /* in the array, of what moves */
    int64_t n_bytes;
} pti_task_note;

/** What a buffer is. */
typedef struct pti_buffer_note {
    int array; /* -1: what an actor has for itself */
    int actor; /* of that; -1: nothing, it keeps tasks in order */
    int memory;
    int before;           /* the buffer of state where the frame before lies; -1: it is none */
    int64_t offset_bytes; /* of the array, where what the buffer has begins */
} pti_buffer_note;

/** Tasks and buffers with what they are. */
typedef struct pti_expansion {
    pti_stream_tasks tasks;
    pti_task_note *task;     /* one a task; owned */
    pti_buffer_note *buffer; /* one a buffer; owned */
    int64_t n_looks;         /* at readers and at pieces, while they were listed */
} pti_expansion;

/** Find tasks and buffers of a mapping; notes have arrays as the graph has them, turn after turn.
 * Returns false when memory runs out. */
bool pti_expand(const pti_net *net, const int *unit, pti_expansion *expansion);

/**
 * Put the pieces of arrays together that lie in one memory: they become one buffer. If several
 * tasks make them, that is made by a task of no time and read by all who write or read a piece, and
 * buffers without bytes keep readers behind who writes. Returns false when memory runs out.
 */
bool pti_expansion_join_pieces(const pti_net *net, pti_expansion *expansion);

void pti_expansion_free(pti_expansion *expansion);

/** Return whether somebody reads an older frame of the array that a buffer has, and the frame
 * before lies in its memory: what that left then stays, also where a frame fails. */
bool pti_expansion_is_state(const pti_expansion *expansion, int buffer);

#endif
