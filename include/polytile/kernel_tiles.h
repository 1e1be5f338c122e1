#ifndef POLYTILE_KERNEL_TILES_H
#define POLYTILE_KERNEL_TILES_H

/*
 * Several launches as one CUDA kernel, tile by tile in shared memory; included by kernel_cuda.h.
 *
 * A body has such a kernel if it has two indices and takes two views of two dimensions and one
 * type, and nothing else: launches of it alternate between two arrays. A thread block loads a tile
 * with its border, makes all steps there, each over a smaller part of it, and stores its own
 * elements at the end. What it computes of its border other blocks compute, too.
 *
 * The body reads a view of shared memory and writes to a view of the thread's own registers,
 * several rows a thread: nothing is stored between two rows, so that what both of them read is
 * loaded once. Its indices are those of the arrays.
 *
 * The kernel takes a polytile_tiles, both views of the first launch, and both of the second one.
 */
#define PT_CUDA_TILES_FUNCTION(kernel, indices, ...)                                               \
    PT_CAT(PT_TILES_, PT_CAT(PT_TILES_INDICES indices, PT_TILES_ENTRIES(__VA_ARGS__)))             \
    (PT_DEFINE_TILES, kernel, __VA_ARGS__)
#define PT_CUDA_TILES(kernel, indices, ...)                                                        \
    PT_CAT(PT_TILES_, PT_CAT(PT_TILES_INDICES indices, PT_TILES_ENTRIES(__VA_ARGS__)))             \
    (PT_CHOOSE_TILES, kernel, __VA_ARGS__)(const void *) 0

/* TWO for two indices, two entries, entries that are views, and views of two dimensions. */
#define PT_TILES_INDICES(...) PT_9TH(__VA_ARGS__, NO, NO, NO, NO, NO, NO, TWO, NO, NO)
#define PT_TILES_ENTRIES(...)                                                                      \
    PT_25TH(__VA_ARGS__, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,   \
            NO, NO, NO, NO, TWO, NO, NO)
#define PT_TILES_DIMS_1 NO
#define PT_TILES_DIMS_2 TWO
#define PT_TILES_DIMS_3 NO
#define PT_TILES_DIMS_4 NO
#define PT_TILES_DIMS_5 NO
#define PT_TILES_DIMS_6 NO
#define PT_TILES_DIMS_7 NO
#define PT_TILES_DIMS_8 NO

#define PT_TILES_NONO(...)
#define PT_TILES_NOTWO(...)
#define PT_TILES_TWONO(...)
#define PT_TILES_TWOTWO(M, kernel, one, other)                                                     \
    PT_CAT(PT_TILES_OF_, PT_CAT(PT_COUNT one, PT_COUNT other))(M, kernel, one, other)
#define PT_TILES_OF_22(...)
#define PT_TILES_OF_23(...)
#define PT_TILES_OF_32(...)
#define PT_TILES_OF_33(M, kernel, one, other)                                                      \
    PT_TILES_VIEWS(M, kernel, PT_UNPACK one, PT_UNPACK other)
#define PT_TILES_VIEWS(...) PT_TILES_VIEWS_OF(__VA_ARGS__)
#define PT_TILES_VIEWS_OF(M, kernel, T, A, n_dims, U, B, m_dims)                                   \
    PT_CAT(PT_TILES_MADE_, PT_CAT(PT_TILES_DIMS_##n_dims, PT_TILES_DIMS_##m_dims))                 \
    (M, kernel, T, A, U, B)
#define PT_TILES_MADE_NONO(...)
#define PT_TILES_MADE_NOTWO(...)
#define PT_TILES_MADE_TWONO(...)
#define PT_TILES_MADE_TWOTWO(M, ...) M(__VA_ARGS__)

/* The kernel, which is empty for views of two types, and its address, before an alternative. */
#define PT_DEFINE_TILES(kernel, T, A, U, B)                                                        \
    struct kernel##_tile_body {                                                                    \
        typedef U element;                                                                         \
        typedef T read_element;                                                                    \
        typedef kernel##_##A##_view read_view;                                                     \
        typedef kernel##_##B##_view written_view;                                                  \
        static __device__ __forceinline__ void run(int64_t i, int64_t j, const read_view &A,       \
                                                   const written_view &B) {                        \
            kernel##_thread(i, j, A, B);                                                           \
        }                                                                                          \
    };                                                                                             \
    PT_CUDA_LINKAGE __global__ void __launch_bounds__(POLYTILE_TILE_THREADS) kernel##_cuda_tiles(  \
        const polytile_tiles tiles, const polytile_view even_from, const polytile_view even_to,    \
        const polytile_view odd_from, const polytile_view odd_to) {                                \
        pt_tile_steps<kernel##_tile_body, pt_may_be_tiled<T, U>::value>::run(                      \
            tiles, even_from, even_to, odd_from, odd_to);                                          \
    }
