#ifndef POLYTILE_TESTS_SUPPORT_FAKE_CUDA_H
#define POLYTILE_TESTS_SUPPORT_FAKE_CUDA_H

#include "support/fake_memory.h"
#include "support/fake_queues.h"
#include "support/fake_team.h"

#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include "launch/cuda/runtime/api.h"
}
#include <polytile/kernel_tile_launch.h>
#include <polytile/message_ring.h>

/**
 * A CUDA runtime that needs no GPU: while it lives, devices that are opened use it.
 *
 * Device memory is heap memory, kernels are host functions, and streams lag after as those of
 * FakeQueues do, so that a missing wait shows up as a wrong result with some seed. What a GPU would
 * not report, but is wrong, becomes a violation.
 */
class FakeCuda {
  public:
    struct Options {
        int n_devices = 1;
        cudaError_t no_gpu_error = cudaErrorNoDevice; /* with no devices: of every call but
                                                          cudaDriverGetVersion() */
        int driver_version = CUDART_VERSION;          /* 0: there is no driver */
        size_t total_bytes = size_t{80} << 30;
        bool are_linked = true;                  /* each GPU with each other one */
        size_t shared_bytes = size_t{228} << 10; /* of a multiprocessor */
        int cache_bytes = 0;                     /* of the last cache */
        cudaError_t loop_error = cudaSuccess;    /* of graphs with WHILE nodes */
        size_t streams_bytes = size_t{2} << 20;  /* of device memory, taken with the first stream */
        int upload_us = 0; /* copies from the host are so late on GPU 1, twice so on GPU 2 */
    };

    explicit FakeCuda(uint64_t seed) : FakeCuda(seed, Options()) {}
    FakeCuda(uint64_t seed, const Options &options);
    ~FakeCuda();
    FakeCuda(const FakeCuda &) = delete;
    FakeCuda &operator=(const FakeCuda &) = delete;

    /** The kernel that launches of a symbol run; without one a symbol is in no CUDA code. */
    void add_kernel(const void *symbol, const polytile_implementation &implementation);
    /** Let the n-th kernel from now on, counted from 1, fault when its turn comes. */
    void let_kernel_fault(int64_t n) { n_kernels_to_fault_ = n; }

    FakeDeviceMemory &memory(int device = 0) { return memory_[static_cast<size_t>(device)]; }
    FakeHostMemory &host() { return host_; }

    /** Bytes of copies that were enqueued from one GPU's memory to another's; -1: the host. */
    int64_t link_bytes(int from, int to) const {
        const auto found = link_bytes_.find({from, to});
        return found == link_bytes_.end() ? 0 : found->second;
    }
    int64_t n_pageable_copies() const { return n_pageable_copies_; }
    int64_t n_pending() const { return queues_.n_pending(); }
    int64_t n_coarse_launches() const { return n_coarse_launches_; }
    /** Launches of kernels that run several launches as one, and those that they ran. */
    int64_t n_tile_launches() const { return n_tile_launches_; }
    int64_t n_tiled() const { return n_tiled_; }
    /** Rounds that WHILE nodes have run. */
    int64_t n_looped() const { return n_looped_; }
    int64_t n_calls(const char *name) const;
    /** What is not freed yet, such as "1 streams, 2 events"; nothing when all is. */
    std::string leaks() const;
    /** What was done wrong, one a line. */
    const std::string &violations() const { return violations_; }

/* The runtime's functions. */
#define POLYTILE_FAKE_CALL(name, parameters) cudaError_t name parameters;
    PTI_CUDA_CALLS(POLYTILE_FAKE_CALL)
#undef POLYTILE_FAKE_CALL

  private:
    static constexpr size_t max_pitch_bytes = INT32_MAX;
    static constexpr unsigned max_block_threads = 1024;
    static constexpr int threads_per_multiprocessor = 2048;
    static constexpr int n_multiprocessors = 4;
    static constexpr size_t reserved_shared_bytes = 1024;
    static thread_local int current_device;

    template <auto Method, int number> friend struct FakeCudaEntry;

    struct Stream {
        FakeQueues::Queue *queue;
        int device;
        cudaGraph_t captured_by; /* NULL: it is not captured */
        bool is_capture_broken;
    };
    static thread_local Stream *capturing; /* by the calling thread; NULL: none */
    struct Event {
        bool has_time;
        int device;
        FakeQueues::MarkPointer latest;
    };
    /** Rows of width bytes, a pitch apart; planes of them, a slice apart. */
    struct Block {
        char *first;
        size_t pitch, slice;
        size_t width, height, depth;

