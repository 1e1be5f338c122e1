#include "launch/cuda/block.h"

#include "base/checked.h"
#include "launch/cuda/coarse.h"
#include "launch/cuda/function.h"

#include <string.h>

/** Find the first number of threads of a block with which the most threads run at once. With 128 an
 * H200 starts blocks too slowly to keep its memory busy (docs/ceilings.md). */
static polytile_status choose_threads(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                      pti_cuda_variant *variant) {
    static const int candidates[] = {256, 512, 128, 1024};
    polytile_status status = POLYTILE_OK;
    int most_resident = 0;
    variant->n_threads = (int)pti_min(candidates[0], variant->max_threads);
    for (size_t k = 0; k < sizeof candidates / sizeof *candidates; k++) {
        int n_blocks = 0;
        if (candidates[k] > variant->max_threads)
            continue;
        PTI_TRY(PTI_KERNEL_CUDA(cuda, sub_kernel, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
                                (&n_blocks, variant->kernel, candidates[k], 0)));
        if (n_blocks * candidates[k] > most_resident) {
            most_resident = n_blocks * candidates[k];
            variant->n_threads = candidates[k];
        }
    }
    variant->n_resident = (int64_t)most_resident * cuda->n_multiprocessors;
done:
    return status;
}

/** Return the key of a kernel's choice. */
static pti_cuda_choice key_of(const pti_sub_kernel *sub_kernel, const pti_tuning *tuning) {
    pti_cuda_choice key = {.kernel = pti_cuda_kernel_for(sub_kernel),
                           .declaration_hash = sub_kernel->instance->declaration_hash,
                           .traits = pti_traits_of(sub_kernel->config.character),
                           .n_indices = sub_kernel->threads->n_dims,
                           .generation = pti_tuning_generation(tuning)};
    size_t length = strnlen(sub_kernel->instance->kernel_name, sizeof key.name - 1);
    memcpy(key.name, sub_kernel->instance->kernel_name, length);
    return key;
}

static bool has_key(const pti_cuda_choice *choice, const pti_cuda_choice *key) {
    return choice->kernel == key->kernel && choice->n_indices == key->n_indices &&
           choice->generation == key->generation &&
           choice->declaration_hash == key->declaration_hash &&
           memcmp(&choice->traits, &key->traits, sizeof key->traits) == 0 &&
           strcmp(choice->name, key->name) == 0;
}

/** Set the cache of a function, which keeps it until it is set again. */
static polytile_status set_cache(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                 const pti_cuda_choice *choice, const pti_cuda_variant *variant) {
    const bool is_asked = choice->has_row && choice->row.cache != PTI_CACHE_NONE;
    if (!is_asked || variant->kernel == NULL || sub_kernel->config.implementation->has_cuda_handles)
        return POLYTILE_OK;
    return PTI_KERNEL_CUDA(cuda, sub_kernel, cudaFuncSetCacheConfig,
                           (variant->kernel, (enum cudaFuncCache)choice->row.cache));
}

/** Ask CUDA about a kernel, if there is one. */
static polytile_status ask_cuda_about(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                      pti_cuda_variant *variant) {
    struct cudaFuncAttributes attributes;
    polytile_status status = POLYTILE_OK;
    if (variant->kernel == NULL)
        return POLYTILE_OK;
    PTI_TRY(
        PTI_KERNEL_CUDA(cuda, sub_kernel, cudaFuncGetAttributes, (&attributes, variant->kernel)));
    variant->max_threads = attributes.maxThreadsPerBlock;
    PTI_TRY(choose_threads(cuda, sub_kernel, variant));
done:
    return status;
}

/** Look a kernel's choice up in CUDA and the tuning tables. */
static polytile_status look_up(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                               pti_tuning *tuning, pti_cuda_choice *choice) {
    polytile_status status;
    choice->fine = (pti_cuda_variant){.kernel = choice->kernel, .n_neighbours = 1};
    choice->coarse = pti_cuda_coarse_of(sub_kernel);
    PTI_TRY(ask_cuda_about(cuda, sub_kernel, &choice->fine));
    PTI_TRY(ask_cuda_about(cuda, sub_kernel, &choice->coarse));
    choice->has_row =
        pti_tuning_find(tuning,
                        &(pti_tuning_query){.kernel = sub_kernel->instance->kernel_name,
                                            .traits = choice->traits,
                                            .capability = cuda->capability,
                                            .n_indices = choice->n_indices},
                        &choice->row);
    PTI_TRY(set_cache(cuda, sub_kernel, choice, &choice->fine));
    PTI_TRY(set_cache(cuda, sub_kernel, choice, &choice->coarse));
done:
    return status;
}

