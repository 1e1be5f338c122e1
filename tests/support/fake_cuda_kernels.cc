#include "support/fake_cuda.h"

#include <algorithm>
#include <cstring>
#include <limits>

extern "C" {
#include "launch/cuda/loop_code.h"
}

/* Kernels. */

namespace {

constexpr uint64_t max_grid_x = std::numeric_limits<int32_t>::max();
constexpr uint64_t max_grid_yz = 65535;
constexpr unsigned max_block_z = 64;

} // namespace

cudaError_t FakeCuda::cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
                                            const void *kernel) {
    if (kernels_.count(kernel) == 0)
        return cudaErrorInvalidDeviceFunction;
    std::memset(attributes, 0, sizeof *attributes);
    attributes->maxThreadsPerBlock = max_block_threads;
    attributes->numRegs = 32;
    attributes->binaryVersion = 90;
    attributes->ptxVersion = 90;
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache cache) {
    (void)cache;
    return kernels_.count(kernel) == 0 ? cudaErrorInvalidDeviceFunction : cudaSuccess;
}

cudaError_t FakeCuda::cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute,
                                           int value) {
    const size_t most_bytes = options_.shared_bytes - reserved_shared_bytes;
    if (kernels_.count(kernel) == 0)
        return cudaErrorInvalidDeviceFunction;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        static_cast<size_t>(value) > most_bytes)
        return cudaErrorInvalidValue;
    shared_bytes_[kernel] = static_cast<size_t>(value);
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n_blocks,
                                                                    const void *kernel,
                                                                    int n_threads,
                                                                    size_t shared_bytes) {
    (void)shared_bytes;
    if (kernels_.count(kernel) == 0)
        return cudaErrorInvalidDeviceFunction;
    if (n_threads < 1)
        return cudaErrorInvalidValue;
    *n_blocks = n_threads > static_cast<int>(max_block_threads)
                    ? 0
                    : std::min(32, threads_per_multiprocessor / n_threads);
    return cudaSuccess;
}

/** Every thread of a box has its place: the last index along x, the one before along y, where one
 * thread may run several neighbours, and all others along z. */
cudaError_t FakeCuda::check_grid(const polytile_domain &threads, int n_neighbours, dim3 grid,
                                 dim3 block) {
    if (grid.x < 1 || grid.y < 1 || grid.z < 1 || grid.x > max_grid_x || grid.y > max_grid_yz ||
        grid.z > max_grid_yz || block.x < 1 || block.y < 1 || block.z < 1 ||
        block.z > max_block_z || block.x > max_block_threads || block.y > max_block_threads ||
        uint64_t{block.x} * block.y * block.z > max_block_threads)
        return cudaErrorInvalidConfiguration;
    uint64_t wanted[3] = {1, 1, 1};
    for (int d = 0; d < threads.n_dims; d++)
        wanted[std::min(threads.n_dims - 1 - d, 2)] *= static_cast<uint64_t>(
            (threads.range[d].hi - threads.range[d].lo) / threads.range[d].step + 1);
    wanted[1] = (wanted[1] - 1) / static_cast<uint64_t>(n_neighbours) + 1;
    const uint64_t given[3] = {uint64_t{grid.x} * block.x, uint64_t{grid.y} * block.y,
                               uint64_t{grid.z} * block.z};
    for (int axis = 0; axis < 3; axis++) {
        if (given[axis] < wanted[axis]) {
            violate("a grid has " + std::to_string(given[axis]) + " threads along " + "xyz"[axis] +
                    ", and the box " + std::to_string(wanted[axis]));
            return cudaErrorInvalidConfiguration;
        }
    }
    return cudaSuccess;
}

