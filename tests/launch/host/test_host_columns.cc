#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <atomic>
#include <chrono>
#include <thread>

extern "C" {
#include "access/declare/kernel.h"
#include "access/footprint/instance.h"
#include "launch/execute/execute.h"
#include "partition/cache_blocking/in_place.h"
#include "partition/skew/skew.h"
}

/* Chains in place, in columns of any width, on any number of threads. */

namespace {

POLYTILE_KERNEL(five, (i, j), (const int64_t, A, 2), (int64_t, B, 2)) {
    PT_AT(B, i, j) = 3 * PT_AT(A, i, j) + PT_AT(A, i - 1, j) + 5 * PT_AT(A, i + 1, j) +
                     7 * PT_AT(A, i, j - 1) + PT_AT(A, i, j + 1);
}

POLYTILE_KERNEL(slant, (i, j), (const int64_t, A, 2), (int64_t, B, 2)) {
    PT_AT(B, i, j) = PT_AT(A, i - 2, j + 2) - 3 * PT_AT(A, i, j - 1);
}

POLYTILE_KERNEL(grow, (i, j), (const int64_t, A, 2), (int64_t, B, 2)) {
    PT_AT(B, i, j) += 2 * PT_AT(A, i, j) + i - j;
}

int64_t last_row = 0; /* of the fields of walls and join */

/** Beyond the first row is one array, and beyond the last one another; they have a row each. */
POLYTILE_KERNEL(walls, (i, j), (const int64_t, A, 2), (const int64_t, L, 2), (const int64_t, R, 2),
                (int64_t, B, 2)) {
    PT_AT(B, i, j) = 3 * PT_AT(A, i, j) + (i == 0 ? PT_AT(L, i, j) : PT_AT(A, i - 1, j)) +
                     5 * (i == last_row ? PT_AT(R, i - last_row, j) : PT_AT(A, i + 1, j));
}

/** The first half of the rows comes from one array, the other one from another. */
POLYTILE_KERNEL(join, (i, j), (const int64_t, L, 2), (const int64_t, R, 2), (int64_t, B, 2)) {
    PT_AT(B, i, j) = i <= last_row / 2 ? PT_AT(L, i, j) : -PT_AT(R, i - last_row / 2 - 1, j);
}

/** A body that takes a while, and how many host threads were in it at most. */
std::atomic<int> n_inside{0}, most_inside{0};

void take_a_nap(const polytile_domain *, const polytile_view *, void *) {
    const int n = ++n_inside;
    for (int most = most_inside; n > most && !most_inside.compare_exchange_weak(most, n);)
        continue;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    n_inside--;
}

/** A body that cancels its run when it is called first. */
struct Cancelling {
    static void run(const polytile_domain *, const polytile_view *, void *user) {
        Cancelling *of = static_cast<Cancelling *>(user);
        of->n_calls++;
        polytile_device_cancel(of->device);
    }

