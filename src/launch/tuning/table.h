#ifndef POLYTILE_LAUNCH_TUNING_TABLE_H
#define POLYTILE_LAUNCH_TUNING_TABLE_H

#include "base/context.h"
#include "base/text.h"
#include <polytile/tuning.h>
#include <stdint.h>

/* Tuning tables: which thread block and cache suit a kernel's character on a GPU's architecture.
 * docs/tuning.md has the format of their files. */

enum {
    PTI_TUNING_MAX_BYTES = 1 << 20, /* of a file */
    PTI_TUNING_MAX_ARCHITECTURES = 64,
    PTI_TUNING_MAX_CAPABILITIES = 32, /* of an architecture */
    PTI_TUNING_MAX_ROWS = 1024,
    PTI_TUNING_NAME_BYTES = 64,
    PTI_TUNING_MAX_SOURCE_BYTES = 512,
    PTI_TUNING_MAX_BLOCK_DIMS = 3,
    PTI_TUNING_MAX_BLOCK_THREADS = 1024,
    PTI_TUNING_MAX_BLOCK_PLANES = 64, /* along the first of three dimensions */
    PTI_TUNING_MAX_COARSENING = 64,
};

/** The members of a polytile_character, each a number of its enumeration; 0: not known. */
enum { PTI_COALESCING, PTI_ARITHMETIC, PTI_EVICTIONS, PTI_REUSE, PTI_N_TRAITS };

/** What is known of a kernel, by traits; 0: nothing. */
typedef struct pti_traits {
    int level[PTI_N_TRAITS];
} pti_traits;

/** Return the traits of a character; NULL: nothing is known. */
pti_traits pti_traits_of(const polytile_character *character);

/** Which part of a multiprocessor's memory is larger; numbers as CUDA's. */
typedef enum pti_cache_preference {
    PTI_CACHE_NONE,
    PTI_CACHE_SHARED,
    PTI_CACHE_L1,
    PTI_CACHE_EQUAL
} pti_cache_preference;

/** The words in a table's file for a preference's values, by number, NULL-terminated. */
extern const char *const pti_cache_words[];

/** The name of a trait in a table's file, and the words for its values, by number, NULL-terminated.
 */
extern const struct pti_trait_text {
    const char *name;
    const char *const *words;
} pti_trait_texts[PTI_N_TRAITS];

/** A block and a cache, and the kernels that they are for. */
typedef struct pti_tuning_row {
    char kernel[PTI_TUNING_NAME_BYTES]; /* empty: any */
    pti_traits traits;                  /* one that is 0 fits any kernel */
    int architecture;                   /* position in the table */
    int n_dims;
    int64_t block[PTI_TUNING_MAX_BLOCK_DIMS]; /* threads, of a kernel's last n_dims indices */
    pti_cache_preference cache;
    int coarsening; /* 1: a thread runs the body once; more: for several neighbours, where the body
                       has such a kernel; 0: not said */
} pti_tuning_row;

/** An architecture; compute capabilities as 10 * major + minor. */
typedef struct pti_tuning_architecture {
    char name[PTI_TUNING_NAME_BYTES];
    int n_capabilities;
    int capability[PTI_TUNING_MAX_CAPABILITIES];
} pti_tuning_architecture;

/** A table with its architectures and rows. */
typedef struct pti_tuning_table {
    struct pti_tuning_table *next; /* owned by the list */
    int n_architectures;
    pti_tuning_architecture *architecture; /* owned */
    int n_rows;
    pti_tuning_row *row; /* owned */
} pti_tuning_table;

void pti_tuning_table_free(pti_tuning_table *table);

/** What a row is searched for. */
typedef struct pti_tuning_query {
    const char *kernel; /* its name */
    pti_traits traits;
    int capability;
    int n_indices;
} pti_tuning_query;

/** Return how many dimensions of a block the indices of a kernel have. */
int pti_tuning_block_dims(int n_indices);

/** Return the row that says most about a kernel: with its name rather than without; then with the
 * most equal traits; then with a block of the kernel's dimensions; then the first. NULL: none. */
const pti_tuning_row *pti_tuning_table_find(const pti_tuning_table *table,
                                            const pti_tuning_query *query);

/**
 * Read a table.
 *
 * Errors  INVALID (*line and why say what is wrong), NO_MEMORY (why says so); no context gets a
 *         text.
 * Owns    The caller frees *table; on error it is NULL.
 */
polytile_status pti_tuning_table_read(const char *text, size_t n_bytes, pti_tuning_table **table,
                                      int *line, pti_text *why);

#endif
