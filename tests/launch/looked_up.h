#ifndef POLYTILE_TESTS_LAUNCH_LOOKED_UP_H
#define POLYTILE_TESTS_LAUNCH_LOOKED_UP_H

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <polytile/kernel.h>
#include <polytile/polytile.h>
#include <string>
#include <vector>

#include "api/compressed_rows.h"
#include "support/random.h"

/* Kernels whose subscripts hold elements of index arrays, over matrices in compressed rows,
 * compared bit for bit with plain loops; every plan is proved. */

namespace looked_up {

COMPRESSED_ROWS(rows_i32, int32_t)
COMPRESSED_ROWS(rows_i64, int64_t)
MATRIX_ENTRIES(entries_i32, int32_t)
MATRIX_ENTRIES(entries_i64, int64_t)

POLYTILE_KERNEL(gather_i32, (e), (const float, x, 1), (const int32_t, K, 1), (float, z, 1)) {
    PT_AT(z, e) = PT_AT(x, PT_AT(K, e));
}

POLYTILE_KERNEL(gather_i64, (e), (const float, x, 1), (const int64_t, K, 1), (float, z, 1)) {
    PT_AT(z, e) = PT_AT(x, PT_AT(K, e));
}

LISTED_ROWS(listed_i32, int32_t)
LISTED_ROWS(listed_i64, int64_t)

POLYTILE_KERNEL(chain_i32, (i), (const float, x, 1), (const int32_t, K, 1), (const int32_t, S, 1),
                (float, z, 1)) {
    PT_AT(z, i) = PT_AT(x, PT_AT(K, PT_AT(S, i)));
}

POLYTILE_KERNEL(chain_i64, (i), (const float, x, 1), (const int64_t, K, 1), (const int64_t, S, 1),
                (float, z, 1)) {
    PT_AT(z, i) = PT_AT(x, PT_AT(K, PT_AT(S, i)));
}

enum Kind { ROWS, ENTRIES, GATHER, LISTED, CHAIN, N_KINDS };

inline const char *const declarations[] = {
    "rows[i]: in V[P[i]:P[i+1]-1], x[K[P[i]:P[i+1]-1]]; out y[i]",
    "entries[e]: in V[e], x[K[e]]; sum y[R[e]]", "gather[e]: in x[K[e]]; out z[e]",
    "listed[i]: in V[P[L[i]]:P[L[i]+1]-1], x[K[P[L[i]]:P[L[i]+1]-1]]; out y[i]",
    "chain[i]: in x[K[S[i]]]; out z[i]"};

inline const polytile_implementation *const implementations[][2] = {
    {&rows_i32_kernel, &rows_i64_kernel},
    {&entries_i32_kernel, &entries_i64_kernel},
    {&gather_i32_kernel, &gather_i64_kernel},
    {&listed_i32_kernel, &listed_i64_kernel},
    {&chain_i32_kernel, &chain_i64_kernel}};

/** Index arrays of a matrix, whose rows may be empty and columns in any order, and lists of some of
 * its rows and entries, in any order. At least one element lies in memory, since arrays have
 * some. */
struct Matrix {
    Matrix(int64_t rows, int64_t n_columns, Random *random) : n_rows(rows), P(1, 0) {
        const int64_t most = random->one_of({0, 1, 3, 9}), is_band = random->chance(50);
        const int64_t width = random->number(1, n_columns);
        const int64_t empty_percent = random->one_of({0, 30, 95});
        for (int64_t i = 0; i < n_rows; i++) {
            const int64_t n = random->chance(static_cast<int>(empty_percent))
                                  ? 0
                                  : random->number(0, random->chance(3) ? 10 * most : most);
            for (int64_t k = 0; k < n; k++) {
                const int64_t first = is_band ? i * (n_columns - width) / n_rows : 0;
                K.push_back(first + random->number(0, is_band ? width - 1 : n_columns - 1));
                R.push_back(i);
            }
            P.push_back(P.back() + n);
        }
        n_entries = P.back();
        K.resize(static_cast<size_t>(std::max<int64_t>(n_entries, 1)));
        R.resize(K.size());
        for (size_t k = 0; k < K.size(); k++)
            V.push_back(static_cast<float>(random->number(-4, 4)));
        for (int64_t c = 0; c < n_columns; c++)
            x.push_back(static_cast<float>(random->number(-4, 4)));
        for (int64_t n = random->number(1, 2 * n_rows); n > 0; n--) {
            L.push_back(random->number(0, n_rows - 1));
            S.push_back(random->number(0, static_cast<int64_t>(K.size()) - 1));
        }
        if (random->chance(50))
            std::sort(L.begin(), L.end());
    }

