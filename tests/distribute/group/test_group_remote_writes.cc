#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <ostream>
#include <string>
#include <tuple>
#include <vector>

/* A launch writes an array, and the next writes elements of it that belong to other members: its
 * threads are where another operand puts them. Members copy into memory that holds part of it. */

namespace {

POLYTILE_KERNEL(fill, (i), (int64_t, a, 1)) {
    PT_AT(a, i) = 1000 + i;
}

POLYTILE_KERNEL(fill_plane, (i, j), (int64_t, a, 2)) {
    PT_AT(a, i, j) = 1000 + 100 * i + j;
}

POLYTILE_KERNEL(write_columns, (i), (int64_t, e, 1), (int64_t, a, 2)) {
    PT_AT(e, i) = i;
    for (int64_t r = i; r <= PT_LAST(a, 0); r++)
        PT_AT(a, r, i) = i;
}

POLYTILE_KERNEL(update_columns, (i), (int64_t, e, 1), (int64_t, a, 2)) {
    PT_AT(e, i) = i;
    for (int64_t r = i; r <= PT_LAST(a, 0); r++)
        PT_AT(a, r, i) = 3 * PT_AT(a, r, i) + i;
}

POLYTILE_KERNEL(write_strided, (i), (int64_t, e, 1), (int64_t, a, 1)) {
    PT_AT(e, 3 * i) = i;
    PT_AT(a, i) = i;
}

POLYTILE_KERNEL(write_shifted, (i), (int64_t, e, 1), (int64_t, a, 1)) {
    PT_AT(e, i) = i;
    PT_AT(a, i + 20) = i;
}

POLYTILE_KERNEL(write_reversed, (i), (int64_t, e, 1), (int64_t, a, 1)) {
    PT_AT(e, i) = i;
    PT_AT(a, 96 - i) = i;
}

POLYTILE_KERNEL(update_reversed, (i), (int64_t, e, 1), (int64_t, a, 1)) {
    PT_AT(e, i) = i;
    PT_AT(a, 96 - i) = 3 * PT_AT(a, 96 - i) + i;
}

POLYTILE_KERNEL(write_three, (i), (int64_t, e, 1), (int64_t, f, 1), (int64_t, a, 1)) {
    for (int64_t x = 3 * i; x <= 3 * i + 2 && x <= PT_LAST(e, 0); x++)
        PT_AT(e, x) = i;
    PT_AT(f, 60 - i) = i;
    PT_AT(a, i) = i;
}

/** The last array is filled; all are then written. */
struct RemoteWrites {
    const char *declaration;
    const polytile_implementation *body;
    std::vector<std::vector<int64_t>> extents; /* of the arrays */
    int64_t n_threads;
};

void PrintTo(const RemoteWrites &of, std::ostream *out) {
    *out << of.declaration;
}

const std::vector<RemoteWrites> one_dimension = {
    {"strided[i]: out E[3*i]; out A[i]", &write_strided_kernel, {{97}, {97}}, 33},
    {"shifted[i]: out E[i]; out A[i+20]", &write_shifted_kernel, {{97}, {97}}, 77},
    {"reversed[i]: out E[i]; out A[96-i]", &write_reversed_kernel, {{97}, {97}}, 97},
    {"three[i]: out E[3*i:3*i+2]; out F[60-i]; out A[i]",
     &write_three_kernel,
     {{61}, {61}, {61}},
     21}};

const std::vector<RemoteWrites> columns = {
    {"columns[i]: out E[i]; out A[i:, i]", &write_columns_kernel, {{20}, {20, 20}}, 20}};

const std::vector<RemoteWrites> updates = {
    {"columns[i]: out E[i]; inout A[i:, i]", &update_columns_kernel, {{20}, {20, 20}}, 20},
    {"reversed[i]: out E[i]; inout A[96-i]", &update_reversed_kernel, {{97}, {97}}, 97}};

/** Runs the program; returns what the filled array then holds. */
class RemoteRun {
  public:
    explicit RemoteRun(const RemoteWrites &of) : of_(of) {
        EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
    }
    ~RemoteRun() { polytile_context_destroy(ctx_); }

