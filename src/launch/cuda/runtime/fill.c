#include "launch/cuda/runtime/copy.h"

#include "access/set/boxes.h"
#include "base/checked.h"

#include <string.h>

/* CUDA fills with bytes only. An element of different bytes comes from host memory, several times
 * in a pattern, which is then doubled on the device. */

/** The bytes of pageable memory that CUDA reads before a call returns. */
enum { PATTERN_BYTES = 64 * 1024 };

static bool is_one_byte(const unsigned char *element, int64_t element_bytes) {
    return memcmp(element, element + 1, (size_t)element_bytes - 1) == 0;
}

/** Set bytes by one call for each turn of the loops around the innermost, whose runs are rows. */
static polytile_status set_bytes(pti_cuda_device *cuda, const pti_loop_nest *places, int value,
                                 cudaStream_t stream) {
    polytile_status status = POLYTILE_OK;
    pti_loop rows = places->loops[places->n_loops - 1];
    int64_t n_rows = pti_cuda_is_pitch(rows) ? rows.count : 1;
    int64_t pitch_bytes = n_rows == 1 ? places->run_bytes : rows.to_step;
    for (int64_t run = 0; run < places->n_runs; run += n_rows) {
        char *to;
        const char *same;
        pti_loop_nest_locate(places, run, &to, &same);
        PTI_TRY(PTI_CUDA(
            cuda, cudaMemset2DAsync,
            (to, (size_t)pitch_bytes, value, (size_t)places->run_bytes, (size_t)n_rows, stream)));
    }
done:
    return status;
}

/** Write the element into the first places of the first run, *n_bytes of them. */
static polytile_status write_pattern(pti_cuda_device *cuda, const pti_loop_nest *places,
                                     const pti_move *move, int64_t *n_bytes, cudaStream_t stream) {
    unsigned char pattern[PATTERN_BYTES];
    int64_t element_bytes = move->element_bytes;
    *n_bytes = pti_min(places->run_bytes, PATTERN_BYTES / element_bytes * element_bytes);
    for (int64_t at = 0; at < *n_bytes; at += element_bytes)
        memcpy(pattern + at, move->from.base, (size_t)element_bytes);
    return PTI_CUDA(cuda, cudaMemcpyAsync,
                    (places->to, pattern, (size_t)*n_bytes, cudaMemcpyHostToDevice, stream));
}

/** Fill the first run. */
static polytile_status fill_unit(pti_cuda_device *cuda, const pti_loop_nest *places,
                                 const pti_move *move, cudaStream_t stream) {
    polytile_status status;
    int64_t n_done, n_bytes;
    PTI_TRY(write_pattern(cuda, places, move, &n_done, stream));
    for (; n_done < places->run_bytes; n_done += n_bytes) {
        n_bytes = pti_min(n_done, places->run_bytes - n_done);
        PTI_TRY(PTI_CUDA(
            cuda, cudaMemcpyAsync,
            (places->to + n_done, places->to, (size_t)n_bytes, cudaMemcpyDeviceToDevice, stream)));
    }
done:
    return status;
}

/** Copy what is filled, one turn of the k-th loop, until that loop has all its turns. */
static polytile_status fill_loop(pti_cuda_device *cuda, const pti_loop_nest *filled, int k,
                                 int64_t count, cudaStream_t stream) {
    polytile_status status = POLYTILE_OK;
    for (int64_t n_done = 1; n_done < count; n_done *= 2) {
        pti_loop_nest copy = *filled;
        copy.loops[k].count = pti_min(n_done, count - n_done);
        copy.n_runs = filled->n_runs * copy.loops[k].count;
        copy.to = filled->to + n_done * filled->loops[k].to_step;
        PTI_TRY(pti_cuda_copy_nest(cuda, &copy, cudaMemcpyDeviceToDevice, stream));
    }
done:
    return status;
}

static polytile_status spread_element(pti_cuda_device *cuda, const pti_loop_nest *places,
                                      const pti_move *move, cudaStream_t stream) {
    polytile_status status;
    pti_loop_nest filled = *places;
    filled.n_runs = 1;
    for (int k = 0; k < places->n_loops; k++)
        filled.loops[k].count = 1;
    PTI_TRY(fill_unit(cuda, places, move, stream));
    for (int k = places->n_loops - 1; k >= 0; k--) {
        int64_t count = places->loops[k].count;
        PTI_TRY(fill_loop(cuda, &filled, k, count, stream));
        filled.loops[k].count = count;
        filled.n_runs *= count;
    }
done:
    return status;
}

polytile_status pti_cuda_fill(pti_cuda_device *cuda, const pti_move *move, cudaStream_t stream) {
    if (pti_box_is_empty(move->box))
        return POLYTILE_OK;
    const unsigned char *element = move->from.base;
    pti_move onto_itself = {move->box, move->element_bytes, move->to, move->to};
    pti_loop_nest places = pti_loop_nest_of(&onto_itself);
    if (is_one_byte(element, move->element_bytes))
        return set_bytes(cuda, &places, element[0], stream);
    return spread_element(cuda, &places, move, stream);
}