    int64_t n_threads(Kind kind) const {
        return kind == ROWS                        ? n_rows
               : kind == ENTRIES || kind == GATHER ? n_entries
                                                   : static_cast<int64_t>(L.size());
    }

    size_t n_results(Kind kind) const {
        const int64_t n = kind == ENTRIES ? n_rows : n_threads(kind);
        return static_cast<size_t>(std::max<int64_t>(1, n));
    }

    int64_t n_rows, n_entries;
    std::vector<int64_t> P, K, R, L, S;
    std::vector<float> V, x;
};

/** Arrays of a launch in memory, which is kept as long as this lives. */
class Arrays {
  public:
    Arrays(polytile_context *ctx, bool is_wide) : ctx_(ctx), is_wide_(is_wide) {}

    void add_indices(const char *name, const std::vector<int64_t> &values) {
        std::vector<unsigned char> bytes(values.size() * (is_wide_ ? 8 : 4));
        for (size_t k = 0; k < values.size(); k++) {
            const int32_t narrow = static_cast<int32_t>(values[k]);
            std::memcpy(&bytes[k * (is_wide_ ? 8 : 4)],
                        is_wide_ ? static_cast<const void *>(&values[k]) : &narrow,
                        is_wide_ ? 8 : 4);
        }
        add(name, is_wide_ ? POLYTILE_I64 : POLYTILE_I32, values.size(), std::move(bytes));
    }

    void add_values(const char *name, const std::vector<float> &values) {
        std::vector<unsigned char> bytes(values.size() * sizeof(float));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        add(name, POLYTILE_F32, values.size(), std::move(bytes));
    }

    std::vector<float> read(size_t array) const {
        std::vector<float> values(memory_[array].size() / sizeof(float));
        std::memcpy(values.data(), memory_[array].data(), memory_[array].size());
        return values;
    }

    int64_t n_bytes() const {
        int64_t sum = 0;
        for (const auto &bytes : memory_)
            sum += static_cast<int64_t>(bytes.size());
        return sum;
    }

    std::vector<polytile_array *> list;

  private:
    void add(const char *name, polytile_type type, size_t n, std::vector<unsigned char> bytes) {
        const int64_t extent = static_cast<int64_t>(n);
        memory_.push_back(std::move(bytes));
        list.push_back(nullptr);
        EXPECT_EQ(
            polytile_array_wrap(ctx_, name, type, 1, &extent, memory_.back().data(), &list.back()),
            POLYTILE_OK)
            << polytile_last_error(ctx_);
    }

