#include "launch/host/host.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/crash.h"
#include "launch/device/execution.h"
#include "launch/device/launcher.h"
#include "launch/host/chain.h"
#include "launch/host/columns.h"
#include "launch/host/copy/box_copy.h"
#include "launch/host/copy/copiers.h"
#include "launch/host/host_launch.h"
#include "launch/host/scratch.h"
#include "launch/host/slices.h"
#include "launch/host/team.h"
#include <polytile/size.h>

#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The host as a device: in place, or with an arena of its own like a small accelerator. */

/** More threads copy no faster than memory is. */
enum { MOST_COPIERS = 15 };

typedef struct host_device {
    polytile_device device;
    int n_threads;
    void *arena;
    int64_t arena_bytes;      /* 0: none is mapped */
    pti_host_scratch scratch; /* of launches in place */
    pti_host_habits habits;
    pti_execution *execution; /* the run in progress */
    pti_host_slices slices;   /* of its launch in progress, in place */
    pti_copiers *copiers;     /* NULL: no run has needed them */
    bool copies_by_copiers;   /* in the run in progress */
} host_device;

static host_device *host_of(polytile_device *device) {
    return (host_device *)device;
}

static bool can_run(const polytile_implementation *implementation, const char **wanted) {
    *wanted = "a host function or launcher";
    return implementation->host != NULL || implementation->host_launcher != NULL ||
           implementation->team != NULL;
}

