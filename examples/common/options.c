#include "options.h"

#include "count.h"

#include <polytile/size.h>

#include <stdio.h>
#include <string.h>

/** One option: what it takes, what to say about it, and how its value is stored. */
typedef struct option {
    const char *name;
    const char *argument; /* NULL: a switch */
    const char *expected; /* completes "--name ...", as "expects a size" */
    const char *help;
    int extras; /* the programs that have it; 0: all */
    bool (*store)(example_options *options, const char *value);
} option;

static bool store_n(example_options *options, const char *value) {
    return count_parse(value, 1, &options->n);
}

static bool store_ranks(example_options *options, const char *value) {
    return count_parse(value, 1, &options->ranks) && options->ranks <= EXAMPLE_MOST_RANKS;
}

static bool store_steps(example_options *options, const char *value) {
    return count_parse(value, 1, &options->steps);
}

static bool store_bytes(example_options *options, const char *value) {
    return polytile_size_parse(value, &options->bytes) || count_parse(value, 0, &options->bytes);
}

static bool store_rounds(example_options *options, const char *value) {
    return count_parse(value, 1, &options->rounds);
}

static bool store_teams(example_options *options, const char *value) {
    return count_parse(value, 1, &options->teams) && options->teams <= 256;
}

static bool store_device(example_options *options, const char *value) {
    options->device = value;
    return *value != '\0';
}

/** Store by which policy units share the work; the library checks it. */
static bool store_share(example_options *options, const char *value) {
    options->share = value;
    return *value != '\0';
}

/** Store a limit; check_whole() reports a wrong one. */
static bool store_limit(example_options *options, const char *value) {
    options->limit = value;
    return *value != '\0';
}

static bool store_strategy(example_options *options, const char *value) {
    options->strategy = value;
    return *value != '\0';
}

static bool store_buffers(example_options *options, const char *value) {
    int64_t n = 0;
    bool is_auto = strcmp(value, "auto") == 0;
    if (!is_auto && !(count_parse(value, 1, &n) && n <= 3))
        return false;
    options->n_buffers = (int)n;
    return true;
}

/** Store at most so many numbers with an x between them, such as 32x8. */
static bool store_numbers(const char *value, int most, int64_t *numbers, int *n) {
    char number[24];
    *n = 0;
    for (;;) {
        size_t length = strcspn(value, "x");
        if (length >= sizeof(number) || *n == most)
            return false;
        memcpy(number, value, length);
        number[length] = '\0';
        if (!count_parse(number, 1, &numbers[(*n)++]))
            return false;
        if (value[length] == '\0')
            return true;
        value += length + 1;
    }
}

static bool store_block(example_options *options, const char *value) {
    return store_numbers(value, POLYTILE_MAX_DIMS, options->block, &options->n_block);
}

static bool store_extents(example_options *options, const char *value) {
    return store_numbers(value, EXAMPLE_VOLUME_DIMS, options->volume, &options->n_volume) &&
           options->n_volume == EXAMPLE_VOLUME_DIMS;
}

static bool store_sizes(example_options *options, const char *value) {
    return count_parse(value, 1, &options->sizes) && options->sizes <= EXAMPLE_MOST_SIZES;
}

static bool store_machine(example_options *options, const char *value) {
    options->machine = value;
    return *value != '\0';
}

static bool store_profile(example_options *options, const char *value) {
    options->profile = value;
    return *value != '\0';
}

static bool store_overlap(example_options *options, const char *value) {
    options->no_overlap = strcmp(value, "off") == 0;
    return options->no_overlap || strcmp(value, "on") == 0;
}

static bool store_steps_per_pass(example_options *options, const char *value) {
    bool is_auto = strcmp(value, "auto") == 0;
    return is_auto || count_parse(value, 1, &options->steps_per_pass);
}

static bool store_split_k(example_options *options, const char *value) {
    options->split_k = strcmp(value, "auto") == 0;
    return options->split_k || strcmp(value, "off") == 0;
}

