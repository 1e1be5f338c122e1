#ifndef POLYTILE_GRAPH_STREAM_STREAM_H
#define POLYTILE_GRAPH_STREAM_STREAM_H

#include "graph/plan/plan.h"
#include "graph/schedule/order.h"
#include "launch/device/device.h"
#include "launch/execute/run_check.h"
#include <polytile/stream.h>

#include <pthread.h>

/* graph/stream: graphs that run. Each unit and each direction of a link is a lane with a thread of
 * its own, which runs its tasks in the plan's order as soon as they may (order.h). A lane runs one
 * task at a time; short bodies of host lanes of one thread run on the thread that made them ready.
 * Frames lie where the plan says. The program's thread feeds and takes. */

/** The channels that an operand of a firing reads and writes. */
typedef struct pti_stream_operand {
    int in; /* buffers; -1: none */
    int in_delay;
    int out;
    bool is_cleared;       /* launches leave some elements of it alone, which are zero */
    polytile_array **rows; /* of an actor's part, the rows that it leaves, of each position of out;
                              NULL: it leaves whole frames; owned */
    int64_t in_offset_bytes; /* of what it leaves, in the frame that it reads */
} pti_stream_operand;

/** What a firing runs. */
typedef struct pti_stream_actor {
    char *name; /* owned */
    int task;
    int part;       /* of a domain over several units: which one, from 0 */
    int n_operands; /* of the program; scratch of the kernel is none of them */
    pti_stream_operand operand[PTI_MAX_OPERANDS];
    int64_t repeat;
    polytile_array *between; /* results of runs but the last change places with it; NULL: none;
                                owned */
    const polytile_kernel *kernel; /* retained */
    polytile_plan *plan;           /* of one run, in place; owned */
    pti_operand_arrays arrays;     /* one an operand of the declaration; of the firing at hand */
    polytile_implementation implementation;
    polytile_character character;
    pti_launch_config config; /* of these */
    pti_value values[POLYTILE_MAX_PARAMETERS];
    double busy_s;   /* of all firings, under the mutex, as n_fired */
    int64_t n_fired; /* likewise */
} pti_stream_actor;

/** Which end of a link between ranks is here. */
typedef enum pti_stream_end {
    PTI_STREAM_BOTH_ENDS, /* of a link of one rank; of a unit, too */
    PTI_STREAM_SENDS,
    PTI_STREAM_RECEIVES
} pti_stream_end;

/** A unit or a direction of a link. Its thread alone uses GPUs; a link between ranks has none, but
 * is the program's. */
typedef struct pti_stream_lane {
    polytile_stream *stream;
    char *name; /* owned */
    bool is_unit;
    char *from, *to; /* memories, of a link; owned */
    pti_stream_end end;
    int resource;
    int memory;        /* where a unit's frames lie */
    int64_t cut_bytes; /* in which it runs superblocks of them; 0: where they lie */
    polytile_device
        *device;           /* of a unit; of a link the handle that copies; NULL: the host copies */
    polytile_device *peer; /* of a link from another GPU, its handle; NULL: none */
    int n_tasks;
    int *task;       /* owned */
    bool *is_lost;   /* of each buffer, of its thread; owned */
    pti_error error; /* of what its thread does */
    pthread_t thread;
    bool has_thread;
    pthread_cond_t wake;
    bool has_wake;
    bool is_lent;    /* threads of other lanes, and the program's, may run its short tasks, for
                        which none starts threads of OpenMP's */
    bool sleeps;     /* set under the mutex, until it is woken; read without it, too */
    bool is_busy;    /* under the mutex; whichever thread runs its task */
    double busy_s;   /* likewise */
    int64_t n_bytes; /* moved; likewise */
} pti_stream_lane;

/** Host memory of the stream's own, whole pages. */
typedef struct pti_stream_pages {
    char *base;              /* owned */
    polytile_device *pinned; /* the device by which it is pinned; NULL: it is not */
} pti_stream_pages;

/** A memory with all frames that lie in it. */
typedef struct pti_stream_memory {
    char *base;              /* the first byte */
    polytile_device *device; /* whose it is; NULL: the host's */
    pti_stream_pages pages;  /* of the host's */
    bool is_on_gpu;
} pti_stream_memory;

/** An array of one memory. */
typedef struct pti_stream_buffer {
    int64_t frame_bytes;
    int64_t capacity;
    char *base;
    int memory;
    bool is_state;          /* older frames of the array are read */
    pti_stream_pages pages; /* of its own, where base is not in its memory's */
    polytile_array **array; /* one a position; NULL: what an actor has for itself; owned */
    bool *is_lost;          /* of each position: it has no frame, since something failed; owned */
} pti_stream_buffer;