        size_t n_bytes() const { return width * height * depth; }
        ByteRange range() const {
            return byte_range(first, (depth - 1) * slice + (height - 1) * pitch + width);
        }
    };
    struct Kernel {
        polytile_implementation implementation;
        polytile_domain threads;
        std::vector<polytile_view> views;
        std::vector<uint64_t> values; /* of parameters, as they were when it was launched */
        std::vector<polytile_view> pieces;
        pt_slot *slots = nullptr; /* of a team kernel */
        int n_slots = 0;
    };

    /** A chain of nodes; the last one may be a WHILE node. */
    struct Graph {
        std::vector<FakeQueues::Work> nodes; /* but the WHILE node */
        cudaGraphNode_t last = nullptr;
        uint64_t handle = 0; /* of its condition */
        cudaGraph_t body[1] = {nullptr};
    };

    /** A graph that can be launched. */
    struct Loop {
        std::vector<FakeQueues::Work> begin, body;
        uint64_t handle;
    };

    void submit(Stream *stream, FakeQueues::Work work);
    static bool breaks_capture(const char *call);
    FakeQueues::Work set_condition(void **arguments);
    bool is_loop_over(const Loop &loop);

    /** Launches that run as one, tile by tile. */
    struct Tiles {
        polytile_implementation implementation;
        polytile_tiles of;
        std::vector<std::vector<uint64_t>> values; /* of each launch */
    };

    cudaError_t launch_tiles(const polytile_implementation &implementation, dim3 grid, dim3 block,
                             void **arguments, size_t shared_bytes, Stream *stream);
    void run_tiles(const Tiles &tiles);
    Kernel read_arguments(const polytile_implementation &implementation, void **arguments) const;
    cudaError_t before(int call) const;
    void after(int call, cudaError_t error);
    void violate(const std::string &what) {
        violations_ += what + "\n";
    }

    Stream *find(cudaStream_t stream);
    Event *find(cudaEvent_t event);
    bool has_streams(int device) const;
    bool is_on_device(const ByteRange &range) const;
    bool is_allocated(const ByteRange &range) const;
    int device_of(const ByteRange &range) const;
    static Block line_of(const void *first, size_t n_bytes);
    static Block block_of(const cudaPitchedPtr &memory, const cudaPos &at,
                          const cudaExtent &extent);
    template <class Parms> static bool find_blocks(const Parms &parms, Block *to, Block *from);
    cudaError_t copy_peer(const Block &to, int to_device, const Block &from, int from_device,
                          cudaStream_t stream);
    cudaError_t check_side(const ByteRange &range, bool on_device, bool *is_pageable) const;
    cudaError_t copy(const Block &to, const Block &from, cudaMemcpyKind kind, cudaStream_t stream);
    void delay(FakeQueues::Queue *queue, int late_us);
    void run_copy(const Block &to, const Block &from, bool is_pageable);
    void run_slots(const Kernel &kernel, FakeTeam *team);
    cudaError_t check_grid(const polytile_domain &threads, int n_neighbours, dim3 grid, dim3 block);
    void check_origins(const Kernel &run, void **origins);
    bool can_run(const Kernel &kernel);
    bool can_run_over(const std::vector<polytile_view> &views, int64_t element_bytes);
    bool can_begin(const std::vector<bool> &resident);
    static std::vector<polytile_view> all_views(const Kernel &kernel);
    void run_kernel(const Kernel &kernel);
    bool are_resident(const Kernel &kernel, size_t view) const;
    bool is_resident(const polytile_view &view, int64_t element_bytes) const;
    void fault();
    void await_teams();

    mutable std::mutex mutex_;
    Options options_;
    FakeQueues queues_;
    std::list<FakeTeam> teams_; /* of cooperative launches */
    std::vector<FakeDeviceMemory> memory_;
    FakeHostMemory host_;
    std::map<cudaStream_t, Stream> streams_;
    std::map<int, Stream> default_streams_; /* of each device */
    std::map<cudaEvent_t, Event> events_;
    std::map<const void *, polytile_implementation> kernels_;
    uintptr_t last_handle_ = 0; /* handles are never used again */
    cudaError_t fault_ = cudaSuccess;
    int64_t n_kernels_to_fault_ = 0;
    int64_t n_pageable_copies_ = 0;
    int64_t n_coarse_launches_ = 0;
    int64_t n_looped_ = 0;
    std::map<cudaGraph_t, Graph> graphs_;
    std::map<cudaGraphExec_t, Loop> executables_;
    std::map<uint64_t, unsigned> conditions_; /* by their handles, which are never used again */
    std::set<const void *> libraries_;
    int64_t n_tile_launches_ = 0, n_tiled_ = 0;
    std::map<const void *, size_t> shared_bytes_; /* that kernels may have */
    std::map<std::pair<int, int>, int64_t> link_bytes_;
    std::set<std::pair<int, int>> open_links_; /* a GPU, and one whose memory it reaches */
    std::vector<int64_t> n_calls_;
    std::string violations_;
};

#endif
