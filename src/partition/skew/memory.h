#ifndef POLYTILE_PARTITION_SKEW_MEMORY_H
#define POLYTILE_PARTITION_SKEW_MEMORY_H

#include "partition/skew/sets.h"
#include "partition/skew/skew.h"

/* How much device memory the images of a chain take. */

/** What images of one array must hold in any pass. */
typedef struct pti_skew_need {
    int64_t band_rows; /* beside those of its slabs */
    int64_t all_rows;
    int64_t row_bytes;
    int64_t whole_bytes; /* of an array that stays whole; else 0 */
    bool none_goes;      /* to the host: images have no rows of a slab for that, */
    bool none_comes;     /* and none for a slab that comes, or is filled, for the next one */
} pti_skew_need;

/** Return how many slabs an image has beside those of a lap: one that goes, and one that comes. */
static inline int pti_skew_n_beside(bool none_goes, bool none_comes) {
    return !none_goes + !none_comes;
}

/** Return how many images a chain has: one for each array, and then those aside (tiled.h). */
int pti_skew_n_images(const pti_chain *chain);

/** Find the needs of all images for passes of n_per_pass launches; the caller frees the list. NULL
 * when memory runs out. */
pti_skew_need *pti_skew_needs(const pti_chain *chain, int n_per_pass);

/** Note of which arrays none goes or none comes, of a chain with tiles: these leave as many rows
 * for slabs as there are. Shapes  needs: of all arrays. */
void pti_skew_note_still(const pti_chain *chain, const pti_skew_sets *sets, pti_skew_need *needs);

/** Return the rows of an image, of an array without ends: those of a lap of slabs, and of
 * n_beside slabs before and after it, which go and come meanwhile. INT64_MAX if they exceed 64
 * bits. */
int64_t pti_skew_image_rows(int64_t slab, int64_t n_per_lap, int64_t band_rows, int n_beside);

/** Return the bytes of an array's image, padded. */
int64_t pti_skew_image_bytes(const pti_skew_need *need, int64_t slab, int64_t n_per_lap);

/** Return the bytes that one slab touches, of all arrays. */
double pti_skew_slabs_bytes(const pti_chain *chain, const pti_skew_need *needs, int64_t slab);

/** Return the bytes of all images; INT64_MAX if they exceed 64 bits. */
int64_t pti_skew_bytes(const pti_skew_need *needs, int n_images, int64_t slab, int64_t n_per_lap);

/** Say that the arena is too small for two launches of a pass. */
void pti_skew_explain_memory(const pti_skew_request *request, pti_text *why);

#endif
