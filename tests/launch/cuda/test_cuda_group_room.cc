#include "launch/cuda/product.h"
#include "support/environment.h"

#include <polytile/kernel.h>

extern "C" {
#include "launch/cuda/runtime/cuda.h"
}

/* Steps that several GPUs compute with the same rows on both sides of a cut, where the GPUs' memory
 * grows, or turns out to be less than it seemed: nothing may leave them meanwhile. */

namespace {

POLYTILE_KERNEL(room_step, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_AT(B, i, j) = 3u * PT_AT(A, i, j) + 5u * PT_AT(A, i - 1, j) + 7u * PT_AT(A, i + 1, j) +
                     11u * PT_AT(A, i, j - 1) + 13u * PT_AT(A, i, j + 1);
}

POLYTILE_KERNEL(room_total, (i, j), (const uint32_t, A, 2), (uint32_t, s, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(A, i, j));
}

polytile_implementation on_gpus(polytile_implementation of) {
    of.cuda = reinterpret_cast<const void *>(of.host);
    return of;
}

struct RoomCase {
    int64_t n_rows, n_columns, n_steps, n_rounds;
    bool is_linked;
    bool has_total;     /* after each round of steps */
    bool checks;        /* with POLYTILE_CHECK=plan */
    size_t total_bytes; /* of each GPU; 0: the stand-in's */
    size_t taken_bytes; /* by another program, once there is a queue */
};

/** Two fields and a sum. */
struct RoomFields {
    std::vector<uint32_t> field[2], sum;

    explicit RoomFields(const RoomCase &of) : sum(1, 0) {
        Random random(1);
        for (std::vector<uint32_t> &one : field) {
            one.resize(static_cast<size_t>(of.n_rows * of.n_columns));
            for (uint32_t &element : one)
                element = static_cast<uint32_t>(random.number(0, 1 << 30));
        }
    }
};

void run_plainly(const RoomCase &of, RoomFields *on) {
    const auto at = [&](int64_t i, int64_t j) { return static_cast<size_t>(i * of.n_columns + j); };
    for (int64_t round = 0; round < of.n_rounds; round++) {
        for (int64_t k = 0; k < of.n_steps; k++) {
            const std::vector<uint32_t> &A = on->field[k % 2];
            for (int64_t i = 1; i < of.n_rows - 1; i++)
                for (int64_t j = 1; j < of.n_columns - 1; j++)
                    on->field[1 - k % 2][at(i, j)] = 3U * A[at(i, j)] + 5U * A[at(i - 1, j)] +
                                                     7U * A[at(i + 1, j)] + 11U * A[at(i, j - 1)] +
                                                     13U * A[at(i, j + 1)];
        }
        for (int64_t i = 1; i < of.n_rows - 1 && of.has_total; i++)
            for (int64_t j = 1; j < of.n_columns - 1; j++)
                on->sum[0] += on->field[of.n_steps % 2][at(i, j)];
    }
}

/** The same on a queue over GPUs. */
class RoomProgram {
  public:
    RoomProgram(const std::string &devices, const RoomCase &of, RoomFields *on) : of_(of) {
        const int64_t extents[] = {of.n_rows, of.n_columns}, one[] = {1};
        polytile_share_options share = {};
        EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
        expect(polytile_queue_create_shared(ctx_, devices.c_str(), &share, &queue_));
        make("step[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]", room_step_kernel, &step_);
        make("total[i, j]: in A[i, j]; sum s[0]", room_total_kernel, &total_);
        for (size_t f = 0; f < 2; f++)
            expect(polytile_array_wrap(ctx_, f == 0 ? "A" : "B", POLYTILE_U32, 2, extents,
                                       on->field[f].data(), &array_[f]));
        expect(polytile_array_wrap(ctx_, "s", POLYTILE_U32, 1, one, on->sum.data(), &array_[2]));
    }
    ~RoomProgram() {
        for (size_t d = 0; d < taken_.size(); d++) {
            pti_cuda_current_api->cudaSetDevice(static_cast<int>(d));
            pti_cuda_current_api->cudaFree(taken_[d]);
        }
        polytile_context_destroy(ctx_);
    }
    RoomProgram(const RoomProgram &) = delete;
    RoomProgram &operator=(const RoomProgram &) = delete;

