/* The innermost loop of the matrix product, a template: TILE_FUNCTION is the name to define and
 * TILE_TARGET its attributes. It has no guard, since it is included once for each target. */

/** acc[r][c] := sum over k of a[k][r] * b[k][c], the panels packed one after another in k. */
TILE_TARGET static void TILE_FUNCTION(int64_t depth, const float *restrict a,
                                      const float *restrict b, float *restrict acc) {
    tile_vector sum[TILE_ROWS][2] = {0};
    for (int64_t k = 0; k < depth; ++k, a += TILE_ROWS, b += TILE_COLUMNS) {
        const tile_vector left = *(const tile_vector *)b;
        const tile_vector right = *(const tile_vector *)(b + TILE_COLUMNS / 2);
#pragma GCC unroll 8
        for (int r = 0; r < TILE_ROWS; ++r) {
            sum[r][0] += a[r] * left;
            sum[r][1] += a[r] * right;
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < TILE_ROWS; ++r) {
        *(tile_vector *)(acc + r * TILE_COLUMNS) = sum[r][0];
        *(tile_vector *)(acc + r * TILE_COLUMNS + TILE_COLUMNS / 2) = sum[r][1];
    }
}

#undef TILE_FUNCTION
#undef TILE_TARGET
