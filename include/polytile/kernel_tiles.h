#ifndef POLYTILE_KERNEL_TILES_H
#define POLYTILE_KERNEL_TILES_H

/*
 * Several launches as one CUDA kernel, tile by tile in shared memory; included by kernel_cuda.h.
 *
 * A body has such a kernel if it has two indices and takes two to four views of two dimensions and
 * one type, all but one of them of const elements. A thread block loads a tile with its border of
 * each array, makes all steps there, each over a smaller part of it, and stores its own elements at
 * the end. What it computes of its border other blocks compute, too. The views are roles: which
 * array has which one changes from step to step (kernel_tile_launch.h). So do parameters' values.
 *
 * The body reads views of shared memory and writes to a view of the thread's own registers, several
 * rows a thread: nothing is stored between two rows, so that what both of them read is loaded once.
 * Its indices are those of the arrays.
 *
 * Where POLYTILE_PERIODIC_TILES is 1, tiles go round periodic arrays, too. That is much code, of
 * which other kernels have nothing.
 *
 * The kernel takes a polytile_tiles, and a pt_tile_values for each parameter of the body.
 */
#include <polytile/kernel_tile_launch.h>

#define PT_CUDA_TILES_FUNCTION(kernel, indices, ...)                                               \
    PT_CAT(PT_TILES_, PT_CAT(PT_TILES_INDICES indices, PT_TILES_VIEWS(kernel, __VA_ARGS__)))       \
    (PT_DEFINE_TILES, kernel, __VA_ARGS__)
#define PT_CUDA_TILES_GO_ROUND (POLYTILE_PERIODIC_TILES != 0)
#define PT_CUDA_TILES(kernel, indices, ...)                                                        \
    PT_CAT(PT_TILES_, PT_CAT(PT_TILES_INDICES indices, PT_TILES_VIEWS(kernel, __VA_ARGS__)))       \
    (PT_CHOOSE_TILES, kernel, __VA_ARGS__)(const void *) 0

/* YES for two indices, and for two to four views, all of two dimensions. */
#define PT_TILES_INDICES(...)       PT_9TH(__VA_ARGS__, NO, NO, NO, NO, NO, NO, YES, NO, NO)
#define PT_TILES_VIEWS(kernel, ...) PT_TILES_COUNTED(NO PT_EACH(PT_TILES_VIEW, kernel, __VA_ARGS__))
#define PT_TILES_COUNTED(...)       PT_9TH(__VA_ARGS__, NO, NO, NO, YES, YES, YES, NO, NO, NO)
#define PT_TILES_VIEW_2(kernel, T, a)
#define PT_TILES_VIEW_3(kernel, T, A, n_dims) PT_CAT(PT_TILES_DIMS_, n_dims)
#define PT_TILES_DIMS_1                       , NO, NO, NO, NO, NO, NO, NO, NO
#define PT_TILES_DIMS_2                       , NO
#define PT_TILES_DIMS_3                       PT_TILES_DIMS_1
#define PT_TILES_DIMS_4                       PT_TILES_DIMS_1
#define PT_TILES_DIMS_5                       PT_TILES_DIMS_1
#define PT_TILES_DIMS_6                       PT_TILES_DIMS_1
#define PT_TILES_DIMS_7                       PT_TILES_DIMS_1
#define PT_TILES_DIMS_8                       PT_TILES_DIMS_1

#define PT_TILES_NONO(...)
#define PT_TILES_NOYES(...)
#define PT_TILES_YESNO(...)
#define PT_TILES_YESYES(M, ...) M(__VA_ARGS__)

