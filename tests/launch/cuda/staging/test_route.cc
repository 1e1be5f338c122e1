#include "support/failing_api.h"
#include "support/fake_cuda.h"
#include "support/launch.h"

#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

extern "C" {
#include "access/array/array.h"
#include "launch/cuda/staging/registrations.h"
#include "launch/cuda/staging/route.h"
}

namespace {

constexpr int64_t n_elements = 1 << 18;
constexpr int64_t array_bytes = n_elements * 4;

/** A run of a kernel with two arrays whose schedule moves x up and y down some times. */
class Scene {
  public:
    explicit Scene(int n_threads, int n_times = 1) : values_(n_pages() * 1024) {
        const std::string text = "cuda:0(memory=1MiB,threads=" + std::to_string(n_threads) + ")";
        polytile_device *device = nullptr;
        EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
        EXPECT_EQ(polytile_device_open(ctx_, text.c_str(), &device), POLYTILE_OK)
            << polytile_last_error(ctx_);
        cuda = pti_cuda_of(device);
        cuda->device.link = polytile_link_default;
        const int64_t extent = n_elements;
        for (int a = 0; a < 2; a++) {
            const char *const names[] = {"x", "y"};
            EXPECT_EQ(polytile_array_wrap(ctx_, names[a], POLYTILE_F32, 1, &extent, memory(a),
                                          &arrays[a]),
                      POLYTILE_OK);
            placements_[a].operand = a;
        }
        for (int k = 0; k < n_times; k++) {
            add(PTI_UPLOAD, 0);
            add(PTI_DOWNLOAD, 1);
        }
        instance_.n_operands = 2;
        schedule.instance = &instance_;
        schedule.placement = placements_;
        schedule.op = ops_.data();
        schedule.n_ops = static_cast<int64_t>(ops_.size());
    }
    ~Scene() { polytile_context_destroy(ctx_); }
    Scene(const Scene &) = delete;
    Scene &operator=(const Scene &) = delete;

    /** Let all that it moves come so many times. */
    void repeat(int64_t n_turns) {
        schedule.period.times = n_turns;
        schedule.period.n_ops = schedule.n_ops;
    }

    /** Of an array, with pages of its own. */
    float *memory(int operand) {
        const auto begin = reinterpret_cast<uintptr_t>(values_.data());
        const uintptr_t first_page = (begin + 4095) / 4096 * 4096 - begin;
        return values_.data() + first_page / 4 + operand * n_elements;
    }
    ByteRange range(int operand) { return byte_range(memory(operand), array_bytes); }
    std::string error() const { return polytile_last_error(ctx_); }

    polytile_status begin() { return pti_cuda_routes_begin(cuda, &schedule, arrays, kinds); }
    polytile_status end() { return pti_cuda_routes_end(cuda, &schedule, arrays, kinds); }

    pti_cuda_device *cuda = nullptr;
    polytile_array *arrays[2] = {};
    pti_schedule schedule = {};
    pti_cuda_host_memory kinds[2];

  private:
    static size_t n_pages() { return 2 * array_bytes / 4096 + 1; }

    void add(pti_op_kind kind, int64_t placement) {
        pti_op op = {};
        op.kind = kind;
        op.placement = placement;
        op.bytes = array_bytes;
        ops_.push_back(op);
    }