    std::vector<int64_t> run(const std::string &devices, const std::string &layout) {
        polytile_share_options share = {};
        share.layout = layout.c_str();
        expect_ok(polytile_queue_create_shared(ctx_, devices.c_str(), &share, &queue_));
        if (testing::Test::HasFailure())
            return {};
        wrap_arrays();
        expect_ok(polytile_queue_attach(queue_, static_cast<int>(arrays_.size()), arrays_.data()));
        launch_both();
        expect_ok(polytile_queue_detach(queue_, static_cast<int>(arrays_.size()), arrays_.data()));
        return memory_.back();
    }

  private:
    void expect_ok(polytile_status status) {
        EXPECT_EQ(status, POLYTILE_OK) << polytile_last_error(ctx_);
    }

    void wrap_arrays() {
        for (const std::vector<int64_t> &extents : of_.extents) {
            int64_t n = 1;
            for (const int64_t extent : extents)
                n *= extent;
            memory_.emplace_back(static_cast<size_t>(n), -1);
            arrays_.push_back(nullptr);
            const std::string name(1, static_cast<char>('A' + arrays_.size()));
            expect_ok(polytile_array_wrap(ctx_, name.c_str(), POLYTILE_I64,
                                          static_cast<int>(extents.size()), extents.data(),
                                          memory_.back().data(), &arrays_.back()));
        }
    }

    void launch(const char *declaration, const polytile_implementation *body,
                const std::vector<int64_t> &extents, const std::vector<polytile_array *> &arrays) {
        polytile_kernel *kernel = nullptr;
        const polytile_domain threads =
            polytile_domain_from_extents(static_cast<int>(extents.size()), extents.data());
        expect_ok(polytile_kernel_create(ctx_, declaration, body, &kernel));
        expect_ok(polytile_queue_launch(queue_, kernel, &threads, static_cast<int>(arrays.size()),
                                        arrays.data(), nullptr));
    }

    void launch_both() {
        const std::vector<int64_t> &filled = of_.extents.back();
        if (filled.size() == 1)
            launch("fill[i]: out A[i]", &fill_kernel, filled, {arrays_.back()});
        else
            launch("fill[i, j]: out A[i, j]", &fill_plane_kernel, filled, {arrays_.back()});
        launch(of_.declaration, of_.body, {of_.n_threads}, arrays_);
    }

    const RemoteWrites &of_;
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
    std::vector<std::vector<int64_t>> memory_;
    std::vector<polytile_array *> arrays_;
};

/** Members of such a memory, each of those the bits say in place. */
std::string list_devices(int n_members, int64_t memory_bytes, unsigned in_place) {
    std::string text;
    for (int m = 0; m < n_members; m++)
        text += std::string(m == 0 ? "" : ",") +
                ((in_place >> m & 1U) != 0
                     ? "host(threads=1)"
                     : "host(memory=" + std::to_string(memory_bytes) + "B,threads=1)");
    return text;
}

std::string spell_layout(const std::string &kind, int n_members) {
    std::string text = "weighted(";
    for (int m = 0; m < n_members; m++)
        text += std::string(m == 0 ? "" : ",") + (m % 2 == 0 ? "1" : "2");
    return kind == "weighted" ? text + ")" : kind;
}

class GroupRemoteWrites : public testing::TestWithParam<std::tuple<RemoteWrites, std::string>> {};

const auto layouts =
    testing::Values<std::string>("block", "cyclic(1)", "cyclic(2)", "weighted", "pool");

INSTANTIATE_TEST_SUITE_P(OneDimension, GroupRemoteWrites,
                         testing::Combine(testing::ValuesIn(one_dimension), layouts));
INSTANTIATE_TEST_SUITE_P(Columns, GroupRemoteWrites,
                         testing::Combine(testing::ValuesIn(columns), layouts));
INSTANTIATE_TEST_SUITE_P(Updates, GroupRemoteWrites,
                         testing::Combine(testing::ValuesIn(updates), layouts));

TEST_P(GroupRemoteWrites, AreNotOverwrittenByOlderElementsThatOwnersStillHold) {
    const auto &[of, kind] = GetParam();
    const std::vector<int64_t> expected = RemoteRun(of).run("host", "block");
    for (const int n_members : {2, 3, 4, 5})
        for (const int64_t memory_bytes : {800, 1100, 1400})
            for (const unsigned in_place : {0U, 1U, 2U})
                for (int64_t round = 0; round < scaled(2); round++) {
                    const std::string devices = list_devices(n_members, memory_bytes, in_place);
                    const std::vector<int64_t> found =
                        RemoteRun(of).run(devices, spell_layout(kind, n_members));
                    ASSERT_EQ(found, expected) << devices;
                }
}

} // namespace
