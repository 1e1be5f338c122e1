#ifndef EXAMPLES_PLATE_H
#define EXAMPLES_PLATE_H

#include <stdint.h>

/** Return the temperature at the middle of a cell of a cool plate with hot and cold shapes on
 * it. */
double plate_temperature(int64_t row, int64_t column, int64_t rows, int64_t columns);

/** Fill a whole field, C order. */
void plate_fill_f32(float *field, int64_t rows, int64_t columns);
void plate_fill_f64(double *field, int64_t rows, int64_t columns);

#endif
