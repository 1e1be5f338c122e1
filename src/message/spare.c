#include "message/spare.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/** The blocks that are kept, and the bytes of packets for which they are: more than the least, at
 * most a block. */
enum { MOST_SPARES = 16, LEAST_BYTES = 32 << 10, BLOCK_BYTES = (256 << 10) + 256 };

/** Before the memory of a packet. */
typedef struct spare {
    struct spare *next;
    bool is_block;
} __attribute__((aligned(16))) spare;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static spare *first;
static int n_spares;

static spare *take_spare(void) {
    pthread_mutex_lock(&mutex);
    spare *taken = first;
    if (taken != NULL) {
        first = taken->next;
        n_spares--;
    }
    pthread_mutex_unlock(&mutex);
    return taken;
}

/** Keep a block; false: there are enough. */
static bool keep_spare(spare *block) {
    pthread_mutex_lock(&mutex);
    const bool is_kept = n_spares < MOST_SPARES;
    if (is_kept) {
        block->next = first;
        first = block;
        n_spares++;
    }
    pthread_mutex_unlock(&mutex);
    return is_kept;
}

void *pti_spare_allocate(int64_t n_bytes) {
    const bool is_block = n_bytes > LEAST_BYTES && n_bytes <= BLOCK_BYTES;
    spare *made = is_block ? take_spare() : NULL;
    if (made == NULL)
        made = malloc(sizeof *made + (size_t)(is_block ? BLOCK_BYTES : n_bytes));
    if (made == NULL)
        return NULL;
    made->is_block = is_block;
    return made + 1;
}

void pti_spare_release(void *memory) {
    spare *of = memory == NULL ? NULL : (spare *)memory - 1;
    if (of == NULL || !of->is_block || !keep_spare(of))
        free(of);
}
