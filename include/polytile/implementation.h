#ifndef POLYTILE_IMPLEMENTATION_H
#define POLYTILE_IMPLEMENTATION_H

#include <stdbool.h>

#include <polytile/domain.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The part of an array that is resident for a sub-kernel, with the array's own (global) indices.
 *
 * Element [i0, i1, ...] is at (char *)origin + i0 * stride_bytes[0] + i1 * stride_bytes[1] + ...
 * The element with all indices 0 would be at origin, which need not be memory of ours. A strided
 * box is stored without its gaps, so a stride may be smaller than an element, and need be no number
 * of bytes that lies between elements: reckon modulo 2^64, as PT_AT does, in uint64_t where that
 * matters. The product of stride_bytes and a resident step is the pitch of neighbours. Use only
 * indices in resident. The whole array has indices from array_first to array_last.
 *
 * An array may be resident in several pieces. Then resident is the box around them, in which not
 * all is memory, and the list of pieces has n_pieces views from first_piece on, of which any that
 * has an element will do. Only implementations that say so get such arrays.
 *
 * Of an array in one piece first_piece has flags. POLYTILE_ALONE: it has one resident element,
 * which belongs to this call of the implementation alone: it may keep it in a register until it
 * returns. POLYTILE_BEYOND: an index of some thread, as of wrap(i-1), is beyond the array's ends.
 * POLYTILE_DIAGONAL: the array is resident along a diagonal alone, in which not all of the resident
 * box is; bodies of polytile/kernel.h alone get such arrays.
 *
 * The view of a parameter has no dimensions: its value is at origin, with the declared type.
 */
typedef struct polytile_view {
    void *origin;
    int64_t stride_bytes[POLYTILE_MAX_DIMS];
    int64_t array_first[POLYTILE_MAX_DIMS];
    int64_t array_last[POLYTILE_MAX_DIMS];
    polytile_domain resident;
    int32_t first_piece; /* in the list of pieces; of one in one piece a sum of POLYTILE_ALONE,
                            POLYTILE_BEYOND and POLYTILE_DIAGONAL, or 0 */
    int32_t n_pieces;    /* 0: it is one */
} polytile_view;

/** Flags of a view in one piece, see there. */
enum { POLYTILE_ALONE = 1, POLYTILE_BEYOND = 2, POLYTILE_DIAGONAL = 4 };

/** The most pieces of a sub-kernel, all arrays together that have any. */
enum { POLYTILE_MAX_PIECES = 8 };

/** The list of pieces, as CUDA kernels get it. */
typedef struct polytile_pieces {
    polytile_view piece[POLYTILE_MAX_PIECES];
} polytile_pieces;

/**
 * Run every thread of a box on the host. Several OpenMP threads call it at once on disjoint boxes.
 *
 * Shapes  threads: a box of the launch domain, steps 1 unless takes_steps says otherwise; views:
 *         one an array, in the declaration's order, and after them one a parameter, as
 *         polytile_implementation says.
 */
typedef void polytile_host_function(const polytile_domain *threads, const polytile_view *views,
                                    void *user);

/** How a launcher asks to be called again for the same sub-kernel, see polytile_launcher. */
typedef struct polytile_repetition {
    int64_t round;            /* how often it was called for the sub-kernel before */
    const int32_t *condition; /* NULL before each call; a number in memory of the device, such as an
                                 element of scratch */
} polytile_repetition;

/**
 * What a launcher callback gets of one sub-kernel.
 *
 * Shapes  threads: a box of the launch domain, steps 1; views: n_views of them, one an array, in
 *         the declaration's order, and after them n_parameters of them, one a parameter, as
 *         polytile_implementation says.
 * Owns    The library owns everything, which is valid during the call.
 */
typedef struct polytile_sub_kernel {
    const polytile_domain *threads;
    int n_views;
    int n_parameters;
    const polytile_view *views; /* of host memory on the host, of device memory on CUDA; of
                                   parameters: always of host memory */
    bool is_first; /* every accumulator of a role "out sum" (prod, min, max) still holds nothing but
                      the identity, so that a library may overwrite it (beta = 0) */
    void *stream;  /* CUDA: the cudaStream_t on which to enqueue; host: NULL */
    void *user;
    polytile_repetition *repetition;
} polytile_sub_kernel;

/**
 * Run the threads of a box by any means: a library, several kernels.
 *
 * On CUDA the device is current. The callback only enqueues on launch->stream, and must not wait
 * for it. The library clears pending errors before; what cudaGetLastError() gives after the call
 * counts as its failure. The callback may leave another device current, but must not run on the
 * same polytile_device. On the host one thread calls it once a sub-kernel, and it returns when the
 * work is done. It returns 0, or another number for a failure, which the run's error then names.
 *
 * Work that goes on until something holds is enqueued round by round: where the call sets
 * repetition->condition, there is another round unless the number there is 0 by then. All rounds
 * but the first enqueue the same: it is called for each, or for the second, which the GPU repeats.
 */
typedef int polytile_launcher(const polytile_sub_kernel *launch);

/** What kind of number a body takes elements for; with their bytes it is one of POLYTILE_TYPES. A
 * float of two bytes is f16; a body by hand takes bf16 as unsigned numbers, or as any. */
typedef enum polytile_number {
    POLYTILE_ANY_NUMBER, /* unknown: their bytes alone are compared */
    POLYTILE_SIGNED_NUMBER,
    POLYTILE_UNSIGNED_NUMBER,
    POLYTILE_FLOAT_NUMBER,
    POLYTILE_COMPLEX_NUMBER,
    POLYTILE_INDEXED_NUMBER =
        64, /* plus 16 times the number of a value and plus its bytes: the value
                                     with an index after it */
} polytile_number;

