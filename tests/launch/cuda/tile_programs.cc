#include "launch/cuda/tile_programs.h"

#include "launch/cuda/fake_links.h"

namespace tile_programs {

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
const int n_kernels = sizeof tile_kernels / sizeof *tile_kernels;

polytile_type type_of(const TileKernel &kernel) {
    return kernel.host->views[0].element_bytes == 8 ? POLYTILE_U64 : POLYTILE_U32;
}

namespace {

/** What an array holds that no launch writes. */
Bytes make_fixed(size_t n_bytes) {
    Random random(7);
    Bytes made(n_bytes);
    for (unsigned char &byte : made)
        byte = static_cast<unsigned char>(random.number(0, 255));
    return made;
}

} // namespace

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

int64_t run_on_fake(const Turns &of, uint64_t seed, size_t shared_bytes, int64_t per_pass,
                    Fields &memory, const std::string &device, bool has_near_kernel,
                    bool goes_round, const polytile_link *link) {
    FakeCuda::Options options;
    options.shared_bytes = shared_bytes;
    if (link != nullptr) {
        options.cache_bytes = static_cast<int>(link->cache_bytes);
        options.driver_version = keep_fake_links(*link);
    }
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

std::string small_device(const Turns &of, int64_t percent) {
    const int64_t n_bytes = of.extents[0] * of.extents[1] * of.kernel->host->views[0].element_bytes;
    return "cuda:0(memory=" + std::to_string(2 * n_bytes * percent / 100) + "B)";
}

Turns make_taller(Turns of, int64_t times) {
    of.extents[0] *= times;
    of.threads.range[0].hi += of.extents[0] - of.extents[0] / times;
    return of;
}

} // namespace tile_programs
