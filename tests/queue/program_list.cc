#include "queue/program_list.h"

#include "queue/program_kernels.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace {

int64_t to_the_end(int64_t n) {
    return n - 1;
}
int64_t to_the_last_but_one(int64_t n) {
    return n - 2;
}
int64_t to_a_third(int64_t n) {
    return (n - 2) / 3;
}

polytile_view view_of(std::vector<uint32_t> &memory, int n_dims, int64_t n) {
    polytile_view view = {};
    view.origin = memory.data();
    view.resident = polytile_domain_from_extents(n_dims, std::array<int64_t, 2>{n, n}.data());
    view.stride_bytes[n_dims - 1] = sizeof(uint32_t);
    if (n_dims == 2)
        view.stride_bytes[0] = n * static_cast<int64_t>(sizeof(uint32_t));
    return view;
}

/** What a reduction that starts from the identity overwrites: lines or squares of sums. */
void clear(const ProgramKernel &kernel, int64_t n, const polytile_domain &threads,
           std::vector<uint32_t> *sums) {
    const polytile_range &i = threads.range[0], &j = threads.range[1];
    for (int64_t a = i.lo; a <= i.hi; a++) {
        if (kernel.dims.back() == 1)
            (*sums)[static_cast<size_t>(a)] = 0;
        for (int64_t b = j.lo; kernel.dims.back() == 2 && b <= j.hi; b++)
            (*sums)[static_cast<size_t>(a * n + b)] = 0;
    }
}

/** Values as the body takes them, by their names. */
void add_values(const polytile_implementation &body, const std::vector<GenericValue> &values,
                std::vector<polytile_view> *views) {
    for (int p = 0; p < body.n_parameters; p++)
        for (const GenericValue &value : values)
            if (std::strcmp(body.parameters[p].name, value.given.name) == 0) {
                views->emplace_back();
                views->back().origin = const_cast<uint64_t *>(&value.bits);
            }
}

} // namespace

void run_plainly(const ProgramKernel &kernel, int64_t n, const polytile_domain &threads,
                 const std::vector<std::vector<uint32_t> *> &memory,
                 const std::vector<GenericValue> &values) {
    std::vector<polytile_view> views;
    for (size_t a = 0; a < memory.size(); a++)
        views.push_back(view_of(*memory[a], kernel.dims[a], n));
    add_values(*kernel.implementation, values, &views);
    if (kernel.is_fresh)
        clear(kernel, n, threads, memory.back());
    kernel.implementation->host(&threads, views.data(), nullptr);
}

const std::vector<ProgramKernel> &program_kernels() {
    static const std::vector<ProgramKernel> kernels = {
        {"blend[i]: in x[i], y[i]; out z[i]", &blend_kernel, {1, 1, 1}, 1, 0, to_the_end, 1, false},
        {"grow[i]: inout x[i]", &grow_kernel, {1}, 1, 0, to_the_end, 1, false},
        {"smooth[i]: in x[i-1:i+1]; out y[i]",
         &smooth_kernel,
         {1, 1},
         1,
         1,
         to_the_last_but_one,
         1,
         false},
        {"scatter[i]: in x[i]; out y[3*i+1]", &scatter_kernel, {1, 1}, 1, 0, to_a_third, 1, false},
        {"star[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
         &star_kernel,
         {2, 2},
         2,
         1,
         to_the_last_but_one,
         1,
         false},
        {"turn[i, j]: in A[i, j]; out B[j, i]", &turn_kernel, {2, 2}, 2, 0, to_the_end, 1, false},
        {"outer[i, j]: in x[i], y[j]; out A[i, j]",
         &outer_kernel,
         {1, 1, 2},
         2,
         0,
         to_the_end,
         1,
         false},
        {"product[i, j]: in A[i, :], B[:, j]; out C[i, j]",
         &product_kernel,
         {2, 2, 2},
         2,
         0,
         to_the_end,
         1,
         false},
        {"gather[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]",
         &gather_kernel,
         {2, 2, 2},
         3,
         0,
         to_the_end,
         1,
         false},
        {"gather[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]",
         &gather_kernel,
         {2, 2, 2},
         3,
         0,
         to_the_end,
         1,
         true},
        {"rows[i, j]: in A[i, j]; sum x[i]", &rows_kernel, {2, 1}, 2, 0, to_the_end, 1, false},
        {"rows[i, j]: in A[i, j]; out sum x[i]", &rows_kernel, {2, 1}, 2, 0, to_the_end, 1, true},
        {"triangle[i]: in A[i, 0:i], x[0:i]; out y[i]",
         &triangle_kernel,
         {2, 1, 1},
         1,
         0,
         to_the_end,
         1,
         false},
        {"swap[i, j]: inout A[i, j], B[i, j]", &swap_kernel, {2, 2}, 2, 0, to_the_end, 2, false},
        {"copy1[i]: in x[i]; out y[i]", &copy1_kernel, {1, 1}, 1, 0, to_the_end, 1, false},
        {"copy2[i, j]: in A[i, j]; out B[i, j]", &copy2_kernel, {2, 2}, 2, 0, to_the_end, 1, false},
        {"saxpy[i](u32 a): in x[i]; inout y[i]",
         &saxpy_kernel,
         {1, 1},
         1,
         0,
         to_the_end,
         1,
         false,
         {{"a", POLYTILE_U32}}},
        {"weigh[i, j](f32 v, i16 c, f64 w): in A[i-1:i+1, j]; out B[i, j]",
         &weigh_kernel,
         {2, 2},
         2,
         1,
         to_the_last_but_one,
         1,
         false,
         {{"v", POLYTILE_F32, true, -9, 9}, {"c", POLYTILE_I16}, {"w", POLYTILE_F64, true, -9, 9}}},
        {"shift[i](i8 s, u16 unused, u64 b): in x[i+s]; out y[i]",
         &shift_kernel,
         {1, 1},
         1,
         1,
         to_the_last_but_one,
         1,
         false,
         {{"s", POLYTILE_I8, true, -1, 1}, {"unused", POLYTILE_U16}, {"b", POLYTILE_U64}}},
        {"columns[i, j](u8 w): in A[i, j]; sum x[j]",
         &columns_kernel,
         {2, 1},
         2,
         0,
         to_the_end,
         1,
         false,
         {{"w", POLYTILE_U8}}},
        {"plus[i, j](i64 a): inout A[i, j]",
         &plus_kernel,
         {2},
         2,
         0,
         to_the_end,
         1,
         false,
         {{"a", POLYTILE_I64}}},
    };
    return kernels;
}

size_t count_plain_kernels() {
    const std::vector<ProgramKernel> &kernels = program_kernels();
    return static_cast<size_t>(
        std::count_if(kernels.begin(), kernels.end(),
                      [](const ProgramKernel &of) { return of.parameters.empty(); }));
}

size_t copying_kernel(int n_dims) {
    return count_plain_kernels() - 3 + static_cast<size_t>(n_dims);
}
