#ifndef POLYTILE_QUEUE_QUEUE_H
#define POLYTILE_QUEUE_QUEUE_H

#include "base/bell.h"
#include "base/cancel.h"
#include "launch/device/device.h"
#include "partition/window/fusion_group.h"
#include "queue/gate.h"
#include "queue/items.h"
#include "queue/queued_array.h"

#include <pthread.h>

/* queue: launches in order on one device, which are checked and prepared as they come. This header
 * has the queue; prepared.h launches, items.h what is queued, queued_array.h its arrays.
 * queue/worker has the thread that runs them; member.h is for queues over several devices. */

/* A queue has two threads. The program's checks launches, looks them up among those prepared before
 * and appends them as items. The queue's own takes a window of items at a time, and runs what the
 * engine makes of it. What both use is under the mutex; what only one uses says so. */

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
    bool keeps;             /* of a group: nothing is to leave the device unasked */
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
    pti_prepared *oldest_used; /* of these, by when they were used last; NULL: there are none */
    pti_prepared *newest_used;
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
    int64_t arena_bytes;      /* that the device really gave for it; 0: none yet; written under the
                                 mutex */
    int64_t wished_bytes;  /* to which the arena did not grow, as that would lose what was pulled;
                                 0: none */
    int64_t window_number; /* of the first item of the window that runs */
    int64_t window_gate;   /* and the gate before it */
    /** The first item after the window that uses each position; NULL: none is known. It is queued
     * as long as the window runs; owned. */
    const pti_item **later_item;
    int n_later_items;
};

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

/** Return whether a launcher that the queue runs makes this call. With members: any member's
 * launcher does. */
bool pti_queue_is_own_thread(const polytile_queue *queue);

/** What every call on a queue begins with: forget the last error, and refuse to be called by a
 * launcher that the queue runs, which would wait for itself. Errors: INVALID. */
polytile_status pti_queue_enter(const polytile_queue *queue);

/** Return whether a queue may end here. Its own thread would wait for itself: then an error is
 * logged. */
bool pti_queue_may_end(const pti_object *object);

#endif