/* The kernel, which is empty for views of other types, and its address, before an alternative. */
#define PT_DEFINE_TILES(kernel, ...)                                                               \
    struct kernel##_tile_body {                                                                    \
        typedef pt_tile_kind<0 PT_EACH(PT_TILE_BYTES, kernel, __VA_ARGS__)                         \
                                 PT_EACH(PT_TILE_TYPE, kernel, __VA_ARGS__)>                       \
            kind;                                                                                  \
        typedef pt_tile_way<PT_CUDA_TILES_GO_ROUND> way;                                           \
        struct pt_views {                                                                          \
            PT_EACH(PT_TILE_MEMBER, kernel, __VA_ARGS__)                                           \
        };                                                                                         \
        PT_EACH(PT_TILE_STEPS, kernel, __VA_ARGS__)                                                \
        template <class pt_any>                                                                    \
        static __device__ __forceinline__ void                                                     \
        show(const pt_any &pt_images, const polytile_tile_role *pt_role, pt_views *pt_made) {      \
            PT_EACH(PT_TILE_SHOW, kernel, __VA_ARGS__)                                             \
        }                                                                                          \
        template <class pt_any>                                                                    \
        __device__ __forceinline__ void run(int64_t pt_i, int64_t pt_j, const pt_views &pt_from,   \
                                            int pt_step, pt_any *pt_own) const {                   \
            PT_EACH(PT_TILE_LOCAL, kernel, __VA_ARGS__)                                            \
            kernel##_thread(pt_i, pt_j PT_EACH(PT_PASS, kernel, __VA_ARGS__));                     \
        }                                                                                          \
    };                                                                                             \
    PT_CUDA_LINKAGE __global__ void __launch_bounds__(POLYTILE_TILE_THREADS) kernel##_cuda_tiles(  \
        const polytile_tiles pt_tiles PT_EACH(PT_TILE_ARGUMENT, kernel, __VA_ARGS__)) {            \
        const kernel##_tile_body pt_run = {PT_EACH(PT_TILE_GIVEN, kernel, __VA_ARGS__)};           \
        pt_tile_steps<kernel##_tile_body, kernel##_tile_body::kind::is_made>::run(pt_tiles,        \
                                                                                  pt_run);         \
    }
#define PT_CHOOSE_TILES(kernel, ...)                                                               \
    kernel##_tile_body::kind::is_made ? (const void *)kernel##_cuda_tiles:

/* What each place needs of a parameter, the tuple (T, a), and of a view, (T, A, n_dims). */
#define PT_TILE_BYTES_2(kernel, T, a) +(int)sizeof(T)
#define PT_TILE_BYTES_3(kernel, T, A, n_dims)
#define PT_TILE_TYPE_2(kernel, T, a)
#define PT_TILE_TYPE_3(kernel, T, A, n_dims) , T
#define PT_TILE_MEMBER_2(kernel, T, a)
#define PT_TILE_MEMBER_3(kernel, T, A, n_dims) kernel##_##A##_view A;
#define PT_TILE_STEPS_2(kernel, T, a)          const pt_tile_values<T, kind::is_made> &pt_of_##a;
#define PT_TILE_STEPS_3(kernel, T, A, n_dims)
#define PT_TILE_SHOW_2(kernel, T, a)
#define PT_TILE_SHOW_3(kernel, T, A, n_dims) pt_images.show(*pt_role++, &pt_made->A);
#define PT_TILE_LOCAL_2(kernel, T, a)        const T a = pt_of_##a.of_step(pt_step);
#define PT_TILE_LOCAL_3(kernel, T, A, n_dims)                                                      \
    kernel##_##A##_view A = pt_from.A;                                                             \
    pt_turn_to_own(&A, A.at, pt_own, pt_i, pt_j);
#define PT_TILE_ARGUMENT_2(kernel, T, a)                                                           \
    , const PT_GRID_CONSTANT pt_tile_values<T, kernel##_tile_body::kind::is_made> pt_of_##a
#define PT_TILE_ARGUMENT_3(kernel, T, A, n_dims)
#define PT_TILE_GIVEN_2(kernel, T, a) pt_of_##a,
#define PT_TILE_GIVEN_3(kernel, T, A, n_dims)

/* Values are read where they are, not from a copy in local memory. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define PT_GRID_CONSTANT __grid_constant__
#else
#define PT_GRID_CONSTANT
#endif

/* The values of a parameter, one a launch. */
template <class T, int is_made> struct pt_tile_values { __device__ T of_step(int step) const; };
template <class T> struct pt_tile_values<T, 1> {
    T step[POLYTILE_TILE_LAUNCHES];
    __device__ __forceinline__ T of_step(int k) const { return step[k]; }
};

