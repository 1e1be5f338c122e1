#ifndef POLYTILE_TESTS_FAULTS_INJECT_H
#define POLYTILE_TESTS_FAULTS_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls of the C library that fail when told to, in a program that is linked with inject.c: its own
 * malloc(), open() and so on go before those of the C library, for every module of the process. So
 * allocations of isl, GMP and Jansson fail as those of polytile do; those of the OpenMP runtime,
 * which ends the process without memory, are left alone, as are those of C++ (new_delete.cc). */

/** What is let fail. */
typedef enum faults_kind {
    FAULTS_NONE,
    FAULTS_MEMORY,      /* allocations of polytile, Jansson and the C library */
    FAULTS_ISL_MEMORY,  /* those of isl and GMP */
    FAULTS_FILES,       /* calls that work on files */
    FAULTS_INTERRUPT,   /* of those the ones that may be interrupted: EINTR, nothing is done */
    FAULTS_SHORT,       /* reading and writing: one byte and no more */
    FAULTS_THREADS,     /* threads do not start */
    FAULTS_CUDA,        /* calls of CUDA, by the scene's own means; once */
    FAULTS_ISL_CONTEXT, /* allocations of isl while it makes a context, which end the process */
    N_FAULTS_KINDS
} faults_kind;

const char *faults_kind_word(faults_kind kind);

/** Let the n-th call of a kind from now on fail, counted from 1; also all after it, or only it. 0:
 * none, calls are counted. */
void faults_arm(faults_kind kind, int64_t n, bool for_ever);

/** Let the C library's own allocations succeed: libraries that do not survive its failures, such as
 * MPI, use it, too. */
void faults_spare_libc(void);

/** Let no call fail any more. Returns how many of the kind there were. */
int64_t faults_disarm(void);

/** The first call that failed since faults_arm(), such as "malloc"; NULL: none. */
const char *faults_get_struck(void);

/** Who called it: addresses after calls, the innermost first, for addr2line. Returns how many. */
enum { FAULTS_MAX_FRAMES = 12 };
int faults_get_struck_at(void **frames);

/** For pti_isl_memory_source, whose callers are polytile's hooks: malloc() and realloc() of kind
 * FAULTS_ISL_MEMORY. */
void *faults_isl_malloc(size_t n_bytes);
void *faults_isl_realloc(void *memory, size_t n_bytes);

/** For operator new and delete, whose memory is the program's own: never fails on purpose, and is
 * not remembered. */
void *faults_allocate_aside(size_t n_bytes, size_t alignment);
void faults_free_aside(void *memory);

/** From here on allocations are remembered until they are freed, or no more. */
void faults_track(bool on);

/** How many of those of polytile, isl, GMP, Jansson and the C library are not freed; if there are
 * any, *at is after the call of one, *n_bytes its size. All are forgotten. */
int64_t faults_count_leaks(void **at, size_t *n_bytes);

/** How many mappings and open files polytile has. */
int64_t faults_count_mappings(void);
int64_t faults_count_files(void);

#ifdef __cplusplus
}
#endif

#endif
