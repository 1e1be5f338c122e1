#include "support/box_memory.h"
#include "support/failing_api.h"
#include "support/fake_cuda.h"
#include "support/scale.h"

#include <cstring>
#include <gtest/gtest.h>
#include <memory>

extern "C" {
#include "launch/cuda/runtime/copy.h"
#include "launch/cuda/runtime/order.h"
#include "launch/cuda/runtime/timing.h"
#include "launch/cuda/staging/staging_state.h"
#include "launch/device/execution.h"
#include "launch/host/box_copy.h"
}
#include <polytile/polytile.h>

namespace {

constexpr int n_operands = 2;
constexpr int n_placements = 4;

/** The bytes of each operand. */
using Arrays = std::vector<std::vector<unsigned char>>;

/** What an operation reads or writes: elements of a host array, or of a placement. */
struct Use {
    bool is_host;
    int64_t which;
    bool writes;
};

/** A hand-made schedule over two arrays of one shape. A launch copies a box between placements. */
class Program {
  public:
    Program(const polytile_domain &of, int64_t bytes_of_element)
        : domain(of), element_bytes(bytes_of_element) {
        for (int a = 0; a < n_operands; a++) {
            operands_[a] = {};
            operands_[a].name = names_[a];
            operands_[a].type = POLYTILE_BYTES(static_cast<int>(element_bytes));
            operands_[a].element_bytes = element_bytes;
            operands_[a].domain = domain;
        }
        instance_.kernel_name = names_[2];
        instance_.n_operands = n_operands;
        instance_.operand = operands_;
        instance_.threads = domain;
        schedule.instance = &instance_;
        schedule.n_launches = 1;
        schedule.launch = &launch_;
        schedule.n_superblocks = 1;
        place();
    }
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;

    /** source: of a launch. bytes: what the schedule says that the operation moves. */
    void add(pti_op_kind kind, int64_t placement, int64_t source, const polytile_domain &box,
             int64_t bytes) {
        pti_op op = {};
        op.kind = kind;
        op.placement = placement;
        op.source_placement = source;
        op.box = box;
        op.bytes = bytes;
        add_waits(&op);
        ops_.push_back(op);
        schedule.n_ops = static_cast<int64_t>(ops_.size());
        schedule.op = ops_.data();
        schedule.n_waits = static_cast<int64_t>(waits_.size());
        schedule.wait = waits_.data();
    }

    int64_t n_array_bytes() const { return pti_box_count(&domain) * element_bytes; }

    /** One operation after the other, as the schedule says it. */
    void run_in_order(Arrays *arrays) const {
        std::vector<unsigned char> arena(static_cast<size_t>(schedule.arena_bytes));
        const pti_memory_layout layout = pti_memory_layout_of(&domain, element_bytes);
        for (const pti_op &op : ops_) {
            const pti_placement &at = placements_[op.placement];
            const pti_memory_span placed = {arena.data() + at.offset_bytes, &at.layout};
            const pti_memory_span host = {(*arrays)[static_cast<size_t>(at.operand)].data(),
                                          &layout};
            pti_move move = {&op.box, element_bytes, placed, host};
            if (op.kind == PTI_DOWNLOAD)
                std::swap(move.to, move.from);
            if (op.kind == PTI_LAUNCH)
                move = move_of_launch(op, arena.data());
            pti_box_copy(&move, 1);
        }
    }

    pti_move move_of_launch(const pti_op &op, void *arena) const {
        const pti_placement &to = placements_[op.placement];
        const pti_placement &from = placements_[op.source_placement];
        return {&op.box,
                element_bytes,
                {static_cast<char *>(arena) + to.offset_bytes, &to.layout},
                {static_cast<char *>(arena) + from.offset_bytes, &from.layout}};
    }

    polytile_domain domain = {};
    int64_t element_bytes;
    pti_schedule schedule = {};

