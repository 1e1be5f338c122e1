#include "launch/cuda/tiles.h"

#include "base/checked.h"
#include "launch/cuda/function.h"
#include "launch/device/execution.h"

/** Images of a tile: what a step reads, and what it writes. */
enum { N_IMAGES = 2, BLOCKS_TOGETHER = 2 };

/** Shared memory that CUDA takes of each thread block. */
enum { RESERVED_BYTES = 1024 };

pti_tile_room pti_cuda_tile_room(const struct cudaDeviceProp *properties) {
    const int64_t together =
        (int64_t)properties->sharedMemPerMultiprocessor / BLOCKS_TOGETHER - RESERVED_BYTES;
    const int64_t most_bytes = pti_min(together, (int64_t)properties->sharedMemPerBlockOptin);
    return (pti_tile_room){.image_bytes = pti_max(0, most_bytes) / N_IMAGES,
                           .n_columns = POLYTILE_TILE_COLUMNS,
                           .n_tiles = (int64_t)BLOCKS_TOGETHER * properties->multiProcessorCount};
}

/** Return whether a launch has the body of another one, and nothing that tiles do not know. */
static bool has_same_config(const pti_launch_config *config, const pti_launch_config *first) {
    return config->implementation->cuda_tiles == first->implementation->cuda_tiles &&
           config->n_values == 0 && config->block == NULL && config->part == NULL &&
           !config->is_watched;
}

static bool have_same_bodies(const pti_cuda_device *cuda, const pti_tiles *tiles) {
    const pti_execution *execution = cuda->execution;
    const pti_launch_config *first = &execution->configs[tiles->first_launch];
    bool have = first->implementation->cuda_tiles != NULL;
    for (int l = 0; l < tiles->n_launches; l++)
        have = have && has_same_config(&first[l], first);
    return have;
}

/** Return whether views are such as the kernel takes: those of threads that are single ones. */
static bool has_near_views(const pti_sub_kernel *launch) {
    return launch->config.implementation->cuda_contiguous != NULL &&
           pti_cuda_kernel_for(launch) == launch->config.implementation->cuda_contiguous;
}

static polytile_tiles arguments_of(const pti_tile_command *command) {
    const pti_tiles *tiles = command->tiles;
    polytile_tiles made = {.threads = command->first.launch.instance->threads,
                           .own = *command->first.launch.threads,
                           .n_launches = tiles->n_launches};
    for (int d = 0; d < 2; d++) {
        made.before[d] = (int32_t)tiles->step.before[d];
        made.after[d] = (int32_t)tiles->step.after[d];
    }
    made.n_rows = (int32_t)(tiles->tile[0] +
                            tiles->n_launches * (tiles->step.before[0] + tiles->step.after[0]));
    return made;
}

static int64_t shared_bytes_of(const pti_tile_command *command) {
    const int64_t element_bytes =
        command->first.launch.config.implementation->views[0].element_bytes;
    return N_IMAGES * element_bytes * POLYTILE_TILE_COLUMNS * arguments_of(command).n_rows;
}

static dim3 grid_of(const pti_tile_command *command) {
    const polytile_domain *threads = command->first.launch.threads;
    const int64_t *tile = command->tiles->tile;
    return (dim3){(unsigned)pti_ceil_div(pti_range_count(threads->range[1]), tile[1]),
                  (unsigned)pti_ceil_div(pti_range_count(threads->range[0]), tile[0]), 1};
}

bool pti_cuda_may_run_tiles(polytile_device *device, const pti_tile_command *command) {
    const pti_cuda_device *cuda = pti_cuda_of(device);
    const pti_tiles *tiles = command->tiles;
    const polytile_domain *threads = command->first.launch.threads;
    if (threads == NULL)
        return true;
    if (tiles->n_launches < 3 || tiles->n_launches % 2 == 0 || threads->n_dims != 2 ||
        !have_same_bodies(cuda, tiles) || !has_near_views(&command->first.launch) ||
        !has_near_views(&command->second))
        return false;
    const int64_t border = tiles->n_launches * (tiles->step.before[1] + tiles->step.after[1]);
    return tiles->tile[1] + border == POLYTILE_TILE_COLUMNS && tiles->tile[0] > 0 &&
           shared_bytes_of(command) <= N_IMAGES * cuda->device.tile_room.image_bytes &&
           pti_ceil_div(pti_range_count(threads->range[0]), tiles->tile[0]) <=
               pti_cuda_most_blocks.y &&
           pti_ceil_div(pti_range_count(threads->range[1]), tiles->tile[1]) <=
               pti_cuda_most_blocks.x;
}

/** Let a kernel use as much shared memory as any tile takes. */
static polytile_status allow_shared(pti_cuda_device *cuda, const pti_sub_kernel *launch) {
    const void *kernel = launch->config.implementation->cuda_tiles;
    polytile_status status = POLYTILE_OK;
    if (cuda->tile_kernel == kernel)
        return POLYTILE_OK;
    PTI_TRY(PTI_KERNEL_CUDA(cuda, launch, cudaFuncSetAttribute,
                            (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)(N_IMAGES * cuda->device.tile_room.image_bytes))));
    cuda->tile_kernel = kernel;
done:
    return status;
}

polytile_status pti_cuda_launch_tiles(pti_cuda_device *cuda, const pti_tile_command *command) {
    const pti_sub_kernel *first = &command->first.launch;
    polytile_tiles tiles = arguments_of(command);
    void *arguments[] = {&tiles, (void *)&first->views[0], (void *)&first->views[1],
                         (void *)&command->second.views[0], (void *)&command->second.views[1]};
    polytile_status status;
    PTI_TRY(allow_shared(cuda, first));
    PTI_TRY(PTI_KERNEL_CUDA(cuda, first, cudaLaunchKernel,
                            (first->config.implementation->cuda_tiles, grid_of(command),
                             (dim3){POLYTILE_TILE_THREADS, 1, 1}, arguments,
                             (size_t)shared_bytes_of(command), pti_cuda_stream_of(cuda, first))));
done:
    return status;
}