#define PT_CHOOSE_TILES(kernel, T, A, U, B)                                                        \
    pt_may_be_tiled<T, U>::value ? (const void *)kernel##_cuda_tiles:

/* Whether launches can alternate: one view of const elements, and one of the same that are not. */
template <class T, class U> struct pt_may_be_tiled {
    enum { value = 0 };
};
template <class T> struct pt_may_be_tiled<const T, T> {
    enum { value = 1 };
};

template <class Body, int is_made> struct pt_tile_steps {
    static __device__ __forceinline__ void run(const polytile_tiles &, const polytile_view &,
                                               const polytile_view &, const polytile_view &,
                                               const polytile_view &) {}
};

/* A tile in shared memory. Its columns are POLYTILE_TILE_COLUMNS, side by side. */
template <class Body> struct pt_tile_steps<Body, 1> {
    typedef typename Body::element element;
    typedef typename Body::read_element read_element;
    typedef typename Body::read_view read_view;
    typedef typename Body::written_view written_view;
    enum {
        columns = POLYTILE_TILE_COLUMNS,
        rows = 8, /* of a thread */
        lines = POLYTILE_TILE_THREADS / POLYTILE_TILE_COLUMNS
    };

    /* The array's indices of the tile's first element, and the thread's place. */
    struct place {
        int64_t i, j;
        int line, column;
    };

    static __device__ __forceinline__ const char *at(const polytile_view &view, int64_t i,
                                                     int64_t j) {
        return pt_behind(view.origin, (uint64_t)i * (uint64_t)view.stride_bytes[0] +
                                          (uint64_t)j * sizeof(element));
    }

    /* Elements of one thread: with any indices the view has the one at `own`. */
    static __device__ __forceinline__ void run_one(int64_t i, int64_t j, const read_view &from,
                                                   written_view to, element *own) {
        to.at = own - i - j;
        to.stride[0] = to.stride[1] = sizeof(element);
        Body::run(i, j, from, to);
    }

    static __device__ __forceinline__ void run_rows(int64_t i, int n, int64_t j,
                                                    const read_view &from, const written_view &to,
                                                    element *made) {
        if (n >= rows) {
            element own[rows];
            PT_UNROLL for (int k = 0; k < rows; k++) run_one(i + k, j, from, to, &own[k]);
            PT_UNROLL for (int k = 0; k < rows; k++) made[k * columns] = own[k];
        } else {
            PT_DONT_UNROLL for (int k = 0; k < n; k++)
                run_one(i + k, j, from, to, &made[k * columns]);
        }
    }

    /* Whether all of a tile is inside of a box. */
    static __device__ __forceinline__ bool is_inside(const place &first, int n_rows,
                                                     const polytile_domain &box) {
        return first.i >= box.range[0].lo && first.i + n_rows - 1 <= box.range[0].hi &&
               first.j >= box.range[1].lo && first.j + columns - 1 <= box.range[1].hi;
    }

    static __device__ __forceinline__ bool has(const polytile_domain &box, int64_t i, int64_t j) {
        return i >= box.range[0].lo && i <= box.range[0].hi && j >= box.range[1].lo &&
               j <= box.range[1].hi;
    }

    /* Many loads under way matter more than all else here. */
    static __device__ __forceinline__ void load_inner(const polytile_view &from, const place &first,
                                                      int n_rows, element *tile) {
        const char *const begin = at(from, first.i, first.j + first.column);
        PT_UNROLL_BY_8 for (int row = first.line; row < n_rows; row += lines)
            tile[row * columns + first.column] =
                *(const element *)(begin + (int64_t)row * from.stride_bytes[0]);
    }

    /* Of the second array only what no step writes. */
    static __device__ __forceinline__ void load_edge(const polytile_domain &threads,
                                                     const polytile_view &from,
                                                     const polytile_view &to, const place &first,
                                                     int n_rows, element *tile, element *other) {
        const int64_t j = first.j + first.column;
        PT_DONT_UNROLL for (int row = first.line; row < n_rows; row += lines) {
            const int64_t i = first.i + row;
            if (has(from.resident, i, j))
                tile[row * columns + first.column] = *(const element *)at(from, i, j);
            if (has(to.resident, i, j) && !has(threads, i, j))
                other[row * columns + first.column] = *(const element *)at(to, i, j);
        }
    }

    /* The rows of a tile that a step computes, or that are stored, within a box of threads. */
    struct part {
        int lo, hi;
        bool has_column;
    };

    static __device__ __forceinline__ part part_of(const polytile_tiles &tiles,
                                                   const polytile_domain &threads,
                                                   const place &first, int n_rows, int step) {
        const polytile_range &along_i = threads.range[0], &along_j = threads.range[1];
        const int64_t lo = along_i.lo - first.i, hi = along_i.hi - first.i;
        const int64_t j = first.j + first.column;
        const int least = step * tiles.before[0], most = n_rows - 1 - step * tiles.after[0];
        part made;
        made.lo = lo > least ? (int)lo : least;
        made.hi = hi < most ? (int)hi : most;
        made.has_column = first.column >= step * tiles.before[1] &&
                          first.column < columns - step * tiles.after[1] && j >= along_j.lo &&
                          j <= along_j.hi;
        return made;
    }

    /* The rows of a tile with its border: the last ones have fewer. */
    static __device__ __forceinline__ int rows_of(const polytile_tiles &tiles, const place &first) {
        const int64_t n_left =
            tiles.own.range[0].hi - first.i + 1 + tiles.n_launches * tiles.after[0];
        return n_left < tiles.n_rows ? (int)n_left : tiles.n_rows;
    }

    static __device__ __forceinline__ void make_step(const part &of, const place &first,
                                                     read_view from, const written_view &to,
                                                     const element *tile, element *other) {
        const int64_t j = first.j + first.column;
        from.at = (read_element *)(tile - first.i * columns - first.j);
        from.stride[0] = columns * sizeof(element);
        from.stride[1] = sizeof(element);
        if (of.has_column)
            for (int row = of.lo + first.line * rows; row <= of.hi; row += lines * rows)
                run_rows(first.i + row, of.hi - row + 1, j, from, to,
                         &other[row * columns + first.column]);
    }

    static __device__ __forceinline__ void store(const part &of, const polytile_view &to,
                                                 const place &first, const element *tile) {
        if (of.has_column)
            for (int row = of.lo + first.line; row <= of.hi; row += lines)
                *(element *)at(to, first.i + row, first.j + first.column) =
                    tile[row * columns + first.column];
    }

    static __device__ __forceinline__ void
    run(const polytile_tiles &tiles, const polytile_view &even_from, const polytile_view &even_to,
        const polytile_view &odd_from, const polytile_view &odd_to) {
        extern __shared__ __align__(16) unsigned char pt_shared[];
        element *tile = (element *)pt_shared, *other = tile + tiles.n_rows * columns;
        const int n = tiles.n_launches;
        const int own_rows = tiles.n_rows - n * (tiles.before[0] + tiles.after[0]);
        const int own_columns = columns - n * (tiles.before[1] + tiles.after[1]);
        const place first = {
            tiles.own.range[0].lo + (int64_t)blockIdx.y * own_rows - n * tiles.before[0],
            tiles.own.range[1].lo + (int64_t)blockIdx.x * own_columns - n * tiles.before[1],
            (int)threadIdx.x / columns, (int)threadIdx.x % columns};
        const int n_rows = rows_of(tiles, first);
        if (is_inside(first, n_rows, tiles.threads) && is_inside(first, n_rows, even_from.resident))
            load_inner(even_from, first, n_rows, tile);
        else
            load_edge(tiles.threads, even_from, odd_from, first, n_rows, tile, other);
        for (int step = 1; step <= n; step++) {
            const bool is_odd = step % 2 == 0;
            const read_view from =
                PT_VIEW_OF(read_element, is_odd ? odd_from : even_from, 2, PT_LAST_UNIT, 0, 0);
            const written_view to =
                PT_VIEW_OF(element, is_odd ? odd_to : even_to, 2, PT_LAST_UNIT, 0, 0);
            __syncthreads();
            make_step(part_of(tiles, tiles.threads, first, n_rows, step), first, from, to, tile,
                      other);
            element *const made = other;
            other = tile;
            tile = made;
        }
        __syncthreads();
        store(part_of(tiles, tiles.own, first, n_rows, n), even_to, first, tile);
    }
};

#endif