/** A frame in flight. */
typedef struct pti_stream_frame {
    double pushed_s;
    int n_left;      /* tasks that are not done */
    int failed_task; /* of the error; the first in the tasks' order */
    pti_error error;
} pti_stream_frame;

/** An actor that looks up what the program feeds. */
typedef struct pti_stream_lookup {
    char *actor;                   /* owned */
    const polytile_kernel *kernel; /* as declared; retained */
    polytile_domain domain;
    int n_parameters;
    polytile_parameter parameter[POLYTILE_MAX_PARAMETERS]; /* with names of the kernel */
    int n_operands;
    int input[PTI_MAX_OPERANDS];               /* that feeds it, of an index array; else -1 */
    polytile_array *operand[PTI_MAX_OPERANDS]; /* without memory; NULL: of an index array; owned */
} pti_stream_lookup;

/** What the program's thread sleeps for. */
typedef enum pti_stream_await {
    PTI_STREAM_AWAITS_NOTHING,
    PTI_STREAM_AWAITS_ROOM,
    PTI_STREAM_AWAITS_FRAME
} pti_stream_await;

enum { PTI_STREAM_LATENCIES = 1024 };

/** The ranks whose memories a task touches: that of a unit twice, or those of a link. Feeding and
 * taking is of this rank. */
typedef struct pti_task_ranks {
    int from;
    int to;
} pti_task_ranks;

struct pti_stream_ranks;

/** What carries frames between ranks. The program's thread alone calls it, without the mutex.
 * Errors: DEVICE. */
typedef struct pti_stream_ranks_functions {
    /** Do what can be done without waiting; *has_moved: something was done. */
    polytile_status (*progress)(struct pti_stream_ranks *ranks, polytile_stream *stream,
                                bool *has_moved);
    /** Learn whether a frame is dropped, which one rank decides for all: it says so, all others are
     * told. *is_known: false: not yet. */
    polytile_status (*agree_to_drop)(struct pti_stream_ranks *ranks, const polytile_stream *stream,
                                     bool *drops, bool *is_known);
    /** Return whether all that others wait for is on its way to them. */
    bool (*has_told)(struct pti_stream_ranks *ranks, polytile_stream *stream);
    /** Let frames go on until all ranks end their streams. */
    void (*end)(struct pti_stream_ranks *ranks, polytile_stream *stream);
    /** Wait until nothing is under way, and free all. stream: without threads; NULL: it was not
     * made. */
    void (*close)(struct pti_stream_ranks *ranks, polytile_stream *stream);
} pti_stream_ranks_functions;

/** How far another rank had come when it ended. */
typedef struct pti_ended_rank {
    bool has_ended;
    bool has_stopped; /* and sends nothing more; all have ended then */
    bool has_cleared; /* and receives nothing more, after a failure */
    int64_t n_pushed;
    int64_t n_pulled;
    int64_t n_decided; /* frames of which it said whether they are dropped */
} pti_ended_rank;

/** The ranks of a stream, which have the same plan. Each has its own units and ends of links, and
 * the inputs and outputs that lie in its memory; each frame is pushed and pulled on all. */
typedef struct pti_stream_ranks {
    const pti_stream_ranks_functions *functions;
    int rank;
    int n_ranks;
    int root; /* that decides what is dropped: of the first input */
    int64_t
        *heard; /* rounds that each rank is done with, as it told: [rank * n_tasks + task]; owned
                       by the stream */
    int64_t *pushed;       /* frames that each other rank has pushed, likewise */
    pti_ended_rank *ended; /* of each; of the program's thread; owned by the stream */
    int64_t n_decided;     /* frames of which this rank was told whether they are dropped */
    double idle_since_s;   /* 0: something has just been done */
    pti_error broken;      /* nothing goes on; of the program's thread */
} pti_stream_ranks;

