#include "plate.h"

#include <stdbool.h>

static const double background = 20.0;

static double square(double x) {
    return x * x;
}

static bool in_disk(double u, double v, double center_u, double center_v, double radius) {
    return square(u - center_u) + square(v - center_v) <= square(radius);
}

static bool in_ring(double u, double v) {
    return in_disk(u, v, 0.30, 0.34, 0.20) && !in_disk(u, v, 0.30, 0.34, 0.13);
}

/** Return whether a point is in a bar from the lower left to the upper right. */
static bool in_slanted_bar(double u, double v) {
    double along = 0.8 * (u - 0.68) - 0.6 * (v - 0.30);
    double across = 0.6 * (u - 0.68) + 0.8 * (v - 0.30);
    return square(along) <= square(0.24) && square(across) <= square(0.05);
}

/** Return whether a point is in five by two small squares. */
static bool in_studs(double u, double v) {
    if (u < 0.10 || u >= 0.55 || v < 0.70 || v >= 0.88)
        return false;
    double in_u = (u - 0.10) / 0.09, in_v = (v - 0.70) / 0.09;
    return in_u - (double)(int)in_u < 0.5 && in_v - (double)(int)in_v < 0.5;
}

static bool in_cold_disk(double u, double v) {
    return in_disk(u, v, 0.77, 0.75, 0.15);
}

static bool in_hot_core(double u, double v) {
    return in_disk(u, v, 0.77, 0.75, 0.06);
}

/** The shapes in the order in which they lie on each other, u to the right, v down, in 0 .. 1. */
static const struct {
    bool (*contains)(double u, double v);
    double temperature;
} shapes[] = {
    {in_hot_core, 100.0},   {in_cold_disk, 0.0}, {in_ring, 90.0},
    {in_slanted_bar, 70.0}, {in_studs, 100.0},
};

double plate_temperature(int64_t row, int64_t column, int64_t rows, int64_t columns) {
    double u = ((double)column + 0.5) / (double)columns, v = ((double)row + 0.5) / (double)rows;
    for (int s = 0; s < (int)(sizeof(shapes) / sizeof(shapes[0])); ++s)
        if (shapes[s].contains(u, v))
            return shapes[s].temperature;
    return background;
}

void plate_fill_f32(float *field, int64_t rows, int64_t columns) {
#pragma omp parallel for
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            field[i * columns + j] = (float)plate_temperature(i, j, rows, columns);
}

void plate_fill_f64(double *field, int64_t rows, int64_t columns) {
#pragma omp parallel for
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            field[i * columns + j] = plate_temperature(i, j, rows, columns);
}
