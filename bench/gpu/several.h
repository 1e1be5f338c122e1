#ifndef BENCH_GPU_SEVERAL_H
#define BENCH_GPU_SEVERAL_H

#include "gpu/queue_stage.h"

/* What cases on several GPUs of one host share. */

enum { SEVERAL_MOST_GPUS = 8, SEVERAL_DEVICES_BYTES = 64 * SEVERAL_MOST_GPUS };

/** Let cases use so many GPUs, and measure no fewer; 0: all, and fewer of them, too. */
void several_use(int n_gpus);

/** The GPUs of the host, as far as cases use them. */
int several_count(void);

/** The next number of GPUs to measure: 2, 4, … and all of them; 0: there is none. */
int several_next(int n_gpus);

/** Write a queue's devices: "cuda:0(memory=1B),cuda:1(memory=1B)". */
void several_write_devices(int n_gpus, int64_t memory_bytes, char text[SEVERAL_DEVICES_BYTES]);

/** Open a queue on the first GPUs. Units: bytes of each. */
void several_open(queue_stage *s, int n_gpus, int64_t memory_bytes, const char *declaration,
                  const polytile_implementation *implementation);

#endif