/** A graph that runs. */
struct polytile_stream {
    pti_object object;
    char *name; /* in error texts; owned */
    bool drops;
    bool is_synchronous;
    bool spins;              /* each thread may have a processor: who sleeps looks a while before */
    pti_expansion expansion; /* a copy of the plan's; owned */
    pti_firing_order order;  /* owned */
    pti_stream_ranks *ranks; /* NULL: the stream is of this process alone; closed at the end */
    pti_task_ranks *task_ranks; /* of each task; owned */
    int *memory_rank;           /* owned */
    int n_memories;
    pti_stream_memory *memory; /* owned */
    pti_stream_buffer *buffer; /* one a buffer of the tasks; owned */
    int n_actors;
    pti_stream_actor *actor; /* owned */
    int *actor_of_task;      /* -1: no firing; owned */
    int n_lanes;
    pti_stream_lane *lane; /* owned */
    int n_turns;           /* frames of a round, which all tasks, buffers and waits count */
    int *feed;             /* of each turn a task; -1: there are no inputs; owned */
    int *take;             /* likewise */
    int n_inputs;
    int *input; /* buffers, turn after turn; owned */
    int n_outputs;
    int *output;     /* likewise; owned */
    bool *is_output; /* of each buffer, those of other ranks among them; owned */
    int n_lookups;
    pti_stream_lookup *lookup;     /* owned */
    struct pti_index_array **held; /* of each input: what its last frame had, NULL if nobody looks
                                      it up; owned */
    int64_t n_bytes;

    pthread_mutex_t mutex;
    pthread_cond_t wake; /* of the program's thread */
    bool has_mutex;

    /* Under the mutex. */
    bool is_stopping;
    pti_stream_await program; /* read without the mutex, too */
    int n_awake;              /* lanes */
    int64_t *done;            /* rounds that each task is done with; owned */
    double *recent_s;         /* what a task took of late; owned */
    int64_t n_pushed;
    int64_t n_pulled;
    int64_t n_finished; /* frames that all lanes are done with, and with those before */
    int64_t n_dropped;
    int64_t n_failed;
    int64_t depth;           /* frames that may always be in flight */
    int64_t window;          /* that may be at most */
    pti_stream_frame *frame; /* a ring of as many; owned */
    double first_push_s;
    double first_finish_s;
    double last_finish_s;
    double latency_s[PTI_STREAM_LATENCIES]; /* a ring */
};

static inline pti_stream_frame *pti_stream_frame_of(polytile_stream *stream, int64_t frame) {
    return &stream->frame[frame % stream->window];
}

/** Return the frame that a task runs next. The mutex is locked. */
static inline int64_t pti_stream_next_frame(const polytile_stream *stream, int task) {
    return pti_frame_of_round(&stream->expansion.tasks, task, stream->done[task]);
}

/** Return where a round's frame lies in a buffer; those before the first one have places, too. */
static inline int64_t pti_stream_position(const pti_stream_buffer *buffer, int64_t round) {
    const int64_t position = round % buffer->capacity;
    return position < 0 ? position + buffer->capacity : position;
}

static inline char *pti_stream_bytes(const pti_stream_buffer *buffer, int64_t round) {
    return buffer->base + pti_stream_position(buffer, round) * buffer->frame_bytes;
}

/** Return how many frames more than the plan says a buffer has: an output has one that the program
 * takes while the next one is made, and so does not hold up its unit. */
static inline int64_t pti_stream_n_spare(const polytile_stream *stream, int buffer) {
    return stream->is_output[buffer];
}

/** Return whether a memory is this rank's. */
static inline bool pti_stream_has_memory(const polytile_stream *stream, int memory) {
    return stream->ranks == NULL || stream->memory_rank[memory] == stream->ranks->rank;
}

/** Return whether a task, or one of its ends, is this rank's. */
static inline bool pti_stream_has_task(const polytile_stream *stream, int task) {
    return stream->ranks == NULL || stream->task_ranks[task].from == stream->ranks->rank ||
           stream->task_ranks[task].to == stream->ranks->rank;
}

/* create.c */

/**
 * Create a stream, as polytile_stream_create(). The arguments are not NULL.
 *
 * ranks: of which it is a part, NULL: it runs by itself; taken over, also on error.
 */
polytile_status pti_stream_create_part(const polytile_graph *graph, const polytile_graph_plan *plan,
                                       const polytile_stream_options *options,
                                       pti_stream_ranks *ranks, polytile_stream **stream);

/* ranks.c */

/** Find who does what. Errors: UNSUPPORTED (what does not run over ranks), INVALID (no such rank),
 * NO_MEMORY. */
polytile_status pti_stream_find_ranks(polytile_stream *stream, const polytile_graph *graph,
                                      const polytile_graph_plan *plan);
void pti_stream_free_ranks(polytile_stream *stream);

/** Write what actors compute of which arrays, whatever they are bound to, for ranks to compare. */
void pti_stream_write_graph(const polytile_graph *graph, pti_text *words);

/* heard.c */

/** Return whether what a task waits for has ended in the memories that both touch: here, or, of a
 * memory of another rank, by what that rank told. The mutex is locked. */
bool pti_stream_keeps_wait(const polytile_stream *stream, int task, const pti_firing_wait *wait,
                           int64_t round);

