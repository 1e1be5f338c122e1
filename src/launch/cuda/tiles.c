#include "launch/cuda/tiles.h"

#include "base/checked.h"
#include "launch/cuda/function.h"
#include "launch/device/execution.h"
#include <polytile/kernel_tile_launch.h>

#include <string.h>

/** Blocks of a multiprocessor; and how many launches have the arrays in other roles. */
enum { BLOCKS_TOGETHER = 2, N_PHASES = 2 };

/** Shared memory that CUDA takes of each thread block. */
enum { RESERVED_BYTES = 1024 };

pti_tile_room pti_cuda_tile_room(const struct cudaDeviceProp *properties) {
    const int64_t together =
        (int64_t)properties->sharedMemPerMultiprocessor / BLOCKS_TOGETHER - RESERVED_BYTES;
    const int64_t most_bytes = pti_min(together, (int64_t)properties->sharedMemPerBlockOptin);
    return (pti_tile_room){.image_bytes = pti_max(0, most_bytes) / PTI_TILE_IMAGES,
                           .n_columns = POLYTILE_TILE_COLUMNS,
                           .n_tiles = (int64_t)BLOCKS_TOGETHER * properties->multiProcessorCount};
}

/** Return whether a launch has the body of another one, and nothing that tiles do not know. */
static bool has_same_config(const pti_launch_config *config, const pti_launch_config *first) {
    return config->implementation->cuda_tiles == first->implementation->cuda_tiles &&
           config->n_values == first->n_values &&
           config->n_values == config->implementation->n_parameters && config->block == NULL &&
           config->part == NULL && !config->is_watched;
}

static bool have_same_bodies(const pti_cuda_device *cuda, const pti_tiles *tiles) {
    const pti_execution *execution = cuda->execution;
    const pti_launch_config *first = &execution->configs[tiles->first_launch];
    bool have = first->implementation->cuda_tiles != NULL;
    for (int l = 0; l < tiles->n_launches; l++)
        have = have && has_same_config(&first[l], first);
    return have;
}

/** Return whether views are such as the kernel takes, those of threads that are single ones: it
 * knows itself what lies beyond the ends of arrays. */
static bool has_near_views(const pti_sub_kernel *launch) {
    polytile_view views[POLYTILE_TILE_ARRAYS];
    pti_sub_kernel within = *launch;
    within.views = views;
    for (int o = 0; o < pti_instance_n_arrays(launch->instance); o++) {
        views[o] = launch->views[o];
        views[o].first_piece &= ~POLYTILE_BEYOND;
    }
    return launch->config.implementation->cuda_contiguous != NULL &&
           pti_cuda_kernel_for(&within) == launch->config.implementation->cuda_contiguous;
}

static polytile_tile_box tile_box_of(const polytile_domain *domain) {
    polytile_tile_box made;
    for (int d = 0; d < 2; d++) {
        made.lo[d] = domain->range[d].lo;
        made.hi[d] = domain->range[d].hi;
    }
    return made;
}

/** Indices from here on, either way, are beyond all ends. */
static const int64_t endless = INT64_C(1) << 61;

/** Take the ends of boxes away along the dimensions of a set, or along all others. */
static polytile_tile_box without_ends(polytile_tile_box box, unsigned rounds, bool are_of_set) {
    for (int d = 0; d < 2; d++)
        if (pti_goes_round(rounds, d) == are_of_set) {
            box.lo[d] = -endless;
            box.hi[d] = endless - 1;
        }
    return box;
}

static polytile_tile_role role_of(const polytile_view *view, int array) {
    polytile_tile_role made = {.resident = tile_box_of(&view->resident), .array = array};
    for (int d = 0; d < 2; d++) {
        made.whole.lo[d] = view->array_first[d];
        made.whole.hi[d] = view->array_last[d];
    }
    return made;
}

/** An array by the view of the launch that reads it: tiles load it, or store it. */
static polytile_tile_array tile_array_of(const polytile_view *view, bool is_stored) {
    const polytile_tile_memory memory = {view->origin, view->stride_bytes[0]};
    return (polytile_tile_array){.kept = memory,
                                 .begun = memory,
                                 .made = memory,
                                 .resident = tile_box_of(&view->resident),
                                 .resident_beyond = {{1, 1}, {0, 0}},
                                 .is_loaded = !is_stored,
                                 .is_stored = is_stored};
}

/** Let tiles load what lies in the other half of a ring. */
static void add_other_half(const polytile_view *view, polytile_tile_array *array) {
    if (pti_box_is_empty(&view->resident))
        return;
    array->beyond = (polytile_tile_memory){view->origin, view->stride_bytes[0]};
    array->resident_beyond = tile_box_of(&view->resident);
}

static int32_t n_rows_of(const pti_tiles *tiles) {
    return (int32_t)(tiles->tile[0] +
                     tiles->n_launches * (tiles->step.before[0] + tiles->step.after[0]));
}

/** The operands of the launches: those by which they read and write the two arrays that they
 * alternate between. */
typedef struct tile_operands {
    int n, from, to;
} tile_operands;