/* Whether the views of a body are of one type, and one of them alone is written; which one. */
template <class T> struct pt_tile_element {
    typedef T type;
    enum { is_const = 0 };
};
template <class T> struct pt_tile_element<const T> {
    typedef T type;
    enum { is_const = 1 };
};
template <class T, class U> struct pt_tile_same {
    enum { value = 0 };
};
template <class T> struct pt_tile_same<T, T> {
    enum { value = 1 };
};
template <class... Views> struct pt_tile_roles;
template <class T> struct pt_tile_roles<T> {
    typedef typename pt_tile_element<T>::type element;
    enum { are_alike = 1, n_written = !pt_tile_element<T>::is_const, written = 0 };
};
template <class T, class U, class... More> struct pt_tile_roles<T, U, More...> {
    typedef typename pt_tile_element<T>::type element;
    typedef pt_tile_roles<U, More...> others;
    enum {
        are_alike = others::are_alike && pt_tile_same<element, typename others::element>::value,
        n_written = others::n_written + !pt_tile_element<T>::is_const,
        written = pt_tile_element<T>::is_const ? 1 + others::written : 0
    };
};
template <int parameter_bytes, class... Views> struct pt_tile_kind {
    typedef pt_tile_roles<Views...> roles;
    typedef typename roles::element element;
    enum {
        written = roles::written,
        is_made = roles::are_alike && roles::n_written == 1 &&
                  parameter_bytes <= POLYTILE_TILE_PARAMETER_BYTES
    };
};

/* Whether the tiles of a body go round periodic arrays: functions for the other way are not
 * instantiated. */
template <bool goes_round> struct pt_tile_way {};

/* Let a view of elements that are written have the one at `own` with any indices. */
template <class View, class T>
__device__ __forceinline__ void pt_turn_to_own(View *, const T *, T *, int64_t, int64_t) {}
template <class View, class T>
__device__ __forceinline__ void pt_turn_to_own(View *view, T *, T *own, int64_t i, int64_t j) {
    view->at = own - i - j;
    view->stride[0] = view->stride[1] = sizeof(T);
    view->n_pieces = 0;
}

/* A tile of each array, one after the other. Columns are side by side. `at` is where the first
 * array's element with all indices 0 would be. */
template <class T> struct pt_tile_images {
    T *at;
    int n_elements;

    __device__ __forceinline__ T *of(int array) const { return at + array * n_elements; }

    template <class View>
    __device__ __forceinline__ void show(const polytile_tile_role &role, View *made) const {
        made->at = of(role.array);
        made->stride[0] = POLYTILE_TILE_COLUMNS * sizeof(T);
        made->stride[1] = sizeof(T);
        PT_UNROLL for (int d = 0; d < 2; d++) {
            made->first[d] = role.resident.lo[d];
            made->last[d] = role.resident.hi[d];
            made->array_first[d] = role.whole.lo[d];
            made->array_last[d] = role.whole.hi[d];
        }
        made->pieces = 0;
        made->n_pieces = made->has_edges = 0;
    }
};

/* The same of tiles that go round, with the array's own indices: wherever a body looks for what is
 * beyond an end, it finds it. `at` is the first array's first element. */
template <class T> struct pt_tile_rounds {
    T *at;
    int n_elements;
    const pt_round *round;

    template <class View>
    __device__ __forceinline__ void show(const polytile_tile_role &role, View *made) const {
        const pt_tile_images<T> images = {at, n_elements};
        images.show(role, made);
        made->pieces = (const polytile_view *)round;
        made->n_pieces = -1;
        made->has_edges = 1;
    }
};

template <class Body, int is_made> struct pt_tile_steps {
    static __device__ __forceinline__ void run(const polytile_tiles &, const Body &) {}
};

