#include "distribute/exchange/pack.h"

#include "base/checked.h"

#include <string.h>

/** How the elements of a box lie in an array, in the fewest dimensions: units of unit_bytes that
 * are contiguous, n[d] of them a dimension at strides of stride_bytes[d]. */
typedef struct lattice {
    int n_dims;
    int64_t n[POLYTILE_MAX_DIMS];
    int64_t stride_bytes[POLYTILE_MAX_DIMS];
    int64_t unit_bytes;
    char *first;
} lattice;

/** A row is what lies along a lattice's last dimension. */
typedef void copy_row(char *packed, char *row, int64_t n, int64_t stride_bytes, int64_t unit_bytes);

/** Both ways for units of a size known to the compiler, each one load and one store. */
#define ROW_FUNCTIONS(size)                                                                        \
    static void pack_##size(char *packed, char *row, int64_t n, int64_t stride_bytes,              \
                            int64_t unit_bytes) {                                                  \
        (void)unit_bytes;                                                                          \
        for (int64_t i = 0; i < n; i++)                                                            \
            memcpy(packed + i * (size), row + i * stride_bytes, size);                             \
    }                                                                                              \
    static void unpack_##size(char *packed, char *row, int64_t n, int64_t stride_bytes,            \
                              int64_t unit_bytes) {                                                \
        (void)unit_bytes;                                                                          \
        for (int64_t i = 0; i < n; i++)                                                            \
            memcpy(row + i * stride_bytes, packed + i * (size), size);                             \
    }

ROW_FUNCTIONS(1)
ROW_FUNCTIONS(2)
ROW_FUNCTIONS(4)
ROW_FUNCTIONS(8)
ROW_FUNCTIONS(12)
ROW_FUNCTIONS(16)
ROW_FUNCTIONS(24)
ROW_FUNCTIONS(32)
ROW_FUNCTIONS(64)

static inline void copy_pair(char *to, const char *from, int64_t second, size_t size) {
    memcpy(to, from, size);
    memcpy(to + second, from + second, size);
}

/** Both ways for units of `size` to 2 * size bytes: their first and their last `size` bytes, which
 * overlap. */
#define PAIR_FUNCTIONS(size)                                                                       \
    static void pack_pair_##size(char *packed, char *row, int64_t n, int64_t stride_bytes,         \
                                 int64_t unit_bytes) {                                             \
        for (int64_t i = 0; i < n; i++)                                                            \
            copy_pair(packed + i * unit_bytes, row + i * stride_bytes, unit_bytes - (size), size); \
    }                                                                                              \
    static void unpack_pair_##size(char *packed, char *row, int64_t n, int64_t stride_bytes,       \
                                   int64_t unit_bytes) {                                           \
        for (int64_t i = 0; i < n; i++)                                                            \
            copy_pair(row + i * stride_bytes, packed + i * unit_bytes, unit_bytes - (size), size); \
    }

PAIR_FUNCTIONS(4)
PAIR_FUNCTIONS(8)
PAIR_FUNCTIONS(16)
PAIR_FUNCTIONS(32)

static void pack_any(char *packed, char *row, int64_t n, int64_t stride_bytes, int64_t unit_bytes) {
    for (int64_t i = 0; i < n; i++)
        memcpy(packed + i * unit_bytes, row + i * stride_bytes, (size_t)unit_bytes);
}

static void unpack_any(char *packed, char *row, int64_t n, int64_t stride_bytes,
                       int64_t unit_bytes) {
    for (int64_t i = 0; i < n; i++)
        memcpy(row + i * stride_bytes, packed + i * unit_bytes, (size_t)unit_bytes);
}

/** How rows of units of some sizes are packed and unpacked. */
typedef struct row_functions {
    int64_t least_bytes; /* of a unit */
    int64_t most_bytes;
    copy_row *pack;
    copy_row *unpack;
} row_functions;

#define ROW(size)                                                                                  \
    { size, size, pack_##size, unpack_##size }
#define PAIR(size)                                                                                 \
    { size, 2 * (size), pack_pair_##size, unpack_pair_##size }

/** The first row that suits is taken; the last one suits all. */
static const row_functions rows[] = {
    ROW(1),  ROW(2),  ROW(4),  ROW(8),  ROW(12),  ROW(16),  ROW(24),
    ROW(32), ROW(64), PAIR(4), PAIR(8), PAIR(16), PAIR(32), {0, INT64_MAX, pack_any, unpack_any}};

static const row_functions *find_row_functions(int64_t unit_bytes) {
    const row_functions *found = rows;
    while (unit_bytes < found->least_bytes || unit_bytes > found->most_bytes)
        found++;
    return found;
}

/** A lattice's dimensions are added from the last one to the first, and stand in that order. A
 * dimension that continues the one before it is joined with that. */
static void add_lattice_dimension(lattice *of, int64_t n, int64_t stride_bytes) {
    int last = of->n_dims - 1;
    if (n == 1)
        return;
    if (of->n_dims == 0 && stride_bytes == of->unit_bytes)
        of->unit_bytes *= n;
    else if (of->n_dims > 0 && stride_bytes == of->n[last] * of->stride_bytes[last])
        of->n[last] *= n;
    else {
        of->n[of->n_dims] = n;
        of->stride_bytes[of->n_dims++] = stride_bytes;
    }
}

static lattice lattice_of(const polytile_array *array, const polytile_domain *box) {
    lattice of = {.unit_bytes = array->element_bytes, .first = array->data};
    of.first += pti_memory_layout_offset_of(&array->layout, box);
    for (int d = box->n_dims - 1; d >= 0; d--)
        add_lattice_dimension(&of, pti_range_count(box->range[d]),
                              box->range[d].step * array->layout.stride_bytes[d]);
    return of;
}

/** Step to the next row; false after the last. */
static bool go_to_next_row(const lattice *of, int64_t *at, char **row) {
    for (int d = 1; d < of->n_dims; d++) {
        *row += of->stride_bytes[d];
        if (++at[d] < of->n[d])
            return true;
        *row -= of->n[d] * of->stride_bytes[d];
        at[d] = 0;
    }
    return false;
}

static char *copy_box(const polytile_array *array, const polytile_domain *box, char *packed,
                      bool packs) {
    const lattice of = lattice_of(array, box);
    const row_functions *functions = find_row_functions(of.unit_bytes);
    copy_row *copy = packs ? functions->pack : functions->unpack;
    int64_t at[POLYTILE_MAX_DIMS] = {0};
    const int64_t n = of.n_dims > 0 ? of.n[0] : 1;
    char *row = of.first;
    do {
        copy(packed, row, n, of.stride_bytes[0], of.unit_bytes);
        packed += n * of.unit_bytes;
    } while (go_to_next_row(&of, at, &row));
    return packed;
}

int64_t pti_packed_bytes(const pti_boxes *boxes, int64_t element_bytes) {
    int64_t n_bytes;
    if (pti_mul_overflows(pti_boxes_count(boxes), element_bytes, &n_bytes))
        return INT64_MAX;
    return n_bytes;
}

char *pti_pack(const polytile_array *array, const pti_boxes *boxes, char *packed) {
    for (int k = 0; k < boxes->n_boxes; k++)
        packed = copy_box(array, &boxes->box[k], packed, true);
    return packed;
}

const char *pti_unpack(const polytile_array *array, const pti_boxes *boxes, const char *packed) {
    for (int k = 0; k < boxes->n_boxes; k++)
        packed = copy_box(array, &boxes->box[k], (char *)packed, false);
    return packed;
}
