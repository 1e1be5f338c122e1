#include "access/set/boxes.h"
#include "base/checked.h"
#include "launch/host/copy/box_copy.h"
#include "launch/host/copy/chunks.h"
#include "launch/host/copy/copiers.h"

/** A box is cut into about this many chunks; more threads copy no faster than memory is. */
enum { N_CHUNKS = 16 };

/** Chunks are not smaller: to wake a thread takes what copying some hundred KiB does. */
enum { LEAST_CHUNK_BYTES = 256 * 1024 };

/** As many as pti_chunks_of() makes at most. */
enum { MOST_CHUNKS = 2 * N_CHUNKS + 1 };

static void copy_chunks(pti_copiers *copiers, const pti_move *move, const pti_chunks *chunks) {
    pti_copy_task task[MOST_CHUNKS];
    polytile_domain box[MOST_CHUNKS];
    const int own = (int)chunks->n_chunks - 1;
    for (int k = 0; k <= own; k++) {
        box[k] = pti_chunks_get(chunks, k);
        task[k] = (pti_copy_task){.move = *move, .keeps_cache = true};
        task[k].move.box = &box[k];
        if (k < own)
            pti_copiers_submit(copiers, &task[k]);
    }
    pti_box_copy(&task[own].move, 1);
    pti_copiers_wait(copiers);
}

static void copy_slice_in_chunks(pti_copiers *copiers, const pti_move *move) {
    const int64_t n_bytes = pti_box_count(move->box) * move->element_bytes;
    const int64_t chunk_bytes = pti_max(LEAST_CHUNK_BYTES, pti_ceil_div(n_bytes, N_CHUNKS));
    const pti_chunks chunks = pti_chunks_of(move->box, move->element_bytes, chunk_bytes);
    if (chunks.n_chunks > 0)
        copy_chunks(copiers, move, &chunks);
}

void pti_copiers_copy(pti_copiers *copiers, const pti_move *move) {
    pti_overlapping_copy slices = pti_move_overlapping(move);
    polytile_domain box;
    pti_move slice = *move;
    slice.box = &box;
    while (pti_overlapping_next(&slices, &box))
        copy_slice_in_chunks(copiers, &slice);
}