static tile_operands operands_of(const pti_cuda_device *cuda, const pti_tiles *tiles) {
    const pti_schedule_launch *launch = &cuda->execution->schedule->launch[tiles->first_launch];
    tile_operands found = {
        .n = pti_instance_n_arrays(launch[0].call.instance), .from = -1, .to = -1};
    for (int o = 0; o < found.n; o++) {
        found.to = launch[0].call.array[o] == tiles->stored ? o : found.to;
        found.from = launch[1].call.array[o] == tiles->stored ? o : found.from;
    }
    return found;
}

/** Return the operand by which a launch has what the one before has by this one. */
static int turn_operand(const tile_operands *operands, int operand) {
    return operand == operands->from ? operands->to
           : operand == operands->to ? operands->from
                                     : operand;
}

/** Arrays are numbered as the first launch has them. What it writes is read by the one after it. */
static polytile_tiles arguments_of(const pti_cuda_device *cuda, const pti_tile_command *command) {
    const pti_tiles *tiles = command->tiles;
    const tile_operands operands = operands_of(cuda, tiles);
    const polytile_view *first = command->first.launch.views, *second = command->second.views;
    const polytile_tile_box threads = tile_box_of(&command->first.launch.instance->threads);
    polytile_tiles made = {.threads = without_ends(threads, tiles->rounds, true),
                           .own = tile_box_of(command->first.launch.threads),
                           .round = without_ends(threads, tiles->rounds, false),
                           .n_launches = tiles->n_launches,
                           .n_rows = n_rows_of(tiles),
                           .n_arrays = operands.n,
                           .n_phases = N_PHASES};
    for (int o = 0; o < operands.n; o++) {
        const bool is_stored = o == operands.to;
        made.array[o] = tile_array_of(is_stored ? &second[operands.from] : &first[o], is_stored);
        if (command->beyond != NULL)
            add_other_half(&command->beyond[o], &made.array[o]);
        made.role[0][o] = role_of(&first[o], o);
        made.role[1][o] = role_of(&second[o], turn_operand(&operands, o));
    }
    for (int d = 0; d < 2; d++) {
        made.before[d] = (int32_t)tiles->step.before[d];
        made.after[d] = (int32_t)tiles->step.after[d];
    }
    return made;
}

/** The values of one parameter, a launch each, as kernels get them. */
typedef struct step_values {
    _Alignas(8) unsigned char bytes[POLYTILE_TILE_LAUNCHES * sizeof(pti_value)];
} step_values;

/** List a parameter's values side by side, as many bytes as its type has. */
static step_values list_values(const pti_cuda_device *cuda, const pti_tiles *tiles, int parameter) {
    const pti_launch_config *config = &cuda->execution->configs[tiles->first_launch];
    const size_t n_bytes = (size_t)config->implementation->parameters[parameter].bytes;
    step_values made = {{0}};
    for (int l = 0; l < tiles->n_launches; l++)
        memcpy(made.bytes + (size_t)l * n_bytes, config[l].values[parameter].bytes, n_bytes);
    return made;
}

static int64_t shared_bytes_of(const pti_tile_command *command) {
    const int64_t element_bytes =
        command->first.launch.config.implementation->views[0].element_bytes;
    return pti_instance_n_arrays(command->first.launch.instance) * element_bytes *
           POLYTILE_TILE_COLUMNS * n_rows_of(command->tiles);
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
    if (tiles->n_launches < 3 || tiles->n_launches % 2 == 0 ||
        tiles->n_launches > POLYTILE_TILE_LAUNCHES || threads->n_dims != 2 ||
        pti_instance_n_arrays(command->first.launch.instance) > POLYTILE_TILE_ARRAYS ||
        !have_same_bodies(cuda, tiles) || !has_near_views(&command->first.launch) ||
        !has_near_views(&command->second))
        return false;
    const int64_t border = tiles->n_launches * (tiles->step.before[1] + tiles->step.after[1]);
    if (pti_goes_round(tiles->rounds, 1) &&
        pti_range_count(command->first.launch.instance->threads.range[1]) < POLYTILE_TILE_COLUMNS)
        return false;
    return tiles->tile[1] + border == POLYTILE_TILE_COLUMNS && tiles->tile[0] > 0 &&
           shared_bytes_of(command) <= PTI_TILE_IMAGES * cuda->device.tile_room.image_bytes &&
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
                             (int)(PTI_TILE_IMAGES * cuda->device.tile_room.image_bytes))));
    cuda->tile_kernel = kernel;
done:
    return status;
}

polytile_status pti_cuda_launch_tiles(pti_cuda_device *cuda, const pti_tile_command *command) {
    const pti_sub_kernel *first = &command->first.launch;
    const int n_values = first->config.n_values;
    polytile_tiles tiles = arguments_of(cuda, command);
    step_values values[POLYTILE_MAX_PARAMETERS];
    void *arguments[1 + POLYTILE_MAX_PARAMETERS] = {&tiles};
    polytile_status status;
    for (int v = 0; v < n_values; v++) {
        values[v] = list_values(cuda, command->tiles, v);
        arguments[1 + v] = &values[v];
    }
    PTI_TRY(allow_shared(cuda, first));
    PTI_TRY(PTI_KERNEL_CUDA(cuda, first, cudaLaunchKernel,
                            (first->config.implementation->cuda_tiles, grid_of(command),
                             (dim3){POLYTILE_TILE_THREADS, 1, 1}, arguments,
                             (size_t)shared_bytes_of(command), pti_cuda_stream_of(cuda, first))));
done:
    return status;
}
