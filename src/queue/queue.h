#ifndef POLYTILE_QUEUE_QUEUE_H
#define POLYTILE_QUEUE_QUEUE_H

#include "access/array/array.h"
#include "access/pieces/ways.h"
#include "access/set/boxes.h"
#include "base/bell.h"
#include "base/cancel.h"
#include "launch/device/device.h"
#include "partition/window/fusion_group.h"
#include "queue/guard.h"
#include <polytile/queue.h>

#include <pthread.h>

/* queue: launches in order on one device, which are checked and prepared as they come. This header
 * has the queue with its arrays and items, and what the files of the room share. queue/worker has
 * the thread that runs them; member.h is for queues over several devices. */

/** A call of polytile_queue_launch() whose arrays are found, or a box of one for a member's queue.
 * It lives as long as the call. */
typedef struct pti_request {
    const polytile_kernel *kernel;
    const polytile_domain *domain;
    polytile_array *const *arrays;          /* one an operand, of the queue; NULL: scratch */
    polytile_array *const *given;           /* the same, or views of them; NULL: the same */
    const polytile_launch_options *options; /* not NULL; of a box: for planning alone */
    const int64_t *parameter;  /* values that its sections need, as pti_instance has them */
    const pti_value *values;   /* that its body gets */
    const pti_instance *whole; /* the proved launch of which the domain is a box, which is then not
                                  checked; NULL: it is the program's launch */
    struct pti_server_part *part; /* slots of a team kernel that a box is; NULL: all of them are one
                                     part, which is made */
} pti_request;

/** Return the array that was given for an operand, which may be a view of the queue's. */
static inline polytile_array *pti_request_given(const pti_request *request, int operand) {
    return (request->given == NULL ? request->arrays : request->given)[operand];
}

/* A queue has two threads. The program's checks launches, looks them up among those prepared before
 * and appends them as items. The queue's own takes a window of items at a time, and runs what the
 * engine makes of it. What both use is under the mutex; what only one uses says so. */

/**
 * A launch with all that does not depend on what is resident, kept for the next identical one.
 *
 * Made by the program's thread. The queue's thread changes partition, way, their serial, all_fit
 * and arena_bytes, and only under the mutex; and it alone adds ways once the launch is made. The
 * rest never changes. It lives while items with it are not done.
 */
typedef struct pti_prepared {
    struct pti_prepared *next; /* in the cache, of the same bucket */
    uint64_t hash;
    int64_t serial; /* of the launch and how it is cut, never given twice */
    int64_t kernel_serial;
    polytile_domain domain;
    int n_arrays;                  /* with scratch */
    int64_t *array_serial;         /* one an argument, 0 for scratch; owned, as all below */
    int *position;                 /* of each operand: the array's position in the queue */
    polytile_plan_options options; /* own copies of what it points to; limit_bytes 0 */
    polytile_implementation implementation;
    polytile_character character;
    pti_launch_config
        config; /* of the two above and the block that was asked for; each item has its values */
    pti_instance *instance;   /* as declared */
    pti_ways ways;            /* to hold its arrays on the device */
    polytile_domain *touched; /* hull of what it touches of each operand */
    polytile_domain *written; /* hull of what it writes of each operand; empty if nothing */
    bool *is_overwritten;     /* of each operand, of a queue over members: all of its array, none of
                             which is read; else NULL */
    double touched_bytes;     /* of all operands, twice where it reads and writes */
    pti_partition partition;  /* for arena_bytes and all_fit; no superblock: in place */
    int way;                  /* that it is for */
    int64_t arena_bytes;
    bool all_fit;
    pti_schedule *in_place; /* for devices that reach the host's memory; else NULL */
    int64_t n_items;        /* queued with it, under the mutex */
    int64_t last_used;      /* number of the item, for throwing out the oldest */
} pti_prepared;

/** What an item asks for. */
typedef enum pti_item_kind {
    PTI_ITEM_LAUNCH,
    PTI_ITEM_FLUSH,      /* bring an array's results back and forget it on the device */
    PTI_ITEM_DROP,       /* forget an array on the device: it is destroyed, or was internal */
    PTI_ITEM_FETCH,      /* bring some elements to the host, and keep them on the device */
    PTI_ITEM_INVALIDATE, /* the host has newer ones */
    PTI_ITEM_DISCARD     /* nobody needs any element as it is: as if the host had newer ones */
} pti_item_kind;

