#ifndef POLYTILE_LAUNCH_CUDA_RUNTIME_CUDA_H
#define POLYTILE_LAUNCH_CUDA_RUNTIME_CUDA_H

#include "launch/cuda/runtime/api.h"
#include "launch/device/device.h"
#include "launch/tuning/tuning.h"

/* launch/cuda/runtime: one GPU as the CUDA runtime shows it: memory, copies, events, times and
 * errors. All calls go through the table of api.h. */

/* One NVIDIA GPU, and how its calls fail. */

/** How many kernels' choices are kept: queues alternate between kernels. */
enum { PTI_CUDA_N_CHOICES = 16 };

/** A CUDA kernel that launches may run, and what CUDA says of it. */
typedef struct pti_cuda_variant {
    const void *kernel; /* NULL: none */
    int n_neighbours;   /* along the index before the last, that one of its threads runs */
    int max_threads;    /* of a block that the kernel can be launched with */
    int n_threads;      /* of a block, so that the most threads run at once */
    int64_t n_resident; /* threads that then run at once on the GPU */
} pti_cuda_variant;

/** Whether neighbours share enough of what they read, by the declaration: not known as long as no
 * launch had as many of them. */
typedef enum pti_cuda_sharing {
    PTI_SHARING_UNKNOWN,
    PTI_SHARING_LITTLE,
    PTI_SHARING_ENOUGH
} pti_cuda_sharing;

/** What is known of a kernel as a launch uses it; the first six members are the key. */
typedef struct pti_cuda_choice {
    const void *kernel; /* whose threads run the body once; NULL: none yet */
    char name[PTI_TUNING_NAME_BYTES];
    uint64_t declaration_hash;
    pti_traits traits;
    int n_indices;
    int64_t generation;      /* of the tuning tables */
    pti_cuda_variant fine;   /* that kernel */
    pti_cuda_variant coarse; /* one whose threads run several neighbours */
    pti_cuda_sharing sharing;
    bool is_left_alone; /* blocks were measured, or are not since launches cannot be repeated */
    bool has_row;
    pti_tuning_row row; /* of the tables, for it */
} pti_cuda_choice;

typedef struct pti_cuda_device {
    polytile_device device;
    const pti_cuda_api *api;
    int number;
    int n_gpus;         /* that there were when it was opened */
    int n_host_threads; /* that copy to and from pageable memory */
    int n_lanes;        /* that have a stream; later ones share these in turn */
    cudaStream_t stream[PTI_MAX_STREAMS];
    void *arena;
    int64_t arena_bytes;
    int64_t memory_bytes; /* as asked with memory=; 0: not asked */
    int capability;       /* compute capability, 10 * major + minor */
    int n_multiprocessors;
    pti_cuda_choice choice[PTI_CUDA_N_CHOICES];
    int next_choice;              /* to be replaced */
    const void *tile_kernel;      /* that was let use as much shared memory as tiles take; NULL */
    struct pti_cuda_order *order; /* events between the streams; owned, as all below */
    struct pti_cuda_timing *timing;
    pti_event *events;                    /* that were ever made, in a list */
    pti_event *idle_events;               /* those that nobody has */
    struct pti_staging *staging;          /* NULL until a run needs it */
    struct pti_cuda_team *team;           /* NULL until a team kernel is run */
    struct pti_cuda_rounds *rounds;       /* NULL until a launcher has several */
    struct pti_cuda_loops *loops;         /* NULL until the GPU is to run them by itself */
    struct pti_cuda_stretches *stretches; /* NULL unless runs are of one schedule */
    struct pti_cuda_run *run;             /* NULL between runs */
    pti_execution *execution;             /* of that run, borrowed */
    const pti_command *command;           /* being submitted, borrowed; for error texts */
} pti_cuda_device;

static inline pti_cuda_device *pti_cuda_of(polytile_device *device) {
    return (pti_cuda_device *)device;
}

static inline polytile_context *pti_cuda_context_of(const pti_cuda_device *cuda) {
    return cuda->device.object.context;
}

/** How many streams it has, from the first. */
static inline int pti_cuda_n_streams(const pti_cuda_device *cuda) {
    return PTI_STREAM_COMPUTE + cuda->n_lanes;
}

/** The stream that runs a schedule's stream. Where several lanes share one it runs them in the
 * schedule's order, which keeps what they wait for. */
static inline cudaStream_t pti_cuda_stream(const pti_cuda_device *cuda, pti_stream stream) {
    const int lane = (int)stream - PTI_STREAM_COMPUTE;
    return cuda
        ->stream[lane < cuda->n_lanes ? (int)stream : PTI_STREAM_COMPUTE + lane % cuda->n_lanes];
}

/** Calls a function of the runtime: PTI_CUDA(cuda, cudaFree, (memory)) is a polytile_status, with
 * the error's text as of pti_cuda_check(). */
#define PTI_CUDA(cuda, call, arguments) pti_cuda_check(cuda, (cuda)->api->call arguments, #call)

/**
 * Return POLYTILE_OK for cudaSuccess; else DEVICE, with a text that names the device, the call, the
 * operation and the superblock being submitted, and what CUDA says. An error that CUDA repeats at
 * every later call comes from what ran before: the text says so, and it is remembered as the GPU's
 * fault, see fault.h. The device is current.
 */
polytile_status pti_cuda_check(pti_cuda_device *cuda, cudaError_t error, const char *call);

/** Find out, without waiting, whether all before an event is done. */
polytile_status pti_cuda_is_done(pti_cuda_device *cuda, cudaEvent_t event, bool *is_done);

/** Make the device current in the calling thread. Errors: DEVICE, also for a fault of an earlier
 * run by any handle, whose text is repeated. */
polytile_status pti_cuda_enter(pti_cuda_device *cuda);

/** Find the free memory of the GPU. */
polytile_status pti_cuda_free_bytes(pti_cuda_device *cuda, int64_t *free_bytes);

/** Functions of memory.c for the device's table. */
polytile_status pti_cuda_usable(polytile_device *device, int64_t *usable_bytes);
polytile_status pti_cuda_reserve(polytile_device *device, int64_t arena_bytes, void **arena);

/** Functions of bytes.c for the device's table. */
polytile_status pti_cuda_copy_bytes(polytile_device *device, const pti_byte_copy *copy);
bool pti_cuda_pin(polytile_device *device, void *memory, int64_t n_bytes);
void pti_cuda_unpin(polytile_device *device, void *memory);

/** Functions of peer.c, and the end of its events. */
extern const pti_peer_functions pti_cuda_peer_functions;
void pti_cuda_events_destroy(pti_cuda_device *cuda);

#endif
