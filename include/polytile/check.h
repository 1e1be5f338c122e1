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
 * options->block says so. The element may lie outside its array.
 */
typedef struct polytile_check_report {
    polytile_violation violation;
    polytile_domain threads;
    int array;                          /* of the kernel's: the one with the element */
    int64_t element[POLYTILE_MAX_DIMS]; /* that is read, written, or left */
    int shown_array;                    /* of a read: where it shows in a result; else -1 */
    int64_t shown[POLYTILE_MAX_DIMS];   /* the element of that array */
    int64_t n_boxes;                    /* of threads that were run together */
    int64_t n_alone;                    /* threads, or blocks, that were run alone */
    int64_t n_runs;                     /* of the kernel, all in all */
} polytile_check_report;

/**
 * Run a kernel on copies, and see whether it touches what its declaration does not say.
 *
 * The launch is cut into boxes of threads, and besides some threads, all if they are few, are run
 * alone. For each, the arrays are copied into memory in which only the elements hold their values
 * that the declaration says are read; all others are poison, which is another one in each of
 * several runs. What is written must come out the same each time, and all else must stay as it was.
 * The arrays' own memory is read and never written. docs/checking.md tells more.
 *
 * The kernel must do the same each time, and nothing but touch its arrays; threads must not need
 * each other, unless options->block says which belong together. On the host one thread runs it.
 *
 * Shapes  domain, arrays, options: as polytile_run(). report may be NULL.
 * Errors  INVALID (a violation: the text says which kernel, threads, array and element),
 *         UNSUPPORTED (results differ from run to run, so that nothing can be told), and those of
 *         polytile_run(), for what could not be run is not checked. The arrays are as before in any
 *         case.
 */
polytile_status polytile_check_run(polytile_device *device, const polytile_kernel *kernel,
                                   const polytile_domain *domain, polytile_array *const *arrays,
                                   const polytile_plan_options *options,
                                   polytile_check_report *report);

/**
 * How much is read of what an array is declared to be read for, also by being combined into.
 *
 * Elements are those of boxes of threads, an eighth of the launch or less, added up: what two boxes
 * are declared to read counts twice, as it may move twice.
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
} polytile_use;

/**
 * Run a kernel on copies, and see whether its declaration is too wide: what is declared to be read,
 * and so moves, without being read.
 *
 * A body that is compiled with POLYTILE_RECORD_ACCESS defined tells of each element that it reaches
 * for by PT_AT: then the counts are exact. Of other kernels, and of elements that may be written,
 * too, some are changed one by one: those on which no result depends are probably not read, some
 * perhaps are; those that are left as they were count as read. Operands that are combined into are
 * then not tried.
 *
 * The kernel's host function runs, if it has one. What it does on values that the program never had
 * may crash, or not end: it is left then, with whatever it has locked or allocated, and the signals
 * of that are the library's meanwhile. A kernel without one is not tried if it reads integers.
 *
 * Shapes  uses: one an array of the kernel. The others as polytile_check_run().
 * Errors  As polytile_check_run(), whose check goes first.
 */
polytile_status polytile_check_use(polytile_device *device, const polytile_kernel *kernel,
                                   const polytile_domain *domain, polytile_array *const *arrays,
                                   const polytile_plan_options *options, polytile_use *uses);

#ifdef __cplusplus
}
#endif

#endif
