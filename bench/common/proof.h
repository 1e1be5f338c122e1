#ifndef BENCH_COMMON_PROOF_H
#define BENCH_COMMON_PROOF_H

#include "common/bench.h"

/* What it costs to prove plans, against making them. */

enum { PROOF_MOST_ARRAYS = 3 };

/** A kernel over arrays of f32 with equal extents, whose threads leave out a border. Several
 * launches read and write the two arrays in turn. */
typedef struct proof_case {
    const char *name;
    const char *declaration;
    int n_indices;
    int array_dims[PROOF_MOST_ARRAYS];
    int64_t extent;
    int64_t border;
    int n_launches;
} proof_case;

/** What a case has when its launches are known. */
typedef struct proof_subject {
    const proof_case *c;
    polytile_context *ctx; /* owns the kernel and the arrays */
    polytile_kernel *kernel;
    polytile_array *arrays[2][PROOF_MOST_ARRAYS]; /* of launches of even and odd numbers */
    polytile_chain_launch *launch;                /* owned */
} proof_subject;

void proof_begin(proof_subject *s, const proof_case *c);
void proof_end(proof_subject *s);

/** How plans of a kind are made, counted, proved and freed. */
typedef struct proof_kind {
    void *(*plan)(const void *of);
    double (*count_ops)(const void *plan);
    void (*check)(const void *plan); /* ends the program if the plan is wrong */
    void (*destroy)(void *plan);
} proof_kind;

/** Measure and report a case, which plan() knows by `of`. Returns the proof's part of planning. */
double proof_measure(bench *b, const char *name, const proof_kind *kind, const void *of);

/** End the program if a proof failed, with its reason. */
void proof_require(bool holds, const char *why);

#endif
