#ifndef POLYTILE_LAUNCH_HOST_BALANCE_H
#define POLYTILE_LAUNCH_HOST_BALANCE_H

#include "launch/device/device.h"
#include "launch/host/chunk_grid.h"

/* Host threads that balance one launch among themselves, for rows that cost more or less. A row is
 * all threads that agree in the launch's first index. */

/** Whether equal numbers of a kernel's rows took equal time. */
typedef enum pti_evenness { PTI_EVENNESS_UNKNOWN, PTI_EVEN, PTI_UNEVEN } pti_evenness;

enum { PTI_HOST_HABITS = 32 };

/** What a host has seen of a kernel. Seconds are those of the last launch over its rows; 0:
 * none. */
typedef struct pti_host_habit {
    const polytile_implementation *kernel; /* compared, never followed */
    pti_evenness evenness;
    double row_s_whole; /* with each thread's chunk in one go */
    double row_s_parts; /* in parts */
    double chunk_s;     /* that a chunk took in the launch that was noted last, on average */
} pti_host_habit;

/** What a host has seen of the kernels that it ran last. Zero-initialise. */
typedef struct pti_host_habits {
    pti_host_habit habit[PTI_HOST_HABITS];
    int next; /* the place of the next new kernel */
} pti_host_habits;

/** Return whether threads can take rows of each other's chunks: the launch is cut along its first
 * index alone, has more rows than chunks, and no two rows reduce into one element. */
bool pti_host_can_balance(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *grid);

/** Runs a box of threads of a launch on the calling thread, as one of the launch's workers. */
typedef void pti_host_run_box(const pti_sub_kernel *sub_kernel, const polytile_domain *threads,
                              int worker);

/**
 * Run a launch by rows, and note whether these are even.
 *
 * A thread runs its own chunk in one go if the kernel's rows are even. If that is not known, it
 * stops once, to see whether the others got as far. If they are not, it runs a part at a time, and
 * then parts of the chunk with most left, unless that took longer than chunks in one go.
 *
 * Returns false, and has run nothing, if memory runs out.
 */
bool pti_host_balance(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *grid,
                      pti_host_habits *habits, pti_host_run_box *run);

#endif
