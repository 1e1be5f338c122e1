#include "launch/cuda/tile_kernels.h"
#include "launch/cuda/tile_kernels_periodic.h"
#include "support/environment.h"
#include "support/fake_cuda.h"
#include "support/places.h"
#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/polytile.h>

#include <algorithm>
#include <string>
#include <vector>

/* Launches of a queue whose arrays change roles in turn, on a GPU that runs several as one. */

extern "C" {
#include "launch/device/link_cache.h"
}

namespace {

struct TileKernel {
    const char *declaration;
    const polytile_implementation *host;
    int64_t before[2], after[2]; /* what a thread reads around its own element */
    bool has_ends; /* threads may read beyond the array's ends along the first index */
    bool has_parameters;
    /** What each operand is: B is written, A is what the launch before wrote, C the oldest and D
     * the second oldest array; others are fixed. */
    const char *roles = "AB";
    bool is_round[2] = {false, false}; /* periodic along each dimension */

    int n_turning() const {
        const std::string all = roles;
        return static_cast<int>(std::count_if(all.begin(), all.end(), is_turning));
    }
    static bool is_turning(char role) { return role >= 'A' && role <= 'D'; }
};

const TileKernel tile_kernels[] = {
    {"tile_five[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
     &tile_five_kernel,
     {1, 1},
     {1, 1},
     false,
     false},
    {"tile_upwind[i, j]: in A[i-1, j+1], A[i, j], A[i, j-2]; out B[i, j]",
     &tile_upwind_kernel,
     {1, 2},
     {0, 1},
     false,
     false},
    {"tile_wide[i, j]: in A[i-2:i+2, j-1:j+1]; out B[i, j]",
     &tile_wide_kernel,
     {2, 1},
     {2, 1},
     false,
     false},
    {"tile_ends[i, j]: in A[i-1:i+1, j]; out B[i, j]",
     &tile_ends_kernel,
     {1, 0},
     {1, 0},
     true,
     false},
    {"tile_weighted[i, j](i64 large, u8 small): in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
     &tile_weighted_kernel,
     {1, 1},
     {1, 1},
     false,
     true},
    {"tile_field[i, j](i64 large, u8 small): out B[i, j]; in K[i-1, j], K[i, j+1], A[i-1:i+1, j], "
     "A[i, j-1:j+1]",
     &tile_field_kernel,
     {1, 1},
     {1, 1},
     false,
     true,
     "BKA"},
    {"tile_fields[i, j]: in K[i, j], A[i, j-1:j+1]; out B[i, j]; in T[i, j-1:j]",
     &tile_fields_kernel,
     {0, 1},
     {0, 1},
     false,
     false,
     "KABT"},
    {"tile_torus[i, j]: in A[wrap(i-1:i+1), j], A[i, wrap(j-1:j+1)]; out B[i, j]",
     &tile_torus_kernel,
     {1, 1},
     {1, 1},
     false,
     false,
     "AB",
     {true, true}},
    {"tile_ring[i, j]: in A[wrap(i-1:i+2), j], A[i, j+1]; out B[i, j]",
     &tile_ring_kernel,
     {1, 0},
     {2, 1},
     false,
     false,
     "AB",
     {true, false}},
    {"tile_columns[i, j](u8 small, i64 large): out B[i, j]; in K[i, wrap(j-1)], "
     "A[i-1, wrap(j+2)], A[i, wrap(j-1)]",
     &tile_columns_kernel,
     {1, 1},
     {0, 2},
     false,
     true,
     "BKA",
     {false, true}},
    {"tile_round_leap[i, j]: in A[wrap(i-1:i+1), j]; inout B[i, j]",
     &tile_round_leap_kernel,
     {1, 0},
     {1, 0},
     false,
     false,
     "AB",
     {true, false}},
    {"tile_wave[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1], C[i, j]; out B[i, j]",
     &tile_wave_kernel,
     {1, 1},
     {1, 1},
     false,
     false,
     "ACB"},
    {"tile_leap[i, j]: in A[i-1:i+1, j], A[i, j-2:j+1]; inout B[i, j]",
     &tile_leap_kernel,
     {1, 2},
     {1, 1},
     false,
     false,
     "AB"},
    {"tile_wave_field[i, j](i64 large, u8 small): out B[i, j]; in K[i, j-1], C[i, j], "
     "A[i-1:i+1, j], A[i, j-1:j+1]",
     &tile_wave_field_kernel,
     {1, 1},
     {1, 1},
     false,
     true,
     "BKCA"},
    {"tile_lagged[i, j]: in D[i-1, j], A[i-1, j], A[i, j:j+1]; out B[i, j]; in C[i, j+1]",
     &tile_lagged_kernel,
     {1, 0},
     {0, 1},
     false,
     false,
     "DABC"},
    {"tile_ends_leap[i, j]: in A[i-1:i+1, j]; inout B[i, j]",
     &tile_ends_leap_kernel,
     {1, 0},
     {1, 0},
     true,
     false,
     "AB"},
};
constexpr int a_field = 5, first_round = 7, round_leap = 10, first_wave = 11;

constexpr int n_kernels = sizeof tile_kernels / sizeof *tile_kernels;

/** The steps of one program: how far the arrays have gone round, and whether somebody waits after
 * them; and whether the second array is the queue's own, which is dropped after them. */
struct Turns {
    const TileKernel *kernel;
    polytile_domain threads;
    int64_t extents[2];
    struct Turn {
        int n_turned;
        bool waits;
    };
    std::vector<Turn> turns;
    bool is_dropped;
};

using Bytes = std::vector<unsigned char>;
using Fields = std::vector<Bytes>; /* the arrays that change roles: A, B and so on at first */

polytile_type type_of(const TileKernel &kernel) {
    return kernel.host->views[0].element_bytes == 8 ? POLYTILE_U64 : POLYTILE_U32;
}

/** What an array holds that no launch writes. */
Bytes make_fixed(size_t n_bytes) {
    Random random(7);
    Bytes made(n_bytes);
    for (unsigned char &byte : made)
        byte = static_cast<unsigned char>(random.number(0, 255));
    return made;
}

/** Run all steps on a device; the arrays hold what they leave. */
void run(const Turns &of, const char *device, const polytile_implementation &implementation,
         int64_t launches_per_pass, Fields &memory) {
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
    const std::string roles = of.kernel->roles;
    std::vector<polytile_array *> turning(memory.size()), fixed(roles.size()), attached;
    std::vector<Bytes> fixed_memory(roles.size(), make_fixed(memory[0].size()));
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    const auto require = [ctx](polytile_status status) {
        ASSERT_EQ(status, POLYTILE_OK) << polytile_last_error(ctx);
    };
    const auto wrap = [&](const std::string &name, Bytes &bytes) {
        polytile_array *made = nullptr;
        require(polytile_array_wrap(ctx, name.c_str(), type_of(*of.kernel), 2, of.extents,
                                    bytes.data(), &made));
        attached.push_back(made);
        return made;
    };
    require(polytile_queue_create(ctx, device, &queue));
    require(polytile_kernel_create(ctx, of.kernel->declaration, &implementation, &kernel));
    for (size_t a = 0; a < memory.size(); a++)
        if (a != 1 || !of.is_dropped)
            turning[a] = wrap(std::string(1, static_cast<char>('A' + a)), memory[a]);
    require(polytile_queue_attach(queue, static_cast<int>(attached.size()), attached.data()));
    for (size_t o = 0; o < roles.size(); o++) {
        if (TileKernel::is_turning(roles[o]))
            continue;
        fixed_memory[o][0] = static_cast<unsigned char>(o);
        fixed[o] = wrap(roles.substr(o, 1), fixed_memory[o]);
        require(polytile_queue_attach(queue, 1, &fixed[o]));
    }
    if (of.is_dropped)
        require(polytile_queue_create_array(queue, "B", type_of(*of.kernel), 2, of.extents,
                                            &turning[1]));
    polytile_launch_options options = {};
    options.plan.launches_per_pass = launches_per_pass;
    polytile_queue_pause(queue);
    uint64_t number = 0;
    for (const Turns::Turn &turn : of.turns) {
        std::vector<polytile_array *> given = fixed;
        for (size_t o = 0; o < roles.size(); o++)
            if (TileKernel::is_turning(roles[o]))
                given[o] =
                    turning[static_cast<size_t>(roles[o] - 'A' + turn.n_turned) % turning.size()];
        const polytile_parameter parameters[] = {
            polytile_parameter_signed("large",
                                      static_cast<int64_t>(number * UINT64_C(0x9e3779b97f4a7c15))),
            polytile_parameter_signed("small", static_cast<int64_t>(number * 37 % 256))};
        number++;
        options.n_parameters = of.kernel->has_parameters ? 2 : 0;
        options.parameters = parameters;
        require(polytile_queue_launch(queue, kernel, &of.threads, static_cast<int>(given.size()),
                                      given.data(), &options));
        if (!turn.waits)
            continue;
        require(polytile_queue_wait(queue));
        polytile_queue_pause(queue);
    }
    if (of.is_dropped)
        polytile_array_destroy(turning[1]);
    require(polytile_queue_detach(queue, static_cast<int>(attached.size()), attached.data()));
    polytile_queue_destroy(queue);
    polytile_context_destroy(ctx);
}

Fields fill(const Turns &of, Random *random) {
    const int64_t n_bytes = of.extents[0] * of.extents[1] * of.kernel->host->views[0].element_bytes;
    Fields made(static_cast<size_t>(of.kernel->n_turning()));
    for (Bytes &bytes : made) {
        bytes.resize(static_cast<size_t>(n_bytes));
        for (unsigned char &byte : bytes)
            byte = static_cast<unsigned char>(random->number(0, 255));
    }
    return made;
}

Turns draw(Random *random) {
    Turns made = {};
    made.kernel = &tile_kernels[random->number(0, n_kernels - 1)];
    made.threads.n_dims = 2;
    const bool is_flat = random->chance(20);
    made.extents[0] = is_flat ? random->number(10, 20) : random->number(20, 200);
    made.extents[1] = is_flat ? random->number(800, 1600) : random->number(20, 400);
    for (int d = 0; d < 2; d++) {
        const bool is_round = made.kernel->is_round[d];
        const bool is_free = is_round || (made.kernel->has_ends && d == 0);
        const int64_t before = is_free ? 0 : made.kernel->before[d];
        const int64_t after = is_free ? 0 : made.kernel->after[d];
        const int64_t fewer = is_round && random->chance(90) ? 0 : 1;
        made.threads.range[d] = {before + fewer * random->one_of({0, 0, 3}),
                                 made.extents[d] - 1 - after - fewer * random->one_of({0, 0, 5}),
                                 1};
    }
    const int64_t n = random->number(1, 40);
    const int64_t repeats_percent = random->one_of({0, 0, 10}),
                  waits_percent = random->one_of({0, 7});
    int n_turned = static_cast<int>(random->number(0, 3));
    for (int64_t k = 0; k < n; k++) {
        made.turns.push_back({n_turned, random->chance(static_cast<int>(waits_percent))});
        n_turned += !random->chance(static_cast<int>(repeats_percent));
    }
    return made;
}

/** A body that the runtime without a GPU knows by addresses of its own. */
polytile_implementation fake_of(const polytile_implementation &host) {
    polytile_implementation made = host;
    made.cuda = reinterpret_cast<const void *>(host.host);
    made.cuda_contiguous = reinterpret_cast<const char *>(host.views) + 1;
    made.cuda_tiles = reinterpret_cast<const char *>(host.views) + 2;
    made.cuda_tiles_go_round = true;
    made.cuda_pieces = reinterpret_cast<const char *>(host.views) + 3;
    return made;
}

void expect_equal(const Fields &got, const Fields &wanted) {
    for (size_t a = 0; a < got.size(); a++)
        EXPECT_TRUE(got[a] == wanted[a]) << "array " << a << " differs";
}

std::string describe(const Turns &of) {
    return std::string(of.kernel->declaration) + " on " + std::to_string(of.extents[0]) + " x " +
           std::to_string(of.extents[1]) + ", " + std::to_string(of.turns.size()) + " launches";
}

/** Launches that ran in tiles. */
int64_t run_on_fake(const Turns &of, uint64_t seed, size_t shared_bytes, int64_t per_pass,
                    Fields &memory, const std::string &device = "cuda:0",
                    bool has_near_kernel = true, bool goes_round = true, int cache_bytes = 0) {
    FakeCuda::Options options;
    options.shared_bytes = shared_bytes;
    options.cache_bytes = cache_bytes;
    options.n_devices = 1 + static_cast<int>(std::count(device.begin(), device.end(), ','));
    FakeCuda cuda(seed, options);
    polytile_implementation implementation = fake_of(*of.kernel->host);
    if (!has_near_kernel)
        implementation.cuda_contiguous = nullptr;
    implementation.cuda_tiles_go_round = goes_round;
    cuda.add_kernel(implementation.cuda, implementation);
    run(of, device.c_str(), implementation, per_pass, memory);
    EXPECT_EQ(cuda.violations(), "");
    EXPECT_EQ(cuda.n_pending(), 0);
    return cuda.n_tiled();
}

Turns alternate(int n) {
    Turns made = {&tile_kernels[0], {2, {{1, 198, 1}, {1, 398, 1}}}, {200, 400}, {}, false};
    for (int k = 0; k < n; k++)
        made.turns.push_back({k, false});
    return made;
}

/** The steps of a program whose arrays do not fit the device. */
std::string small_device(const Turns &of, int64_t percent) {
    const int64_t n_bytes = of.extents[0] * of.extents[1] * of.kernel->host->views[0].element_bytes;
    return "cuda:0(memory=" + std::to_string(2 * n_bytes * percent / 100) + "B)";
}

class CudaTiles : public testing::Test {
  protected:
    void SetUp() override { environment_.set("POLYTILE_CHECK", "plan"); }
    Environment environment_;
};

/** All but the last one, and those that run before others are queued. */
TEST_F(CudaTiles, LaunchesOfARowRunInTiles) {
    for (const int n : {8, 19, 20, 31}) {
        Random random(1);
        const Turns of = alternate(n);
        Fields got = fill(of, &random), wanted = got;
        const int64_t n_tiled = run_on_fake(of, 1, size_t{228} << 10, 0, got);
        EXPECT_LE(n_tiled, n - 1);
        EXPECT_GE(n_tiled, n - 4);
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** Each launch with values of its own. */
TEST_F(CudaTiles, LaunchesOfARowGetTheirOwnParameters) {
    for (const bool streams : {false, true}) {
        Random random(1);
        Turns of = alternate(30);
        of.kernel = &tile_kernels[4];
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GE(run_on_fake(of, 1, size_t{228} << 10, 0, got,
                              streams ? small_device(of, 60) : "cuda:0"),
                  26);
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** Arrays that all launches read lie in tiles, too. */
TEST_F(CudaTiles, LaunchesOfARowReadArraysThatNoneOfThemWrites) {
    for (const int k : {5, 6}) {
        Random random(1);
        Turns of = alternate(30);
        of.kernel = &tile_kernels[k];
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GE(run_on_fake(of, 1, size_t{228} << 10, 0, got), 22) << of.kernel->declaration;
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** Periodic along both dimensions, along rows, and along columns. */
TEST_F(CudaTiles, LaunchesOfARowGoRoundPeriodicArrays) {
    for (int k = first_round; k < round_leap; k++) {
        Random random(1);
        Turns of = alternate(30);
        of.kernel = &tile_kernels[k];
        for (int d = 0; d < 2; d++)
            if (of.kernel->is_round[d])
                of.threads.range[d] = {0, of.extents[d] - 1, 1};
        of.threads.range[1].lo = 0;
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GE(run_on_fake(of, 1, size_t{228} << 10, 0, got), 22) << of.kernel->declaration;
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** Rows and slabs, and the log says what to do. */
TEST_F(CudaTiles, PeriodicLaunchesWhoseKernelIsNotCompiledForItRunOneByOne) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    for (int k = first_round; k < round_leap; k++)
        for (const bool streams : {false, true}) {
            Random random(1);
            Turns of = alternate(30);
            of.kernel = &tile_kernels[k];
            of.extents[0] = 401;
            for (int d = 0; d < 2; d++) {
                const bool is_round = of.kernel->is_round[d];
                of.threads.range[d] = {is_round ? 0 : of.kernel->before[d],
                                       of.extents[d] - 1 - (is_round ? 0 : of.kernel->after[d]), 1};
            }
            Fields got = fill(of, &random), wanted = got;
            testing::internal::CaptureStderr();
            const int64_t n_tiled =
                run_on_fake(of, 1, size_t{228} << 10, 0, got,
                            streams ? small_device(of, 60) : "cuda:0", true, false);
            const std::string log = testing::internal::GetCapturedStderr();
            EXPECT_EQ(n_tiled, 0) << of.kernel->declaration;
            const bool is_in_slabs = streams && k < first_round + 2;
            if (!streams || is_in_slabs)
                EXPECT_NE(log.find("do not go round periodic arrays; compile the kernel with "
                                   "POLYTILE_PERIODIC_TILES defined as 1"),
                          std::string::npos)
                    << log;
            run(of, "host", *of.kernel->host, 0, wanted);
            expect_equal(got, wanted);
        }
}

/** What is periodic by declaration alone is tiled as any other: threads wrap nowhere. */
TEST_F(CudaTiles, LaunchesThatWrapNowhereNeedNoKernelThatGoesRound) {
    Random random(1);
    Turns of = alternate(30);
    of.kernel = &tile_kernels[first_round];
    Fields got = fill(of, &random), wanted = got;
    EXPECT_GE(run_on_fake(of, 1, size_t{228} << 10, 0, got, "cuda:0", true, false), 22);
    run(of, "host", *of.kernel->host, 0, wanted);
    expect_equal(got, wanted);
}

/** Tiles that store two arrays go round none. */
TEST_F(CudaTiles, LaunchesThatKeepTwoPeriodicArraysAliveRunOneByOne) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    Random random(1);
    Turns of = alternate(30);
    of.kernel = &tile_kernels[round_leap];
    of.threads.range[0] = {0, of.extents[0] - 1, 1};
    Fields got = fill(of, &random), wanted = got;
    testing::internal::CaptureStderr();
    const int64_t n_tiled = run_on_fake(of, 1, size_t{228} << 10, 0, got);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_EQ(n_tiled, 0);
    EXPECT_NE(log.find("tiles that go round periodic arrays store one array, not 2"),
              std::string::npos)
        << log;
    run(of, "host", *of.kernel->host, 0, wanted);
    expect_equal(got, wanted);
}

/** Slabs go both ways round a ring at once, and tiles at its ends load from both. */
TEST_F(CudaTiles, LaunchesThatStreamRoundARingRunInTilesInEachSlab) {
    for (const int k : {first_round, first_round + 1})
        for (const bool is_dropped : {false, true}) {
            Random random(1);
            Turns of = alternate(20);
            of.kernel = &tile_kernels[k];
            of.extents[0] = 401;
            of.threads.range[0] = {0, of.extents[0] - 1, 1};
            of.threads.range[1] = {0, of.extents[1] - 1 - (k == first_round ? 0 : 1), 1};
            of.is_dropped = is_dropped;
            Fields got = fill(of, &random), wanted = got;
            EXPECT_GT(run_on_fake(of, 1, size_t{228} << 10, 0, got, small_device(of, 60)), 19);
            run(of, "host", *of.kernel->host, 0, wanted);
            expect_equal(got, wanted);
        }
}

/** Periodic programs: of few rows and many, of fewer than a launch reaches, of prime numbers. */
Turns draw_periodic(Random *random) {
    Turns made = draw(random);
    made.kernel = &tile_kernels[first_round + random->one_of({0, 0, 1, 1, 2, 3})];
    for (int d = 0; d < 2; d++) {
        const bool is_round = made.kernel->is_round[d];
        const int64_t before = is_round ? 0 : made.kernel->before[d];
        const int64_t after = is_round ? 0 : made.kernel->after[d];
        if (is_round && random->chance(15))
            made.extents[d] = random->one_of({1, 2, 3, 5, 13});
        else if (random->chance(30))
            made.extents[d] = random->one_of({101, 127, 128, 129, 199, 257});
        made.threads.range[d] = {before, made.extents[d] - 1 - after, 1};
    }
    made.is_dropped = random->chance(50);
    return made;
}

TEST_F(CudaTiles, GiveTheResultsOfLaunchAfterLaunchRoundRings) {
    Random random(test_seed("CudaTiles.GiveTheResultsOfLaunchAfterLaunchRoundRings"));
    int64_t n_tiled = 0, n_tiled_in_slabs = 0;
    const int64_t n_rounds = scaled(40);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        const Turns of = draw_periodic(&random);
        const auto shared_bytes = static_cast<size_t>(random.one_of({64, 100, 164, 228})) << 10;
        const bool is_large = of.extents[0] >= 60 && of.extents[1] >= 60;
        const bool streams = is_large && random.chance(60);
        const bool are_several = !streams && random.chance(20);
        const std::string device = streams       ? small_device(of, random.number(50, 99))
                                   : are_several ? "cuda:0,cuda:1"
                                                 : "cuda:0";
        Fields got = fill(of, &random), wanted = got;
        const int64_t n = run_on_fake(of, static_cast<uint64_t>(random.number(0, int64_t{1} << 62)),
                                      shared_bytes, random.one_of({0, 0, 0, 7}), got, device);
        *(streams ? &n_tiled_in_slabs : &n_tiled) += n;
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
        if (HasFailure())
            ADD_FAILURE() << describe(of) << ", shared memory " << shared_bytes << ", " << device;
    }
    EXPECT_TRUE((n_tiled > 0 && n_tiled_in_slabs > 0) || n_rounds < 20);
}

/** A limit within which the arena has room for so many fields of a program: streams take an eighth
 * of small ones. */
int64_t limit_for_fields(const Turns &of, int64_t n_fields) {
    const int64_t n_bytes = of.extents[0] * of.extents[1] * of.kernel->host->views[0].element_bytes;
    return (n_fields * ((n_bytes + 255) / 256 * 256) * 8 + 6) / 7;
}

/** All but the first ones, between which arrays still arrive, and those of the end. */
TEST_F(CudaTiles, LaunchesWhoseArraysChangeRolesRunInTwoPartsEach) {
    for (int k = first_wave; k < n_kernels; k++)
        for (const int n : {13, 30}) {
            Random random(1);
            Turns of = alternate(n);
            of.kernel = &tile_kernels[k];
            of.threads.range[1].lo = 2;
            Fields got = fill(of, &random), wanted = got;
            const int64_t n_tiled = run_on_fake(of, 1, size_t{228} << 10, 0, got);
            EXPECT_EQ(n_tiled % 2, 0);
            EXPECT_GE(n_tiled, n - 11) << of.kernel->declaration << n;
            run(of, "host", *of.kernel->host, 0, wanted);
            expect_equal(got, wanted);
        }
}

/** What tiles store aside is within the limit; where it has no room they do not run. */
TEST_F(CudaTiles, WhatIsStoredAsideCountsInTheLimit) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    for (int k = first_wave; k < n_kernels; k++)
        for (const bool has_room : {false, true}) {
            Random random(1);
            Turns of = alternate(30);
            of.kernel = &tile_kernels[k];
            of.extents[0] = 120;
            of.threads.range[0].hi = 118;
            of.threads.range[1].lo = 2;
            Fields got = fill(of, &random), wanted = got;
            const std::string roles = of.kernel->roles;
            const auto n_arrays = static_cast<int64_t>(roles.size());
            const int64_t n_aside = of.kernel->n_turning() - (of.kernel->n_turning() > 2 ? 1 : 0);
            const int64_t bytes = limit_for_fields(of, n_arrays + n_aside) - (has_room ? 0 : 512);
            testing::internal::CaptureStderr();
            const int64_t n_tiled = run_on_fake(of, 1, size_t{228} << 10, 0, got,
                                                "cuda:0(memory=" + std::to_string(bytes) + "B)");
            const std::string log = testing::internal::GetCapturedStderr();
            EXPECT_EQ(n_tiled > 0, has_room) << log;
            EXPECT_EQ(log.find("aside, of which the device has") == std::string::npos, has_room)
                << log;
            run(of, "host", *of.kernel->host, 0, wanted);
            expect_equal(got, wanted);
        }
}

TEST_F(CudaTiles, LaunchesOfEachWindowRunInTwoPartsEach) {
    constexpr int n_windows = 6;
    for (const int k : {first_wave, first_wave + 1}) {
        Random random(1);
        Turns of = alternate(12 * n_windows);
        of.kernel = &tile_kernels[k];
        of.threads.range[1].lo = 2;
        for (size_t l = 11; l < of.turns.size(); l += 12)
            of.turns[l].waits = true;
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GE(run_on_fake(of, 1, size_t{228} << 10, 0, got), 6 * n_windows);
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

int count_of(const std::string &text, const std::string &part) {
    int n = 0;
    for (size_t k = text.find(part); k != std::string::npos; k = text.find(part, k + 1))
        n++;
    return n;
}

/** What is said of launches says that they are looked at: with the first windows, which find other
 * things on the device, and not with those that repeat them. */
TEST_F(CudaTiles, TilesOfAPlanThatIsKeptAreFoundOnce) {
    constexpr int n_windows = 12;
    Random random(1);
    Turns of = alternate(10 * n_windows);
    Fields got = fill(of, &random), wanted = got;
    for (size_t k = 9; k < of.turns.size(); k += 10)
        of.turns[k].waits = true;
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    testing::internal::CaptureStderr();
    EXPECT_GE(run_on_fake(of, 1, size_t{228} << 10, 0, got), 6 * n_windows);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_GE(count_of(log, "in a row, which alternate"), 1) << log;
    EXPECT_LE(count_of(log, "in a row, which alternate"), n_windows / 2) << log;
    run(of, "host", *of.kernel->host, 0, wanted);
    expect_equal(got, wanted);
}

TEST_F(CudaTiles, RowsThatAreTooShortOrAskedApartRunOneByOne) {
    for (const int per_pass : {0, 1}) {
        Random random(1);
        const Turns of = alternate(per_pass == 0 ? 3 : 20);
        Fields got = fill(of, &random);
        EXPECT_EQ(run_on_fake(of, 1, size_t{228} << 10, per_pass, got), 0);
    }
}

TEST_F(CudaTiles, AGpuWithoutSharedMemoryRunsNone) {
    Random random(1);
    const Turns of = alternate(20);
    Fields got = fill(of, &random);
    EXPECT_EQ(run_on_fake(of, 1, size_t{4} << 10, 0, got), 0);
}

TEST_F(CudaTiles, GiveTheResultsOfLaunchAfterLaunch) {
    Random random(test_seed("CudaTiles.GiveTheResultsOfLaunchAfterLaunch"));
    int64_t n_tiled = 0;
    const int64_t n_rounds = scaled(24);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        const Turns of = draw(&random);
        const auto shared_bytes = static_cast<size_t>(random.one_of({64, 100, 164, 228})) << 10;
        Fields got = fill(of, &random), wanted = got;
        n_tiled += run_on_fake(of, static_cast<uint64_t>(random.number(0, int64_t{1} << 62)),
                               shared_bytes, 0, got);
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
        if (HasFailure())
            ADD_FAILURE() << describe(of) << ", shared memory " << shared_bytes;
    }
    EXPECT_TRUE(n_tiled > 0 || n_rounds < 10);
}

/** All launches of a chain that streams, if nobody needs the array that the last one reads; else
 * all but that. */
TEST_F(CudaTiles, LaunchesThatStreamRunInTilesInEachSlab) {
    for (const bool is_dropped : {false, true}) {
        Random random(1);
        Turns of = alternate(20);
        of.is_dropped = is_dropped;
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GT(run_on_fake(of, 1, size_t{228} << 10, 0, got, small_device(of, 60)), 19);
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** So do those whose two or three arrays change roles in turn, of which two are alive: groups of
 * whole rounds, an even number of them. Arrays that no launch writes are there, too. */
TEST_F(CudaTiles, LaunchesThatStreamRunInTilesWhereTwoArraysAreAlive) {
    const struct {
        int kernel;
        int64_t percent; /* of two fields */
    } cases[] = {{first_wave, 90}, {first_wave + 1, 90}, {first_wave + 2, 140}, {a_field, 90}};
    for (const auto &c : cases) {
        Random random(1);
        Turns of = alternate(40);
        of.kernel = &tile_kernels[c.kernel];
        of.threads.range[1] = {2, 397, 1};
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GT(run_on_fake(of, 1, size_t{228} << 10, 0, got, small_device(of, c.percent)), 30)
            << of.kernel->declaration;
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** A body that takes any strides has no tiles, which is known only when its launches run. */
TEST_F(CudaTiles, LaunchesThatStreamRunOneByOneWhereTheDeviceRunsNoTiles) {
    Random random(1);
    Turns of = alternate(20);
    Fields got = fill(of, &random), wanted = got;
    EXPECT_EQ(run_on_fake(of, 1, size_t{228} << 10, 0, got, small_device(of, 60), false), 0);
    run(of, "host", *of.kernel->host, 0, wanted);
    expect_equal(got, wanted);
}

TEST_F(CudaTiles, GiveTheResultsOfLaunchAfterLaunchInSlabs) {
    Random random(test_seed("CudaTiles.GiveTheResultsOfLaunchAfterLaunchInSlabs"));
    int64_t n_tiled = 0;
    const int64_t n_rounds = scaled(16);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        Turns of = draw(&random);
        of.is_dropped = random.chance(60);
        const auto shared_bytes = static_cast<size_t>(random.one_of({64, 100, 164, 228})) << 10;
        const bool is_ring = of.kernel->is_round[0] || of.kernel->is_round[1];
        const std::string device = small_device(of, random.number(is_ring ? 60 : 20, 99));
        Fields got = fill(of, &random), wanted = got;
        n_tiled += run_on_fake(of, static_cast<uint64_t>(random.number(0, int64_t{1} << 62)),
                               shared_bytes, random.one_of({0, 0, 0, 7, 10}), got, device);
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
        if (HasFailure())
            ADD_FAILURE() << describe(of) << ", shared memory " << shared_bytes << ", " << device;
    }
    EXPECT_TRUE(n_tiled > 0 || n_rounds < 10);
}

/** Fields of so many times as many rows: of few each member computes too much of its
 * neighbours'. */
Turns make_taller(Turns of, int64_t times) {
    of.extents[0] *= times;
    of.threads.range[0].hi += of.extents[0] - of.extents[0] / times;
    return of;
}

/** Members compute less of their neighbours' rows from launch to launch; what tiles do not store of
 * these they forget. */
TEST_F(CudaTiles, LaunchesOfMembersRunInTiles) {
    for (const char *devices : {"cuda:0,cuda:1", "cuda:0,cuda:1,cuda:2"}) {
        Random random(1);
        const Turns of = make_taller(alternate(40), 10);
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GT(run_on_fake(of, 1, size_t{228} << 10, 0, got, devices), 40);
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** Keep a link of GPUs whose cache is so fast that slabs in it pay. */
void keep_link_with_fast_cache() {
    polytile_link link = polytile_link_default;
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    link.kernel_bytes_per_s = link.cache_bytes_per_s / 3;
    link.launch_latency_s = 1e-9;
    for (const char *gpu : {"GPU-41414141-4141-4141-4141-414141414141-13000",
                            "GPU-42424242-4242-4242-4242-424242424242-13000"})
        pti_link_cache_write(ctx, gpu, &link);
    polytile_context_destroy(ctx);
}

/** Slabs in the cache would be schedules that need all that their launches compute. */
TEST_F(CudaTiles, LaunchesOfMembersRunInTilesAlsoWhereTheCacheIsFast) {
    environment_.set("POLYTILE_CACHE", in_build("cache/fast").c_str());
    keep_link_with_fast_cache();
    Random random(1);
    const Turns of = make_taller(alternate(40), 10);
    Fields got = fill(of, &random), wanted = got;
    EXPECT_GT(run_on_fake(of, 1, size_t{228} << 10, 0, got, "cuda:0,cuda:1", true, true, 100000),
              40);
    run(of, "host", *of.kernel->host, 0, wanted);
    expect_equal(got, wanted);
}

/** The same of launches whose arrays change roles in turn. */
TEST_F(CudaTiles, LaunchesOfMembersRunInTwoPartsEach) {
    for (const int k : {first_wave, first_wave + 1}) {
        Random random(1);
        Turns of = make_taller(alternate(40), 6);
        of.kernel = &tile_kernels[k];
        of.threads.range[1].lo = 2;
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GT(run_on_fake(of, 1, size_t{228} << 10, 0, got, "cuda:0,cuda:1"), 20)
            << of.kernel->declaration;
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** The device's memory grows for what tiles store aside, which must not lose what was pulled. */
TEST_F(CudaTiles, MembersWhoseMemoryGrowsKeepWhatTheyPulled) {
    for (int k = first_wave; k < n_kernels; k++) {
        Random random(k);
        Turns of = alternate(60);
        of.turns[2].waits = true;
        of.kernel = &tile_kernels[k];
        of.extents[0] = 387;
        of.extents[1] = 72;
        for (int d = 0; d < 2; d++)
            of.threads.range[d] = of.kernel->is_round[d]
                                      ? polytile_range{0, of.extents[d] - 1, 1}
                                      : polytile_range{of.kernel->before[d],
                                                       of.extents[d] - 1 - of.kernel->after[d], 1};
        Fields got = fill(of, &random), wanted = got;
        run_on_fake(of, static_cast<uint64_t>(k), size_t{164} << 10, 0, got, "cuda:0,cuda:1");
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
        if (HasFailure())
            FAIL() << describe(of);
    }
}

TEST_F(CudaTiles, GiveTheResultsOfLaunchAfterLaunchOnSeveralDevices) {
    Random random(test_seed("CudaTiles.GiveTheResultsOfLaunchAfterLaunchOnSeveralDevices"));
    int64_t n_tiled = 0;
    const int64_t n_rounds = scaled(16), n_most = 8 * n_rounds;
    const auto goes_on = [&](int64_t round) {
        return round < n_rounds || (n_tiled == 0 && n_rounds >= 10 && round < n_most);
    };
    for (int64_t round = 0; goes_on(round) && !HasFailure(); round++) {
        const Turns of = make_taller(draw(&random), random.number(1, 12));
        const auto shared_bytes = static_cast<size_t>(random.one_of({64, 100, 164, 228})) << 10;
        const std::string devices = random.chance(50) ? "cuda:0,cuda:1" : "cuda:0,cuda:1,cuda:2";
        Fields got = fill(of, &random), wanted = got;
        n_tiled += run_on_fake(of, static_cast<uint64_t>(random.number(0, int64_t{1} << 62)),
                               shared_bytes, 0, got, devices);
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
        if (HasFailure())
            ADD_FAILURE() << describe(of) << ", shared memory " << shared_bytes << ", " << devices;
    }
    EXPECT_TRUE(n_tiled > 0 || n_rounds < 10);
}

/** Launches between two arrays of the queue's own, each with fewer rows than the one before; others
 * fill both arrays before them, and may read all of both behind them. */
struct ShrinkingRow {
    const TileKernel *kernel; /* whose threads may read beyond the ends */
    int64_t extents[2];
    std::vector<int64_t> n_fewer; /* rows at each end, than all; of each launch */
    bool is_read;
};

/** Run it on a device; memory: what fills both arrays, and what is read of each. */
void run_shrinking(const ShrinkingRow &of, const char *device,
                   const polytile_implementation &implementation, Bytes memory[3]) {
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *own[2] = {}, *attached[3] = {};
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    const auto require = [ctx](polytile_status status) {
        ASSERT_EQ(status, POLYTILE_OK) << polytile_last_error(ctx);
    };
    const auto launch = [&](polytile_array *from, polytile_array *to, int64_t n_fewer) {
        polytile_array *given[] = {from, to};
        const polytile_domain threads = {
            2, {{n_fewer, of.extents[0] - 1 - n_fewer, 1}, {0, of.extents[1] - 1, 1}}};
        require(polytile_queue_launch(queue, kernel, &threads, 2, given, nullptr));
    };
    require(polytile_queue_create(ctx, device, &queue));
    require(polytile_kernel_create(ctx, of.kernel->declaration, &implementation, &kernel));
    for (int a = 0; a < 3; a++)
        require(polytile_array_wrap(ctx, std::string(1, static_cast<char>('X' + a)).c_str(),
                                    type_of(*of.kernel), 2, of.extents, memory[a].data(),
                                    &attached[a]));
    require(polytile_queue_attach(queue, 3, attached));
    for (polytile_array *&array : own)
        require(polytile_queue_create_array(queue, &array == own ? "A" : "B", type_of(*of.kernel),
                                            2, of.extents, &array));
    polytile_queue_pause(queue);
    for (polytile_array *array : own)
        launch(attached[0], array, 0);
    for (size_t k = 0; k < of.n_fewer.size(); k++)
        launch(own[k % 2], own[1 - k % 2], of.n_fewer[k]);
    for (int a = 0; a < 2 && of.is_read; a++)
        launch(own[a], attached[1 + a], 0);
    for (polytile_array *array : own)
        polytile_array_destroy(array);
    require(polytile_queue_detach(queue, 3, attached));
    polytile_queue_destroy(queue);
    polytile_context_destroy(ctx);
}

/** What tiles lose beside the last launch's rows is needed by whoever reads it later. */
TEST_F(CudaTiles, ShrinkingLaunchesKeepWhatIsReadBehindThem) {
    Random random(test_seed("CudaTiles.ShrinkingLaunchesKeepWhatIsReadBehindThem"));
    const int64_t n_rounds = scaled(16);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        ShrinkingRow of = {&tile_kernels[round % 2 == 0 ? 3 : n_kernels - 1],
                           {random.number(120, 250), random.number(100, 400)},
                           {},
                           true};
        of.is_read = round < 2 || random.chance(70);
        const bool is_even = round < 2 || random.chance(60);
        const int64_t n_launches = random.number(8, 30);
        for (int64_t k = 0; k < n_launches; k++)
            of.n_fewer.push_back(k + 1);
        for (size_t k = 1; k < of.n_fewer.size() && !is_even; k++)
            of.n_fewer[k] = of.n_fewer[k - 1] + random.number(0, 2);
        FakeCuda cuda(static_cast<uint64_t>(random.number(0, int64_t{1} << 62)));
        const polytile_implementation implementation = fake_of(*of.kernel->host);
        cuda.add_kernel(implementation.cuda, implementation);
        Bytes got[3], wanted[3];
        for (int a = 0; a < 3; a++) {
            got[a].resize(static_cast<size_t>(of.extents[0] * of.extents[1] *
                                              implementation.views[0].element_bytes));
            for (unsigned char &byte : got[a])
                byte = static_cast<unsigned char>(random.number(0, 255));
            wanted[a] = got[a];
        }
        run_shrinking(of, "cuda:0", implementation, got);
        run_shrinking(of, "host", *of.kernel->host, wanted);
        for (int a = 0; a < 3; a++)
            EXPECT_TRUE(got[a] == wanted[a]) << "array " << a << " differs in round " << round;
        EXPECT_EQ(cuda.violations(), "");
    }
}

/** Of so many supersteps the next one is handed out while one runs, once they are known. */
TEST_F(CudaTiles, LaunchesThatAreHandedOutAheadRunInTiles) {
    Random random(test_seed("CudaTiles.LaunchesThatAreHandedOutAheadRunInTiles"));
    const Turns of = make_taller(alternate(100), 4);
    Fields got = fill(of, &random), wanted = got;
    const auto seed = static_cast<uint64_t>(random.number(0, int64_t{1} << 62));
    EXPECT_GT(run_on_fake(of, seed, size_t{228} << 10, 0, got, "cuda:0,cuda:1"), 50);
    run(of, "host", *of.kernel->host, 0, wanted);
    expect_equal(got, wanted);
}

bool gpu_is_there() {
    int n_devices = 0;
    const bool found = pti_cuda_runtime.cudaGetDeviceCount(&n_devices) == cudaSuccess;
    pti_cuda_runtime.cudaGetLastError();
    return found && n_devices > 0;
}

/** The body as nvcc compiles it. */
const polytile_implementation *compiled_of(const TileKernel &kernel) {
    const std::string declaration = kernel.declaration;
    const std::string name = declaration.substr(0, declaration.find('['));
    const polytile_implementation *found = cuda_tile_kernel_of(name.c_str());
    return found != nullptr ? found : cuda_periodic_tile_kernel_of(name.c_str());
}

TEST(CudaGpu, TilesGiveTheResultsOfLaunchAfterLaunch) {
    if (!gpu_is_there() || compiled_of(tile_kernels[0]) == nullptr)
        GTEST_SKIP() << "no GPU, or no kernels for it";
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("CudaGpu.TilesGiveTheResultsOfLaunchAfterLaunch"));
    for (int64_t round = 0; round < scaled(40) && !testing::Test::HasFailure(); round++) {
        Turns of = draw(&random);
        for (int d = 0; d < 2; d++) {
            const int64_t more = random.number(1600, 2400);
            of.extents[d] += more;
            of.threads.range[d].hi += more;
        }
        of.is_dropped = random.chance(30);
        const std::string device =
            random.chance(50) ? "cuda:0" : small_device(of, random.number(20, 90));
        Fields tiled = fill(of, &random), wanted = tiled;
        const polytile_implementation &compiled = *compiled_of(*of.kernel);
        ASSERT_NE(compiled.cuda_tiles, nullptr);
        run(of, device.c_str(), compiled, 0, tiled);
        run(of, "host", compiled, 0, wanted);
        expect_equal(tiled, wanted);
        if (testing::Test::HasFailure())
            ADD_FAILURE() << describe(of) << ", " << device;
    }
}

} // namespace