    polytile_context *ctx_;
    bool is_wide_;
    std::vector<std::vector<unsigned char>> memory_;
};

/** Gives the position of the result. */
inline size_t add_arrays(Kind kind, const Matrix &of, const std::vector<float> &before,
                         Arrays *to) {
    if (kind == ROWS || kind == LISTED) {
        to->add_values("V", of.V);
        to->add_indices("P", of.P);
        if (kind == LISTED)
            to->add_indices("L", of.L);
        to->add_values("x", of.x);
        to->add_indices("K", of.K);
        to->add_values("y", before);
        return to->list.size() - 1;
    }
    if (kind == ENTRIES)
        to->add_values("V", of.V);
    to->add_values("x", of.x);
    to->add_indices("K", of.K);
    if (kind == CHAIN)
        to->add_indices("S", of.S);
    to->add_values(kind == ENTRIES ? "y" : "z", before);
    if (kind == ENTRIES)
        to->add_indices("R", of.R);
    return kind == GATHER ? 2 : 3;
}

inline float expect_row(const Matrix &of, int64_t row) {
    const auto r = static_cast<size_t>(row);
    float sum = 0;
    for (int64_t k = of.P[r]; k < of.P[r + 1]; k++)
        sum +=
            of.V[static_cast<size_t>(k)] * of.x[static_cast<size_t>(of.K[static_cast<size_t>(k)])];
    return sum;
}

inline std::vector<float> expect_result(Kind kind, const Matrix &of, std::vector<float> result) {
    for (size_t i = 0; i < static_cast<size_t>(of.n_threads(kind)); i++)
        switch (kind) {
        case ROWS:
            result[i] = expect_row(of, static_cast<int64_t>(i));
            break;
        case LISTED:
            result[i] = expect_row(of, of.L[i]);
            break;
        case GATHER:
            result[i] = of.x[static_cast<size_t>(of.K[i])];
            break;
        case CHAIN:
            result[i] = of.x[static_cast<size_t>(of.K[static_cast<size_t>(of.S[i])])];
            break;
        default:
            result[static_cast<size_t>(of.R[i])] += of.V[i] * of.x[static_cast<size_t>(of.K[i])];
        }
    return result;
}

/** Run a random kernel over a random matrix on a device; false when nothing fits, or there is
 * nothing to do. */
inline bool round_runs_right(const std::string &device_name, Random *random) {
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_device *device = nullptr;
    EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    const int64_t n_rows = random->one_of({1, 2, 17, 127, 400});
    const Matrix matrix(n_rows, random->one_of({1, 5, 97, 300}), random);
    const Kind kind = static_cast<Kind>(random->number(0, N_KINDS - 1));
    const bool is_wide = random->chance(50);
    const int64_t n_threads = matrix.n_threads(kind);
    polytile_implementation implementation = *implementations[kind][is_wide];
    implementation.cuda = reinterpret_cast<const void *>(implementation.host);
    const std::vector<float> before(matrix.n_results(kind), kind == ENTRIES ? 3.0f : -1.0f);
    Arrays arrays(ctx, is_wide);
    const size_t result = add_arrays(kind, matrix, before, &arrays);
    EXPECT_EQ(polytile_kernel_create(ctx, declarations[kind], &implementation, &kernel),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    const char *strategies[] = {nullptr, "min-time", "min-traffic", "min-kernels"};
    polytile_launch_options options = {};
    int64_t block = random->number(1, 9);
    options.plan.strategy = strategies[random->number(0, 3)];
    options.plan.n_buffers = static_cast<int>(random->number(0, 3));
    options.plan.block = random->chance(50) ? &block : nullptr;
    const int64_t limit_bytes =
        64 + random->number(0, 2 * arrays.n_bytes() >> random->number(0, 6));
    const bool has_limit = device_name != "host" || random->chance(90);
    const std::string text =
        device_name + (has_limit ? "(memory=" + std::to_string(limit_bytes) + "B)" : "");
    EXPECT_EQ(polytile_device_open(ctx, text.c_str(), &device), POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_status status = POLYTILE_NO_FIT;
    if (n_threads > 0)
        status = polytile_run(device, kernel, POLYTILE_EXTENTS(n_threads),
                              static_cast<int>(arrays.list.size()), arrays.list.data(), &options);
    const bool has_run = status == POLYTILE_OK;
    if (has_run)
        EXPECT_EQ(arrays.read(result), expect_result(kind, matrix, before)) << text;
    else
        EXPECT_EQ(status, POLYTILE_NO_FIT) << polytile_last_error(ctx);
    polytile_context_destroy(ctx);
    return has_run;
}

} // namespace looked_up

#endif
