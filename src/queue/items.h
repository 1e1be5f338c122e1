#ifndef POLYTILE_QUEUE_ITEMS_H
#define POLYTILE_QUEUE_ITEMS_H

#include "access/set/boxes.h"
#include "queue/prepared.h"

/* What is queued, and who waits for it. */

/** What an item asks for. */
typedef enum pti_item_kind {
    PTI_ITEM_LAUNCH,
    PTI_ITEM_FLUSH,      /* bring an array's results back and forget it on the device */
    PTI_ITEM_DROP,       /* forget an array on the device: it is destroyed, or was internal */
    PTI_ITEM_FETCH,      /* bring some elements to the host, and keep them on the device */
    PTI_ITEM_INVALIDATE, /* the host has newer ones */
    PTI_ITEM_BRING,      /* bring some elements to the device, from others' if these have newer
                            ones than the host */
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
    pti_boxes boxes; /* fetch, invalidate, bring and discard: elements of it, not none; owned */
    polytile_queue_callback *callback; /* fetch: called once it is done; NULL: none */
    void *user;                        /* that it gets */
    struct pti_server_part *part;      /* launch of a team kernel: its slots; retained */
    pti_value values[];                /* launch: those that the body gets */
} pti_item;

/** Return whether an item neither runs nor moves anything. */
static inline bool pti_item_only_invalidates(const pti_item *item) {
    return item->kind == PTI_ITEM_INVALIDATE || item->kind == PTI_ITEM_DISCARD;
}

/** What a call waits for, and what is so taken from the queue next. */
typedef enum pti_want {
    PTI_WANT_ALL,     /* everything */
    PTI_WANT_RELATED, /* what uses the wanted arrays, and all that has an array in common with it,
                         directly or through others: what is planned together moves less */
    PTI_WANT_NEEDED   /* only what the elements of the wanted arrays depend on */
} pti_want;

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
/** Return whether the item that runs next was cancelled. The mutex is locked. */
bool pti_queue_is_next_cancelled(const polytile_queue *queue);
/** Return whether something failed since the last report. */
bool pti_queue_has_failed(polytile_queue *queue);
/** Report what failed since the last report, and clear it; if nothing did, what
 * pti_queue_repeat_newest() finds. */
polytile_status pti_queue_take_error(polytile_queue *queue);
/** Keep an error, whose text is the context's last, for the next report unless there is one. */
void pti_queue_keep_error(polytile_queue *queue, polytile_status status);

#endif
