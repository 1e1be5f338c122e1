#ifndef POLYTILE_DISTRIBUTE_SHARE_CHUNK_LIST_H
#define POLYTILE_DISTRIBUTE_SHARE_CHUNK_LIST_H

#include "distribute/share/home.h"

/* A launch cut into more chunks than there are members, each of which can run any chunk. */

/** Chunks a member, if the launch has as many rows: enough that the last ones make little
 * difference. */
enum { PTI_CHUNKS_PER_LAUNCH = 8 };

typedef struct pti_chunk_list {
    int n_chunks;
    pti_boxes *threads; /* of each chunk; owned */
} pti_chunk_list;

/** Why a launch cannot be cut so. */
typedef enum pti_chunks_obstacle {
    PTI_CHUNKS_NONE,
    PTI_CHUNKS_REDUCE, /* in an order that would depend on who takes what */
    PTI_CHUNKS_WHOLE,  /* nothing that it writes can be cut along its first dimension */
    PTI_CHUNKS_NO_MEMORY
} pti_chunks_obstacle;

/** What to say of it. */
const char *pti_chunks_obstacle_text(pti_chunks_obstacle obstacle);

/**
 * Cut a launch along the first dimension of what it writes, as evenly as can be.
 *
 * Shapes  domains: of all arrays, by the launch's array numbers; n_chunks: at most. No two chunks
 *         have a thread, or write an element, in common; together they are the launch.
 * Owns    The caller frees the chunks with pti_chunk_list_free(); with an obstacle it is empty.
 */
pti_chunks_obstacle pti_chunk_list_cut(const pti_shared_launch *launch,
                                       const polytile_domain *domains, int n_arrays, int n_chunks,
                                       pti_chunk_list *chunks);

void pti_chunk_list_free(pti_chunk_list *chunks);

#endif