  private:
    void place() {
        for (int p = 0; p < n_placements; p++) {
            placements_[p].operand = p % n_operands;
            placements_[p].offset_bytes = schedule.arena_bytes;
            placements_[p].layout = pti_memory_layout_of(&domain, element_bytes);
            schedule.arena_bytes += placements_[p].layout.size_bytes;
        }
        schedule.n_placements = n_placements;
        schedule.placement = placements_;
    }

    std::vector<Use> uses_of(const pti_op &op) const {
        const Use placed = {false, op.placement, op.kind != PTI_DOWNLOAD};
        if (op.kind == PTI_LAUNCH)
            return {placed, {false, op.source_placement, false}};
        return {placed, {true, placements_[op.placement].operand, op.kind == PTI_DOWNLOAD}};
    }

    bool must_follow(const pti_op &later, const pti_op &earlier) const {
        polytile_domain common;
        if (!pti_box_intersect(&later.box, &earlier.box, &common))
            return false;
        for (const Use &a : uses_of(later)) {
            for (const Use &b : uses_of(earlier)) {
                if (a.is_host == b.is_host && a.which == b.which && (a.writes || b.writes))
                    return true;
            }
        }
        return false;
    }

    /** For the last operation of each other stream that it must follow. */
    void add_waits(pti_op *op) {
        bool has_wait[PTI_MAX_STREAMS] = {};
        has_wait[pti_op_stream(op)] = true;
        op->first_wait = static_cast<int64_t>(waits_.size());
        for (size_t k = ops_.size(); k-- > 0;) {
            bool &has = has_wait[pti_op_stream(&ops_[k])];
            if (has || !must_follow(*op, ops_[k]))
                continue;
            has = true;
            waits_.push_back(static_cast<int64_t>(k));
            op->n_waits++;
        }
    }

    char names_[3][8] = {"x", "y", "copy"};
    pti_operand operands_[n_operands];
    pti_instance instance_ = {};
    pti_schedule_launch launch_ = {{&instance_, nullptr}, 0, 0, 0};
    pti_placement placements_[n_placements];
    std::vector<pti_op> ops_;
    std::vector<int64_t> waits_;
};

polytile_domain random_domain(Random &random) {
    const int64_t extent[] = {500, 25, 9};
    polytile_domain domain = {};
    domain.n_dims = static_cast<int>(random.number(1, 3));
    for (int d = 0; d < domain.n_dims; d++) {
        const int64_t lo = random.number(-5, 5);
        domain.range[d] = {lo, lo + random.number(0, extent[domain.n_dims - 1]), 1};
    }
    return domain;
}

/** Some of its operations are said to move so much that packing short runs pays. */
std::unique_ptr<Program> random_program(Random &random, int64_t n_ops) {
    auto program =
        std::make_unique<Program>(random_domain(random), random.one_of({1, 2, 4, 8, 12}));
    for (; n_ops > 0; n_ops--) {
        const auto kind = static_cast<pti_op_kind>(
            random.one_of({PTI_UPLOAD, PTI_UPLOAD, PTI_DOWNLOAD, PTI_DOWNLOAD, PTI_LAUNCH}));
        const int64_t placement = random.number(0, n_placements - 1);
        const int64_t other = (placement + random.number(1, n_placements - 1)) % n_placements;
        const polytile_domain box = random_box_in(random, program->domain);
        const int64_t n_bytes = pti_box_count(&box) * program->element_bytes;
        program->add(kind, placement, kind == PTI_LAUNCH ? other : -1, box,
                     n_bytes * random.one_of({1, 100000}));
    }
    return program;
}

/** A device whose staging has small buffers, so that transfers have many chunks. */
class Machine {
  public:
    explicit Machine(int64_t buffer_bytes, polytile_status expected = POLYTILE_OK) {
        polytile_device *device = nullptr;
        EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
        EXPECT_EQ(polytile_device_open(ctx_, "cuda:0(memory=1MiB,threads=3)", &device), POLYTILE_OK)
            << polytile_last_error(ctx_);
        cuda = pti_cuda_of(device);
        EXPECT_EQ(pti_staging_create(cuda, buffer_bytes, &cuda->staging), expected)
            << polytile_last_error(ctx_);
    }
    ~Machine() { polytile_context_destroy(ctx_); }
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;

