#ifndef POLYTILE_DISTRIBUTE_FILE_STORE_H
#define POLYTILE_DISTRIBUTE_FILE_STORE_H

#include "launch/host/copy/box_copy.h"

/* Elements of an array in several boxes of host memory, and a walk over them in the array's C
 * order, which is that of files and of whole copies. */

/** A box of elements, and memory in C order over a box around it. */
typedef struct pti_stored_box {
    polytile_domain box;
    polytile_domain around; /* steps 1 */
    char *memory;           /* of the first element of `around`; borrowed */
} pti_stored_box;

/** Zero-initialise all but whole and element_bytes. It remembers a failed allocation. */
typedef struct pti_store {
    polytile_domain whole; /* of the array; steps 1 */
    int64_t element_bytes;
    int n_boxes;
    int capacity;
    bool failed;
    pti_stored_box *box; /* disjoint; owned */
} pti_store;

/** Add boxes that lie in one memory. None is empty, or shares an element with the store. */
void pti_store_add(pti_store *store, const pti_boxes *boxes, const polytile_domain *around,
                   void *memory);
void pti_store_free(pti_store *store);

/** Return the bytes of all elements. */
int64_t pti_store_bytes(const pti_store *store);

/** Write every element once, from several threads. */
void pti_store_fill(const pti_store *store, pti_element_function *element, void *user);

/** Bytes that lie side by side in the array's C order and in memory. */
typedef struct pti_file_run {
    int64_t at_bytes; /* from the array's first element */
    int64_t n_bytes;
    char *memory;
} pti_file_run;

typedef struct pti_stored_row pti_stored_row;

/** A walk over a store in C order. */
typedef struct pti_walk {
    const pti_store *store; /* borrowed */
    int n_rows;
    pti_stored_row
        *row; /* of each box that is not finished, the next of its rows; a heap whose first
                            comes first; owned */
} pti_walk;

/** Begin a walk. False: memory ran out. */
bool pti_walk_begin(const pti_store *store, pti_walk *walk);
/** Find the next run, of at most most_bytes; false at the end. */
bool pti_walk_next(pti_walk *walk, int64_t most_bytes, pti_file_run *run);
void pti_walk_end(pti_walk *walk);

/** Copy the next elements side by side into `to`, at most most_bytes. Returns the bytes. */
int64_t pti_walk_collect(pti_walk *walk, char *to, int64_t most_bytes);
/** Copy n_bytes that lie side by side to where the next elements belong. */
void pti_walk_spread(pti_walk *walk, const char *from, int64_t n_bytes);

#endif