/** The threads, the views and the values of parameters. */
FakeCuda::Kernel FakeCuda::read_arguments(const polytile_implementation &implementation,
                                          void **arguments) const {
    Kernel run = {implementation, *static_cast<const polytile_domain *>(arguments[0]), {}, {}, {}};
    const int n_views = implementation.n_views;
    for (int k = 0; k < n_views; k++)
        run.views.push_back(*static_cast<const polytile_view *>(arguments[1 + k]));
    for (int p = 0; p < implementation.n_parameters; p++) {
        run.values.push_back(0);
        std::memcpy(&run.values.back(), arguments[1 + n_views + p],
                    static_cast<size_t>(implementation.parameters[p].bytes));
    }
    return run;
}

/** A coarse kernel finds its views' memory once more after its values. */
void FakeCuda::check_origins(const Kernel &run, void **origins) {
    for (size_t k = 0; k < run.views.size(); k++)
        if (*static_cast<void **>(origins[k]) != run.views[k].origin)
            violate("a coarse kernel gets another origin of view " + std::to_string(k));
}

cudaError_t FakeCuda::cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                       size_t shared_bytes, cudaStream_t stream) {
    Stream *own = find(stream);
    const auto found = kernels_.find(kernel);
    if (own == nullptr || own->device != current_device)
        return cudaErrorInvalidResourceHandle;
    if (kernel == pti_loop_code) {
        submit(own, set_condition(arguments));
        return cudaSuccess;
    }
    if (found == kernels_.end())
        return cudaErrorInvalidDeviceFunction;
    if (kernel == found->second.cuda_tiles)
        return launch_tiles(found->second, grid, block, arguments, shared_bytes, own);
    Kernel run = read_arguments(found->second, arguments);
    if (kernel == run.implementation.cuda_pieces) {
        const int last = 1 + run.implementation.n_views + run.implementation.n_parameters;
        const auto *list = static_cast<const polytile_pieces *>(arguments[last]);
        run.pieces.assign(list->piece, list->piece + POLYTILE_MAX_PIECES);
    }
    const bool is_coarse = kernel == run.implementation.cuda_coarse;
    n_coarse_launches_ += is_coarse;
    if (is_coarse)
        check_origins(run, arguments + 1 + run.views.size() + run.values.size());
    const cudaError_t error =
        check_grid(run.threads, is_coarse ? run.implementation.n_coarse : 1, grid, block);
    if (error == cudaSuccess)
        submit(own, [this, run] { run_kernel(run); });
    return error;
}

/** A slot is a block along x; the first argument are the slots. */
cudaError_t FakeCuda::cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block,
                                                  void **arguments, size_t shared_bytes,
                                                  cudaStream_t stream) {
    Stream *own = find(stream);
    int n_blocks = 0;
    if (own == nullptr || own->device != current_device)
        return cudaErrorInvalidResourceHandle;
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &n_blocks, kernel, static_cast<int>(block.x), shared_bytes);
    if (error != cudaSuccess)
        return error;
    if (grid.x > static_cast<unsigned>(n_blocks * n_multiprocessors))
        return cudaErrorCooperativeLaunchTooLarge;
    Kernel run = read_arguments(kernels_[kernel], arguments + 1);
    run.slots = *static_cast<pt_slot **>(arguments[0]);
    run.n_slots = static_cast<int>(grid.x);
    teams_.emplace_back();
    FakeTeam *team = &teams_.back();
    queues_.enqueue_running(
        own->queue, [this, run, team] { run_slots(run, team); },
        [team] { return team->is_over(); });
    return cudaSuccess;
}

/** The thread of a box whose number in C order is a slot's. */
static polytile_domain find_thread(const polytile_domain &threads, int64_t slot) {
    polytile_domain one = threads;
    for (int d = threads.n_dims - 1; d >= 0; d--) {
        const polytile_range &range = threads.range[d];
        const int64_t count = (range.hi - range.lo) / range.step + 1;
        one.range[d].lo = one.range[d].hi = range.lo + slot % count * range.step;
        slot /= count;
    }
    return one;
}