static bool store_kernel(example_options *options, const char *value) {
    static const char *const names[] = {
        [EXAMPLE_AUTO_KERNEL] = "auto",
        [EXAMPLE_PLAIN_KERNEL] = "plain",
        [EXAMPLE_BLAS_KERNEL] = "blas",
    };
    for (int k = EXAMPLE_AUTO_KERNEL; k <= EXAMPLE_BLAS_KERNEL; ++k) {
        options->kernel = (example_kernel)k;
        if (strcmp(value, names[k]) == 0)
            return true;
    }
    return false;
}

static bool store_graph_kernel(example_options *options, const char *value) {
    bool is_block = strcmp(value, "block") == 0;
    options->kernel = is_block ? EXAMPLE_BLOCK_KERNEL : EXAMPLE_CRAUSER_KERNEL;
    return is_block || strcmp(value, "crauser") == 0;
}

static bool store_graph(example_options *options, const char *value) {
    options->graph = value;
    return *value != '\0';
}

static bool store_scale(example_options *options, const char *value) {
    return count_parse(value, 1, &options->scale);
}

static bool store_degree(example_options *options, const char *value) {
    return count_parse(value, 1, &options->degree);
}

static bool store_sources(example_options *options, const char *value) {
    return count_parse(value, 1, &options->sources);
}

static bool store_seed(example_options *options, const char *value) {
    return count_parse(value, 0, &options->seed);
}

static bool store_matrix(example_options *options, const char *value) {
    options->matrix = value;
    return *value != '\0';
}

static bool store_kind(example_options *options, const char *value) {
    options->kind = value;
    return *value != '\0';
}

static bool store_rows(example_options *options, const char *value) {
    return count_parse(value, 1, &options->rows);
}

static bool store_sparse_kernel(example_options *options, const char *value) {
    static const struct {
        const char *name;
        example_kernel kernel;
    } named[] = {{"auto", EXAMPLE_AUTO_KERNEL},
                 {"rows", EXAMPLE_ROWS_KERNEL},
                 {"entries", EXAMPLE_ENTRIES_KERNEL}};
    for (size_t k = 0; k < sizeof named / sizeof *named; ++k) {
        options->kernel = named[k].kernel;
        if (strcmp(value, named[k].name) == 0)
            return true;
    }
    return false;
}

static bool store_tf32(example_options *options, const char *value) {
    (void)value;
    return options->tf32 = true;
}

static bool store_memory(example_options *options, const char *value) {
    options->pinned = strcmp(value, "pinned") == 0;
    return options->pinned || strcmp(value, "pageable") == 0;
}

static bool store_input(example_options *options, const char *value) {
    if (options->n_inputs == EXAMPLE_MAX_FILES)
        return false;
    options->input[options->n_inputs++] = value;
    return *value != '\0';
}

static bool store_output(example_options *options, const char *value) {
    if (options->n_outputs == EXAMPLE_MAX_FILES)
        return false;
    options->output[options->n_outputs++] = value;
    return *value != '\0';
}

static bool store_repeat(example_options *options, const char *value) {
    return count_parse(value, 1, &options->repeat);
}

static bool store_trace(example_options *options, const char *value) {
    options->trace = value;
    return *value != '\0';
}

static bool store_check(example_options *options, const char *value) {
    (void)value;
    return options->check = true;
}

static bool store_plan(example_options *options, const char *value) {
    (void)value;
    return options->plan_only = true;
}

static bool store_json(example_options *options, const char *value) {
    (void)value;
    return options->json = true;
}

