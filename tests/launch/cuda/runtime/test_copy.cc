#include "support/box_memory.h"
#include "support/scale.h"

#include <cstring>
#include <gtest/gtest.h>
#include <string>

extern "C" {
#include "launch/cuda/runtime/copy.h"
#include "launch/device/reduction.h"
#include "launch/host/copy/box_copy.h"
}

/* The runtime here copies and sets host memory at once, and notes what it was asked for. */

namespace {

struct Calls {
    int n_1d, n_2d, n_3d, n_set;
    size_t most_from_host_bytes;
};

Calls calls;
bool moves_bytes;
cudaError_t answer;

/** A block of rows in rows of planes. */
struct Place {
    char *first;
    size_t pitch, plane;
};

struct Extent {
    size_t width, height, depth;
};

size_t span(const Place &place, const Extent &extent) {
    return place.plane * (extent.depth - 1) + place.pitch * (extent.height - 1) + extent.width;
}

void expect_valid(const Place &to, const Place &from, const Extent &extent, cudaMemcpyKind kind) {
    const size_t most_pitch = INT32_MAX;
    for (const Place &place : {to, from}) {
        EXPECT_TRUE(extent.height == 1 || place.pitch >= extent.width);
        EXPECT_TRUE(extent.height == 1 || place.pitch <= most_pitch);
        EXPECT_TRUE(extent.depth == 1 || place.plane >= place.pitch * extent.height);
    }
    if (kind == cudaMemcpyDeviceToDevice) {
        EXPECT_TRUE(to.first + span(to, extent) <= from.first ||
                    from.first + span(from, extent) <= to.first);
    }
}

cudaError_t copy(const Place &to, const Place &from, const Extent &extent, cudaMemcpyKind kind) {
    expect_valid(to, from, extent, kind);
    const size_t n_bytes = extent.width * extent.height * extent.depth;
    if (kind == cudaMemcpyHostToDevice)
        calls.most_from_host_bytes = std::max(calls.most_from_host_bytes, n_bytes);
    for (size_t z = 0; z < extent.depth && moves_bytes; z++) {
        for (size_t y = 0; y < extent.height; y++)
            std::memcpy(to.first + z * to.plane + y * to.pitch,
                        from.first + z * from.plane + y * from.pitch, extent.width);
    }
    return answer;
}

char *bytes(const void *memory) {
    return static_cast<char *>(const_cast<void *>(memory));
}

cudaError_t copy_1d(void *to, const void *from, size_t n_bytes, cudaMemcpyKind kind, cudaStream_t) {
    calls.n_1d++;
    return copy({bytes(to), 0, 0}, {bytes(from), 0, 0}, {n_bytes, 1, 1}, kind);
}

cudaError_t copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                    size_t height, cudaMemcpyKind kind, cudaStream_t) {
    calls.n_2d++;
    return copy({bytes(to), to_pitch, 0}, {bytes(from), from_pitch, 0}, {width, height, 1}, kind);
}

Place place_of(const cudaPitchedPtr &memory) {
    return {bytes(memory.ptr), memory.pitch, memory.pitch * memory.ysize};
}

cudaError_t copy_3d(const cudaMemcpy3DParms *parameters, cudaStream_t) {
    calls.n_3d++;
    EXPECT_EQ(parameters->dstArray, nullptr);
    EXPECT_EQ(parameters->srcArray, nullptr);
    const cudaExtent &extent = parameters->extent;
    return copy(place_of(parameters->dstPtr), place_of(parameters->srcPtr),
                {extent.width, extent.height, extent.depth}, parameters->kind);
}

