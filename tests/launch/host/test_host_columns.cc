#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

extern "C" {
#include "access/declare/kernel.h"
#include "access/footprint/instance.h"
#include "launch/execute/execute.h"
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

    void MakeFields(Random *random) {
        rows_ = 2 * border + random->number(1, 23);
        pitch_ = 2 * border + random->number(1, 23);
        for (std::vector<int64_t> &field : fields_) {
            field.resize(static_cast<size_t>(rows_ * pitch_));
            for (int64_t &value : field)
                value = random->number(-99, 99);
        }
        right_ = fields_;
        for (size_t f = 0; f < fields_.size(); f++) {
            arrays_.push_back(nullptr);
            const int64_t extents[] = {rows_, pitch_};
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
        all_ = {};
        all_.kernel_name = names_[0];
        all_.n_operands = static_cast<int>(operands_.size());
        all_.operand = operands_.data();
    }

    void AddLaunch(const Step &step, int from, int to) {
        const polytile_domain threads = polytile_domain_from_bounds(
            2, std::vector<int64_t>{border, border}.data(),
            std::vector<int64_t>{rows_ - 1 - border, pitch_ - 1 - border}.data());
        polytile_array *given[] = {arrays_[static_cast<size_t>(from)],
                                   arrays_[static_cast<size_t>(to)]};
        kernels_.push_back(nullptr);
        ASSERT_EQ(
            polytile_kernel_create(ctx_, step.declaration, step.implementation, &kernels_.back()),
            POLYTILE_OK)
            << polytile_last_error(ctx_);
        instances_.push_back(nullptr);
        ASSERT_EQ(
            pti_instance_create(kernels_.back(), &threads, given, 0, nullptr, &instances_.back()),
            POLYTILE_OK)
            << polytile_last_error(ctx_);
        calls_.push_back({from, to});
        RunPlainly(step, right_[static_cast<size_t>(from)], &right_[static_cast<size_t>(to)]);
    }

    void RunPlainly(const Step &step, const std::vector<int64_t> &a,
                    std::vector<int64_t> *b) const {
        for (int64_t i = border; i < rows_ - border; i++)
            for (int64_t j = border; j < pitch_ - border; j++) {
                int64_t &value = (*b)[static_cast<size_t>(i * pitch_ + j)];
                value = step.value(a, i * pitch_ + j, pitch_, i, j, value);
            }
    }

    void MakeChain(Random *random) {
        const int n_launches = static_cast<int>(random->number(2, 9));
        for (int l = 0; l < n_launches; l++) {
            const int from = static_cast<int>(random->number(0, 2));
            AddLaunch(steps[random->number(0, 2)], from,
                      (from + static_cast<int>(random->number(1, 2))) % 3);
        }
        for (size_t l = 0; l < instances_.size(); l++)
            launches_.push_back({{instances_[l], calls_[l].data()}, 0, 0});
        pti_text why = {};
        ASSERT_EQ(pti_chain_find(&all_, n_launches, launches_.data(), &chain_, &why), POLYTILE_OK);
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
        schedule_ = pti_skew_build_in_place(&chain_, &shape);
        EXPECT_NE(schedule_, nullptr);
        EXPECT_TRUE(pti_skew_add_columns(&across_, &shape, schedule_));
        return true;
    }

    void Run(int n_threads) {
        const std::vector<std::vector<int64_t>> before = fields_;
        const std::string text = "host(threads=" + std::to_string(n_threads) + ")";
        std::vector<pti_launch_config> configs;
        polytile_device *device = nullptr;
        polytile_report report = {};
        for (const polytile_kernel *kernel : kernels_)
            configs.push_back(pti_launch_config_of(kernel, nullptr, nullptr));
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

    char names_[3][2] = {"A", "B", "C"};
    polytile_context *ctx_ = nullptr;
    int64_t rows_ = 0, pitch_ = 0;
    std::vector<std::vector<int64_t>> fields_{3}, right_;
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
        MakeFields(&random);
        MakeChain(&random);
        if (!HasFailure() && Cut(&random)) {
            for (int n_threads = 1; n_threads <= 5 && !HasFailure(); n_threads++)
                Run(n_threads);
            n_run++;
        }
        Clear();
    }
    EXPECT_GT(n_run, n_rounds / 4);
}

} // namespace