static const option option_table[] = {
    {"n", "N", "expects a whole number of at least 1", "the size of the arrays, a side", 0,
     store_n},
    {"steps", "N", "expects a whole number of at least 1", "time steps (default 100)",
     EXAMPLE_STEPS, store_steps},
    {"iterations", "N", "expects a whole number of at least 1", "iterations (default 100)",
     EXAMPLE_ITERATIONS, store_steps},
    {"bytes", "B", "expects a size such as 8 or 1MiB", "bytes of a message (default 8)",
     EXAMPLE_BYTES, store_bytes},
    {"rounds", "R", "expects a whole number of at least 1",
     "there and back so often (default 1000)", EXAMPLE_ROUNDS, store_rounds},
    {"teams", "Q", "expects a whole number from 1 to 256",
     "slots along a side, q x q in all (default 2)", EXAMPLE_TEAMS, store_teams},
    {"sizes", "N", "expects a whole number from 1 to 1000", "openings of sizes 1 to N (default 40)",
     EXAMPLE_SIZES, store_sizes},
    {"extents", "IxJxK", "expects three numbers, such as 512x512x512",
     "the extents of a volume that is generated, or of an\n--input without .npy, bytes in C order",
     EXAMPLE_VOLUME, store_extents},
    {"overlap", "on|off", "expects on or off",
     "on (default): transfers and computing overlap; off:\nall units transfer, then all compute",
     EXAMPLE_STREAM, store_overlap},
    {"profile", "FILE.json", "expects a file's path",
     "write what the run measured, for polytile graph\n--profile", EXAMPLE_STREAM, store_profile},
    {"graph", "FILE.dot", "expects a file's path", "write the graph, for polytile graph",
     EXAMPLE_STREAM, store_graph},
    {"machine", "FILE.dot", "expects a file's path", "write the machine, likewise", EXAMPLE_STREAM,
     store_machine},
    {"device", "TEXT", "expects a device such as host, cuda:0 or 'host(memory=64MiB,threads=2)'",
     "where to run: host (default), cuda:0 (the first GPU),\n"
     "'host(memory=64MiB,threads=2)'; 'cuda:0,cuda:1': on\n"
     "several, or one for each rank in turn",
     0, store_device},
    {"share", "POLICY", "expects a policy such as equal, weighted, 'weighted(3,1)' or guided",
     "which device or rank runs which rows: equal, weighted\n"
     "by measured speed, 'weighted(3,1)', 'self(4)': 4 rows when\n"
     "free, guided: a share of what is left when free (the\n"
     "default of devices that are different)",
     0, store_share},
    {"ranks", "N", "expects a whole number from 1 to 65536",
     "run on N ranks of MPI, the same as mpiexec -n N", 0, store_ranks},
    {"limit", "SIZE", "expects a size such as 64MiB or 1.5GiB",
     "each device's memory limit, the same as memory= in\n"
     "--device; without either, host computes in place\n"
     "and a GPU's limit is what it has free",
     0, store_limit},
    {"memory", "KIND", "expects pageable or pinned",
     "host memory of the arrays: pageable (default), or\n"
     "pinned, which GPUs copy without a detour",
     0, store_memory},
    {"strategy", "S", "expects the name of a strategy",
     "min-time (default), min-traffic, min-kernels, paper", 0, store_strategy},
    {"buffers", "B", "expects 1, 2, 3 or auto", "superblocks in flight: 1, 2, 3 or auto (default)",
     0, store_buffers},
    {"block", "TxTx..", "expects threads an index, such as 32x8",
     "threads of a block, one number an index (default:\nchosen by the library)", 0, store_block},
    {"steps-per-pass", "T", "expects a whole number of at least 1, or auto",
     "time steps in a pass over the data, at most (1: each\nby itself), or auto (default)",
     EXAMPLE_STEPS, store_steps_per_pass},
    {"split-k", "auto|off", "expects auto or off",
     "auto (default): the sum over k may be split; off:\n"
     "whole rows of A and columns of B",
     EXAMPLE_SPLIT_K, store_split_k},
    {"kernel", "KIND", "expects plain, blas or auto",
     "plain: one body for all devices; blas: cuBLAS on\n"
     "cuda:K, blocked by hand on the host; auto (default):\n"
     "blas where this program was built with it",
     EXAMPLE_KERNELS, store_kernel},
    {"graph", "KIND", "expects rmat, uniform, grid or a DIMACS file FILE.gr",
     "rmat (default), uniform or grid: generated; FILE.gr:\n"
     "read from a DIMACS file",
     EXAMPLE_GRAPH, store_graph},
    {"scale", "S", "expects a whole number of at least 1",
     "a generated graph has 2^S vertices (default 14)", EXAMPLE_GRAPH, store_scale},
    {"degree", "D", "expects a whole number of at least 1",
     "arcs a vertex, on average (default 8); a grid has 4", EXAMPLE_GRAPH, store_degree},
    {"sources", "N", "expects a whole number of at least 1",
     "paths from vertices 0 to N-1 (default 64, or all of\nfewer)", EXAMPLE_GRAPH, store_sources},
    {"kind", "KIND", "expects band, uniform or power",
     "a generated matrix: band (default), uniform: as many\n"
     "entries in each row, power: few rows with many",
     EXAMPLE_MATRIX, store_kind},
    {"rows", "N", "expects a whole number of at least 1",
     "rows and columns of a generated matrix (default\n1048576)", EXAMPLE_MATRIX, store_rows},
    {"degree", "D", "expects a whole number of at least 1",
     "entries a row of a generated matrix, about (default 16)", EXAMPLE_MATRIX, store_degree},
    {"matrix", "FILE.mtx", "expects a Matrix Market file",
     "a matrix from a file: coordinates, real, integer or\npattern, general or symmetric",
     EXAMPLE_MATRIX, store_matrix},
    {"seed", "K", "expects a whole number of at least 0", "of the generator (default 1)",
     EXAMPLE_GRAPH | EXAMPLE_MATRIX | EXAMPLE_SEED, store_seed},
    {"kernel", "KIND", "expects auto, rows or entries",
     "rows: a thread a row; entries: a thread an entry;\n"
     "auto (default): entries for --kind power, else rows",
     EXAMPLE_SPARSE_KERNELS, store_sparse_kernel},
    {"kernel", "KIND", "expects crauser or block",
     "block (default): a thread, on a GPU a thread block,\n"
     "a source, with its work arrays in scratch; crauser:\n"
     "on a GPU a thread a vertex of each source, in rounds\n"
     "of relax, minimum and update",
     EXAMPLE_GRAPH, store_graph_kernel},
    {"tf32", NULL, NULL,
     "multiply in TF32 on tensor cores, by cuBLAS on\ncuda:K; small whole numbers stay exact",
     EXAMPLE_TF32, store_tf32},
    {"check", NULL, NULL, "compare every element with a plain loop; exit 1 if\nany differs", 0,
     store_check},
    {"plan", NULL, NULL, "plan only, at any size: no array is allocated,\nnothing runs", 0,
     store_plan},
    {"input", "FILE.npy", "expects a .npy file, at most four times",
     "read an array from a NumPy file instead of\ngenerating it; repeat for several", 0,
     store_input},
    {"output", "FILE.npy", "expects a .npy file, at most four times",
     "write the result to a NumPy file", 0, store_output},
    {"repeat", "R", "expects a whole number of at least 1",
     "run R times and report the fastest (default 1)", 0, store_repeat},
    {"json", NULL, NULL, "print one JSON object as the last line", 0, store_json},
    {"trace", "FILE", "a file's path", "write a trace of the run for Perfetto or chrome://tracing",
     0, store_trace},
};
enum { N_OPTIONS = sizeof(option_table) / sizeof(option_table[0]) };