polytile_status pti_cuda_choose(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                pti_cuda_choice **choice) {
    pti_tuning *tuning;
    polytile_status status;
    PTI_TRY(pti_tuning_get(pti_cuda_context_of(cuda), &tuning));
    pti_cuda_choice made = key_of(sub_kernel, tuning);
    for (int k = 0; k < PTI_CUDA_N_CHOICES; k++) {
        *choice = &cuda->choice[k];
        if (has_key(*choice, &made)) {
            pti_cuda_look_at_sharing(sub_kernel, *choice);
            return POLYTILE_OK;
        }
    }
    PTI_TRY(look_up(cuda, sub_kernel, tuning, &made));
    pti_cuda_look_at_sharing(sub_kernel, &made);
    *choice = &cuda->choice[cuda->next_choice];
    **choice = made;
    cuda->next_choice = (cuda->next_choice + 1) % PTI_CUDA_N_CHOICES;
done:
    return status;
}

/** Find the user's block, if CUDA and the kernel take it. */
static polytile_status asked_block(const pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                   const pti_cuda_variant *variant, pti_cuda_extents *block) {
    *block = pti_cuda_extents_of(sub_kernel->threads->n_dims, sub_kernel->config.block);
    int64_t n_threads = pti_cuda_count(*block);
    if (n_threads > variant->max_threads)
        return pti_fail(pti_cuda_context_of(cuda), POLYTILE_INVALID,
                        "%s: the block has %lld threads; cuda:%d runs this kernel with at most %d",
                        sub_kernel->instance->kernel_name, (long long)n_threads, cuda->number,
                        variant->max_threads);
    if (block->z > pti_cuda_most_threads.z)
        return pti_fail(pti_cuda_context_of(cuda), POLYTILE_INVALID,
                        "%s: the block has %lld threads along all indices but the last two; CUDA "
                        "takes at most %lld there",
                        sub_kernel->instance->kernel_name, (long long)block->z,
                        (long long)pti_cuda_most_threads.z);
    return POLYTILE_OK;
}

/** Return the block of a tuning table's row; if the row is for another number of indices, one with
 * its number of threads. */
static pti_cuda_extents block_of_row(const pti_sub_kernel *sub_kernel,
                                     const pti_cuda_choice *choice,
                                     const pti_cuda_variant *variant) {
    const pti_tuning_row *row = &choice->row;
    const polytile_domain groups = pti_cuda_groups_of(sub_kernel->threads, variant->n_neighbours);
    pti_cuda_extents block = pti_cuda_extents_of(row->n_dims, row->block);
    if (row->n_dims == pti_tuning_block_dims(choice->n_indices))
        return pti_cuda_block_clip(&groups, block, variant->max_threads);
    int64_t n_threads = pti_min(pti_cuda_count(block), variant->max_threads);
    return pti_cuda_block_for(&groups, (int)n_threads);
}

pti_cuda_extents pti_cuda_full_block(const pti_sub_kernel *sub_kernel,
                                     const pti_cuda_variant *variant) {
    const polytile_domain groups = pti_cuda_groups_of(sub_kernel->threads, variant->n_neighbours);
    return variant->n_neighbours > 1 ? pti_cuda_wide_block_for(&groups, variant->n_threads)
                                     : pti_cuda_block_for(&groups, variant->n_threads);
}

polytile_status pti_cuda_find_block(const pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                    const pti_cuda_choice *choice, const pti_cuda_variant *variant,
                                    pti_cuda_extents *block) {
    if (sub_kernel->config.block != NULL)
        return asked_block(cuda, sub_kernel, variant, block);
    *block = choice->has_row ? block_of_row(sub_kernel, choice, variant)
                             : pti_cuda_full_block(sub_kernel, variant);
    return POLYTILE_OK;
}