/** On the heap; the queue's from when it is appended until it is done. */
typedef struct pti_item {
    struct pti_item *next;
    pti_item_kind kind;
    int position;           /* all but launches: of the array */
    int64_t number;         /* from 1, in the order of the program */
    int64_t gate;           /* the gate before it; 0: there was none yet */
    pti_prepared *prepared; /* launch */
    pti_boxes boxes;        /* fetch, invalidate and discard: elements of it, not none; owned */
    polytile_queue_callback *callback; /* fetch: called once it is done; NULL: none */
    void *user;                        /* that it gets */
    struct pti_server_part *part;      /* launch of a team kernel: its slots; retained */
    pti_value values[];                /* launch: those that the body gets */
} pti_item;

/** Whether an item neither runs nor moves anything. */
static inline bool pti_item_only_invalidates(const pti_item *item) {
    return item->kind == PTI_ITEM_INVALIDATE || item->kind == PTI_ITEM_DISCARD;
}

/** An array of the queue, at its position. */
typedef struct pti_queued_array {
    polytile_array *array; /* NULL: the position is free */
    pti_guard guard;       /* of attached memory */
    bool is_scratch;       /* the library's, for launches that have scratch: scratch.h */
    bool is_guarded;       /* POLYTILE_CHECK=attach: closed while nothing moves */
    bool is_used;          /* by a launch since it came, under the mutex */
    bool is_written;       /* by a launch since it came; of the program's thread */
    bool is_wanted;        /* it is waited for, under the mutex */
    bool is_buried;  /* its newest elements are nowhere, since a queued launch overwrites them; of
                              the queue's thread */
    bool is_ended;   /* internal, and destroyed by the program; it is let go of later */
    int64_t n_items; /* not done that use it, under the mutex; twice if used twice */
    pti_item *end_item; /* queued at its end, which then needs no memory; owned */
} pti_queued_array;

/** What a call waits for, and what is so taken from the queue next. */
typedef enum pti_want {
    PTI_WANT_ALL,     /* everything */
    PTI_WANT_RELATED, /* what uses the wanted arrays, and all that has an array in common with it,
                         directly or through others: what is planned together moves less */
    PTI_WANT_NEEDED   /* only what the elements of the wanted arrays depend on */
} pti_want;

/** The most launches that are kept when an array of theirs leaves: cache.h. */
enum { PTI_MAX_VICTIMS = 16 };

/** The most prepared launches that are kept, unless more are queued; buckets they are found in. */
enum { PTI_MAX_PREPARED = 512, PTI_PREPARED_BUCKETS = 1024 };

/** How a queue and its arrays come to their end. */
typedef struct pti_queue_ends {
    void (*destroy)(pti_object *queue);
    void (*drain)(pti_object *queue); /* at the context's end */
    /** End an array of the queue, at once or after what is queued; the queue's own thread does not
     * call it. Returns whether the array is free to be destroyed. */
    bool (*end_array)(polytile_array *array, bool at_once);
} pti_queue_ends;

/** How much a queue has to do since it last had nothing. Under the mutex. */
typedef struct pti_queue_work {
    double queued_bytes; /* that launches touch, of all since then */
    double done_bytes;   /* of items that are done */
    double window_bytes; /* of launches of the window that runs which are done */
    double batch_bytes;  /* of those that run now */
    double begun_s;      /* when the first of them began to run; 0: none has */
} pti_queue_work;

/** The most gates of a queue that are closed. */
enum { PTI_MOST_GATES = 8 };

/** Gates are numbered from 1; the oldest is opened first. What is queued behind one is planned, but
 * runs only once the gate is open: a group hands launches out behind gates while its members still
 * run those before. Under the mutex. */
typedef struct pti_gates {
    int64_t n_set;
    int64_t n_open;
    int64_t n_before[PTI_MOST_GATES]; /* items queued before each closed gate, by its number */
} pti_gates;

/** The most items of a window, each of which becomes one step; and how many are gathered while more
 * are coming, so that something is known of what comes after the window. */
enum { PTI_WINDOW_ITEMS = PTI_WINDOW_STEPS, PTI_GATHERED_ITEMS = PTI_WINDOW_ITEMS + 32 };

/** A queue on one device, or over members. */
struct polytile_queue {
    pti_object object;
    const pti_queue_ends *ends;
    /** What a queue over members calls, which uses only the arrays of this; NULL: it has none. */
    const struct pti_group_functions *group_functions;
    void *group;                     /* of those functions */
    struct pti_kept_cuts *kept_cuts; /* of its group, if it is a member of one; else NULL */
    char *text;                      /* of such a queue, see pti_queue_text(); owned */
    bool is_closed;                  /* those functions are not called any more */
    polytile_device *device;         /* owned; NULL: it has members instead */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex;
    pthread_cond_t work; /* for the queue's thread: something to do */
    pthread_cond_t done; /* for the program's thread: something is done */