static bool has_option(const example_spec *spec, const option *o) {
    if (o->store == store_n)
        return spec->default_n > 0;
    if (o->store == store_input)
        return spec->n_inputs > 0;
    return o->extras == 0 || (o->extras & spec->extras) != 0;
}

/** Print one option of the help text; further lines of it are indented. */
static void print_option(const option *o) {
    char flag[40];
    snprintf(flag, sizeof(flag), "--%s%s%s", o->name, o->argument ? " " : "",
             o->argument ? o->argument : "");
    printf("  %-22s ", flag);
    for (const char *c = o->help; *c != '\0'; ++c)
        if (*c == '\n')
            printf("\n%25s", "");
        else
            putchar(*c);
    putchar('\n');
}

void example_options_help(const example_spec *spec) {
    printf("usage: %s [OPTION]...\n\n%s\n\noptions", spec->name, spec->summary);
    if (spec->default_n > 0)
        printf(" (n is %lld by default)", (long long)spec->default_n);
    printf(":\n");
    for (int o = 0; o < N_OPTIONS; ++o)
        if (has_option(spec, &option_table[o]))
            print_option(&option_table[o]);
    printf("  %-22s %s\n\n%s\n\n", "--help", "print this text", spec->files);
    printf("exit codes: 0 done; 1 a check failed; 2 wrong usage, declaration or file;\n"
           "3 nothing fits the limit\n");
}

