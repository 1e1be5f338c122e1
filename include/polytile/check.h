#ifndef POLYTILE_CHECK_H
#define POLYTILE_CHECK_H

#include <polytile/device.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a kernel does that its declaration does not say. */
typedef enum polytile_violation {
    POLYTILE_NO_VIOLATION,
    POLYTILE_READS_UNDECLARED,  /* the declaration is too narrow: something else is read */
    POLYTILE_WRITES_UNDECLARED, /* it is too narrow: something else is written */
    POLYTILE_LEAVES_UNWRITTEN /* an element of a role out is left as it was, or some of its bytes */
} polytile_violation;

/**
 * What a check of a kernel against its declaration found.
 *
 * threads is the smallest box found in which it happens: one thread, or one block where
 * options->plan.block says so. The element may lie outside its array.
 */
typedef struct polytile_check_report {
    polytile_violation violation;
    polytile_domain threads;
    int array; /* the one with the element, by polytile_kernel_get_view_name(): scratch counts */
    int64_t element[POLYTILE_MAX_DIMS]; /* that is read, written, or left */
    int shown_array;                    /* of a read: where it shows in a result; else -1 */
    int64_t shown[POLYTILE_MAX_DIMS];   /* the element of that array */
    int64_t n_boxes;                    /* of threads that were run together */
    int64_t n_alone;                    /* threads, or blocks, that were run alone */
    int64_t n_runs;                     /* of the kernel, all in all */
    int64_t reserved[4];                /* zeros */
} polytile_check_report;

/**
 * Run a kernel on copies, and report what it touches against its declaration.
 *
 * The launch is cut into boxes of threads; some threads, all if they are few, also run alone. Each
 * box runs several times on copies of the arrays. There, elements that the declaration reads hold
 * their values; all others hold poison, which differs from run to run. Results must be the same
 * each time, and all else must stay as it was. The arrays' own memory is never written. See
 * docs/checking.md.
 *
 * The kernel must do the same each time, and touch nothing but its arrays. Threads must not need
 * each other, unless options->plan.block says which belong together. One host thread runs it.
 *
 * Shapes  domain, arrays, options: as polytile_run(). report may be NULL.
 * Errors  INVALID (a violation: the text says which kernel, threads, array and element),
 *         UNSUPPORTED (results differ from run to run), and those of polytile_run(), which is
 *         checked first. The arrays always stay as they were.
 */
polytile_status polytile_check_run(polytile_device *device, const polytile_kernel *kernel,
                                   const polytile_domain *domain, int n_arrays,
                                   polytile_array *const *arrays,
                                   const polytile_launch_options *options,
                                   polytile_check_report *report);

/**
 * How much a kernel reads of what it declares to read, or to combine into, of one array.
 *
 * Counts are summed over boxes of threads, each an eighth of the launch or less. What two boxes
 * declare to read counts twice, as it may move twice.
 */
typedef struct polytile_use {
    int64_t n_declared;   /* elements that are declared to be read */
    int64_t n_tried;      /* of them were looked at: all, or a sample */
    int64_t n_read;       /* of those are read, or, if not recorded, are seen to matter */
    bool is_recorded;     /* the kernel told of its accesses: n_read is what it reached for */
    bool depends_on_data; /* other elements were read when values of an array of integers, such as
                             indices, were changed: no declaration can say which */
    int64_t n_never; /* elements of the array that boxes are declared to read and none does, each
                        counted once, if recorded; else -1 */
    int64_t reserved[4]; /* zeros */
} polytile_use;

/**
 * Run a kernel on copies, and report where its declaration is too wide: elements that it declares
 * to read, and that move, but that it does not read.
 *
 * A body that is compiled with POLYTILE_RECORD_ACCESS defined records each element that PT_AT
 * reaches: the counts are exact. For other kernels, and for elements that may also be written, the
 * check changes some elements one by one. An element that no result depends on is probably not
 * read. Elements that are not tried count as read, as do operands that are combined into.
 *
 * The kernel's host function runs, if it has one. On values that the program never had it may
 * crash, or not end. The check then leaves it, with what it has locked or allocated, and meanwhile
 * handles the signals of crashes. A kernel without a host function is not tried if it reads
 * integers.
 *
 * Shapes  uses: one an array of the kernel. The others as polytile_check_run().
 * Errors  As polytile_check_run(), whose check goes first.
 */
polytile_status polytile_check_use(polytile_device *device, const polytile_kernel *kernel,
                                   const polytile_domain *domain, int n_arrays,
                                   polytile_array *const *arrays,
                                   const polytile_launch_options *options, polytile_use *uses);

#ifdef __cplusplus
}
#endif

#endif