    const char *error() const { return polytile_last_error(ctx_); }
    polytile_context *context() { return ctx_; }

    pti_cuda_device *cuda = nullptr;

  private:
    polytile_context *ctx_ = nullptr;
};

/** A program being run as the device's own commands are. */
class Execution {
  public:
    Execution(Machine &machine, const Program &program, Arrays *memory,
              const std::vector<pti_cuda_host_memory> &kinds)
        : program_(program), kinds_(kinds) {
        void *arena = nullptr;
        cuda_ = machine.cuda;
        for (size_t a = 0; a < n_operands; a++) {
            EXPECT_EQ(polytile_array_wrap_domain(machine.context(),
                                                 program.schedule.instance->operand[a].name,
                                                 program.schedule.instance->operand[a].type,
                                                 &program.domain, (*memory)[a].data(), &arrays_[a]),
                      POLYTILE_OK)
                << machine.error();
            host_layouts_[a] = pti_memory_layout_of(&program.domain, program.element_bytes);
        }
        EXPECT_EQ(pti_cuda_reserve(&cuda_->device, program.schedule.arena_bytes, &arena),
                  POLYTILE_OK);
        std::memset(arena, 0, static_cast<size_t>(program.schedule.arena_bytes));
        execution_.device = &cuda_->device;
        execution_.schedule = &program.schedule;
        execution_.arrays = arrays_;
        execution_.arena = static_cast<char *>(arena);
        execution_.host_layout = host_layouts_;
        execution_.report = &report_;
    }
    ~Execution() {
        for (polytile_array *array : arrays_)
            polytile_array_destroy(array);
    }
    Execution(const Execution &) = delete;
    Execution &operator=(const Execution &) = delete;

    /** From the arrays as they were, with an arena of zeros. */
    void start_again(const Arrays &before, Arrays *memory) {
        for (size_t a = 0; a < n_operands; a++)
            std::copy(before[a].begin(), before[a].end(), (*memory)[a].begin());
        std::memset(execution_.arena, 0, static_cast<size_t>(program_.schedule.arena_bytes));
    }

    polytile_status all() {
        polytile_status status = begin();
        for (int64_t k = 0; status == POLYTILE_OK && k < program_.schedule.n_ops; k++)
            status = submit(k);
        return finish(status);
    }

    polytile_status begin() {
        cuda_->execution = &execution_;
        polytile_status status = pti_cuda_order_begin(cuda_->order, &program_.schedule);
        if (status == POLYTILE_OK)
            status = pti_cuda_timing_begin(cuda_->timing, &execution_);
        if (status == POLYTILE_OK)
            status = pti_staging_begin(cuda_->staging, &execution_, kinds_.data());
        return status;
    }

    polytile_status submit(int64_t index) {
        pti_command command = resolve(index);
        polytile_status status = POLYTILE_OK;
        cuda_->command = &command;
        PTI_TRY(pti_staging_wait_command(cuda_->staging, &command));
        if (command.op->kind == PTI_DOWNLOAD && pti_cuda_is_staged(&command, kinds_.data())) {
            PTI_TRY(pti_staging_download(cuda_->staging, &command));
        } else {
            PTI_TRY(pti_cuda_order_wait(cuda_->order, &command));
            PTI_TRY(pti_cuda_timing_start(cuda_->timing, &command));
            PTI_TRY(enqueue(command));
            PTI_TRY(pti_cuda_timing_stop(cuda_->timing, &command));
            PTI_TRY(pti_cuda_order_record(cuda_->order, &command));
        }
    done:
        cuda_->command = nullptr;
        return status;
    }

    polytile_status finish(polytile_status status) {
        polytile_status finished = POLYTILE_OK;
        if (status == POLYTILE_OK)
            finished = pti_staging_finish(cuda_->staging, true);
        for (cudaStream_t stream : cuda_->stream)
            cuda_->api->cudaStreamSynchronize(stream);
        if (status != POLYTILE_OK)
            pti_staging_finish(cuda_->staging, false);
        pti_cuda_timing_abandon(cuda_->timing);
        pti_cuda_order_end(cuda_->order);
        cuda_->execution = nullptr;
        return status == POLYTILE_OK ? finished : status;
    }