/** Return the rounds of a task that all ranks are known to be done with that have an end of it. The
 * mutex is locked. */
int64_t pti_stream_count_done(const polytile_stream *stream, int task);

/** Return how many frames all ranks have pushed. Lanes run these alone: so all choose their next
 * tasks among the same ones, once they have heard of them, and wait for nobody's next push. The
 * mutex is locked. */
int64_t pti_stream_n_begun(const polytile_stream *stream);

/** Return whether a rank's own waits need that this rank tells how far it is with a task: in
 * synchronous cycles, with each of its own. */
bool pti_stream_must_tell(const polytile_stream *stream, int rank, int task);

/* await_ranks.c */

/** Let links between ranks go on, once. The mutex is not locked. Returns whether something was
 * done. */
bool pti_stream_progress(polytile_stream *stream);

/** The same at the end of a call of the program, which may wait for other ranks in calls that are
 * not polytile's: in synchronous cycles, until they are told all that they wait for. */
void pti_stream_tell_ranks(polytile_stream *stream);

/** Wait a little for other ranks or lanes. The mutex is locked. */
void pti_stream_await_ranks(polytile_stream *stream, pti_stream_await what);

/** Return whether nothing goes on any more, and why that is; nothing of one process alone. */
bool pti_stream_is_broken(const polytile_stream *stream);

/** Agree with all ranks on whether a frame is dropped. The mutex is not locked. */
void pti_stream_agree_to_drop(polytile_stream *stream, bool *drops);

/* memory.c */

/** Describe some rows of an array as one that lies in a memory; bodies see the ends of the whole
 * array. Errors: NO_MEMORY. */
polytile_status pti_stream_describe_rows(const polytile_stream *stream,
                                         const pti_graph_array *array, int memory,
                                         polytile_range rows, char *bytes,
                                         polytile_array **described);

/** Take all memory, zeroed, and describe its positions. Errors: NO_FIT, NO_MEMORY, DEVICE. */
polytile_status pti_stream_take_memory(polytile_stream *stream, const polytile_graph *graph,
                                       const polytile_graph_plan *plan);
void pti_stream_free_memory(polytile_stream *stream);

/** Record that an allocation of so many bytes failed. Returns NO_MEMORY. */
polytile_status pti_stream_fail_memory(const polytile_stream *stream, int64_t n_bytes);

/** Copy bytes within a memory, or set zeros (from NULL), by the device that has it. */
polytile_status pti_stream_copy_within(polytile_device *device, bool is_on_gpu, void *to,
                                       const void *from, int64_t n_bytes);

/* lookups.c */

/** Find the actors that look up what inputs of this process feed. Errors: UNSUPPORTED (several
 * ranks feed what one actor looks up), NO_MEMORY. */
polytile_status pti_stream_prepare_lookups(polytile_stream *stream, const polytile_graph *graph);
void pti_stream_free_lookups(polytile_stream *stream);

/**
 * Prove that actors are right on the index arrays of a frame to be fed, unless these hold what
 * those of the frame before did.
 *
 * Shapes  given: one an input. Errors  As polytile_check(), with the actor's name.
 */
polytile_status pti_stream_check_lookups(polytile_stream *stream, polytile_array *const *given);

/** Return whether some actor looks up what an input feeds. */
bool pti_stream_is_looked_up(const polytile_stream *stream, int input);

/* ports.c */

/** Return whether the program takes a buffer. */
bool pti_stream_is_taken(const polytile_stream *stream, int buffer);

/* prove.c */

/** Prove that no frame is written over before it is read. Errors: INTERNAL with the counterexample,
 * NO_MEMORY. */
polytile_status pti_stream_prove_plan(const polytile_stream *stream,
                                      const polytile_graph_plan *plan);

/* lanes.c */

/** Find lanes, and open their devices. Errors: UNSUPPORTED, NO_MEMORY, as
 * polytile_device_open(). */
polytile_status pti_stream_open_lanes(polytile_stream *stream, const polytile_graph_plan *plan);
void pti_stream_close_lanes(polytile_stream *stream);

/* actors.c */

/** Prepare what actors run. Errors: as polytile_stream_create(). */
polytile_status pti_stream_prepare_actors(polytile_stream *stream, const polytile_graph *graph,
                                          const polytile_graph_plan *plan);
void pti_stream_free_actors(polytile_stream *stream);

/* fire.c; the text of an error does not name stream and frame */

/** Run a firing on its unit's thread. */
polytile_status pti_stream_fire(pti_stream_lane *lane, pti_stream_actor *actor, int64_t round);
/** Return where what a transfer moves lies in a round's frame of a buffer. */
char *pti_stream_find_moved(const polytile_stream *stream, int buffer, const pti_task_note *note,
                            int64_t round);
