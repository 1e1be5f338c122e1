/* The matrix product on the host: panels of A and B are packed so that they stay in the caches and
 * are read in order, and a tile of C is kept in registers.
 *
 * Source  Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", 2008. */
#include "matmul_host.h"

#include <stdbool.h>
#include <string.h>

/* In elements: a tile of C lives in registers, DEPTH x BLOCK_COLUMNS of B in the second cache,
 * BLOCK_ROWS x DEPTH of A beside it. Blocks are multiples of tiles. */
enum {
    TILE_ROWS = 6,
    TILE_COLUMNS = 16,
    DEPTH = 256,
    BLOCK_ROWS = 16 * TILE_ROWS,
    BLOCK_COLUMNS = 32 * TILE_COLUMNS
};

typedef float tile_vector __attribute__((vector_size(32), aligned(4), may_alias));
typedef void tile_function(int64_t depth, const float *a, const float *b, float *acc);

#define TILE_FUNCTION multiply_tile_anywhere
#define TILE_TARGET
#include "matmul_tile.h"

#if defined(__x86_64__)
#define TILE_FUNCTION multiply_tile_avx2
#define TILE_TARGET   __attribute__((target("avx2,fma")))
#include "matmul_tile.h"

static tile_function *choose_tile(void) {
    bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return fast ? multiply_tile_avx2 : multiply_tile_anywhere;
}
#else
static tile_function *choose_tile(void) {
    return multiply_tile_anywhere;
}
#endif

/** A matrix in memory: element (i, j) at origin + i * stride[0] + j * stride[1] bytes. */
typedef struct matrix {
    char *origin;
    int64_t stride[2];
} matrix;

/** Half-open intervals of i, j and k: one cache block of the product. */
typedef struct block {
    int64_t i0, i1, j0, j1, k0, k1;
} block;

static float *element(const matrix *m, int64_t i, int64_t j) {
    return (float *)(void *)(m->origin + i * m->stride[0] + j * m->stride[1]);
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/** Pack A's block as tiles of rows, k after k in each; rows beyond the block are zero. */
static void pack_rows(const matrix *a, const block *b, float *packed) {
    for (int64_t i = b->i0; i < b->i1; i += TILE_ROWS, packed += TILE_ROWS * (b->k1 - b->k0))
        for (int64_t r = 0; r < TILE_ROWS; ++r) {
            float *to = packed + r;
            for (int64_t k = b->k0; k < b->k1; ++k, to += TILE_ROWS)
                *to = i + r < b->i1 ? *element(a, i + r, k) : 0.0f;
        }
}

/** Pack B's block as tiles of columns, k after k in each; columns beyond the block are zero. */
static void pack_columns(const matrix *m, const block *b, float *packed) {
    for (int64_t j = b->j0; j < b->j1; j += TILE_COLUMNS) {
        int64_t width = least(TILE_COLUMNS, b->j1 - j);
        for (int64_t k = b->k0; k < b->k1; ++k, packed += TILE_COLUMNS) {
            memset(packed, 0, TILE_COLUMNS * sizeof(float));
            for (int64_t c = 0; c < width; ++c)
                packed[c] = *element(m, k, j + c);
        }
    }
}

/** Add a tile of products to C, as far as it lies in the block. */
static void add_tile(const matrix *c, const block *b, int64_t i, int64_t j, const float *acc) {
    int64_t height = least(TILE_ROWS, b->i1 - i), width = least(TILE_COLUMNS, b->j1 - j);
    for (int64_t r = 0; r < height; ++r)
        for (int64_t t = 0; t < width; ++t)
            *element(c, i + r, j + t) += acc[r * TILE_COLUMNS + t];
}

static void multiply_packed(const matrix *c, const block *b, const float *rows,
                            const float *columns, tile_function *multiply_tile) {
    int64_t depth = b->k1 - b->k0;
    float acc[TILE_ROWS * TILE_COLUMNS];
    for (int64_t j = b->j0; j < b->j1; j += TILE_COLUMNS, columns += TILE_COLUMNS * depth) {
        const float *tile_rows = rows;
        for (int64_t i = b->i0; i < b->i1; i += TILE_ROWS, tile_rows += TILE_ROWS * depth) {
            multiply_tile(depth, tile_rows, columns, acc);
            add_tile(c, b, i, j, acc);
        }
    }
}

/** C += A B over whole, with packed blocks on the stack. */
static void multiply(const matrix *a, const matrix *b, const matrix *c, const block *whole) {
    float rows[BLOCK_ROWS * DEPTH], columns[DEPTH * BLOCK_COLUMNS];
    tile_function *multiply_tile = choose_tile();
    block at = *whole;
    for (at.j0 = whole->j0; at.j0 < whole->j1; at.j0 = at.j1) {
        at.j1 = least(at.j0 + BLOCK_COLUMNS, whole->j1);
        for (at.k0 = whole->k0; at.k0 < whole->k1; at.k0 = at.k1) {
            at.k1 = least(at.k0 + DEPTH, whole->k1);
            pack_columns(b, &at, columns);
            for (at.i0 = whole->i0; at.i0 < whole->i1; at.i0 = at.i1) {
                at.i1 = least(at.i0 + BLOCK_ROWS, whole->i1);
                pack_rows(a, &at, rows);
                multiply_packed(c, &at, rows, columns, multiply_tile);
            }
        }
    }
}

static matrix matrix_of(const polytile_view *view) {
    return (matrix){view->origin, {view->stride_bytes[0], view->stride_bytes[1]}};
}

static void set_to_zero(const matrix *c, const block *b) {
    for (int64_t i = b->i0; i < b->i1; ++i)
        for (int64_t j = b->j0; j < b->j1; ++j)
            *element(c, i, j) = 0.0f;
}

void matmul_on_host(const polytile_domain *threads, const polytile_view *views, void *user) {
    (void)user;
    const polytile_range i = threads->range[0], j = threads->range[1];
    const polytile_range k = views[0].resident.range[1];
    matrix a = matrix_of(&views[0]), b = matrix_of(&views[1]), c = matrix_of(&views[2]);
    block whole = {i.lo, i.hi + 1, j.lo, j.hi + 1, k.lo, k.hi + 1};
    set_to_zero(&c, &whole);
    multiply(&a, &b, &c, &whole);
}

void gemm_on_host(const polytile_domain *threads, const polytile_view *views, void *user) {
    (void)user;
    const polytile_range i = threads->range[0], j = threads->range[1], k = threads->range[2];
    matrix a = matrix_of(&views[0]), b = matrix_of(&views[1]), c = matrix_of(&views[2]);
    block whole = {i.lo, i.hi + 1, j.lo, j.hi + 1, k.lo, k.hi + 1};
    multiply(&a, &b, &c, &whole);
}