    /** Take memory of a number of GPUs, as another program does. */
    void take_memory(int n_devices) {
        taken_.resize(static_cast<size_t>(n_devices));
        for (int d = 0; d < n_devices; d++) {
            pti_cuda_current_api->cudaSetDevice(d);
            EXPECT_EQ(
                pti_cuda_current_api->cudaMalloc(&taken_[static_cast<size_t>(d)], of_.taken_bytes),
                cudaSuccess);
        }
    }

    void run() {
        const polytile_domain inner = {2, {{1, of_.n_rows - 2, 1}, {1, of_.n_columns - 2, 1}}};
        expect(polytile_queue_attach(queue_, 3, array_));
        for (int64_t round = 0; round < of_.n_rounds; round++) {
            for (int64_t k = 0; k < of_.n_steps; k++)
                launch(step_, inner, array_[k % 2], array_[1 - k % 2]);
            if (of_.has_total)
                launch(total_, inner, array_[of_.n_steps % 2], array_[2]);
        }
        expect(polytile_queue_wait(queue_));
        expect(polytile_queue_detach(queue_, 3, array_));
    }

  private:
    void expect(polytile_status status) const {
        EXPECT_EQ(status, POLYTILE_OK) << polytile_last_error(ctx_);
    }
    void make(const char *declaration, const polytile_implementation &of, polytile_kernel **made) {
        const polytile_implementation there = on_gpus(of);
        expect(polytile_kernel_create(ctx_, declaration, &there, made));
    }
    void launch(polytile_kernel *kernel, const polytile_domain &threads, polytile_array *from,
                polytile_array *to) {
        polytile_array *const arrays[] = {from, to};
        expect(polytile_queue_launch(queue_, kernel, &threads, 2, arrays, nullptr));
    }

    RoomCase of_;
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
    polytile_kernel *step_ = nullptr, *total_ = nullptr;
    polytile_array *array_[3] = {};
    std::vector<void *> taken_;
};

void expect_right(const RoomCase &of) {
    Environment environment;
    if (of.checks)
        environment.set("POLYTILE_CHECK", "plan");
    FakeCuda::Options options = gpus(2, of.is_linked);
    if (of.total_bytes > 0)
        options.total_bytes = of.total_bytes;
    FakeCuda cuda(1, options);
    for (const polytile_implementation &kernel : {room_step_kernel, room_total_kernel})
        cuda.add_kernel(on_gpus(kernel).cuda, on_gpus(kernel));
    RoomFields expected(of), got(of);
    run_plainly(of, &expected);
    for (std::vector<uint32_t> *one : {&got.field[0], &got.field[1], &got.sum})
        cuda.host().declare(byte_range(one->data(), 4 * one->size()), cudaMemoryTypeHost);
    {
        RoomProgram program(devices_text(2, ""), of, &got);
        if (of.taken_bytes > 0)
            program.take_memory(2);
        program.run();
    }
    EXPECT_EQ(cuda.violations(), "");
    EXPECT_TRUE(got.field[0] == expected.field[0] && got.field[1] == expected.field[1]);
    EXPECT_EQ(got.sum, expected.sum);
}

/* Partial results come while both GPUs have rows that both computed. */
TEST(CudaGroupRoom, ATotalAfterStepsLeavesTheirRowsAlone) {
    for (const bool is_linked : {false, true})
        for (const bool checks : {false, true})
            for (const int64_t n_steps : {1, 4, 5})
                expect_right({600, 40, n_steps, 3, is_linked, true, checks, 0, 0});
}

TEST(CudaGroupRoom, GpusThatGiveLessThanTheySeemedToHaveComputeNothingTwice) {
    constexpr size_t MiB = 1 << 20;
    expect_right({6000, 400, 8, 1, false, false, true, 64 * MiB, 52 * MiB});
    expect_right({6000, 400, 8, 1, false, false, false, 64 * MiB, 53 * MiB});
}

} // namespace
