#include "launch/cuda/tiles.h"

#include "base/checked.h"
#include "launch/cuda/function.h"
#include "launch/device/execution.h"
#include <polytile/kernel_tile_launch.h>

#include <string.h>

/** Blocks of a multiprocessor. */
enum { BLOCKS_TOGETHER = 2 };

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
static bool has_near_views(const pti_sub_kernel *sub_kernel) {
    polytile_view views[POLYTILE_TILE_ARRAYS];
    pti_sub_kernel within = *sub_kernel;
    within.views = views;
    for (int o = 0; o < pti_instance_n_arrays(sub_kernel->instance); o++) {
        views[o] = sub_kernel->views[o];
        views[o].first_piece &= ~POLYTILE_BEYOND;
    }
    return sub_kernel->config.implementation->cuda_contiguous != NULL &&
           pti_cuda_kernel_for(&within) == sub_kernel->config.implementation->cuda_contiguous;
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

/** Return how many launches a kernel runs. */
static int n_launches_of(const pti_tiles *tiles) {
    return tiles->n_launches / pti_tiles_n_parts(tiles);
}

/** Let tiles load what lies in the other half of a ring. */
static void add_other_half(const polytile_view *view, polytile_tile_array *array) {
    if (pti_box_is_empty(&view->resident))
        return;
    array->beyond = (polytile_tile_memory){view->origin, view->stride_bytes[0]};
    array->resident_beyond = tile_box_of(&view->resident);
}

static int32_t n_rows_of(const pti_tiles *tiles) {
    return (int32_t)(tiles->tile[0] + n_launches_of(tiles) * (tiles->margin_per_launch.before[0] +
                                                              tiles->margin_per_launch.after[0]));
}

static const pti_call *call_of_launch(const pti_cuda_device *cuda, const pti_tiles *tiles,
                                      int launch) {
    return &cuda->execution->schedule->launch[tiles->first_launch + launch].call;
}

/** Return how many arrays launches have, whatever pieces these are in. */
static int n_arrays_of(const pti_cuda_device *cuda, const pti_tiles *tiles) {
    return pti_instance_n_arrays(call_of_launch(cuda, tiles, 0)->instance);
}

/** Return the number of the array that a launch has by an operand: arrays are numbered as the first
 * launch has them. -1: that has it not. */
static int array_of(const pti_cuda_device *cuda, const pti_tiles *tiles, int launch, int operand) {
    const pti_call *first = call_of_launch(cuda, tiles, 0);
    int found = -1;
    for (int o = 0; o < pti_instance_n_arrays(first->instance); o++)
        if (first->array[o] == call_of_launch(cuda, tiles, launch)->array[operand])
            found = o;
    return found;
}

static bool have_same_roles(const pti_cuda_device *cuda, const pti_tiles *tiles, int launch,
                            int other) {
    bool have = true;
    for (int o = 0; o < n_arrays_of(cuda, tiles); o++)
        have = have && array_of(cuda, tiles, launch, o) == array_of(cuda, tiles, other, o);
    return have;
}

/** Return after how many launches all arrays have their roles again. */
static int n_phases_of(const pti_cuda_device *cuda, const pti_tiles *tiles) {
    int n = 1;
    while (n < tiles->n_launches && !have_same_roles(cuda, tiles, n, 0))
        n++;
    return n;
}

/** Return whether arrays go round in roles that a kernel can be told of. */
static bool have_phases(const pti_cuda_device *cuda, const pti_tiles *tiles) {
    const int n_phases = n_phases_of(cuda, tiles);
    bool have = n_phases <= POLYTILE_TILE_ARRAYS;
    for (int l = 0; l < tiles->n_launches && have; l++) {
        have = have_same_roles(cuda, tiles, l, l % n_phases);
        for (int o = 0; o < n_arrays_of(cuda, tiles); o++)
            have = have && array_of(cuda, tiles, l, o) >= 0;
    }
    return have;
}

/** Return the memory of an array, or what it has aside, which is laid out as it is. */
static polytile_tile_memory memory_of(const pti_cuda_device *cuda, const pti_tiles *tiles,
                                      const polytile_view *view, const pti_tile_aside *aside) {
    polytile_tile_memory made = {view->origin, view->stride_bytes[0]};
    if (aside != NULL)
        made.origin =
            (char *)made.origin +
            (aside->offset_bytes -
             pti_tiles_placement(cuda->execution->schedule, tiles, aside->array)->offset_bytes);
    return made;
}

static void add_to_box(polytile_tile_box *box, const polytile_domain *domain) {
    for (int d = 0; d < 2; d++) {
        box->lo[d] = pti_min(box->lo[d], domain->range[d].lo);
        box->hi[d] = pti_max(box->hi[d], domain->range[d].hi);
    }
}

/** A part of the launches that a kernel runs. */
typedef struct tile_part {
    const pti_tile_command *command;
    int first_launch; /* of those of the command */
    bool is_last;
} tile_part;

static tile_part tile_part_of(const pti_tile_command *command, int number) {
    return (tile_part){.command = command,
                       .first_launch = number * n_launches_of(command->tiles),
                       .is_last = number + 1 == pti_tiles_n_parts(command->tiles)};
}

static const polytile_domain *threads_of(const pti_cuda_device *cuda, const pti_tiles *tiles,
                                         int launch) {
    return &call_of_launch(cuda, tiles, launch)->instance->threads;
}

/** Return what launches write and a part may load: what is in the arrays before the first one, or
 * what the part before has stored. All of its launches have their threads there. */
static polytile_tile_box threads_of_part(const pti_cuda_device *cuda, const tile_part *part) {
    const int first = part->first_launch;
    return tile_box_of(first == 0 ? &part->command->first.sub_kernel.instance->threads
                                  : threads_of(cuda, part->command->tiles, first - 1));
}

/** Return the threads whose elements a part stores: those of its last launch. */
static const polytile_domain *own_of_part(const pti_cuda_device *cuda, const tile_part *part) {
    const pti_tiles *tiles = part->command->tiles;
    const int last = part->first_launch + n_launches_of(tiles) - 1;
    return part->is_last ? part->command->first.sub_kernel.threads : threads_of(cuda, tiles, last);
}

/** Return whether a part loads from aside: the second of two, or a slab's launches. */
static bool is_from_aside(const tile_part *part) {
    return part->first_launch > 0 || part->command->tiles->is_from_aside;
}

/** Return whether a part stores aside. */
static bool is_to_aside(const tile_part *part) {
    const pti_tiles *tiles = part->command->tiles;
    return tiles->is_of_slab ? !tiles->is_from_aside : !part->is_last;
}

/** Return an array that the first launch has by an operand. Of two parts the last one stores it
 * where it is, the one before aside, from where the next one loads; so do groups of a slab in turn.
 * What the first launch of a part only writes is not loaded. */
static polytile_tile_array tile_array_of(const pti_cuda_device *cuda, const tile_part *part,
                                         int operand) {
    const pti_tiles *tiles = part->command->tiles;
    const polytile_view *view = &part->command->first.sub_kernel.views[operand];
    const int array = call_of_launch(cuda, tiles, 0)->array[operand];
    const pti_tile_aside *aside = pti_tiles_find_aside(tiles, array);
    polytile_tile_array made = {.resident = tile_box_of(&view->resident),
                                .resident_beyond = {{1, 1}, {0, 0}}};
    made.kept = memory_of(cuda, tiles, view, NULL);
    made.begun = memory_of(cuda, tiles, view, is_from_aside(part) ? aside : NULL);
    made.made = memory_of(cuda, tiles, view, is_to_aside(part) ? aside : NULL);
    made.is_stored = part->is_last ? pti_tiles_store(tiles, array) : aside != NULL;
    const pti_call *first = call_of_launch(cuda, tiles, part->first_launch);
    for (int o = 0; o < pti_instance_n_arrays(first->instance); o++)
        if (first->array[o] == array)
            made.is_loaded = first->instance->operand[o].reads;
    return made;
}

/** Let a launch of a phase have the arrays in its roles. The views of all launches but the first
 * are as those of the second one. */
static void add_roles(const pti_cuda_device *cuda, const tile_part *part, int phase,
                      polytile_tiles *made) {
    const pti_tile_command *command = part->command;
    const int launch = (part->first_launch + phase) % made->n_phases;
    const polytile_view *views =
        launch == 0 ? command->first.sub_kernel.views : command->second.views;
    for (int o = 0; o < made->n_arrays; o++) {
        const int array = array_of(cuda, command->tiles, launch, o);
        made->role[phase][o] = role_of(&views[o], array);
        add_to_box(&made->array[array].resident, &views[o].resident);
    }
}

static polytile_tiles arguments_of(const pti_cuda_device *cuda, const tile_part *part) {
    const pti_tile_command *command = part->command;
    const pti_tiles *tiles = command->tiles;
    const polytile_tile_box threads = threads_of_part(cuda, part);
    polytile_tiles made = {.threads = without_ends(threads, tiles->rounds, true),
                           .own = tile_box_of(own_of_part(cuda, part)),
                           .round = without_ends(threads, tiles->rounds, false),
                           .n_launches = n_launches_of(tiles),
                           .n_rows = n_rows_of(tiles),
                           .n_arrays = n_arrays_of(cuda, tiles),
                           .n_phases = n_phases_of(cuda, tiles)};
    for (int o = 0; o < made.n_arrays; o++) {
        made.array[o] = tile_array_of(cuda, part, o);
        if (command->beyond != NULL)
            add_other_half(&command->beyond[o], &made.array[o]);
    }
    for (int p = 0; p < made.n_phases; p++)
        add_roles(cuda, part, p, &made);
    for (int d = 0; d < 2; d++) {
        made.before[d] = (int32_t)tiles->margin_per_launch.before[d];
        made.after[d] = (int32_t)tiles->margin_per_launch.after[d];
    }
    return made;
}

/** The values of one parameter, a launch each, as kernels get them. */
typedef struct step_values {
    _Alignas(8) unsigned char bytes[POLYTILE_TILE_LAUNCHES * sizeof(pti_value)];
} step_values;

/** List a parameter's values side by side, as many bytes as its type has. */
static step_values list_values(const pti_cuda_device *cuda, const tile_part *part, int parameter) {
    const pti_tiles *tiles = part->command->tiles;
    const pti_launch_config *config =
        &cuda->execution->configs[tiles->first_launch + part->first_launch];
    const size_t n_bytes = (size_t)config->implementation->parameters[parameter].bytes;
    step_values made = {{0}};
    for (int l = 0; l < n_launches_of(tiles); l++)
        memcpy(made.bytes + (size_t)l * n_bytes, config[l].values[parameter].bytes, n_bytes);
    return made;
}

static int64_t shared_bytes_of(const pti_tile_command *command) {
    const int64_t element_bytes =
        command->first.sub_kernel.config.implementation->views[0].element_bytes;
    return pti_instance_n_arrays(command->first.sub_kernel.instance) * element_bytes *
           POLYTILE_TILE_COLUMNS * n_rows_of(command->tiles);
}

/** Return how many tiles a part has along an index. */
static int64_t n_tiles_of(const pti_cuda_device *cuda, const tile_part *part, int dim) {
    return pti_ceil_div(pti_range_count(own_of_part(cuda, part)->range[dim]),
                        part->command->tiles->tile[dim]);
}

/** Return whether the first part, whose launches have the most threads, has a grid. */
static bool has_grid(const pti_cuda_device *cuda, const pti_tile_command *command) {
    const tile_part part = tile_part_of(command, 0);
    return n_tiles_of(cuda, &part, 0) <= pti_cuda_most_blocks.y &&
           n_tiles_of(cuda, &part, 1) <= pti_cuda_most_blocks.x;
}

bool pti_cuda_may_run_tiles(polytile_device *device, const pti_tile_command *command) {
    const pti_cuda_device *cuda = pti_cuda_of(device);
    const pti_tiles *tiles = command->tiles;
    const polytile_domain *threads = command->first.sub_kernel.threads;
    if (threads == NULL)
        return true;
    if (n_launches_of(tiles) < 3 || n_launches_of(tiles) > POLYTILE_TILE_LAUNCHES ||
        threads->n_dims != 2 ||
        pti_instance_n_arrays(command->first.sub_kernel.instance) > POLYTILE_TILE_ARRAYS ||
        !have_phases(cuda, tiles) || !have_same_bodies(cuda, tiles) ||
        !has_near_views(&command->first.sub_kernel) || !has_near_views(&command->second))
        return false;
    if (tiles->rounds != 0 && !command->first.sub_kernel.config.implementation->cuda_tiles_go_round)
        return false;
    const int64_t border = n_launches_of(tiles) *
                           (tiles->margin_per_launch.before[1] + tiles->margin_per_launch.after[1]);
    if (pti_goes_round(tiles->rounds, 1) &&
        pti_range_count(command->first.sub_kernel.instance->threads.range[1]) <
            POLYTILE_TILE_COLUMNS)
        return false;
    return tiles->tile[1] + border == POLYTILE_TILE_COLUMNS && tiles->tile[0] > 0 &&
           shared_bytes_of(command) <= PTI_TILE_IMAGES * cuda->device.tile_room.image_bytes &&
           has_grid(cuda, command);
}

/** Let a kernel use as much shared memory as any tile takes. */
static polytile_status allow_shared(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel) {
    const void *kernel = sub_kernel->config.implementation->cuda_tiles;
    polytile_status status = POLYTILE_OK;
    if (cuda->tile_kernel == kernel)
        return POLYTILE_OK;
    PTI_TRY(PTI_KERNEL_CUDA(cuda, sub_kernel, cudaFuncSetAttribute,
                            (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)(PTI_TILE_IMAGES * cuda->device.tile_room.image_bytes))));
    cuda->tile_kernel = kernel;
done:
    return status;
}