/** Copy what a transfer moves of a round's frame from one buffer to another one on a link's
 * thread. */
polytile_status pti_stream_move(const pti_stream_lane *lane, int task, int from, int to,
                                int64_t round);
/** Leave what a firing that did not run, or failed, leaves for later frames. */
polytile_status pti_stream_restore(pti_stream_lane *lane, int buffer, int64_t round);

/* cycle.c */

/** Return whether a task of this rank has its turn in a synchronous cycle; without these, always.
 * The mutex is locked. */
bool pti_stream_has_turn(const polytile_stream *stream, int task);

/** Return whether a lane of this rank is at work in another phase of a cycle than a task's; without
 * cycles, none is. The mutex is locked. */
bool pti_stream_is_busy_in_other(const polytile_stream *stream, int task);

/* ready.c */

/** Return a lane's next task if it may run now; -1: it may not. The mutex is locked. */
int pti_stream_find_ready(const pti_stream_lane *lane);

/** Return whether any thread may run a lane's task, and it takes less than waking the lane's own.
 * A launcher runs on its lane's alone: it may wait for what others do. The mutex is locked. */
bool pti_stream_is_short(const pti_stream_lane *lane, int task);

/** Take places for frames that several tasks make, of the frames that were pushed, where they are
 * free. Nobody runs that. The mutex is locked. */
void pti_stream_begin_frames(polytile_stream *stream);

/** Return whether there is room for the next frame. The mutex is locked. */
bool pti_stream_has_room(const polytile_stream *stream);

/** Return whether nothing happens any more until the program pushes or pulls. The mutex is
 * locked. */
bool pti_stream_is_still(const polytile_stream *stream);

/* wake.c: each thread sleeps until it alone is woken. The mutex is locked in the last five. */

/** Make what threads sleep at. Errors: NO_MEMORY. */
polytile_status pti_stream_begin_waking(polytile_stream *stream);
void pti_stream_end_waking(polytile_stream *stream);

/** Sleep until the lane has a task that may run, or the stream stops. */
void pti_stream_sleep(pti_stream_lane *lane);

/** Let the program sleep until there is what it awaits, or nothing goes on any more. */
void pti_stream_await_lanes(polytile_stream *stream, pti_stream_await what);

/** Something is done, pushed or pulled: wake lanes that may run a task now, and the program. */
void pti_stream_wake(polytile_stream *stream);
/** As pti_stream_wake(), but for lanes whose tasks the calling thread may run instead. */
void pti_stream_wake_long(polytile_stream *stream);
void pti_stream_wake_all_lanes(polytile_stream *stream);

/* task.c */

/** Run a lane's task of a frame, or pass it where what it reads is lost. The mutex is locked, but
 * not while it runs. */
void pti_stream_do_task(pti_stream_lane *lane, int task);

/** A transfer between ranks under way, as one end sees it. */
typedef struct pti_crossing {
    int task;
    int64_t round;
    double begin_s;
    char *bytes;
    int64_t n_bytes;
    bool is_lost; /* there is no frame to transfer */
    int failed_task;
    pti_error error; /* of a lost frame: what failed */
} pti_crossing;

/** Return whether a link receives a task's next frame. The program's thread calls it, without the
 * mutex. */
bool pti_stream_expects(pti_stream_lane *lane, int task);

/** A link between ranks begins a task. The receiver learns later whether the frame is lost. The
 * mutex is locked. */
void pti_stream_begin_crossing(pti_stream_lane *lane, int task, pti_crossing *crossing);
/** It is done with that. The mutex is locked. */
void pti_stream_end_crossing(pti_stream_lane *lane, const pti_crossing *crossing);

/* hand_on.c */

/** A lane's thread is done with a task: run short tasks that may run now, of any lane, for a while,
 * and wake threads for all others. It does not hold up a longer one of its own. The mutex is
 * locked. */
void pti_stream_hand_on(pti_stream_lane *lane);

/** The same on the program's thread, whose errors are its own, after a push or pull or while it
 * waits. Returns whether something ran. */
bool pti_stream_hand_on_by_program(polytile_stream *stream);

/* work.c */

/** Start the threads. Errors: DEVICE. */
polytile_status pti_stream_start(polytile_stream *stream);
void pti_stream_stop(polytile_stream *stream);

/* report.c */

/** Note the frames that all lanes are done with, in their order. The mutex is locked. */
void pti_stream_finish_frames(polytile_stream *stream);

#endif
