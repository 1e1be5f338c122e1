/* Makes fields for the stencil examples, and draws them. */
#include "common/arguments.h"
#include "common/count.h"
#include "common/plate.h"
#include "common/threads.h"
#include "field_picture.h"

#include <polytile/polytile.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_DONE = 0, EXIT_REFUSED = 2 };

static const char usage[] =
    "usage: field make SIZE FILE.npy [f32|f64]         a plate with hot and cold shapes on it\n"
    "       field draw PICTURE.svg BEFORE.npy [AFTER.npy]   a heat map of one or two fields\n\n"
    "SIZE is N for N x N elements, or ROWSxCOLUMNS. Fields are NumPy files of f32 or f64 with two\n"
    "dimensions, such as those that jacobi reads (--input) and writes (--output).\n";

static int refuse(const char *what, const char *why) {
    char shown[512];
    fprintf(stderr, "field: %s: %s\n", polytile_text_show(what, shown, sizeof shown), why);
    return EXIT_REFUSED;
}

/** Read N or ROWSxCOLUMNS. */
static bool parse_size(const char *text, int64_t *extents) {
    char rows[32];
    size_t length = strcspn(text, "x");
    if (length >= sizeof(rows))
        return false;
    memcpy(rows, text, length);
    rows[length] = '\0';
    const char *columns = text[length] == 'x' ? text + length + 1 : rows;
    return count_parse(rows, 1, &extents[0]) && count_parse(columns, 1, &extents[1]);
}

static int make_field(polytile_context *ctx, int n_arguments, char **arguments) {
    int64_t extents[2];
    polytile_type type = POLYTILE_F32;
    polytile_array *field;
    if (n_arguments < 2 || n_arguments > 3)
        return refuse("make", "takes a size, a file and at most a type; see field --help");
    if (!parse_size(arguments[0], extents))
        return refuse(arguments[0], "is no size such as 512 or 384x512");
    if (n_arguments == 3 && (polytile_type_parse(arguments[2], &type) != POLYTILE_OK ||
                             (type != POLYTILE_F32 && type != POLYTILE_F64)))
        return refuse(arguments[2], "is not f32 or f64");
    polytile_domain domain = polytile_domain_from_extents(2, extents);
    if (polytile_npy_create(ctx, "field", arguments[1], type, &domain, &field) != POLYTILE_OK)
        return refuse("make", polytile_last_error(ctx));
    void *data = polytile_array_get_data(field);
    if (type == POLYTILE_F64)
        plate_fill_f64(data, extents[0], extents[1]);
    else
        plate_fill_f32(data, extents[0], extents[1]);
    if (polytile_npy_finish(field) != POLYTILE_OK)
        return refuse("make", polytile_last_error(ctx));
    return EXIT_DONE;
}

static double element(const void *data, polytile_type type, int64_t position) {
    return type == POLYTILE_F64 ? ((const double *)data)[position]
                                : (double)((const float *)data)[position];
}

/** Return the first of n elements that belongs to cell k of n_cells. */
static int64_t cell_start(int64_t n, int k, int n_cells) {
    return n / n_cells * k + n % n_cells * k / n_cells;
}

static double cell_mean(const field_sample *sample, const void *data, polytile_type type, int row,
                        int column) {
    int64_t i0 = cell_start(sample->field_rows, row, sample->rows);
    int64_t i1 = cell_start(sample->field_rows, row + 1, sample->rows);
    int64_t j0 = cell_start(sample->field_columns, column, sample->columns);
    int64_t j1 = cell_start(sample->field_columns, column + 1, sample->columns);
    double sum = 0.0;
    for (int64_t i = i0; i < i1; ++i)
        for (int64_t j = j0; j < j1; ++j)
            sum += element(data, type, i * sample->field_columns + j);
    return sum / ((double)(i1 - i0) * (double)(j1 - j0));
}

/** Choose cells that are about square and not smaller than an element. */
static void choose_cells(field_sample *sample) {
    int64_t rows = sample->field_rows, columns = sample->field_columns;
    double longer = (double)(rows > columns ? rows : columns);
    double shrink = longer > PICTURE_CELLS ? PICTURE_CELLS / longer : 1.0;
    sample->rows = (int)((double)rows * shrink);
    sample->columns = (int)((double)columns * shrink);
    sample->rows += sample->rows == 0;
    sample->columns += sample->columns == 0;
}

static int take_sample(polytile_context *ctx, const char *path, field_sample *sample) {
    polytile_array *field;
    if (polytile_npy_open(ctx, "field", path, false, &field) != POLYTILE_OK)
        return refuse("draw", polytile_last_error(ctx));
    const polytile_domain *domain = polytile_array_get_domain(field);
    polytile_type type = polytile_array_get_type(field);
    if (domain->n_dims != 2 || (type != POLYTILE_F32 && type != POLYTILE_F64))
        return refuse(path, "is no field of f32 or f64 with two dimensions");
    sample->field_rows = domain->range[0].hi + 1;
    sample->field_columns = domain->range[1].hi + 1;
    choose_cells(sample);
    for (int i = 0; i < sample->rows; ++i)
        for (int j = 0; j < sample->columns; ++j)
            sample->cell[i][j] = cell_mean(sample, polytile_array_get_data(field), type, i, j);
    polytile_array_destroy(field);
    return EXIT_DONE;
}

static int draw_fields(polytile_context *ctx, int n_arguments, char **arguments) {
    static field_sample samples[2] = {{.title = "before"}, {.title = "after"}};
    if (n_arguments < 2 || n_arguments > 3)
        return refuse("draw", "takes a picture and one or two fields; see field --help");
    int n_samples = n_arguments - 1;
    for (int k = 0; k < n_samples; ++k)
        if (take_sample(ctx, arguments[1 + k], &samples[k]) != EXIT_DONE)
            return EXIT_REFUSED;
    samples[0].title = n_samples == 1 ? "field" : samples[0].title;
    if (!field_picture_write(arguments[0], samples, n_samples))
        return refuse(arguments[0], strerror(errno));
    return EXIT_DONE;
}

static int run_command(polytile_context *ctx, int argc, char **argv) {
    if (strcmp(argv[1], "make") == 0)
        return make_field(ctx, argc - 2, argv + 2);
    if (strcmp(argv[1], "draw") == 0)
        return draw_fields(ctx, argc - 2, argv + 2);
    return refuse(argv[1], "is neither make nor draw; see field --help");
}

static int run(int argc, char **argv) {
    polytile_context *ctx;
    if (argc < 2 || strcmp(argv[1], "--help") == 0) {
        fputs(usage, argc < 2 ? stderr : stdout);
        return argc < 2 ? EXIT_REFUSED : EXIT_DONE;
    }
    polytile_status status = polytile_context_create(&ctx);
    if (status != POLYTILE_OK)
        return refuse("start", polytile_status_text(status));
    int exit_code = run_command(ctx, argc, argv);
    polytile_context_destroy(ctx);
    return exit_code;
}

/** Only one rank works; ranks of another program would wait for this one. */
int main(int argc, char **argv) {
    ranks all;
    char text[ARGUMENTS_TEXT_SIZE];
    ranks_join(&all);
    threads_limit(all.rank == 0 ? "field" : NULL);
    bool agree = arguments_agree(&all, "field", argv, text);
    int exit_code = agree ? EXIT_DONE : EXIT_REFUSED;
    if (all.rank == 0)
        exit_code = agree ? run(argc, argv) : refuse("ranks", text);
    if (agree)
        exit_code = (int)ranks_largest(&all, exit_code);
    ranks_leave(&all);
    return exit_code;
}