template <class Body> struct pt_tile_steps<Body, 1> {
    typedef typename Body::kind::element element;
    typedef typename Body::pt_views views;
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

    static __device__ __forceinline__ char *at(const polytile_tile_memory &memory, int64_t i,
                                               int64_t j) {
        return (char *)pt_behind(memory.origin, (uint64_t)i * (uint64_t)memory.row_bytes +
                                                    (uint64_t)j * sizeof(element));
    }

    /* What a thread reads of the element that it writes is there before. */
    static __device__ __forceinline__ void run_rows(const Body &body, int step, int64_t i, int n,
                                                    int64_t j, const views &from, element *made) {
        if (n >= rows) {
            element own[rows];
            PT_UNROLL for (int k = 0; k < rows; k++) own[k] = made[k * columns];
            PT_UNROLL for (int k = 0; k < rows; k++) body.run(i + k, j, from, step, &own[k]);
            PT_UNROLL for (int k = 0; k < rows; k++) made[k * columns] = own[k];
        } else {
            PT_DONT_UNROLL for (int k = 0; k < n; k++)
                body.run(i + k, j, from, step, &made[k * columns]);
        }
    }

    /* Whether all of a tile is inside of a box. */
    static __device__ __forceinline__ bool is_inside(const place &first, int n_rows,
                                                     const polytile_tile_box &box) {
        return first.i >= box.lo[0] && first.i + n_rows - 1 <= box.hi[0] && first.j >= box.lo[1] &&
               first.j + columns - 1 <= box.hi[1];
    }

    static __device__ __forceinline__ bool has(const polytile_tile_box &box, int64_t i, int64_t j) {
        return i >= box.lo[0] && i <= box.hi[0] && j >= box.lo[1] && j <= box.hi[1];
    }

    /* Many loads under way matter more than all else here. */
    static __device__ __forceinline__ void
    load_inner(const polytile_tile_memory &from, const place &first, int n_rows, element *tile) {
        const char *const begin = at(from, first.i, first.j + first.column);
        PT_UNROLL_BY_8 for (int row = first.line; row < n_rows; row += lines)
            tile[row * columns + first.column] =
                *(const element *)(begin + (int64_t)row * from.row_bytes);
    }

    static __device__ __forceinline__ int32_t extent_of(const polytile_tile_box &round, int dim) {
        return (int32_t)(round.hi[dim] - round.lo[dim] + 1);
    }

    /* How far an index is from that of the array's element which it stands for. */
    static __device__ __forceinline__ int64_t turn(const polytile_tile_box &round, int dim,
                                                   int64_t index) {
        const int64_t extent = extent_of(round, dim);
        return index < round.lo[dim] ? extent : index > round.hi[dim] ? -extent : 0;
    }

    static __device__ __forceinline__ void
    load_edge(pt_tile_way<false>, const polytile_tiles &tiles, const polytile_tile_array &of,
              const place &first, int n_rows, element *tile) {
        const int64_t j = first.j + first.column;
        PT_DONT_UNROLL for (int row = first.line; row < n_rows; row += lines) {
            const int64_t i = first.i + row;
            const bool is_written = has(tiles.threads, i, j);
            if (has(of.resident, i, j) && (!is_written || of.is_loaded))
                tile[row * columns + first.column] =
                    *(const element *)at(is_written ? of.begun : of.kept, i, j);
        }
    }

    static __device__ __forceinline__ void load_edge(pt_tile_way<true>, const polytile_tiles &tiles,
                                                     const polytile_tile_array &of,
                                                     const place &first, int n_rows,
                                                     element *tile) {
        const int64_t j = first.j + first.column + turn(tiles.round, 1, first.j + first.column);
        PT_DONT_UNROLL for (int row = first.line; row < n_rows; row += lines) {
            const int64_t i = first.i + row + turn(tiles.round, 0, first.i + row);
            const bool is_written = has(tiles.threads, i, j);
            const bool is_beyond = !has(of.resident, i, j);
            if ((!is_beyond || has(of.resident_beyond, i, j)) && (!is_written || of.is_loaded))
                tile[row * columns + first.column] = *(const element *)at(is_beyond    ? of.beyond
                                                                          : is_written ? of.begun
                                                                                       : of.kept,
                                                                          i, j);
        }
    }

    /* Of an array that is not loaded, only what no launch writes. */
    static __device__ __forceinline__ void load(const polytile_tiles &tiles, const place &first,
                                                int n_rows, element *tile) {
        const bool is_inner = is_inside(first, n_rows, tiles.threads);
        PT_DONT_UNROLL for (int a = 0; a < tiles.n_arrays; a++) {
            const polytile_tile_array &of = tiles.array[a];
            if (!is_inner || (of.is_loaded && !is_inside(first, n_rows, of.resident)))
                load_edge(typename Body::way(), tiles, of, first, n_rows, tile);
            else if (of.is_loaded)
                load_inner(of.begun, first, n_rows, tile);
            tile += tiles.n_rows * columns;
        }
    }

    /* The rows of a tile that a step computes, or that are stored, within a box of threads. */
    struct part {
        int lo, hi;
        bool has_column;
    };

    static __device__ __forceinline__ bool has_column(const polytile_tiles &tiles,
                                                      const polytile_tile_box &threads, int64_t j,
                                                      int column, int step) {
        return column >= step * tiles.before[1] && column < columns - step * tiles.after[1] &&
               j >= threads.lo[1] && j <= threads.hi[1];
    }

    static __device__ __forceinline__ part part_of(const polytile_tiles &tiles,
                                                   const polytile_tile_box &threads,
                                                   const place &first, int n_rows, int step) {
        const int64_t lo = threads.lo[0] - first.i, hi = threads.hi[0] - first.i;
        const int64_t j = first.j + first.column;
        const int least = step * tiles.before[0], most = n_rows - 1 - step * tiles.after[0];
        part made;
        made.lo = lo > least ? (int)lo : least;
        made.hi = hi < most ? (int)hi : most;
        made.has_column = has_column(tiles, threads, j, first.column, step);
        return made;
    }

    /* The rows of a tile with its border: the last ones have fewer. */
    static __device__ __forceinline__ int rows_of(const polytile_tiles &tiles, const place &first) {
        const int64_t n_left = tiles.own.hi[0] - first.i + 1 + tiles.n_launches * tiles.after[0];
        return n_left < tiles.n_rows ? (int)n_left : tiles.n_rows;
    }

    static __device__ __forceinline__ void make_step(const Body &body, int step, const part &of,
                                                     const place &first, const views &from,
                                                     element *made) {
        const int64_t j = first.j + first.column;
        if (of.has_column)
            for (int row = of.lo + first.line * rows; row <= of.hi; row += lines * rows)
                run_rows(body, step, first.i + row, of.hi - row + 1, j, from,
                         &made[row * columns + first.column]);
    }

    /* Whether all that is read for some indices along a dimension is on one side of the ends. */
    static __device__ __forceinline__ bool is_in_turn(const polytile_tiles &tiles, int dim,
                                                      int64_t index, int n) {
        return turn(tiles.round, dim, index - tiles.before[dim]) ==
               turn(tiles.round, dim, index + n - 1 + tiles.after[dim]);
    }

    /* Threads have the array's indices. Those that read across an end are left out. */
    static __device__ __forceinline__ void
    make_step_in_turn(const polytile_tiles &tiles, const Body &body, int step, const part &of,
                      const place &first, const pt_tile_images<element> &images,
                      const polytile_tile_role *role, element *made) {
        const int64_t j = first.j + first.column, dj = turn(tiles.round, 1, j);
        if (!of.has_column || !is_in_turn(tiles, 1, j, 1))
            return;
        PT_DONT_UNROLL for (int row = of.lo + first.line * rows; row <= of.hi;
                            row += lines * rows) {
            const int n = of.hi - row + 1 < rows ? of.hi - row + 1 : rows;
            const int n_together = is_in_turn(tiles, 0, first.i + row, n) ? n : 1;
            PT_DONT_UNROLL for (int k = 0; k < n; k += n_together) {
                const int64_t i = first.i + row + k, di = turn(tiles.round, 0, i);
                const pt_tile_images<element> turned = {images.at - di * columns - dj,
                                                        images.n_elements};
                views from;
                Body::show(turned, role, &from);
                if (is_in_turn(tiles, 0, i, n_together))
                    run_rows(body, step, i + di, n_together, j + dj, from,
                             &made[(row + k) * columns + first.column]);
            }
        }
    }

    /* The threads beside an end that read across it, along a dimension: they look each element
     * up. All threads of the block take some. */
    static __device__ __forceinline__ void
    make_step_across(const polytile_tiles &tiles, const Body &body, int step, const part &of,
                     const place &first, const pt_tile_rounds<element> &rounds,
                     const polytile_tile_role *role, int dim, int64_t end, element *made) {
        const int n = tiles.before[dim] + tiles.after[dim], n_rows = of.hi + 1;
        const int64_t begin = end - (dim == 0 ? first.i : first.j) - tiles.after[dim];
        if (begin + n <= 0 || begin >= (dim == 0 ? n_rows : columns))
            return;
        PT_DONT_UNROLL for (int k = first.line * columns + first.column;
                            k < n * (dim == 0 ? columns : n_rows); k += POLYTILE_TILE_THREADS) {
            const int row = dim == 0 ? (int)begin + k / columns : k / n;
            const int column = dim == 0 ? k % columns : (int)begin + k % n;
            const int64_t i = first.i + row, j = first.j + column;
            if (row < of.lo || row > of.hi ||
                !has_column(tiles, tiles.threads, j, column, step + 1) ||
                (dim == 1 && !is_in_turn(tiles, 0, i, 1)))
                continue;
            views from;
            Body::show(rounds, role, &from);
            body.run(i + turn(tiles.round, 0, i), j + turn(tiles.round, 1, j), from, step,
                     &made[row * columns + column]);
        }
    }

    static __device__ __forceinline__ void
    make_step_round(const polytile_tiles &tiles, const Body &body, int step, const part &of,
                    const place &first, const pt_tile_images<element> &images,
                    const polytile_tile_role *role, element *made) {
        const pt_round round = {{(int32_t)first.i, (int32_t)first.j},
                                {extent_of(tiles.round, 0), extent_of(tiles.round, 1)}};
        const pt_tile_rounds<element> rounds = {images.at + first.i * columns + first.j,
                                                images.n_elements, &round};
        make_step_in_turn(tiles, body, step, of, first, images, role, made);
        PT_DONT_UNROLL for (int side = 0; side < 4; side++) {
            const int dim = side / 2;
            make_step_across(tiles, body, step, of, first, rounds, role, dim,
                             side % 2 == 0 ? tiles.round.lo[dim] : tiles.round.hi[dim] + 1, made);
        }
    }

    /* Whether any of a tile is beyond an end, where tiles go on. */
    static __device__ __forceinline__ bool goes_round(pt_tile_way<false>, const polytile_tiles &,
                                                      const place &, int) {
        return false;
    }

    static __device__ __forceinline__ bool
    goes_round(pt_tile_way<true>, const polytile_tiles &tiles, const place &first, int n_rows) {
        return !is_inside(first, n_rows, tiles.round);
    }

    static __device__ __forceinline__ void
    make_step_either(pt_tile_way<false>, const polytile_tiles &, bool, const Body &body, int step,
                     const part &of, const place &first, const pt_tile_images<element> &,
                     const polytile_tile_role *, const views &from, element *made) {
        make_step(body, step, of, first, from, made);
    }

    static __device__ __forceinline__ void
    make_step_either(pt_tile_way<true>, const polytile_tiles &tiles, bool is_round,
                     const Body &body, int step, const part &of, const place &first,
                     const pt_tile_images<element> &images, const polytile_tile_role *role,
                     const views &from, element *made) {
        if (is_round)
            make_step_round(tiles, body, step, of, first, images, role, made);
        else
            make_step(body, step, of, first, from, made);
    }

    static __device__ __forceinline__ void store(const part &of, const polytile_tile_memory &to,
                                                 const place &first, const element *tile) {
        if (of.has_column)
            for (int row = of.lo + first.line; row <= of.hi; row += lines)
                *(element *)at(to, first.i + row, first.j + first.column) =
                    tile[row * columns + first.column];
    }

    static __device__ __forceinline__ void run(const polytile_tiles &tiles, const Body &body) {
        extern __shared__ __align__(16) unsigned char pt_shared[];
        element *const tile = (element *)pt_shared;
        const int n = tiles.n_launches, n_elements = tiles.n_rows * columns;
        const int own_rows = tiles.n_rows - n * (tiles.before[0] + tiles.after[0]);
        const int own_columns = columns - n * (tiles.before[1] + tiles.after[1]);
        const place first = {tiles.own.lo[0] + (int64_t)blockIdx.y * own_rows - n * tiles.before[0],
                             tiles.own.lo[1] + (int64_t)blockIdx.x * own_columns -
                                 n * tiles.before[1],
                             (int)threadIdx.x / columns, (int)threadIdx.x % columns};
        const int n_rows = rows_of(tiles, first);
        const pt_tile_images<element> images = {tile - first.i * columns - first.j, n_elements};
        const typename Body::way way = {};
        const bool is_round = goes_round(way, tiles, first, n_rows);
        load(tiles, first, n_rows, tile);
        int phase = 0;
        for (int step = 1; step <= n; step++) {
            const polytile_tile_role *const role = tiles.role[phase];
            const part part = part_of(tiles, tiles.threads, first, n_rows, step);
            element *const made = tile + role[Body::kind::written].array * n_elements;
            views from;
            Body::show(images, role, &from);
            __syncthreads();
            make_step_either(way, tiles, is_round, body, step - 1, part, first, images, role, from,
                             made);
            phase = phase + 1 < tiles.n_phases ? phase + 1 : 0;
        }
        __syncthreads();
        for (int a = 0; a < tiles.n_arrays; a++)
            if (tiles.array[a].is_stored)
                store(part_of(tiles, tiles.own, first, n_rows, n), tiles.array[a].made, first,
                      tile + a * n_elements);
    }
};

#endif