static const option *find_option(const example_spec *spec, const char *name, size_t length) {
    for (int o = 0; o < N_OPTIONS; ++o)
        if (has_option(spec, &option_table[o]) && strlen(option_table[o].name) == length &&
            memcmp(option_table[o].name, name, length) == 0)
            return &option_table[o];
    return NULL;
}

static example_parsed misused(const example_spec *spec, example_options *options,
                              const char *format, const char *a, const char *b) {
    char what[EXAMPLE_MISUSE_SIZE / 2];
    snprintf(what, sizeof what, format, a, b);
    snprintf(options->misuse, sizeof options->misuse, "%s (%s --help lists the options)", what,
             spec->name);
    return EXAMPLE_MISUSED;
}

/** Take the option at argv[*position], and its value from after = or from the next argument. */
static example_parsed take_option(const example_spec *spec, int argc, char **argv, int *position,
                                  example_options *options) {
    const char *argument = argv[*position];
    if (strncmp(argument, "--", 2) != 0)
        return misused(spec, options, "unexpected argument '%s'%s", argument, "");
    size_t length = strcspn(argument + 2, "=");
    const option *o = find_option(spec, argument + 2, length);
    if (o == NULL)
        return misused(spec, options, "unknown option '%s'%s", argument, "");
    const char *value = argument[2 + length] == '=' ? argument + 3 + length : NULL;
    if (o->argument == NULL && value != NULL)
        return misused(spec, options, "--%s takes no value%s", o->name, "");
    if (o->argument != NULL && value == NULL && ++*position < argc)
        value = argv[*position];
    if (o->argument != NULL && value == NULL)
        return misused(spec, options, "--%s %s", o->name, o->expected);
    if (!o->store(options, value))
        return misused(spec, options, "--%s %s", o->name, o->expected);
    return EXAMPLE_GO;
}

/** Check what single options cannot: numbers of files, the least size, and wrong limits. */
static example_parsed check_whole(const example_spec *spec, example_options *options) {
    char least[32], why[POLYTILE_SIZE_WHY_BYTES];
    int64_t limit_bytes;
    if (options->limit != NULL && !polytile_size_parse(options->limit, &limit_bytes))
        return misused(spec, options, "--limit %s: %s", options->limit,
                       polytile_size_explain(options->limit, why));
    snprintf(least, sizeof(least), "%lld", (long long)spec->least_n);
    if (options->n != 0 && options->n < spec->least_n)
        return misused(spec, options, "--n must be at least %s%s", least, "");
    if (options->n_inputs > spec->n_inputs)
        return misused(spec, options, "--input '%s' is one too many: %s",
                       options->input[spec->n_inputs], spec->files);
    if (options->n_outputs > spec->n_outputs)
        return misused(spec, options, "--output '%s' is one too many: %s",
                       options->output[spec->n_outputs], spec->files);
    return EXAMPLE_GO;
}

example_parsed example_options_parse(const example_spec *spec, int argc, char **argv,
                                     example_options *options) {
    *options = (example_options){.steps = 100,
                                 .bytes = -1,
                                 .rounds = 1000,
                                 .teams = 2,
                                 .split_k = true,
                                 .seed = 1,
                                 .sizes = 40,
                                 .repeat = 1};
    for (int position = 1; position < argc; ++position) {
        if (strcmp(argv[position], "--help") == 0)
            return EXAMPLE_HELPED;
        example_parsed parsed = take_option(spec, argc, argv, &position, options);
        if (parsed != EXAMPLE_GO)
            return parsed;
    }
    return check_whole(spec, options);
}
