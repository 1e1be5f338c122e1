#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <polytile/domain.h>
#include <stdbool.h>

enum {
    EXAMPLE_MAX_FILES = 4,
    EXAMPLE_MOST_RANKS = 65536,
    EXAMPLE_MOST_UNITS = 1024,
    EXAMPLE_MOST_SIZES = 1000,
    EXAMPLE_VOLUME_DIMS = 3,
    EXAMPLE_MISUSE_SIZE = 1024
};

/** Which of the options a program has beside those that all have. */
typedef enum example_extras {
    EXAMPLE_NO_EXTRAS = 0,
    EXAMPLE_STEPS = 1,
    EXAMPLE_SPLIT_K = 2,
    EXAMPLE_KERNELS = 4,
    EXAMPLE_TF32 = 8,
    EXAMPLE_GRAPH = 16, /* a graph in place of arrays of a size */
    EXAMPLE_BYTES = 32,
    EXAMPLE_ROUNDS = 64,
    EXAMPLE_TEAMS = 128,
    EXAMPLE_MATRIX = 256, /* a sparse matrix in place of arrays of a size */
    EXAMPLE_SPARSE_KERNELS = 512,
    EXAMPLE_ITERATIONS = 1024,
    EXAMPLE_STREAM = 2048, /* a graph of actors, as polytile/stream.h has it */
    EXAMPLE_VOLUME = 4096, /* a file of bytes, which says no extents */
    EXAMPLE_SIZES = 8192,
    EXAMPLE_SEED = 16384,
} example_extras;

/** What computes, where a program has several. */
typedef enum example_kernel {
    EXAMPLE_AUTO_KERNEL, /* the fastest there is on the device */
    EXAMPLE_PLAIN_KERNEL,
    EXAMPLE_BLAS_KERNEL,
    EXAMPLE_BLOCK_KERNEL, /* as auto where there is a graph */
    EXAMPLE_CRAUSER_KERNEL,
    EXAMPLE_ROWS_KERNEL, /* as auto, unless few rows hold a large part of the matrix */
    EXAMPLE_ENTRIES_KERNEL
} example_kernel;

/** What one example is: for its help text and the checks on its arguments. */
typedef struct example_spec {
    const char *name;
    const char *summary;
    int64_t default_n; /* 0: it has no --n */
    int64_t least_n;
    int extras;       /* example_extras, or-ed */
    bool uses_queue;  /* its launches go through a queue, not one by one */
    bool uses_stream; /* its kernels are actors of a graph, whose stream opens the devices */
    int n_inputs;
    int n_outputs;
    const char *files; /* what --input and --output hold, in order */
} example_spec;

/** The command line; all texts are borrowed from argv. */
typedef struct example_options {
    int64_t n;            /* 0: not given */
    int64_t ranks;        /* 0: not given */
    const char *device;   /* NULL: not given */
    const char *share;    /* a policy of the library; NULL: not given */
    const char *limit;    /* NULL: not given */
    const char *strategy; /* NULL: the library's default */
    const char *trace;
    int n_buffers; /* 0: auto */
    int n_block;   /* 0: not given */
    int64_t block[POLYTILE_MAX_DIMS];
    int64_t steps;          /* or iterations */
    int64_t steps_per_pass; /* at most; 0: auto */
    int64_t bytes;          /* of a message; -1: not given */
    int64_t rounds;
    int64_t teams; /* along a side */
    bool split_k;
    example_kernel kernel;
    bool tf32;
    const char *graph; /* NULL: not given */
    int64_t scale;     /* 0: not given, as the next two */
    int64_t degree;
    int64_t sources;
    int64_t seed;
    const char *matrix; /* a file; NULL: not given */
    const char *kind;   /* NULL: not given */
    int64_t rows;       /* 0: not given */
    int64_t sizes;
    int n_volume; /* 0: not given */
    int64_t volume[EXAMPLE_VOLUME_DIMS];
    bool no_overlap;
    const char *machine; /* files to write; NULL: not given */
    const char *profile;
    bool pinned;
    int n_inputs;
    const char *input[EXAMPLE_MAX_FILES];
    int n_outputs;
    const char *output[EXAMPLE_MAX_FILES];
    int64_t repeat;
    bool check;
    bool plan_only;
    bool json;
    char misuse[EXAMPLE_MISUSE_SIZE]; /* what is wrong with it; "": nothing */
} example_options;

typedef enum example_parsed { EXAMPLE_GO, EXAMPLE_HELPED, EXAMPLE_MISUSED } example_parsed;

/** Read a command line, without printing anything. */
example_parsed example_options_parse(const example_spec *spec, int argc, char **argv,
                                     example_options *options);

/** Print the answer to --help on stdout. */
void example_options_help(const example_spec *spec);

#endif