  private:
    pti_command resolve(int64_t index) {
        const pti_op &op = program_.schedule.op[index];
        if (op.kind != PTI_LAUNCH)
            return pti_execution_resolve(&execution_, index);
        pti_command command = {};
        command.op = &op;
        command.index = index;
        command.operand = -1;
        command.move = program_.move_of_launch(op, execution_.arena);
        return command;
    }

    polytile_status enqueue(const pti_command &command) {
        static const cudaMemcpyKind kinds[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToDevice,
                                               cudaMemcpyDeviceToDevice, cudaMemcpyDeviceToDevice,
                                               cudaMemcpyDeviceToHost};
        if (pti_cuda_is_staged(&command, kinds_.data()))
            return pti_staging_upload(cuda_->staging, &command);
        return pti_cuda_copy(cuda_, &command.move, kinds[command.op->kind],
                             cuda_->stream[pti_op_stream(command.op)]);
    }

    const Program &program_;
    std::vector<pti_cuda_host_memory> kinds_;
    pti_cuda_device *cuda_;
    polytile_array *arrays_[n_operands] = {};
    pti_memory_layout host_layouts_[n_operands];
    pti_execution execution_ = {};
    polytile_report report_ = {};
};

Arrays random_arrays(Random &random, const Program &program) {
    Arrays arrays(n_operands);
    for (auto &array : arrays) {
        for (int64_t k = program.n_array_bytes(); k > 0; k--)
            array.push_back(static_cast<unsigned char>(random.number(0, 255)));
    }
    return arrays;
}

/** Which arrays are the user's own pinned memory, by chance. */
std::vector<pti_cuda_host_memory> random_kinds(Random &random, FakeCuda *fake,
                                               const Arrays &arrays) {
    std::vector<pti_cuda_host_memory> kinds;
    for (const auto &array : arrays) {
        kinds.push_back(random.chance(30) ? PTI_CUDA_PINNED : PTI_CUDA_PAGEABLE);
        if (kinds.back() == PTI_CUDA_PINNED)
            fake->host().declare(byte_range(array.data(), array.size()), cudaMemoryTypeHost);
    }
    return kinds;
}

TEST(CudaStaging, GivesWhatTheScheduleSays) {
    Random random(test_seed("CudaStaging.GivesWhatTheScheduleSays"));
    for (int64_t round = 0; round < scaled(400) && !HasFailure(); round++) {
        FakeCuda fake(static_cast<uint64_t>(random.number(0, INT32_MAX)));
        {
            Machine machine(random.one_of({16, 64, 400}));
            std::vector<Arrays> kept;
            for (int k = 0; k < 5 && !HasFailure(); k++) {
                const auto program = random_program(random, random.number(0, 40));
                kept.push_back(random_arrays(random, *program));
                Arrays expected = kept.back();
                program->run_in_order(&expected);
                Execution run(machine, *program, &kept.back(),
                              random_kinds(random, &fake, kept.back()));
                EXPECT_EQ(run.all(), POLYTILE_OK) << machine.error();
                EXPECT_EQ(kept.back(), expected) << "round " << round << ", program " << k;
            }
            EXPECT_EQ(fake.n_pageable_copies(), 0);
        }
        EXPECT_EQ(fake.violations(), "");
        EXPECT_EQ(fake.leaks(), "");
    }
}

/** Elements of 4 bytes, a row of them. */
polytile_domain row_of(int64_t n) {
    return polytile_domain_from_extents(1, &n);
}

const std::vector<pti_cuda_host_memory> pageable(n_operands, PTI_CUDA_PAGEABLE);

TEST(CudaStaging, FillsBuffersForUploadsToCome) {
    FakeCuda fake(1);
    Machine machine(16);
    Program program(row_of(400), 4);
    program.add(PTI_UPLOAD, 0, -1, row_of(4), 16);
    program.add(PTI_LAUNCH, 1, 0, row_of(4), 0);
    program.add(PTI_UPLOAD, 2, -1, row_of(400), 1600);
    Arrays arrays(n_operands, std::vector<unsigned char>(1600));
    Execution run(machine, program, &arrays, pageable);
    ASSERT_EQ(run.begin(), POLYTILE_OK);
    ASSERT_EQ(run.submit(0), POLYTILE_OK);
    EXPECT_GE(machine.cuda->staging->in.n_taken, PTI_RING_BUFFERS);
    EXPECT_EQ(machine.cuda->staging->in.n_passed_on, 1);
    for (int64_t k : {1, 2})
        EXPECT_EQ(run.submit(k), POLYTILE_OK);
    EXPECT_EQ(run.finish(POLYTILE_OK), POLYTILE_OK);
}

TEST(CudaStaging, DoesNotFillBeforeTheDownloadOfWhatItReads) {
    FakeCuda fake(1);
    Machine machine(16);
    Program program(row_of(400), 4);
    program.add(PTI_UPLOAD, 0, -1, row_of(4), 16);
    program.add(PTI_DOWNLOAD, 0, -1, row_of(4), 16);
    program.add(PTI_UPLOAD, 2, -1, row_of(400), 1600);
    Arrays arrays(n_operands, std::vector<unsigned char>(1600));
    Execution run(machine, program, &arrays, pageable);
    ASSERT_EQ(run.begin(), POLYTILE_OK);
    ASSERT_EQ(run.submit(0), POLYTILE_OK);
    EXPECT_EQ(machine.cuda->staging->in.n_taken, 1);
    for (int64_t k : {1, 2})
        EXPECT_EQ(run.submit(k), POLYTILE_OK);
    EXPECT_EQ(run.finish(POLYTILE_OK), POLYTILE_OK);
}

TEST(CudaStaging, TakesALargeDownloadOverWithoutWaiting) {
    FakeCuda fake(1);
    Machine machine(16);
    Program program(row_of(400), 4);
    program.add(PTI_UPLOAD, 0, -1, row_of(400), 1600);
    program.add(PTI_DOWNLOAD, 0, -1, row_of(400), 1600);
    Arrays arrays(n_operands, std::vector<unsigned char>(1600));
    Execution run(machine, program, &arrays, pageable);
    ASSERT_EQ(run.begin(), POLYTILE_OK);
    for (int64_t k : {0, 1})
        ASSERT_EQ(run.submit(k), POLYTILE_OK);
    EXPECT_EQ(pti_n_received(machine.cuda->staging), 1);
    EXPECT_EQ(run.finish(POLYTILE_OK), POLYTILE_OK);
}

/* A launch that overwrites what an earlier, packed download of a pinned array still has to read
 * waits for the last download only, so this one must not overtake the other. */
TEST(CudaStaging, LetsNoDirectDownloadOvertakeAStagedOne) {
    for (uint64_t seed = 0; seed < 40 && !HasFailure(); seed++) {
        FakeCuda fake(seed);
        Machine machine(16);
        Program program(row_of(800), 4);
        polytile_domain odd = row_of(800);
        odd.range[0] = {1, 799, 2};
        program.add(PTI_UPLOAD, 0, -1, row_of(800), 3200);
        program.add(PTI_UPLOAD, 1, -1, row_of(800), 3200);
        program.add(PTI_DOWNLOAD, 0, -1, odd, 1 << 20);
        program.add(PTI_DOWNLOAD, 0, -1, row_of(1), 4);
        program.add(PTI_LAUNCH, 0, 1, row_of(800), 0);
        Random random(seed);
        Arrays arrays = random_arrays(random, program), expected = arrays;
        program.run_in_order(&expected);
        for (const auto &array : arrays)
            fake.host().declare(byte_range(array.data(), array.size()), cudaMemoryTypeHost);
        Execution run(machine, program, &arrays, {PTI_CUDA_PINNED, PTI_CUDA_PINNED});
        EXPECT_EQ(run.all(), POLYTILE_OK) << machine.error();
        EXPECT_EQ(arrays, expected);
    }
}

/** Run a program over pinned memory, the first array pageable if so said; the downloads that were
 * compared with its transfers. */
int64_t looks_of(FakeCuda *fake, const Program &program, pti_cuda_host_memory first) {
    Machine machine(16);
    Random random(1);
    Arrays arrays = random_arrays(random, program), expected = arrays;
    program.run_in_order(&expected);
    const std::vector<pti_cuda_host_memory> kinds = {first, PTI_CUDA_PINNED};
    for (size_t a = 0; a < n_operands; a++) {
        if (kinds[a] == PTI_CUDA_PINNED)
            fake->host().declare(byte_range(arrays[a].data(), arrays[a].size()),
                                 cudaMemoryTypeHost);
    }
    Execution run(machine, program, &arrays, kinds);
    EXPECT_EQ(run.all(), POLYTILE_OK) << machine.error();
    EXPECT_EQ(arrays, expected);
    return machine.cuda->staging->n_looks;
}

polytile_domain element_at(int64_t i) {
    polytile_domain element = row_of(1);
    element.range[0] = {i, i, 1};
    return element;
}

TEST(CudaStaging, ComparesDirectTransfersWithNoDirectDownloads) {
    constexpr int64_t n = 200;
    FakeCuda fake(1);
    Program program(row_of(n), 4);
    for (int64_t k = 0; k < n; k++) {
        program.add(PTI_UPLOAD, 0, -1, element_at(k), 4);
        program.add(PTI_LAUNCH, 1, 0, element_at(k), 0);
        program.add(PTI_DOWNLOAD, 1, -1, element_at(k), 4);
    }
    EXPECT_LE(looks_of(&fake, program, PTI_CUDA_PAGEABLE), n);
}

/* Packed uploads of an array whose elements before them were downloaded directly. */
TEST(CudaStaging, ComparesAnUploadWithABoundedNumberOfDownloads) {
    constexpr int64_t n = 6 * PTI_MOST_LOOKS;
    FakeCuda fake(1);
    Program program(row_of(n + 10), 4);
    polytile_domain odd = row_of(n);
    odd.range[0] = {n + 1, n + 9, 2};
    for (int64_t k = 0; k < n; k++) {
        program.add(PTI_UPLOAD, 0, -1, odd, 1 << 20);
        program.add(PTI_DOWNLOAD, 0, -1, element_at(k), 4);
    }
    const int64_t n_looks = looks_of(&fake, program, PTI_CUDA_PINNED);
    EXPECT_GT(n_looks, n);
    EXPECT_LE(n_looks, n * PTI_MOST_LOOKS);
}

TEST(CudaStaging, ComesToRestAfterAnyCallFails) {
    Random random(test_seed("CudaStaging.ComesToRestAfterAnyCallFails"));
    for (int64_t round = 0; round < scaled(3) && !HasFailure(); round++) {
        FakeCuda fake(static_cast<uint64_t>(random.number(0, INT32_MAX)));
        FailingApi failing;
        Machine machine(16);
        const auto program = random_program(random, 20);
        const Arrays before = random_arrays(random, *program);
        Arrays arrays = before, expected = before;
        program->run_in_order(&expected);
        Execution run(machine, *program, &arrays, pageable);
        std::string failed = "none yet";
        for (int64_t n = 1; !failed.empty() && !HasFailure(); n += random.number(1, 20)) {
            failing.let_fail(n);
            const polytile_status status = run.all();
            failed = failing.failed();
            failing.stop();
            if (status == POLYTILE_OK)
                continue;
            EXPECT_EQ(status, POLYTILE_DEVICE) << failed;
            EXPECT_NE(std::string(machine.error()).find(failed), std::string::npos)
                << machine.error();
            run.start_again(before, &arrays);
            EXPECT_EQ(run.all(), POLYTILE_OK) << "after " << failed << ": " << machine.error();
            EXPECT_EQ(arrays, expected) << "after " << failed;
            run.start_again(before, &arrays);
        }
    }
}

/** Another runtime that pins no more than so much at once: while it lives, devices that are opened
 * use it. */
class LockLimit {
  public:
    explicit LockLimit(size_t most_bytes) {
        inner_ = pti_cuda_current_api;
        most_bytes_ = most_bytes;
        table_ = *inner_;
        table_.cudaHostRegister = host_register;
        pti_cuda_current_api = &table_;
    }
    ~LockLimit() { pti_cuda_current_api = inner_; }
    LockLimit(const LockLimit &) = delete;
    LockLimit &operator=(const LockLimit &) = delete;

