#include "field_picture.h"

#include <math.h>
#include <stdio.h>

/* Lengths in pixels. */
enum { PANEL = 384, GAP = 28, TOP = 56, BAR = 20, BAR_TEXT = 84, BOTTOM = 24 };

/* Distinct colours: neighbouring cells of the same one are drawn as one rectangle. */
enum { N_SHADES = 128 };

/** From cold to hot, dark to light, so that it also reads in grey. */
static const unsigned char colors[][3] = {
    {8, 10, 40},   {38, 22, 100},  {90, 28, 122},  {140, 40, 118}, {190, 55, 95},
    {226, 84, 62}, {245, 130, 34}, {250, 180, 40}, {248, 222, 95}, {252, 250, 200},
};
enum { N_COLORS = sizeof(colors) / sizeof(colors[0]) };

typedef struct scale {
    double lowest;
    double highest;
} scale;

static scale scale_of(const field_sample *samples, int n_samples) {
    scale sc = {HUGE_VAL, -HUGE_VAL};
    for (int s = 0; s < n_samples; ++s)
        for (int i = 0; i < samples[s].rows; ++i)
            for (int j = 0; j < samples[s].columns; ++j) {
                double value = samples[s].cell[i][j];
                if (!isfinite(value))
                    continue;
                sc.lowest = fmin(sc.lowest, value);
                sc.highest = fmax(sc.highest, value);
            }
    if (sc.lowest > sc.highest)
        sc = (scale){0.0, 1.0};
    if (sc.lowest == sc.highest)
        sc.highest = sc.lowest + 1.0;
    return sc;
}

/** Return the shade of a value, 0 .. N_SHADES - 1; -1 if it is not finite. */
static int shade_of(const scale *sc, double value) {
    if (!isfinite(value))
        return -1;
    double part = (value - sc->lowest) / (sc->highest - sc->lowest);
    int shade = (int)(part * N_SHADES);
    return shade < N_SHADES ? shade : N_SHADES - 1;
}

static void print_shade(FILE *file, int shade) {
    if (shade < 0) {
        fputs("#888888", file);
        return;
    }
    double at = (double)shade / (N_SHADES - 1) * (N_COLORS - 1);
    int lower = at < N_COLORS - 1 ? (int)at : N_COLORS - 2;
    fputc('#', file);
    for (int channel = 0; channel < 3; ++channel) {
        double low = colors[lower][channel], high = colors[lower + 1][channel];
        fprintf(file, "%02x", (unsigned)(low + (at - lower) * (high - low) + 0.5));
    }
}

static void print_text(FILE *file, const char *text) {
    for (; *text != '\0'; ++text)
        if (*text == '&')
            fputs("&amp;", file);
        else if (*text == '<')
            fputs("&lt;", file);
        else
            fputc(*text, file);
}

/** Print one row of cells, one rectangle a run of one shade. */
static void print_row(FILE *file, const field_sample *sample, const scale *sc, int i, double x0,
                      double side) {
    for (int j = 0, end; j < sample->columns; j = end) {
        int shade = shade_of(sc, sample->cell[i][j]);
        for (end = j + 1; end < sample->columns && shade_of(sc, sample->cell[i][end]) == shade;)
            ++end;
        fprintf(file, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='", x0 + j * side,
                TOP + i * side, (end - j) * side, side);
        print_shade(file, shade);
        fputs("'/>\n", file);
    }
}

/** Return the side of a square cell: the longer side of the largest sample fills a panel. */
static double cell_side(const field_sample *sample) {
    int longer = sample->rows > sample->columns ? sample->rows : sample->columns;
    return (double)PANEL / longer;
}

static void print_panel(FILE *file, const field_sample *sample, const scale *sc, double x0) {
    double side = cell_side(sample);
    fprintf(file, "<text x='%.2f' y='%d' class='title'>", x0, TOP - 28);
    print_text(file, sample->title);
    fprintf(file,
            "</text>\n<text x='%.2f' y='%d'>%lld x %lld</text>\n<g shape-rendering='crispEdges'>\n",
            x0, TOP - 10, (long long)sample->field_rows, (long long)sample->field_columns);
    for (int i = 0; i < sample->rows; ++i)
        print_row(file, sample, sc, i, x0, side);
    fprintf(file, "</g>\n<rect x='%.2f' y='%d' width='%.2f' height='%.2f' class='frame'/>\n", x0,
            TOP, sample->columns * side, sample->rows * side);
}

/** Print the colour bar with five values beside it. */
static void print_bar(FILE *file, const scale *sc, double x0, double height) {
    fputs("<g shape-rendering='crispEdges'>\n", file);
    for (int shade = 0; shade < N_SHADES; ++shade) {
        double step = height / N_SHADES;
        fprintf(file, "<rect x='%.2f' y='%.2f' width='%d' height='%.2f' fill='", x0,
                TOP + height - (shade + 1) * step, BAR, step + 0.5);
        print_shade(file, shade);
        fputs("'/>\n", file);
    }
    fputs("</g>\n", file);
    for (int tick = 0; tick <= 4; ++tick)
        fprintf(file, "<text x='%.2f' y='%.2f'>%.4g</text>\n", x0 + BAR + 6,
                TOP + height * (1.0 - tick / 4.0) + 4.0,
                sc->lowest + (sc->highest - sc->lowest) * tick / 4.0);
}

static double panel_width(const field_sample *sample) {
    return sample->columns * cell_side(sample);
}

static double tallest(const field_sample *samples, int n_samples) {
    double height = 0.0;
    for (int s = 0; s < n_samples; ++s)
        height = fmax(height, samples[s].rows * cell_side(&samples[s]));
    return height;
}

static void print_picture(FILE *file, const field_sample *samples, int n_samples) {
    double height = tallest(samples, n_samples), width = GAP, x = GAP;
    scale sc = scale_of(samples, n_samples);
    for (int s = 0; s < n_samples; ++s)
        width += panel_width(&samples[s]) + GAP;
    width += BAR + BAR_TEXT;
    fprintf(file,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' "
            "viewBox='0 0 %.0f %.0f'>\n"
            "<style>text { font: 12px sans-serif; fill: #333 } .title { font-weight: bold; "
            "font-size: 15px } .frame { fill: none; stroke: #333 }</style>\n"
            "<rect width='100%%' height='100%%' fill='white'/>\n",
            width, height + TOP + BOTTOM, width, height + TOP + BOTTOM);
    for (int s = 0; s < n_samples; ++s) {
        print_panel(file, &samples[s], &sc, x);
        x += panel_width(&samples[s]) + GAP;
    }
    print_bar(file, &sc, x, height);
    fputs("</svg>\n", file);
}

bool field_picture_write(const char *path, const field_sample *samples, int n_samples) {
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    print_picture(file, samples, n_samples);
    bool written = !ferror(file);
    return fclose(file) == 0 && written;
}
