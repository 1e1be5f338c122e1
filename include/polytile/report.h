#ifndef POLYTILE_REPORT_H
#define POLYTILE_REPORT_H

#include <stdint.h>

/** What a run or a queue did and took. */
typedef struct polytile_report {
    int64_t
        n_launches;    /* that are done; of a queue on a device with memory of its own none of those
                           that were planned together with one that failed */
    int64_t n_kernels; /* sub-kernels that ran, of whatever launches */
    int64_t peak_device_bytes; /* at a time; over several devices, of the one with the most */
    int64_t h2d_bytes;
    int64_t d2h_bytes;
    int64_t p2p_bytes;         /* from the memory of linked devices */
    int64_t lower_bound_bytes; /* of a run: no plan can move less; of a queue 0 */
    double enqueue_s;          /* of a queue: of the program's thread in polytile_queue_launch() */
    double plan_s;             /* that planning took; of a queue on a thread of its own */
    double run_s;      /* from the begin of a run, or of each group of launches, to its end, added
                                  up; planning not included in that of a run */
    double compute_s;  /* of kernels; on CUDA by events around some of them, for all; of those that
                          run side by side, of one side */
    double transfer_s; /* of transfers, likewise; both ways added up, so it may exceed run_s */
    int64_t reserved[4]; /* zeros */
} polytile_report;

#endif