static polytile_status launch_tile_part(pti_cuda_device *cuda, const tile_part *part) {
    const pti_tile_command *command = part->command;
    const pti_sub_kernel *first = &command->first.sub_kernel;
    const int n_values = first->config.n_values;
    polytile_tiles tiles = arguments_of(cuda, part);
    const dim3 grid = {(unsigned)n_tiles_of(cuda, part, 1), (unsigned)n_tiles_of(cuda, part, 0), 1};
    step_values values[POLYTILE_MAX_PARAMETERS];
    void *arguments[1 + POLYTILE_MAX_PARAMETERS] = {&tiles};
    for (int v = 0; v < n_values; v++) {
        values[v] = list_values(cuda, part, v);
        arguments[1 + v] = &values[v];
    }
    return PTI_KERNEL_CUDA(cuda, first, cudaLaunchKernel,
                           (first->config.implementation->cuda_tiles, grid,
                            (dim3){POLYTILE_TILE_THREADS, 1, 1}, arguments,
                            (size_t)shared_bytes_of(command), pti_cuda_stream_of(cuda, first)));
}

polytile_status pti_cuda_launch_tiles(pti_cuda_device *cuda, const pti_tile_command *command) {
    polytile_status status;
    PTI_TRY(allow_shared(cuda, &command->first.sub_kernel));
    for (int k = 0; k < pti_tiles_n_parts(command->tiles); k++) {
        const tile_part part = tile_part_of(command, k);
        PTI_TRY(launch_tile_part(cuda, &part));
    }
done:
    return status;
}
