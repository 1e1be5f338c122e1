#ifndef POLYTILE_QUEUE_PREPARED_H
#define POLYTILE_QUEUE_PREPARED_H

#include "access/pieces/ways.h"
#include "launch/device/device.h"
#include "partition/cut/partition.h"
#include "queue/request.h"

/* Prepared launches, and all that they depend on. */

/**
 * A launch with all that does not depend on what is resident, kept for the next identical one.
 *
 * Made by the program's thread. The queue's thread changes partition, way, is_cut_apart, their
 * serial, all_fit and arena_bytes, and only under the mutex; and it alone adds ways once the launch
 * is made. A way neither changes nor moves once it is added, so that one whose number was read
 * under the mutex can be read there. The rest never changes. It lives while items with it are not
 * done.
 */
typedef struct pti_prepared {
    struct pti_prepared *next;  /* in the cache, of the same bucket */
    struct pti_prepared *older; /* in the cache, by when they were used last */
    struct pti_prepared *newer;
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
    bool is_cut_apart;        /* no other launch's partition counted */
    int64_t arena_bytes;
    bool all_fit;
    pti_schedule *in_place; /* for devices that reach the host's memory; else NULL */
    int64_t n_items;        /* queued with it, under the mutex */
    int64_t last_used;      /* number of the item, to find the latest; 0: never */
} pti_prepared;

/** The call as declared. */
static inline pti_call pti_prepared_call(const pti_prepared *prepared) {
    return (pti_call){prepared->instance, prepared->position};
}

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

/** Of what a launch depends on, whether or not it is valid. */
uint64_t pti_request_hash(const pti_request *request);

/** Return whether a launch was prepared for the same request. */
bool pti_prepared_is_for(const pti_prepared *prepared, const pti_request *request);

/** Copy what a launch was asked for with, as far as it depends on it; the request is valid. False
 * when memory runs out, for pti_prepared_free() to free. */
bool pti_prepared_fill_key(pti_prepared *prepared, const pti_request *request);

/** Return whether launches that look nothing up differ only in which arrays they have, as A to B
 * and B to A: cut for one arena, both are cut alike. */
bool pti_prepared_is_twin(const pti_prepared *one, const pti_prepared *other);

/** Return whether an operand is the array at a position of the queue. */
bool pti_prepared_uses(const pti_prepared *prepared, int position);

/** NULL does nothing. */
void pti_prepared_free(pti_prepared *prepared);

#endif