    /* Under the mutex. */
    pti_item *first;
    pti_item *last;
    int64_t n_queued; /* numbers given so far */
    int64_t n_left;   /* items not done */
    pti_gates gates;
    pti_queue_work work_left; /* how far the queue is */
    pti_cancel cancel;        /* of items, by their numbers; used without the mutex, too */
    double queued_s;          /* when the newest item was queued */
    int64_t n_cut;            /* serials given to launches so far */
    int window_items;         /* the most of a window: PTI_WINDOW_ITEMS, or fewer in tests */
    bool is_running;          /* a window is being planned or run */
    bool is_paused;
    bool is_stopping;
    bool is_claimed;        /* the program's thread changes arrays: no window is begun */
    pti_bell *bell;         /* rung whenever items are done: of a group that deals out rows, whose
                               launches are not gathered; NULL: none */
    int64_t ring_from;      /* how many of n_queued are done when it rings, or more */
    int n_waiting;          /* calls that wait: they override a pause */
    pti_want want;          /* what such a call waits for */
    pti_error error;        /* of the first window that failed since the last wait; until it is
                               reported launches are taken off and not run */
    polytile_report report; /* without enqueue_s */
    int64_t usable_bytes;   /* what launches are cut for: what the device seemed to have, or
                                     what it really gave; 0: it reaches the host's memory */

    /* Of the program's thread. */
    pti_prepared *prepared[PTI_PREPARED_BUCKETS]; /* by their hash */
    int n_prepared;
    pti_prepared *victim[PTI_MAX_VICTIMS]; /* the newest first; NULL: none */
    int n_ended; /* internal arrays that the program destroyed and that are still there */
    /** POLYTILE_CHECK=access: of the newest launch, which alone may not have run yet; NULL: none;
     * owned. */
    struct pti_rehearsal *rehearsal;
    double enqueue_s;
    struct pti_server *server; /* of the newest team kernel; NULL: there was none; retained */

    /* The queue's thread has these while a window is being planned or run, else the thread of the
     * program that has claimed the arrays. An item's positions stay until it is done. */
    int n_arrays; /* positions there are */
    pti_queued_array *array;
    pti_residency *residency; /* NULL: the device reaches the host's memory */
    pti_not_fused not_fused;  /* launches of windows before */
    int64_t arena_bytes;      /* that the device really gave for it; 0: none yet */
    int64_t window_number;    /* of the first item of the window that runs */
    int64_t window_gate;      /* and the gate before it */
    /** The first item after the window that uses each position; NULL: none is known. It is queued
     * as long as the window runs; owned. */
    const pti_item **later_item;
    int n_later_items;
};

/** The call as declared. */
static inline pti_call pti_prepared_call(const pti_prepared *prepared) {
    return (pti_call){prepared->instance, prepared->position};
}

/* prepare.c */

/**
 * Find a launch among those prepared, or check and prepare it. A queue over several members
 * prepares only what depends on no device: the members' queues cut the launch.
 *
 * Warns of incomplete arrays that the launch reads, unless it is a box: the whole launch warned.
 * Errors  As polytile_queue_launch(). A box of a launch that is already proved can fail only with
 *         NO_FIT or NO_MEMORY.
 */
polytile_status pti_queue_prepare(polytile_queue *queue, const pti_request *request,
                                  pti_prepared **prepared);

/* queued_array.c */

/** Wait for the window that runs, and let none begin, so that the program's thread can change the
 * queue's arrays; and let the queue's thread go on. */
void pti_queue_claim(polytile_queue *queue);
void pti_queue_unclaim(polytile_queue *queue);

/** Take a position for an array; is_shared: other queues have its memory, too. The arrays are
 * claimed. Errors: NO_MEMORY, INVALID (its memory cannot be guarded). */
polytile_status pti_queue_hold(polytile_queue *queue, polytile_array *array, bool is_shared);
/** Give the position back; nothing of the array is queued or resident. The arrays are claimed. */
void pti_queue_let_go(polytile_queue *queue, polytile_array *array);
/** Whether the program has the array at a position: it may have destroyed an internal one whose
 * launches are still queued. */
bool pti_queue_has_array(const polytile_queue *queue, int position);

/** Give an internal array host memory, all zero, if it has none; it is freed with the array.
 * Errors: NO_MEMORY. */
polytile_status pti_queue_spill(polytile_queue *queue, polytile_array *array);

/** Take an array's memory out of the program's reach again, if it is guarded. A failure is only
 * logged: nothing is wrong with the results. */
void pti_close_guard(polytile_queue *queue, int position);

/* rehearse.c */

/** Check that the newest launch, if it was checked, would run as it did when it was made: that its
 * body reads nothing that the program has changed since. Errors: INVALID (it does), NO_MEMORY,
 * DEVICE. Forgets it. */