void FakeCuda::run_slots(const Kernel &kernel, FakeTeam *team) {
    if (!can_run(kernel))
        return;
    const size_t n_bytes = static_cast<size_t>(kernel.n_slots) * sizeof(pt_slot);
    if (!is_allocated(byte_range(kernel.slots, n_bytes)))
        violate("slots are not in device memory");
    team->begin(kernel.n_slots, [kernel](int slot) {
        const polytile_domain thread = find_thread(kernel.threads, slot);
        const std::vector<polytile_view> views = all_views(kernel);
        kernel.implementation.team->host(&thread, views.data(), &kernel.slots[slot]);
    });
}

/** Whether all that a view shows is device memory; of a diagonal, whose box has corners that are
 * nowhere, some. */
bool FakeCuda::is_resident(const polytile_view &view, int64_t element_bytes) const {
    auto first = reinterpret_cast<uint64_t>(view.origin);
    int64_t span_bytes = element_bytes;
    for (int d = 0; d < view.resident.n_dims; d++) {
        const polytile_range &range = view.resident.range[d];
        if (range.hi < range.lo)
            return true;
        const auto stride_bytes = static_cast<uint64_t>(view.stride_bytes[d]);
        first += static_cast<uint64_t>(range.lo) * stride_bytes;
        span_bytes +=
            static_cast<int64_t>(static_cast<uint64_t>(range.hi - range.lo) * stride_bytes);
    }
    const auto span =
        byte_range(reinterpret_cast<const char *>(first), static_cast<size_t>(span_bytes));
    const bool is_diagonal = view.n_pieces == 0 && (view.first_piece & POLYTILE_DIAGONAL) != 0;
    return is_diagonal ? is_on_device(span) : is_allocated(span);
}

/** Whether all pieces of an array are device memory, or the one that its view shows. */
bool FakeCuda::are_resident(const Kernel &kernel, size_t view) const {
    const polytile_view &of = kernel.views[view];
    const int64_t element_bytes = kernel.implementation.views[view].element_bytes;
    if (of.n_pieces == 0)
        return is_resident(of, element_bytes);
    bool are = true;
    for (int32_t k = 0; k < of.n_pieces; k++)
        are = are &&
              is_resident(kernel.pieces[static_cast<size_t>(of.first_piece + k)], element_bytes);
    return are;
}

/** Whether a kernel can begin: its views are in device memory, and it is not one that is to
 * fault. */
bool FakeCuda::can_run(const Kernel &kernel) {
    std::vector<bool> resident;
    for (size_t k = 0; k < kernel.views.size(); k++)
        resident.push_back(are_resident(kernel, k));
    return can_begin(resident);
}

/** The same of a kernel over views of one type. */
bool FakeCuda::can_run_over(const std::vector<polytile_view> &views, int64_t element_bytes) {
    std::vector<bool> resident;
    for (const polytile_view &view : views)
        resident.push_back(is_resident(view, element_bytes));
    return can_begin(resident);
}

/** Whether a kernel can begin whose views are in device memory, or not. */
bool FakeCuda::can_begin(const std::vector<bool> &resident) {
    for (size_t k = 0; k < resident.size(); k++) {
        if (!resident[k]) {
            violate("view " + std::to_string(k) + " of a kernel is not in device memory");
            fault();
            return false;
        }
    }
    const bool is_to_fault = n_kernels_to_fault_ > 0 && --n_kernels_to_fault_ == 0;
    if (is_to_fault)
        fault();
    return !is_to_fault;
}

/** Views as host functions have them: of arrays, of values, and of pieces. */
std::vector<polytile_view> FakeCuda::all_views(const Kernel &kernel) {
    std::vector<polytile_view> views = kernel.views;
    for (const uint64_t &value : kernel.values) {
        views.emplace_back();
        views.back().origin = const_cast<uint64_t *>(&value);
    }
    views.insert(views.end(), kernel.pieces.begin(), kernel.pieces.end());
    return views;
}

void FakeCuda::run_kernel(const Kernel &kernel) {
    if (!can_run(kernel))
        return;
    const std::vector<polytile_view> views = all_views(kernel);
    kernel.implementation.host(&kernel.threads, views.data(), kernel.implementation.user);
}