/** Map the arena. Pages get memory when they are touched, so it may exceed what is free now. */
static polytile_status map_arena(polytile_context *ctx, int64_t n_bytes, void **arena) {
    char size[32];
    void *mapped = mmap(NULL, (size_t)n_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return pti_fail(ctx, POLYTILE_NO_MEMORY,
                        "host: cannot map %s for the device's memory (%s); ask for less",
                        polytile_size_format(n_bytes, size), strerror(errno));
    madvise(mapped, (size_t)n_bytes, MADV_HUGEPAGE);
    *arena = mapped;
    return POLYTILE_OK;
}

static void unmap_arena(host_device *host) {
    if (host->arena_bytes > 0)
        munmap(host->arena, (size_t)host->arena_bytes);
    host->arena = NULL;
    host->arena_bytes = 0;
}

static polytile_status refuse_arena(const host_device *host, int64_t arena_bytes) {
    char need[32], limit[32];
    return pti_fail(host->device.object.context, POLYTILE_NO_FIT,
                    "%s: the plan needs %s, the device has %s; plan with that limit",
                    host->device.text, polytile_size_format(arena_bytes, need),
                    polytile_size_format(host->device.limit_bytes, limit));
}

static polytile_status host_reserve(polytile_device *device, int64_t arena_bytes, void **arena) {
    host_device *host = host_of(device);
    polytile_status status = POLYTILE_OK;
    if (device->limit_bytes > 0 && arena_bytes > device->limit_bytes)
        return refuse_arena(host, arena_bytes);
    if (arena_bytes > host->arena_bytes) {
        unmap_arena(host);
        PTI_TRY(map_arena(device->object.context, arena_bytes, &host->arena));
        host->arena_bytes = arena_bytes;
    }
    *arena = host->arena;
done:
    return status;
}

static polytile_status get_usable_bytes(polytile_device *device, int64_t *usable_bytes) {
    *usable_bytes = device->limit_bytes;
    return POLYTILE_OK;
}

static bool calls_launchers(const pti_execution *execution) {
    for (int l = 0; l < execution->schedule->n_launches; l++)
        if (execution->configs[l].implementation->host_launcher != NULL)
            return true;
    return false;
}

/** Launchers may use all cores, such as a BLAS does, so that no thread may spin beside them. */
static polytile_status host_begin(polytile_device *device, pti_execution *execution) {
    host_device *host = host_of(device);
    host->execution = execution;
    host->copies_by_copiers =
        host->n_threads > 1 && !execution->schedule->in_place && calls_launchers(execution);
    if (!host->copies_by_copiers || host->copiers != NULL)
        return POLYTILE_OK;
    return pti_copiers_create(device->object.context,
                              (int)pti_min(host->n_threads - 1, MOST_COPIERS), &host->copiers);
}

static void copy_box(host_device *host, const pti_move *move) {
    if (host->copies_by_copiers)
        pti_copiers_copy(host->copiers, move);
    else
        pti_box_copy(move, host->n_threads);
}

/** Give a sub-kernel in place the memory that it lacks. */
static polytile_status bring_scratch(host_device *host, bool is_whole, pti_sub_kernel *sub_kernel) {
    polytile_context *ctx = host->device.object.context;
    if (!sub_kernel->lacks_scratch)
        return POLYTILE_OK;
    sub_kernel->host_scratch = &host->scratch;
    return is_whole
               ? pti_host_scratch_reserve_whole(ctx, sub_kernel, &host->scratch, &sub_kernel->views)
               : pti_host_scratch_reserve(ctx, sub_kernel, host->n_threads, &host->scratch);
}

static polytile_status run_sub_kernel(host_device *host, pti_sub_kernel sub_kernel) {
    polytile_launcher *launcher = sub_kernel.config.implementation->host_launcher;
    polytile_status status;
    PTI_TRY(bring_scratch(host, launcher != NULL || sub_kernel.config.part != NULL, &sub_kernel));
    if (launcher != NULL)
        return pti_launcher_run(host->execution, launcher, &sub_kernel);
    if (sub_kernel.config.part != NULL)
        return pti_host_run_team(host->device.object.context, &sub_kernel);
    pti_host_launch(&sub_kernel, host->n_threads, &host->habits);
done:
    return status;
}

/** Run a sub-kernel in place so that it can be cancelled. */
static polytile_status run_in_slices(host_device *host, pti_sub_kernel sub_kernel) {
    host->slices = pti_host_slices_begin(host->execution);
    sub_kernel.slices = &host->slices;
    const polytile_status status = run_sub_kernel(host, sub_kernel);
    host->execution->is_cancelled |= host->slices.is_cancelled;
    return status;
}

static polytile_status run_command(host_device *host, const pti_command *command) {
    if (command->op->kind == PTI_LAUNCH)
        return host->execution->schedule->in_place ? run_in_slices(host, command->sub_kernel)
                                                   : run_sub_kernel(host, command->sub_kernel);
    copy_box(host, &command->move);
    return POLYTILE_OK;
}

static polytile_status submit_command(polytile_device *device, const pti_command *command) {
    host_device *host = host_of(device);
    double start_s = pti_now_s();
    polytile_status status = run_command(host, command);
    pti_execution_note(host->execution, command->op, start_s, pti_now_s() - start_s);
    return status;
}

static bool run_all(polytile_device *device) {
    const host_device *host = host_of(device);
    if (pti_host_columns_suit(host->execution) &&
        pti_host_columns_run(host->execution, host->n_threads))
        return true;
    return host->n_threads > 1 && pti_host_chain_suits(host->execution) &&
           pti_host_chain_run(host->execution, host->n_threads);
}

/** Finish a run; every command was done when it was submitted. */
static polytile_status finish_commands(polytile_device *device) {
    host_of(device)->execution = NULL;
    return POLYTILE_OK;
}

static void close_host(polytile_device *device) {
    unmap_arena(host_of(device));
    pti_copiers_destroy(host_of(device)->copiers);
    pti_host_scratch_free(&host_of(device)->scratch);
    free(device);
}

static const pti_device_functions functions = {
    .can_run = can_run,
    .usable = get_usable_bytes,
    .reserve = host_reserve,
    .begin = host_begin,
    .submit = submit_command,
    .run_all = run_all,
    .finish = finish_commands,
    .close = close_host,
};

/** Return OpenMP's number of threads, with a warning if it exceeds the maximum. */
static int default_threads(const polytile_context *ctx) {
    int n_threads = pti_host_default_threads();
    int64_t n_wanted = pti_host_wanted_threads();
    if (n_wanted > n_threads)
        pti_log(ctx, PTI_LOG_WARN,
                "host: OpenMP would take %lld threads (OMP_NUM_THREADS, or omp_set_num_threads()); "
                "%d are used, the most; host(threads=N) takes fewer",
                (long long)n_wanted, n_threads);
    return n_threads;
}

static polytile_status open_host(polytile_context *ctx, const pti_device_text *text,
                                 polytile_device **device) {
    polytile_status status = POLYTILE_OK;
    int64_t memory_bytes = text->value[PTI_OPTION_MEMORY];
    int64_t n_threads = text->value[PTI_OPTION_THREADS];
    host_device *host = calloc(1, sizeof *host);
    if (host == NULL)
        return pti_fail_memory(ctx, "host", sizeof *host);
    host->n_threads = n_threads > 0 ? (int)n_threads : default_threads(ctx);
    host->device.functions = &functions;
    host->device.fill_threads = host->n_threads;
    host->device.limit_bytes = memory_bytes;
    host->device.link = polytile_link_default;
    host->device.reaches_host = memory_bytes == 0;
    PTI_TRY(pti_host_probe_threads(ctx, host->n_threads));
    pti_crash_watch();
    if (memory_bytes > 0) {
        PTI_TRY(map_arena(ctx, memory_bytes, &host->arena));
        host->arena_bytes = memory_bytes;
    }
    *device = &host->device;
    return POLYTILE_OK;
done:
    free(host);
    return status;
}

static const pti_device_option options[] = {
    {PTI_OPTION_MEMORY, "memory", "SIZE (such as 64MiB)", polytile_size_parse,
     polytile_size_explain},
    {PTI_OPTION_THREADS, "threads", "N (1 to 1024)", pti_parse_threads, NULL},
};

const pti_driver pti_host_driver = {
    .name = "host",
    .forms = "host, host(memory=SIZE,threads=N)",
    .is_numbered = false,
    .reaches_host = true,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .open = open_host,
    .list = pti_host_list,
};