polytile_status pti_queue_repeat_newest(polytile_queue *queue);
void pti_queue_forget_newest(polytile_queue *queue);

/* state.c */

/** A queue without device, thread and arrays, which pti_queue_free() frees. NULL when memory runs
 * out. */
polytile_queue *pti_queue_allocate(polytile_context *ctx, const pti_queue_ends *ends);
void pti_queue_free(polytile_queue *queue);

/** The queue's name in error texts: its device, or all of them. */
const char *pti_queue_text(const polytile_queue *queue);

/** Refuse a call of a queue: fails as INVALID with a text that begins with the queue's name. */
#define PTI_QUEUE_REFUSE(queue, format, ...)                                                       \
    pti_fail((queue)->object.context, POLYTILE_INVALID, "queue on %s: " format,                    \
             pti_queue_text(queue), __VA_ARGS__)

/** End a queue, if there is one, after the failure that is the last error, which stays. Returns
 * status. */
polytile_status pti_queue_give_up(polytile_queue *queue, polytile_status status);

/** Log an error that nobody waited for: the queue ends. */
void pti_queue_report_unread(polytile_queue *queue);

/** Whether a launcher that the queue runs makes this call. With members: any member's launcher
 * does. */
bool pti_queue_is_own_thread(const polytile_queue *queue);

/** What every call on a queue begins with: forget the last error, and refuse to be called by a
 * launcher that the queue runs, which would wait for itself. Errors: INVALID. */
polytile_status pti_queue_enter(const polytile_queue *queue);

/** Whether a queue may end here. Its own thread would wait for itself: then an error is logged. */
bool pti_queue_may_end(const pti_object *object);

/* calls/message.c */

/** Set the server of the newest team kernel: the program takes part in no older one any more. */
void pti_queue_set_server(polytile_queue *queue, struct pti_server *server);

/* items.c */

/** An item of a kind; NULL when memory runs out. */
pti_item *pti_item_create(pti_item_kind kind);
/** The item of a launch, with a copy of the values; NULL when memory runs out. The item ends the
 * part of a team kernel, whose server was retained for it. */
pti_item *pti_item_create_launch(pti_prepared *prepared, const pti_value *values,
                                 struct pti_server_part *part);
void pti_item_free(pti_item *item);
/** Append an item, which becomes the queue's, and give it its number. */
void pti_queue_append(polytile_queue *queue, pti_item *item);
/** Free the items of a list, which are done or dropped after a failure, and wake who waits. The
 * mutex is locked. */
void pti_queue_finish_items(polytile_queue *queue, pti_item *items);
/** Wait until items are done: all with PTI_WANT_ALL, else those that use arrays of a list, while
 * others may be put off. Does not report. */
void pti_queue_wait_for(polytile_queue *queue, pti_want want, int n_arrays,
                        polytile_array *const *arrays);
void pti_queue_wait_all(polytile_queue *queue);
/** Whether the item that runs next was cancelled. The mutex is locked. */
bool pti_queue_is_next_cancelled(const polytile_queue *queue);
/** Whether something failed since the last report. */
bool pti_queue_has_failed(polytile_queue *queue);
/** Report what failed since the last report, and clear it; if nothing did, what
 * pti_queue_repeat_newest() finds. */
polytile_status pti_queue_take_error(polytile_queue *queue);
/** Keep an error, whose text is the context's last, for the next report unless there is one. */
void pti_queue_keep_error(polytile_queue *queue, polytile_status status);

/* gate.c */

/** Whether a queue has a closed gate behind which nothing is queued. */
bool pti_queue_stands_at_gate(polytile_queue *queue);

/** Set a closed gate behind what is queued; fewer than PTI_MOST_GATES are closed. */
void pti_queue_set_gate(polytile_queue *queue);

/** Wait until all that was queued before the oldest closed gate is done, or was passed behind a
 * failure. Does not report. */
void pti_queue_wait_at_gate(polytile_queue *queue);

/** Open the oldest closed gate. */
void pti_queue_open_gate(polytile_queue *queue);

/** Wait, as the queue's thread, until the gate before the window that runs is open. Errors: the
 * queue's, if it failed meanwhile: the window must not run. */
polytile_status pti_queue_pass_gate(polytile_queue *queue);

/* check_access.c */

/**
 * What POLYTILE_CHECK asks for by access or wide: wait for the queue, bring to the host what a
 * launch reads, and check its kernel before it is queued. Results stay on the device; the check has
 * a device of its own.
 *
 * Nothing is checked after a failure that is still to be reported: the launch will not run.
 * Errors  INVALID (a violation), NO_MEMORY, those of the device.
 */
polytile_status pti_queue_check_access(polytile_queue *queue, const pti_request *request,
                                       const pti_prepared *prepared);

#endif
