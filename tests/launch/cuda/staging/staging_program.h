#ifndef POLYTILE_TESTS_LAUNCH_CUDA_STAGING_STAGING_PROGRAM_H
#define POLYTILE_TESTS_LAUNCH_CUDA_STAGING_STAGING_PROGRAM_H

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
#include "launch/host/copy/box_copy.h"
}
#include <polytile/polytile.h>

/* Schedules of transfers that are made by hand or drawn, and how they run on the stand-in. */

namespace staging {

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

inline polytile_domain random_domain(Random &random) {
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
inline std::unique_ptr<Program> random_program(Random &random, int64_t n_ops) {
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

inline Arrays random_arrays(Random &random, const Program &program) {
    Arrays arrays(n_operands);
    for (auto &array : arrays) {
        for (int64_t k = program.n_array_bytes(); k > 0; k--)
            array.push_back(static_cast<unsigned char>(random.number(0, 255)));
    }
    return arrays;
}

/** Which arrays are the user's own pinned memory, by chance. */
inline std::vector<pti_cuda_host_memory> random_kinds(Random &random, FakeCuda *fake,
                                                      const Arrays &arrays) {
    std::vector<pti_cuda_host_memory> kinds;
    for (const auto &array : arrays) {
        kinds.push_back(random.chance(30) ? PTI_CUDA_PINNED : PTI_CUDA_PAGEABLE);
        if (kinds.back() == PTI_CUDA_PINNED)
            fake->host().declare(byte_range(array.data(), array.size()), cudaMemoryTypeHost);
    }
    return kinds;
}

inline const std::vector<pti_cuda_host_memory> pageable(n_operands, PTI_CUDA_PAGEABLE);

} // namespace staging

#endif