  private:
    static cudaError_t host_register(void *memory, size_t n_bytes, unsigned flags) {
        return n_bytes > most_bytes_ ? cudaErrorMemoryAllocation
                                     : inner_->cudaHostRegister(memory, n_bytes, flags);
    }

    static inline const pti_cuda_api *inner_;
    static inline size_t most_bytes_;
    pti_cuda_api table_;
};

TEST(CudaStaging, UsesSmallerRingsWhereLessCanBePinned) {
    Random random(test_seed("CudaStaging.UsesSmallerRingsWhereLessCanBePinned"));
    for (const int n_buffers : {16, 8, 4}) {
        FakeCuda fake(1);
        const LockLimit limit(static_cast<size_t>(2 * n_buffers * 64 + 63));
        {
            Machine machine(64);
            ASSERT_NE(machine.cuda->staging, nullptr);
            EXPECT_EQ(machine.cuda->staging->in.n_buffers, n_buffers);
            EXPECT_EQ(machine.cuda->staging->out.n_buffers, n_buffers);
            for (int k = 0; k < 20 && !HasFailure(); k++) {
                const auto program = random_program(random, 40);
                Arrays arrays = random_arrays(random, *program), expected = arrays;
                program->run_in_order(&expected);
                Execution run(machine, *program, &arrays, pageable);
                EXPECT_EQ(run.all(), POLYTILE_OK) << machine.error();
                EXPECT_EQ(arrays, expected) << n_buffers << " buffers, program " << k;
            }
        }
        EXPECT_EQ(fake.n_pageable_copies(), 0);
        EXPECT_EQ(fake.violations(), "");
        EXPECT_EQ(fake.leaks(), "");
    }
}

TEST(CudaStaging, SaysWhatLimitsThePinningOfBuffers) {
    FakeCuda fake(1);
    const LockLimit limit(2 * 4 * 64 - 1);
    Machine machine(64, POLYTILE_DEVICE);
    const std::string error = machine.error();
    EXPECT_EQ(machine.cuda->staging, nullptr);
    for (const char *part :
         {"cuda:0: buffers of 512 B", "cudaHostRegister", "(ulimit -l) is ", "raise it"})
        EXPECT_NE(error.find(part), std::string::npos) << error;
    EXPECT_EQ(machine.cuda->api->cudaGetLastError(), cudaSuccess);
}

TEST(CudaStaging, LeavesNothingWhenItCannotBeCreated) {
    FakeCuda fake(1);
    {
        FailingApi failing;
        Machine machine(16);
        std::string failed = "none yet";
        const std::string leaks = fake.leaks();
        for (int64_t n = 1; !failed.empty(); n++) {
            pti_staging *staging = nullptr;
            failing.let_fail(n);
            const polytile_status status = pti_staging_create(machine.cuda, 64, &staging);
            failed = failing.failed();
            const bool is_created = failed.empty() || failed == "cudaHostRegister";
            EXPECT_EQ(status, is_created ? POLYTILE_OK : POLYTILE_DEVICE) << failed;
            EXPECT_EQ(staging != nullptr, is_created) << failed;
            pti_staging_destroy(staging);
            EXPECT_EQ(fake.leaks(), leaks) << failed;
        }
    }
    EXPECT_EQ(fake.leaks(), "");
}

} // namespace
