#include "common/png.h"

#include <errno.h>
#include <polytile/polytile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes a field to try the stencil on, and draws fields as pictures. Errors end the program with
 * code 2. */

enum { PICTURE_SIDE = 400, GAP = 8, MAX_FIELDS = 8, GLYPH_ROWS = 7, GLYPH_COLUMNS = 5 };

static const char usage[] =
    "usage: field make N OUT.npy                    an N x N field of f32: hot letters, cold rest\n"
    "       field draw OUT.png FIELD.npy ...        one picture of fields side by side\n";

/* The letters p o l y t i l e, a row a number, the leftmost column its highest of five bits. */
static const uint8_t letters[][GLYPH_ROWS] = {
    {30, 17, 17, 30, 16, 16, 16}, {14, 17, 17, 17, 17, 17, 14}, {16, 16, 16, 16, 16, 16, 31},
    {17, 17, 10, 4, 4, 4, 4},     {31, 4, 4, 4, 4, 4, 4},       {14, 4, 4, 4, 4, 4, 14},
    {16, 16, 16, 16, 16, 16, 31}, {31, 16, 16, 30, 16, 16, 31}};

enum { N_LETTERS = (int)(sizeof letters / sizeof letters[0]), LETTERS_A_ROW = 4 };

static int fail(const char *path, const char *reason) {
    fprintf(stderr, "field: %s: %s\n", path, reason);
    return 2;
}

/* An error of the library, whose text names the file. */
static int fail_with_last_error(const polytile_context *ctx) {
    fprintf(stderr, "field: %s\n", polytile_last_error(ctx));
    return 2;
}

/* Whether a point, both coordinates in [0, 1), lies in one of the letters, four of them a row. */
static bool is_hot(double y, double x) {
    const int row_cells = GLYPH_ROWS + 3, column_cells = GLYPH_COLUMNS + 1;
    const int row = (int)(y * 2 * row_cells);
    const int column = (int)(x * (LETTERS_A_ROW * column_cells + 1)) - 1;
    const int letter = row / row_cells * LETTERS_A_ROW + column / column_cells;
    const int glyph_row = row % row_cells - 1, glyph_column = column % column_cells;
    return column >= 0 && letter < N_LETTERS && glyph_row >= 0 && glyph_row < GLYPH_ROWS &&
           glyph_column < GLYPH_COLUMNS &&
           (letters[letter][glyph_row] >> (GLYPH_COLUMNS - 1 - glyph_column) & 1) != 0;
}

static void fill_field(float *field, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            field[i * n + j] = is_hot((double)i / (double)n, ((double)j + 0.5) / (double)n) ? 1 : 0;
}

static int make(polytile_context *ctx, const char *n_text, const char *path) {
    char *end;
    const int64_t n = strtoll(n_text, &end, 10);
    if (*end != '\0' || n < 1)
        return fail(n_text, "the extent has to be a whole number of at least 1");
    const polytile_domain domain = polytile_domain_from_extents(2, (int64_t[]){n, n});
    polytile_array *array;
    if (polytile_npy_create(ctx, "field", path, POLYTILE_F32, &domain, &array) != POLYTILE_OK)
        return fail_with_last_error(ctx);
    fill_field(polytile_array_get_data(array), n);
    polytile_array_destroy(array);
    return 0;
}

/* Cold is black, then through violet and orange to a pale yellow. */
static png_palette heat_palette(void) {
    static const uint8_t stops[][3] = {
        {4, 4, 20}, {87, 16, 110}, {188, 55, 84}, {249, 142, 9}, {252, 255, 210}};
    enum { N_SPANS = (int)(sizeof stops / sizeof stops[0]) - 1, WHITE = 255 };
    png_palette palette;
    for (int i = 0; i < WHITE; i++) {
        const int span = i * N_SPANS / WHITE;
        const double along = (double)i * N_SPANS / WHITE - span;
        for (int c = 0; c < 3; c++)
            palette.colour[i][c] =
                (uint8_t)(stops[span][c] + along * (stops[span + 1][c] - stops[span][c]));
    }
    memset(palette.colour[WHITE], 255, sizeof palette.colour[WHITE]);
    return palette;
}

static uint8_t shade_of(float value, float low, float high) {
    const float part = high > low ? (value - low) / (high - low) : 0;
    return (uint8_t)(254 * (part < 0 ? 0 : part > 1 ? 1 : part));
}

typedef struct picture {
    int width, height;
    uint8_t *pixels;
} picture;

/* The least and the greatest value of the first field set the scale of all. */
typedef struct scale {
    float low, high;
} scale;

static scale scale_of(const float *field, int64_t n_elements) {
    scale found = {field[0], field[0]};
    for (int64_t i = 1; i < n_elements; i++) {
        found.low = field[i] < found.low ? field[i] : found.low;
        found.high = field[i] > found.high ? field[i] : found.high;
    }
    return found;
}

static void draw_panel(picture *out, int left, const float *field, int64_t rows, int64_t columns,
                       scale range) {
    for (int y = 0; y < PICTURE_SIDE; y++)
        for (int x = 0; x < PICTURE_SIDE; x++)
            out->pixels[y * out->width + left + x] =
                shade_of(field[y * rows / PICTURE_SIDE * columns + x * columns / PICTURE_SIDE],
                         range.low, range.high);
}

static int draw_field(polytile_context *ctx, picture *out, int panel, const char *path,
                      scale *range) {
    polytile_array *array;
    if (polytile_npy_open(ctx, "field", path, false, &array) != POLYTILE_OK)
        return fail_with_last_error(ctx);
    const polytile_domain *domain = polytile_array_get_domain(array);
    if (domain->n_dims != 2 || polytile_array_get_type(array) != POLYTILE_F32)
        return fail(path, "only fields of f32 in two dimensions can be drawn");
    const int64_t rows = domain->range[0].hi + 1, columns = domain->range[1].hi + 1;
    const float *field = polytile_array_get_data(array);
    if (panel == 0)
        *range = scale_of(field, rows * columns);
    draw_panel(out, panel * (PICTURE_SIDE + GAP), field, rows, columns, *range);
    polytile_array_destroy(array);
    return 0;
}

static int draw(polytile_context *ctx, const char *path, int n_fields, char **fields) {
    picture out = {.width = n_fields * (PICTURE_SIDE + GAP) - GAP, .height = PICTURE_SIDE};
    scale range = {0, 1};
    int code = 0;
    out.pixels = malloc((size_t)(out.width * out.height));
    if (out.pixels == NULL)
        return fail(path, "out of memory");
    memset(out.pixels, 255, (size_t)(out.width * out.height));
    for (int i = 0; i < n_fields && code == 0; i++)
        code = draw_field(ctx, &out, i, fields[i], &range);
    const png_palette palette = heat_palette();
    if (code == 0 && !png_write(path, out.width, out.height, out.pixels, &palette))
        code = fail(path, strerror(errno));
    free(out.pixels);
    return code;
}

int main(int argc, char **argv) {
    const bool wants_make = argc == 4 && strcmp(argv[1], "make") == 0;
    const bool wants_draw = argc >= 4 && argc - 3 <= MAX_FIELDS && strcmp(argv[1], "draw") == 0;
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) == EOF;
    if (!wants_make && !wants_draw) {
        fputs(usage, stderr);
        return 2;
    }
    polytile_context *ctx;
    if (polytile_context_create(&ctx) != POLYTILE_OK)
        return fail("polytile", "no context could be created");
    const int code =
        wants_make ? make(ctx, argv[2], argv[3]) : draw(ctx, argv[2], argc - 3, argv + 3);
    polytile_context_destroy(ctx);
    return code;
}
