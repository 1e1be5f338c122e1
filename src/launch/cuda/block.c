#include "launch/cuda/block.h"

#include "base/checked.h"
#include "launch/cuda/function.h"

#include <string.h>

static polytile_context *context_of(const pti_cuda_device *cuda) {
    return cuda->device.object.context;
}

/** Find the first number of threads of a block with which the most threads run at once. With 128 an
 * H200 starts blocks too slowly to keep its memory busy (docs/ceilings.md). */
static polytile_status choose_threads(pti_cuda_device *cuda, const pti_sub_kernel *launch,
                                      int max_threads, int *n_threads) {
    static const int candidates[] = {256, 512, 128, 1024};
    const void *kernel = pti_cuda_kernel_for(launch);
    polytile_status status = POLYTILE_OK;
    int most_resident = 0;
    *n_threads = (int)pti_min(candidates[0], max_threads);
    for (size_t k = 0; k < sizeof candidates / sizeof *candidates; k++) {
        int n_blocks = 0;
        if (candidates[k] > max_threads)
            continue;
        PTI_TRY(PTI_KERNEL_CUDA(cuda, launch, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
                                (&n_blocks, kernel, candidates[k], 0)));
        if (n_blocks * candidates[k] > most_resident) {
            most_resident = n_blocks * candidates[k];
            *n_threads = candidates[k];
        }
    }
done:
    return status;
}

/** Return the key of a kernel's choice. */
static pti_cuda_choice key_of(const pti_sub_kernel *launch, const pti_tuning *tuning) {
    pti_cuda_choice key = {.kernel = pti_cuda_kernel_for(launch),
                           .traits = pti_traits_of(launch->body.character),
                           .n_indices = launch->threads->n_dims,
                           .generation = pti_tuning_generation(tuning)};
    size_t length = strnlen(launch->instance->kernel_name, sizeof key.name - 1);
    memcpy(key.name, launch->instance->kernel_name, length);
    return key;
}

static bool has_key(const pti_cuda_choice *choice, const pti_cuda_choice *key) {
    return choice->kernel == key->kernel && choice->n_indices == key->n_indices &&
           choice->generation == key->generation &&
           memcmp(&choice->traits, &key->traits, sizeof key->traits) == 0 &&
           strcmp(choice->name, key->name) == 0;
}

/** Set the cache of a function, which keeps it until it is set again. */
static polytile_status set_cache(pti_cuda_device *cuda, const pti_sub_kernel *launch,
                                 const pti_cuda_choice *choice) {
    const bool is_asked = choice->has_row && choice->row.cache != PTI_CACHE_NONE;
    if (!is_asked || launch->body.implementation->has_cuda_handles)
        return POLYTILE_OK;
    return PTI_KERNEL_CUDA(cuda, launch, cudaFuncSetCacheConfig,
                           (choice->kernel, (enum cudaFuncCache)choice->row.cache));
}

/** Look a kernel's choice up in CUDA and the tuning tables. */
static polytile_status look_up(pti_cuda_device *cuda, const pti_sub_kernel *launch,
                               pti_tuning *tuning, pti_cuda_choice *choice) {
    struct cudaFuncAttributes attributes;
    polytile_status status;
    PTI_TRY(PTI_KERNEL_CUDA(cuda, launch, cudaFuncGetAttributes, (&attributes, choice->kernel)));
    choice->max_threads = attributes.maxThreadsPerBlock;
    PTI_TRY(choose_threads(cuda, launch, choice->max_threads, &choice->n_threads));
    choice->has_row = pti_tuning_find(tuning,
                                      &(pti_tuning_query){.kernel = launch->instance->kernel_name,
                                                          .traits = choice->traits,
                                                          .capability = cuda->capability,
                                                          .n_indices = choice->n_indices},
                                      &choice->row);
    PTI_TRY(set_cache(cuda, launch, choice));
done:
    return status;
}

polytile_status pti_cuda_choose(pti_cuda_device *cuda, const pti_sub_kernel *launch,
                                pti_cuda_choice **choice) {
    pti_tuning *tuning;
    polytile_status status;
    PTI_TRY(pti_tuning_get(context_of(cuda), &tuning));
    pti_cuda_choice made = key_of(launch, tuning);
    for (int k = 0; k < PTI_CUDA_N_CHOICES; k++) {
        *choice = &cuda->choice[k];
        if (has_key(*choice, &made))
            return POLYTILE_OK;
    }
    PTI_TRY(look_up(cuda, launch, tuning, &made));
    *choice = &cuda->choice[cuda->next_choice];
    **choice = made;
    cuda->next_choice = (cuda->next_choice + 1) % PTI_CUDA_N_CHOICES;
done:
    return status;
}

/** Find the user's block, if CUDA and the kernel take it. */
static polytile_status asked_block(const pti_cuda_device *cuda, const pti_sub_kernel *launch,
                                   const pti_cuda_choice *choice, pti_cuda_extents *block) {
    *block = pti_cuda_extents_of(launch->threads->n_dims, launch->body.block);
    int64_t n_threads = pti_cuda_count(*block);
    if (n_threads > choice->max_threads)
        return pti_fail(context_of(cuda), POLYTILE_INVALID,
                        "%s: the block has %lld threads; cuda:%d runs this kernel with at most %d",
                        launch->instance->kernel_name, (long long)n_threads, cuda->number,
                        choice->max_threads);
    if (block->z > pti_cuda_most_threads.z)
        return pti_fail(context_of(cuda), POLYTILE_INVALID,
                        "%s: the block has %lld threads along all indices but the last two; CUDA "
                        "takes at most %lld there",
                        launch->instance->kernel_name, (long long)block->z,
                        (long long)pti_cuda_most_threads.z);
    return POLYTILE_OK;
}

/** Return the block of a tuning table's row; if the row is for another number of indices, one with
 * its number of threads. */
static pti_cuda_extents block_of_row(const pti_sub_kernel *launch, const pti_cuda_choice *choice) {
    const pti_tuning_row *row = &choice->row;
    pti_cuda_extents block = pti_cuda_extents_of(row->n_dims, row->block);
    if (row->n_dims == pti_tuning_block_dims(choice->n_indices))
        return pti_cuda_block_clip(launch->threads, block, choice->max_threads);
    int64_t n_threads = pti_min(pti_cuda_count(block), choice->max_threads);
    return pti_cuda_block_for(launch->threads, (int)n_threads);
}

pti_cuda_extents pti_cuda_full_block(const pti_sub_kernel *launch, const pti_cuda_choice *choice) {
    return pti_cuda_block_for(launch->threads, choice->n_threads);
}

polytile_status pti_cuda_find_block(const pti_cuda_device *cuda, const pti_sub_kernel *launch,
                                    const pti_cuda_choice *choice, pti_cuda_extents *block) {
    if (launch->body.block != NULL)
        return asked_block(cuda, launch, choice, block);
    *block = choice->has_row ? block_of_row(launch, choice) : pti_cuda_full_block(launch, choice);
    return POLYTILE_OK;
}