    polytile_device *device;
    int n_calls;
};

constexpr int64_t border = 2;

/** A kernel, and the same for one thread of it. */
struct Step {
    const char *declaration;
    const polytile_implementation *implementation;
    int64_t (*value)(const std::vector<int64_t> &a, int64_t at, int64_t pitch, int64_t i, int64_t j,
                     int64_t b);
};

const Step steps[] = {
    {"five[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]", &five_kernel,
     [](const std::vector<int64_t> &a, int64_t at, int64_t pitch, int64_t, int64_t, int64_t) {
         const auto of = [&](int64_t k) { return a[static_cast<size_t>(at + k)]; };
         return 3 * of(0) + of(-pitch) + 5 * of(pitch) + 7 * of(-1) + of(1);
     }},
    {"slant[i, j]: in A[i-2, j+2], A[i, j-1]; out B[i, j]", &slant_kernel,
     [](const std::vector<int64_t> &a, int64_t at, int64_t pitch, int64_t, int64_t, int64_t) {
         const auto of = [&](int64_t k) { return a[static_cast<size_t>(at + k)]; };
         return of(2 - 2 * pitch) - 3 * of(-1);
     }},
    {"grow[i, j]: in A[i, j]; inout B[i, j]", &grow_kernel,
     [](const std::vector<int64_t> &a, int64_t at, int64_t, int64_t i, int64_t j, int64_t b) {
         return b + 2 * a[static_cast<size_t>(at)] + i - j;
     }}};

/** Launches on three fields, and what they give one after the other. */
class HostColumns : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK); }

    void TearDown() override {
        Clear();
        polytile_context_destroy(ctx_);
    }

    void Clear() {
        pti_schedule_free(schedule_);
        schedule_ = nullptr;
        pti_chain_free(&across_);
        pti_chain_free(&chain_);
        for (pti_instance *instance : instances_)
            pti_instance_free(instance);
        for (polytile_array *array : arrays_)
            polytile_array_destroy(array);
        for (polytile_kernel *kernel : kernels_)
            polytile_kernel_destroy(kernel);
        instances_.clear();
        arrays_.clear();
        kernels_.clear();
        operands_.clear();
        launches_.clear();
        calls_.clear();
    }

    /** Make fields of one pitch and so many rows each. */
    void MakeFields(const std::vector<int64_t> &rows, int64_t pitch, Random *random) {
        rows_ = rows[0];
        pitch_ = pitch;
        fields_.resize(rows.size());
        for (size_t f = 0; f < fields_.size(); f++) {
            fields_[f].resize(static_cast<size_t>(rows[f] * pitch_));
            for (int64_t &value : fields_[f])
                value = random->number(-99, 99);
            arrays_.push_back(nullptr);
            const int64_t extents[] = {rows[f], pitch_};
            ASSERT_EQ(polytile_array_wrap(ctx_, names_[f], POLYTILE_I64, 2, extents,
                                          fields_[f].data(), &arrays_.back()),
                      POLYTILE_OK);
            pti_operand operand = {};
            operand.name = names_[f];
            operand.type = POLYTILE_I64;
            operand.element_bytes = 8;
            operand.domain = polytile_domain_from_extents(2, extents);
            operands_.push_back(operand);
        }
        right_ = fields_;
        all_ = {};
        all_.kernel_name = names_[0];
        all_.n_operands = static_cast<int>(operands_.size());
        all_.operand = operands_.data();
    }

    void MakeThreeFields(Random *random) {
        const int64_t rows = 2 * border + random->number(1, 23);
        MakeFields({rows, rows, rows}, 2 * border + random->number(1, 23), random);
    }

    void AddCall(const std::string &declaration, const polytile_implementation *implementation,
                 const polytile_domain &threads, const std::vector<int> &operands) {
        std::vector<polytile_array *> given;
        for (const int operand : operands)
            given.push_back(arrays_[static_cast<size_t>(operand)]);
        kernels_.push_back(nullptr);
        ASSERT_EQ(
            polytile_kernel_create(ctx_, declaration.c_str(), implementation, &kernels_.back()),
            POLYTILE_OK)
            << polytile_last_error(ctx_);
        instances_.push_back(nullptr);
        ASSERT_EQ(pti_instance_create(kernels_.back(), &threads, given.data(), 0, nullptr,
                                      &instances_.back()),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
        calls_.push_back(operands);
    }

    void AddLaunch(const Step &step, int from, int to) {
        const polytile_domain threads = polytile_domain_from_bounds(
            2, std::vector<int64_t>{border, border}.data(),
            std::vector<int64_t>{rows_ - 1 - border, pitch_ - 1 - border}.data());
        AddCall(step.declaration, step.implementation, threads, {from, to});
        RunPlainly(step, right_[static_cast<size_t>(from)], &right_[static_cast<size_t>(to)]);
    }

    polytile_domain WholeField() const {
        return polytile_domain_from_bounds(2, std::vector<int64_t>{0, 0}.data(),
                                           std::vector<int64_t>{rows_ - 1, pitch_ - 1}.data());
    }

    int64_t Right(size_t field, int64_t i, int64_t j) const {
        return right_[field][static_cast<size_t>(i * pitch_ + j)];
    }

    /** Fields 0 and 1 in turn, between the rows of 2 and 3. */
    void AddWalls(size_t from) {
        const size_t to = 1 - from;
        const std::string last = std::to_string(last_row);
        AddCall("walls[i, j]: in A[i-1:i+1, j], L[i, j:j-i], R[i-" + last + ", j:j+i-" + last +
                    "]; out B[i, j]",
                &walls_kernel, WholeField(), {static_cast<int>(from), 2, 3, static_cast<int>(to)});
        for (int64_t i = 0; i < rows_; i++)
            for (int64_t j = 0; j < pitch_; j++)
                right_[to][static_cast<size_t>(i * pitch_ + j)] =
                    3 * Right(from, i, j) + (i == 0 ? Right(2, 0, j) : Right(from, i - 1, j)) +
                    5 * (i == last_row ? Right(3, 0, j) : Right(from, i + 1, j));
    }

    /** Fields 2 and 3, one below the other, to field 0. */
    void AddJoin() {
        const int64_t half = last_row / 2 + 1;
        AddCall("join[i, j]: in L[i, j:j-i+" + std::to_string(half - 1) + "], R[i-" +
                    std::to_string(half) + ", j:j+i-" + std::to_string(half) + "]; out B[i, j]",
                &join_kernel, WholeField(), {2, 3, 0});
        for (int64_t i = 0; i < rows_; i++)
            for (int64_t j = 0; j < pitch_; j++)
                right_[0][static_cast<size_t>(i * pitch_ + j)] =
                    i < half ? Right(2, i, j) : -Right(3, i - half, j);
    }

    void RunPlainly(const Step &step, const std::vector<int64_t> &a,
                    std::vector<int64_t> *b) const {
        for (int64_t i = border; i < rows_ - border; i++)
            for (int64_t j = border; j < pitch_ - border; j++) {
                int64_t &value = (*b)[static_cast<size_t>(i * pitch_ + j)];
                value = step.value(a, i * pitch_ + j, pitch_, i, j, value);
            }
    }

    void AddLaunches(Random *random) {
        const int n_launches = static_cast<int>(random->number(2, 9));
        for (int l = 0; l < n_launches; l++) {
            const int from = static_cast<int>(random->number(0, 2));
            AddLaunch(steps[random->number(0, 2)], from,
                      (from + static_cast<int>(random->number(1, 2))) % 3);
        }
    }

    void MakeChain() {
        for (size_t l = 0; l < instances_.size(); l++)
            launches_.push_back({{instances_[l], calls_[l].data()}, 0, 0});
        pti_text why = {};
        ASSERT_EQ(pti_chain_find(&all_, static_cast<int>(launches_.size()), launches_.data(),
                                 &chain_, &why),
                  POLYTILE_OK);
        ASSERT_EQ(chain_.n_launches == 0 ? POLYTILE_OK
                                         : pti_chain_find_across(&chain_, &across_, &why),
                  POLYTILE_OK);
        pti_text_free(&why);
    }

    /** False if not all launches can be interleaved along both indices, as where offsets are longer
     * than the fields. */
    bool Cut(Random *random) {
        pti_skew_shape shape = {};
        if (chain_.n_launches < static_cast<int>(instances_.size()) || across_.n_launches == 0)
            return false;
        shape.n_per_pass = static_cast<int>(random->number(1, chain_.n_launches));
        shape.n_passes = (chain_.n_launches + shape.n_per_pass - 1) / shape.n_per_pass;
        shape.slab = random->number(1, 9);
        shape.n_per_lap = INT64_MAX;
        shape.column = random->number(1, 9);
        schedule_ = pti_blocking_build_in_place(&chain_, &shape);
        EXPECT_NE(schedule_, nullptr);
        EXPECT_TRUE(pti_blocking_add_columns(&across_, &shape, schedule_));
        return true;
    }

    /** Launches of a body that touches nothing, of which all run on each of four columns. */
    void MakeNaps(int n_launches, const polytile_implementation *body) {
        Random random(1);
        MakeFields({64, 64}, 3, &random);
        for (int l = 0; l < n_launches; l++)
            AddCall("nap[i, j]: in A[i-1:i+1, j]; out B[i, j]", body, WholeField(),
                    {l % 2, 1 - l % 2});
        MakeChain();
        ASSERT_EQ(chain_.n_launches, n_launches);
        pti_skew_shape shape = {};
        shape.n_passes = 1;
        shape.n_per_pass = n_launches;
        shape.slab = 1 << 10;
        shape.n_per_lap = INT64_MAX;
        shape.column = 16;
        schedule_ = pti_blocking_build_in_place(&chain_, &shape);
        ASSERT_NE(schedule_, nullptr);
        ASSERT_EQ(schedule_->n_ops, n_launches);
        ASSERT_TRUE(pti_blocking_add_columns(&chain_, &shape, schedule_));
    }

    std::vector<pti_launch_config> Configs() const {
        std::vector<pti_launch_config> configs;
        for (const polytile_kernel *kernel : kernels_)
            configs.push_back(pti_launch_config_of(kernel, nullptr, nullptr));
        return configs;
    }

    void Run(int n_threads) {
        const std::vector<std::vector<int64_t>> before = fields_;
        const std::string text = "host(threads=" + std::to_string(n_threads) + ")";
        const std::vector<pti_launch_config> configs = Configs();
        polytile_device *device = nullptr;
        polytile_report report = {};
        ASSERT_EQ(polytile_device_open(ctx_, text.c_str(), &device), POLYTILE_OK);
        ASSERT_EQ(pti_execute(device, schedule_, configs.data(), arrays_.data(), &report),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
        EXPECT_EQ(fields_, right_) << text;
        EXPECT_EQ(report.n_kernels, schedule_->n_ops);
        polytile_device_close(device);
        for (size_t f = 0; f < before.size(); f++)
            std::copy(before[f].begin(), before[f].end(), fields_[f].begin());
    }

    char names_[4][2] = {"A", "B", "C", "D"};
    polytile_context *ctx_ = nullptr;
    int64_t rows_ = 0, pitch_ = 0;
    std::vector<std::vector<int64_t>> fields_, right_;
    std::vector<polytile_array *> arrays_;
    std::vector<pti_operand> operands_;
    pti_instance all_ = {};
    std::vector<polytile_kernel *> kernels_;
    std::vector<pti_instance *> instances_;
    std::vector<std::vector<int>> calls_;
    std::vector<pti_cut_launch> launches_;
    pti_chain chain_ = {}, across_ = {};
    pti_schedule *schedule_ = nullptr;
};

TEST_F(HostColumns, GiveWhatLaunchesGiveOneAfterTheOther) {
    const uint64_t seed = test_seed("HostColumns.GiveWhatLaunchesGiveOneAfterTheOther");
    const int64_t n_rounds = scaled(100);
    int64_t n_run = 0;
    for (int64_t round = 0; round < n_rounds && !HasFatalFailure(); round++) {
        SCOPED_TRACE(seed + static_cast<uint64_t>(round));
        Random random(seed + static_cast<uint64_t>(round));
        MakeThreeFields(&random);
        AddLaunches(&random);
        MakeChain();
        if (!HasFailure() && Cut(&random)) {
            for (int n_threads = 1; n_threads <= 5 && !HasFailure(); n_threads++)
                Run(n_threads);
            n_run++;
        }
        Clear();
    }
    EXPECT_GE(n_run, least_count(n_rounds, 0.7));
}

/** No slab touches all arrays: each is found where some slab touches it. */
TEST_F(HostColumns, FindArraysThatNoSlabTouchesTogether) {
    const uint64_t seed = test_seed("HostColumns.FindArraysThatNoSlabTouchesTogether");
    int64_t n_run = 0;
    for (const int64_t n_rows : {6, 10, 24, 40})
        for (const bool joins : {false, true}) {
            SCOPED_TRACE(seed + static_cast<uint64_t>(n_rows));
            Random random(seed + static_cast<uint64_t>(n_rows));
            const int64_t beside = joins ? n_rows / 2 : 1;
            last_row = n_rows - 1;
            MakeFields({n_rows, n_rows, beside, beside}, random.number(5, 19), &random);
            if (joins)
                AddJoin();
            for (size_t l = 0; l < (joins ? 0 : 4); l++)
                AddWalls(l % 2);
            if (joins)
                AddLaunch(steps[2], 0, 1);
            MakeChain();
            if (!HasFailure() && Cut(&random)) {
                for (int n_threads = 1; n_threads <= 3 && !HasFailure(); n_threads++)
                    Run(n_threads);
                n_run++;
            }
            Clear();
        }
    EXPECT_GE(n_run, 6);
}

TEST_F(HostColumns, LeaveOutTheRestOfATileOnceTheRunIsCancelled) {
    Cancelling cancelling = {};
    polytile_implementation body = {};
    body.host = Cancelling::run;
    body.user = &cancelling;
    MakeNaps(8, &body);
    ASSERT_EQ(polytile_device_open(ctx_, "host(threads=1)", &cancelling.device), POLYTILE_OK);
    pti_cancel_note(&cancelling.device->runs, 1);
    cancelling.device->cancel_number = 1;
    polytile_report report = {};
    EXPECT_EQ(pti_execute(cancelling.device, schedule_, Configs().data(), arrays_.data(), &report),
              POLYTILE_CANCELLED);
    EXPECT_EQ(cancelling.n_calls, 1);
    polytile_device_close(cancelling.device);
}

/** Launches that stay whole are one slab; with few of them threads must not wait for all. */
TEST_F(HostColumns, OfFewLaunchesRunSideBySide) {
    polytile_implementation naps = {};
    naps.host = take_a_nap;
    for (const int n_launches : {2, 4, 8}) {
        MakeNaps(n_launches, &naps);
        if (HasFatalFailure())
            return;
        most_inside = 0;
        for (int tries = 0; tries < 50 && most_inside < 2 && !HasFailure(); tries++)
            Run(2); /* a thread may begin late */
        EXPECT_EQ(most_inside, 2) << n_launches;
        Clear();
    }
}

} // namespace
