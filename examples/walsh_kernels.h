#ifndef EXAMPLES_WALSH_KERNELS_H
#define EXAMPLES_WALSH_KERNELS_H

#include <polytile/implementation.h>

/* One stage of butterflies on a view in which the partners have an index of their own, 0 or 1.
 * Threads of a GPU that lie side by side have neighbouring last indices. */

/** Partners in one column, h rows apart: the view is groups of rows x 2 x h x columns. */
#define WALSH_COLUMNS_DECLARATION "walsh[a, h, c]: inout x[a, 0:1, h, c]"
/** Partners in one row, h elements apart: the view is rows x groups x 2 x h. */
#define WALSH_ROWS_DECLARATION "walsh[r, a, h]: inout x[r, a, 0:1, h]"
/** The same, where few elements lie between them. */
#define WALSH_NEAR_DECLARATION "walsh[r, h, a]: inout x[r, a, 0:1, h]"

#ifdef __cplusplus
extern "C" {
#endif

const polytile_implementation *walsh_columns_f32_implementation(void);
const polytile_implementation *walsh_columns_f64_implementation(void);
const polytile_implementation *walsh_rows_f32_implementation(void);
const polytile_implementation *walsh_rows_f64_implementation(void);
const polytile_implementation *walsh_near_f32_implementation(void);
const polytile_implementation *walsh_near_f64_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