    polytile_context *ctx_ = nullptr;
    std::vector<float> values_;
    pti_instance instance_ = {};
    pti_placement placements_[2] = {};
    std::vector<pti_op> ops_;
};

TEST(CudaRoute, UsesTheUsersPinnedMemoryInPlace) {
    FakeCuda fake(1);
    Scene scene(1, 100);
    fake.host().declare(scene.range(0), cudaMemoryTypeHost);
    fake.host().declare(scene.range(1), cudaMemoryTypeHost);
    EXPECT_EQ(scene.begin(), POLYTILE_OK) << scene.error();
    EXPECT_EQ(scene.kinds[0], PTI_CUDA_PINNED);
    EXPECT_EQ(scene.kinds[1], PTI_CUDA_PINNED);
    EXPECT_EQ(fake.host().n_registrations(), 0);
    EXPECT_EQ(scene.end(), POLYTILE_OK);
}

TEST(CudaRoute, MemoryPinnedInPartIsPageable) {
    FakeCuda fake(1);
    Scene scene(16);
    fake.host().declare(byte_range(scene.memory(0), array_bytes / 2), cudaMemoryTypeHost);
    EXPECT_EQ(scene.begin(), POLYTILE_OK) << scene.error();
    EXPECT_EQ(scene.kinds[0], PTI_CUDA_PAGEABLE);
    EXPECT_EQ(scene.end(), POLYTILE_OK);
}

TEST(CudaRoute, RefusesMemoryThatIsNotTheHosts) {
    const struct {
        cudaMemoryType type;
        const char *error;
    } rows[] = {
        {cudaMemoryTypeDevice,
         "array y lies in device memory; polytile moves arrays itself: give host memory"},
        {cudaMemoryTypeManaged,
         "array y lies in managed memory; polytile moves arrays itself: give host memory"},
    };
    for (const auto &row : rows) {
        FakeCuda fake(1);
        Scene scene(1, 100);
        fake.host().declare(scene.range(1), row.type);
        EXPECT_EQ(scene.begin(), POLYTILE_INVALID);
        EXPECT_EQ(scene.error(), row.error);
        EXPECT_EQ(scene.end(), POLYTILE_OK);
        EXPECT_EQ(fake.host().n_registrations(), 0);
    }
}

/* Pinning takes as long as moving the array 1.9 times over the link. One thread stages 10 GB/s and
 * the link takes 55: pinning pays from 0.4 times on, with four threads from 4.8 times on, with
 * threads enough for the link never. */
TEST(CudaRoute, PinsWhatCostsMoreToStage) {
    const struct {
        int n_threads, n_times;
        bool pins;
    } rows[] = {{1, 1, true}, {2, 1, false}, {2, 2, true}, {3, 2, false},
                {3, 3, true}, {4, 4, false}, {4, 5, true}, {16, 1000, false}};
    for (const auto &row : rows) {
        FakeCuda fake(1);
        Scene scene(row.n_threads, row.n_times);
        EXPECT_EQ(scene.begin(), POLYTILE_OK) << scene.error();
        for (pti_cuda_host_memory kind : scene.kinds)
            EXPECT_EQ(kind, row.pins ? PTI_CUDA_REGISTERED : PTI_CUDA_PAGEABLE)
                << row.n_threads << " threads, " << row.n_times << " times";
        EXPECT_EQ(fake.host().n_registrations(), row.pins ? 2 : 0);
        EXPECT_EQ(scene.end(), POLYTILE_OK);
        EXPECT_EQ(fake.host().n_registrations(), 0);
    }
}

TEST(CudaRoute, CountsEachTurnOfAPeriod) {
    const struct {
        int64_t n_turns;
        bool pins;
    } rows[] = {{4, false}, {5, true}};
    for (const auto &row : rows) {
        FakeCuda fake(1);
        Scene scene(4);
        scene.repeat(row.n_turns);
        EXPECT_EQ(scene.begin(), POLYTILE_OK) << scene.error();
        EXPECT_EQ(fake.host().n_registrations(), row.pins ? 2 : 0) << row.n_turns << " turns";
        EXPECT_EQ(scene.end(), POLYTILE_OK);
    }
}

TEST(CudaRoute, SharesWhatAnotherRunHasPinned) {
    FakeCuda fake(1);
    Scene first(1, 100), second(1, 100);
    second.arrays[0]->data = first.arrays[0]->data;
    EXPECT_EQ(first.begin(), POLYTILE_OK) << first.error();
    EXPECT_EQ(second.begin(), POLYTILE_OK) << second.error();
    EXPECT_EQ(second.kinds[0], PTI_CUDA_REGISTERED);
    EXPECT_EQ(fake.host().n_registrations(), 3);
    EXPECT_EQ(first.end(), POLYTILE_OK);
    EXPECT_EQ(fake.host().type_of(first.memory(0)), cudaMemoryTypeHost);
    EXPECT_EQ(fake.host().n_registrations(), 2);
    EXPECT_EQ(second.end(), POLYTILE_OK);
    EXPECT_EQ(fake.host().n_registrations(), 0);
}

TEST(CudaRoute, StagesWhatAnotherRunHasPinnedInPart) {
    FakeCuda fake(1);
    Scene first(1, 100), second(1, 100);
    second.arrays[0]->data = first.memory(0) + 1;
    second.arrays[0]->n_bytes -= 8;
    EXPECT_EQ(first.begin(), POLYTILE_OK) << first.error();
    EXPECT_EQ(second.begin(), POLYTILE_OK) << second.error();
    EXPECT_EQ(second.kinds[0], PTI_CUDA_PAGEABLE);
    EXPECT_EQ(second.kinds[1], PTI_CUDA_REGISTERED);
    EXPECT_EQ(first.end(), POLYTILE_OK);
    EXPECT_EQ(second.end(), POLYTILE_OK);
    EXPECT_EQ(fake.host().n_registrations(), 0);
}

/* Of addresses that nothing lies at, which the fake runtime does not look at. */
TEST(CudaRoute, PinsHalfOfTheMachinesMemoryAtMost) {
    FakeCuda fake(1);
    Scene scene(1);
    const int64_t half_bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 2;
    void *const one = reinterpret_cast<void *>(uintptr_t{1} << 50);
    void *const other = reinterpret_cast<void *>(uintptr_t{1} << 51);
    EXPECT_NE(pti_registrations_take(scene.cuda, one, half_bytes + 1), nullptr);
    EXPECT_EQ(fake.host().n_registrations(), 0);
    EXPECT_EQ(pti_registrations_take(scene.cuda, one, half_bytes), nullptr);
    EXPECT_NE(pti_registrations_take(scene.cuda, other, 1), nullptr);
    EXPECT_EQ(pti_registrations_give_back(scene.cuda, one), POLYTILE_OK);
    EXPECT_EQ(pti_registrations_take(scene.cuda, other, 1), nullptr);
    EXPECT_EQ(pti_registrations_give_back(scene.cuda, other), POLYTILE_OK);
    EXPECT_EQ(fake.host().n_registrations(), 0);
}

TEST(CudaRoute, NeverPinsAMappedFile) {
    FakeCuda fake(1);
    Scene scene(1, 100);
    scene.arrays[0]->mapping = scene.memory(0);
    EXPECT_EQ(scene.begin(), POLYTILE_OK) << scene.error();
    EXPECT_EQ(scene.kinds[0], PTI_CUDA_PAGEABLE);
    EXPECT_EQ(scene.kinds[1], PTI_CUDA_REGISTERED);
    EXPECT_EQ(scene.end(), POLYTILE_OK);
    scene.arrays[0]->mapping = nullptr;
}

TEST(CudaRoute, StagesWhatCannotBePinned) {
    FakeCuda fake(1);
    Scene scene(1, 100);
    fake.host().declare(byte_range(scene.memory(0) + 5000, 4), cudaMemoryTypeHost);
    EXPECT_EQ(scene.begin(), POLYTILE_OK) << scene.error();
    EXPECT_EQ(scene.kinds[0], PTI_CUDA_PAGEABLE);
    EXPECT_EQ(scene.kinds[1], PTI_CUDA_REGISTERED);
    EXPECT_EQ(scene.error(), "");
    EXPECT_EQ(scene.cuda->api->cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(scene.end(), POLYTILE_OK);
}

TEST(CudaRoute, UnpinsAllEvenWhenUnpinningFails) {
    FakeCuda fake(1);
    {
        FailingApi failing;
        Scene scene(1, 100);
        EXPECT_EQ(scene.begin(), POLYTILE_OK) << scene.error();
        failing.let_fail(1, "cudaHostUnregister", cudaErrorUnknown);
        EXPECT_EQ(scene.end(), POLYTILE_DEVICE);
        EXPECT_NE(scene.error().find("cudaHostUnregister"), std::string::npos) << scene.error();
        EXPECT_EQ(scene.end(), POLYTILE_OK);
        EXPECT_EQ(fake.host().n_registrations(), 0);
    }
}

TEST(CudaRoute, PacksShortRunsWhenThereAreMany) {
    const struct {
        const char *array, *box;
        int64_t element_bytes;
        pti_cuda_host_memory kind;
        bool is_staged;
    } rows[] = {
        {"1000000", "0:99999", 4, PTI_CUDA_PINNED, false},
        {"1000000", "0:0", 4, PTI_CUDA_PAGEABLE, true},
        {"1000000", "0:99998:2", 4, PTI_CUDA_PINNED, true},
        {"1000000", "0:99998:2", 4, PTI_CUDA_REGISTERED, true},
        {"1000000", "0:9998:2", 4, PTI_CUDA_PINNED, false},
        {"1000000", "0:99998:2", 64, PTI_CUDA_PINNED, false},
        {"10000x1000", "0:9999, 3:17", 4, PTI_CUDA_PINNED, true},
        {"10000x1000", "0:9999, 3:18", 4, PTI_CUDA_PINNED, false},
        {"10000x10x10", "0:9999, 0:9, 0:9", 4, PTI_CUDA_PINNED, false},
    };
    for (const auto &row : rows) {
        const polytile_domain array = domain_of(std::string(row.array));
        pti_op op = {};
        op.box = domain_of(std::string(row.box));
        op.bytes = pti_box_count(&op.box) * row.element_bytes;
        const pti_memory_layout host = pti_memory_layout_of(&array, row.element_bytes);
        const pti_memory_layout device = pti_memory_layout_of(&op.box, row.element_bytes);
        pti_command command = {};
        command.op = &op;
        command.move = {&op.box, row.element_bytes, {nullptr, &device}, {nullptr, &host}};
        op.kind = PTI_UPLOAD;
        EXPECT_EQ(pti_cuda_is_staged(&command, &row.kind), row.is_staged) << row.box;
        std::swap(command.move.to, command.move.from);
        op.kind = PTI_DOWNLOAD;
        EXPECT_EQ(pti_cuda_is_staged(&command, &row.kind), row.is_staged) << row.box;
        op.kind = PTI_COPY;
        EXPECT_FALSE(pti_cuda_is_staged(&command, &row.kind)) << row.box;
    }
}

TEST(CudaRoute, ElementsLargerThanABufferGoDirectly) {
    const int64_t extents[] = {3};
    pti_op op = {};
    op.kind = PTI_UPLOAD;
    op.box = polytile_domain_from_extents(1, extents);
    op.bytes = 3 * (int64_t{4} << 20);
    const pti_memory_layout layout = pti_memory_layout_of(&op.box, int64_t{4} << 20);
    const pti_cuda_host_memory kind = PTI_CUDA_PAGEABLE;
    pti_command command = {};
    command.op = &op;
    command.move = {&op.box, int64_t{4} << 20, {nullptr, &layout}, {nullptr, &layout}};
    EXPECT_FALSE(pti_cuda_is_staged(&command, &kind));
}

} // namespace