/**
 * What a body takes an array for: the bytes and the kind of its elements, and its number of
 * dimensions. POLYTILE_VIEW_SHAPE() of polytile/kernel.h has them for a C type.
 *
 * An array must have that type. If either type is unknown, its elements must have that size.
 * Unsigned elements of two bytes stand for f16 and bf16, too, for which C has no type.
 */
typedef struct polytile_view_shape {
    int64_t element_bytes;
    int n_dims;
    polytile_number number;
} polytile_view_shape;

/** A parameter that a body takes by value, and the type for which it takes it. */
typedef struct polytile_body_parameter {
    const char *name; /* as the declaration has it; NULL: the next of the declaration */
    int64_t bytes;
    polytile_number number;
} polytile_body_parameter;

/** The neighbours that a thread of a coarse kernel runs that POLYTILE_KERNEL makes of a body. */
enum { POLYTILE_COARSENING = 4 };

struct polytile_implementation;

/** A launch whose body is to be found, see polytile_specialiser. */
typedef struct polytile_specialisation {
    struct polytile_context *context; /* of the kernel */
    int n_views;
    const int *types;    /* a polytile_type a view */
    int cuda_capability; /* of the GPU, 10 * major + minor; 0: the host */
    void *user;          /* of the implementation that has the specialiser */
    int64_t reserved[4]; /* zeros */
} polytile_specialisation;

/**
 * Find what runs a launch, now that its types and its device are known.
 *
 * The thread that uses the context calls it when a launch is made, and may call it again for the
 * same types. What it finds has a host function, or for a GPU CUDA kernels; these take pieces and
 * steps, and all parameters of the declaration in its order. Returns a polytile_status, OK if
 * *found is set.
 *
 * Owns    *found and what it points to must live until the context ends.
 */
typedef int polytile_specialiser(const polytile_specialisation *wanted,
                                 const struct polytile_implementation **found);

/**
 * What a kernel runs: for each kind of device a function or a launcher. A launcher goes first; NULL
 * means that there is none.
 *
 * n_indices, n_views and views say what the body was written for; the library compares them with
 * the declaration and the arrays. POLYTILE_KERNEL() fills them in; functions written by hand may
 * leave them 0 and NULL.
 *
 * parameters says which of the declaration's parameters a body takes, and in which order; it need
 * not take all. Without it the body gets all, in the order of polytile_kernel_get_parameter_name().
 *
 * Shapes  n_indices: of a thread, n_views: of arrays, each 0 if unknown; views: n_views of them,
 *         one an array in the declaration's order, NULL if unknown; parameters: n_parameters of
 *         them, NULL for all of the declaration.
 * Owns    views and parameters stay the caller's and must live as long as the kernels made with
 *         them.
 */
typedef struct polytile_implementation {
    polytile_host_function *host;
    void *user; /* for host and the launchers */
    int n_indices;
    int n_views;
    const polytile_view_shape *views;
    int n_parameters;
    const polytile_body_parameter *parameters;
    const void *cuda;            /* the address of a __global__ function, see polytile/cuda.h */
    const void *cuda_contiguous; /* another one, which goes first where the elements along every
                                    view's last dimension lie side by side, strides and indices fit
                                    32 bits, and none is beyond an array's ends; NULL: none. It
                                    needs cuda and views */
    polytile_launcher *host_launcher;
    polytile_launcher *cuda_launcher;
    bool host_takes_pieces;  /* host finds elements of arrays in pieces, whose list is after the
                                views of parameters */
    const void *cuda_pieces; /* a third kernel, for launches with arrays in pieces, which takes the
                                list after the parameters, a polytile_pieces; NULL: none */
    const struct polytile_team *team; /* of POLYTILE_TEAM_KERNEL(), which has nothing else to run;
                                         NULL: threads send no messages */
    bool takes_steps; /* host, cuda and cuda_pieces go through a box of threads by its steps; others
                         get boxes of steps 1 alone: host one for each index of a launch domain with
                         a step, and kernels and launchers no such launch */
    bool has_cuda_handles;            /* cuda, cuda_contiguous and cuda_pieces are cudaKernel_t, of
                                         CUDA 12.1 or newer, instead of addresses */
    polytile_specialiser *specialise; /* finds what runs for the types of each launch, in place of
                                         all above but user; NULL: they run for all types */
    const void
        *cuda_coarse; /* a kernel that may go before cuda_contiguous where that may run and no
                                view's memory has what another one's threads write: each CUDA
                                thread runs n_coarse neighbours along the index before the last. It
                                takes the same, and after it the origin of each view; NULL: none */
    int n_coarse;
    const void
        *cuda_tiles; /* a kernel of POLYTILE_KERNEL() that runs several launches as one, tile by
                               tile in shared memory (kernel_tile_launch.h); NULL: none */
    int cuda_lanes;  /* CUDA threads that run one thread of the launch, about, where cuda_launcher
                       gives each a whole thread block, say; 0: one. So policies know how many rows
                       fill a GPU */
    bool cuda_launcher_overlaps; /* what calls of cuda_launcher enqueue may run side by side: they
                                    have no memory in common that no view shows */
    bool cuda_tiles_go_round;    /* cuda_tiles goes round periodic arrays, too: it was compiled with
                                 POLYTILE_PERIODIC_TILES defined as 1, see kernel.h */
    int64_t reserved[4];         /* zeros */
} polytile_implementation;

#ifdef __cplusplus
}
#endif

#endif