cudaError_t copy_1d_peer(void *to, int to_number, const void *from, int from_number, size_t n_bytes,
                         cudaStream_t stream) {
    EXPECT_EQ(to_number, 1);
    EXPECT_EQ(from_number, 3);
    return copy_1d(to, from, n_bytes, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t copy_3d_peer(const cudaMemcpy3DPeerParms *parameters, cudaStream_t) {
    calls.n_3d++;
    EXPECT_EQ(parameters->dstDevice, 1);
    EXPECT_EQ(parameters->srcDevice, 3);
    EXPECT_EQ(parameters->dstArray, nullptr);
    EXPECT_EQ(parameters->srcArray, nullptr);
    const cudaExtent &extent = parameters->extent;
    return copy(place_of(parameters->dstPtr), place_of(parameters->srcPtr),
                {extent.width, extent.height, extent.depth}, cudaMemcpyDeviceToDevice);
}

cudaError_t set_2d(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t) {
    calls.n_set++;
    EXPECT_TRUE(height == 1 || (pitch >= width && pitch <= INT32_MAX));
    for (size_t y = 0; y < height && moves_bytes; y++)
        std::memset(bytes(to) + y * pitch, value, width);
    return answer;
}

struct Gpu {
    Gpu() {
        calls = {};
        moves_bytes = true;
        answer = cudaSuccess;
        api.cudaMemcpyAsync = copy_1d;
        api.cudaMemcpy2DAsync = copy_2d;
        api.cudaMemcpy3DAsync = copy_3d;
        api.cudaMemcpyPeerAsync = copy_1d_peer;
        api.cudaMemcpy3DPeerAsync = copy_3d_peer;
        api.cudaMemset2DAsync = set_2d;
        api.cudaGetLastError = [] { return cudaSuccess; };
        api.cudaMemGetInfo = [](size_t *, size_t *) { return cudaSuccess; };
        polytile_context_create(&context);
        cuda.device.object.context = context;
        cuda.api = &api;
        cuda.number = 1;
        cuda.n_lanes = 1;
    }
    ~Gpu() { polytile_context_destroy(context); }
    Gpu(const Gpu &) = delete;
    Gpu &operator=(const Gpu &) = delete;

    polytile_context *context = nullptr;
    pti_cuda_api api = {};
    pti_cuda_device cuda = {};
};

TEST(CudaCopy, EqualsTheHostsCopyOfRandomBoxes) {
    Random random(test_seed("CudaCopy.EqualsTheHostsCopyOfRandomBoxes"));
    for (int64_t round = 0; round < scaled(5000) && !HasFailure(); round++) {
        Gpu gpu;
        const polytile_domain box = random_box(random, 5);
        const int64_t element_bytes = random.one_of({1, 2, 4, 8, 12});
        Memory to(random_hull(random, box), element_bytes, 1), expected = to;
        Memory from(random_hull(random, box), element_bytes, 2), peer_to = to;
        pti_move move = {&box, element_bytes, to.image(), from.image()};
        pti_move on_host = {&box, element_bytes, expected.image(), from.image()};
        pti_box_copy(&on_host, 1);
        ASSERT_EQ(pti_cuda_copy(&gpu.cuda, &move, cudaMemcpyDeviceToDevice, nullptr), POLYTILE_OK);
        EXPECT_EQ(to.bytes, expected.bytes);
        move.to = peer_to.image();
        ASSERT_EQ(pti_cuda_copy_from_peer(&gpu.cuda, &move, 3, nullptr), POLYTILE_OK);
        EXPECT_EQ(peer_to.bytes, expected.bytes);
    }
}

TEST(CudaCopy, TakesAsFewCallsAsTheDimensionsAllow) {
    const int64_t wide = int64_t{1} << 30;
    const struct {
        std::vector<polytile_range> box, from;
        int n_1d, n_2d, n_3d;
    } rows[] = {
        {{{0, 9, 1}}, {{0, 9, 1}}, 1, 0, 0},
        {{{0, 9, 1}, {0, 7, 1}}, {{0, 9, 1}, {0, 7, 1}}, 1, 0, 0},
        {{{2, 9, 1}, {2, 6, 1}}, {{0, 9, 1}, {0, 7, 1}}, 0, 1, 0},
        {{{0, 9, 3}}, {{0, 9, 1}}, 0, 1, 0},
        {{{3, 3, 1}, {2, 6, 1}}, {{0, 9, 1}, {0, 7, 1}}, 1, 0, 0},
        {{{1, 2, 1}, {2, 9, 1}, {2, 6, 1}}, {{0, 3, 1}, {0, 9, 1}, {0, 7, 1}}, 0, 0, 1},
        {{{1, 2, 1}, {0, 9, 1}, {2, 6, 1}}, {{0, 3, 1}, {0, 9, 1}, {0, 7, 1}}, 0, 1, 0},
        {{{1, 2, 1}, {2, 8, 2}, {2, 6, 1}}, {{0, 3, 1}, {0, 8, 1}, {0, 7, 1}}, 0, 2, 0},
        {{{1, 7, 1}, {2, 8, 2}, {2, 6, 1}}, {{0, 9, 1}, {0, 8, 1}, {0, 7, 1}}, 0, 4, 0},
        {{{0, 2, 1}, {1, 2, 1}, {2, 9, 1}, {2, 6, 1}},
         {{0, 3, 1}, {0, 3, 1}, {0, 9, 1}, {0, 7, 1}},
         0,
         0,
         3},
        {{{1, 3, 1}, {0, 7, 1}}, {{0, 9, 1}, {0, wide - 1, 1}}, 3, 0, 0},
        {{{1, 2, 1}, {1, 3, 1}, {0, 7, 1}}, {{0, 9, 1}, {0, 3, 1}, {0, wide / 4 - 1, 1}}, 0, 0, 1},
    };
    for (const auto &row : rows) {
        Gpu gpu;
        moves_bytes = false;
        const polytile_domain box = domain_of(row.box), from = domain_of(row.from);
        const pti_memory_layout to_layout = pti_memory_layout_of(&box, 4),
                                from_layout = pti_memory_layout_of(&from, 4);
        char *const somewhere = reinterpret_cast<char *>(int64_t{1} << 44);
        pti_move move = {&box, 4, {somewhere, &to_layout}, {somewhere, &from_layout}};
        ASSERT_EQ(pti_cuda_copy(&gpu.cuda, &move, cudaMemcpyHostToDevice, nullptr), POLYTILE_OK);
        SCOPED_TRACE(&row - rows);
        EXPECT_EQ(calls.n_1d, row.n_1d);
        EXPECT_EQ(calls.n_2d, row.n_2d);
        EXPECT_EQ(calls.n_3d, row.n_3d);
    }
}

TEST(CudaCopy, EnqueuesNothingForAnEmptyBox) {
    Gpu gpu;
    const polytile_domain hull = domain_of({{0, 3, 1}}), box = pti_box_empty(1);
    Memory to(hull, 4, 1), from(hull, 4, 2);
    pti_move move = {&box, 4, to.image(), from.image()};
    EXPECT_EQ(pti_cuda_copy(&gpu.cuda, &move, cudaMemcpyHostToDevice, nullptr), POLYTILE_OK);
    EXPECT_EQ(pti_cuda_fill(&gpu.cuda, &move, nullptr), POLYTILE_OK);
    EXPECT_EQ(calls.n_1d + calls.n_2d + calls.n_3d + calls.n_set, 0);
}

TEST(CudaCopy, NamesTheCallThatFails) {
    const struct {
        std::vector<polytile_range> box, hull;
        const char *call;
    } rows[] = {
        {{{0, 3, 1}}, {{0, 3, 1}}, "cudaMemcpyAsync"},
        {{{0, 3, 1}, {0, 2, 1}}, {{0, 3, 1}, {0, 3, 1}}, "cudaMemcpy2DAsync"},
        {{{0, 3, 1}, {0, 2, 1}, {0, 2, 1}}, {{0, 3, 1}, {0, 3, 1}, {0, 3, 1}}, "cudaMemcpy3DAsync"},
    };
    for (const auto &row : rows) {
        Gpu gpu;
        answer = cudaErrorInvalidValue;
        const polytile_domain box = domain_of(row.box), hull = domain_of(row.hull);
        Memory to(hull, 4, 1), from(hull, 4, 2);
        pti_move move = {&box, 4, to.image(), from.image()};
        EXPECT_EQ(pti_cuda_copy(&gpu.cuda, &move, cudaMemcpyHostToDevice, nullptr),
                  POLYTILE_DEVICE);
        EXPECT_EQ(calls.n_1d + calls.n_2d + calls.n_3d, 1);
        EXPECT_NE(std::string(polytile_last_error(gpu.context)).find(row.call), std::string::npos);
    }
}

const polytile_role reductions[] = {POLYTILE_SUM, POLYTILE_PROD, POLYTILE_MIN, POLYTILE_MAX};

#define TYPE_AND_BYTES(name, text, bytes) {POLYTILE_##name, bytes},
const struct {
    polytile_type type;
    int64_t bytes;
} types[] = {POLYTILE_TYPES(TYPE_AND_BYTES)};

/** Fill a box of a placement with an identity, as on the host. */
void expect_filled(const polytile_domain &box, const polytile_domain &hull, int64_t element_bytes,
                   const void *element) {
    Gpu gpu;
    Memory to(hull, element_bytes, 1), expected = to;
    pti_memory_layout everywhere = {};
    everywhere.hull = box;
    const pti_memory_span from = {const_cast<void *>(element), &everywhere};
    pti_move move = {&box, element_bytes, to.image(), from};
    pti_move on_host = {&box, element_bytes, expected.image(), from};
    pti_box_copy(&on_host, 1);
    ASSERT_EQ(pti_cuda_fill(&gpu.cuda, &move, nullptr), POLYTILE_OK);
    EXPECT_EQ(to.bytes, expected.bytes);
}

TEST(CudaFill, WritesTheIdentitiesOfEveryType) {
    Random random(test_seed("CudaFill.WritesTheIdentitiesOfEveryType"));
    for (int64_t round = 0; round < scaled(50) && !HasFailure(); round++) {
        const polytile_domain box = random_box(random, 5), hull = random_hull(random, box);
        for (const auto &type : types) {
            for (polytile_role role : reductions) {
                unsigned char element[PTI_MAX_SCALAR_BYTES];
                pti_reduction_identity(role, type.type, element);
                expect_filled(box, hull, type.bytes, element);
            }
        }
    }
}

TEST(CudaFill, DoublesALongRunOfWhichItSendsAShortBeginning) {
    const int64_t n = 100001;
    const double one = 1;
    const polytile_domain run = domain_of({{0, n - 1, 1}});
    expect_filled(run, run, 8, &one);
    EXPECT_EQ(calls.most_from_host_bytes, 64u * 1024);
    EXPECT_EQ(calls.n_1d, 5);
    const polytile_domain rows = domain_of({{0, 4, 1}, {1, 20000, 1}});
    expect_filled(rows, domain_of({{0, 4, 1}, {0, 20001, 1}}), 8, &one);
    EXPECT_EQ(calls.most_from_host_bytes, 64u * 1024);
    EXPECT_EQ(calls.n_1d + calls.n_2d, 3 + 3);
}

TEST(CudaFill, SetsTheBytesOfAPlaneInOneCall) {
    const double zero = 0;
    const struct {
        std::vector<polytile_range> box, hull;
        int n_calls;
    } rows[] = {
        {{{0, 99, 1}}, {{0, 99, 1}}, 1},
        {{{0, 9, 1}, {0, 7, 1}}, {{0, 9, 1}, {0, 7, 1}}, 1},
        {{{0, 9, 1}, {0, 6, 1}}, {{0, 9, 1}, {0, 7, 1}}, 1},
        {{{0, 3, 1}, {0, 8, 1}, {0, 6, 1}}, {{0, 9, 1}, {0, 9, 1}, {0, 7, 1}}, 4},
    };
    for (const auto &row : rows) {
        expect_filled(domain_of(row.box), domain_of(row.hull), 8, &zero);
        EXPECT_EQ(calls.n_set, row.n_calls);
        EXPECT_EQ(calls.n_1d + calls.n_2d + calls.n_3d, 0);
    }
}

} // namespace
