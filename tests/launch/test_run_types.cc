#include "launch/kernels.h"

#include <gtest/gtest.h>
#include <polytile/polytile.h>

#include <algorithm>
#include <string>
#include <vector>

/* Bodies know the types of their elements, and are run over arrays of those types alone. */

namespace {

struct Pair {
    float a, b;
};

enum Colour : int32_t { red };

/** A kernel over one array of elements of a C type. */
#define BODY(name, T)                                                                              \
    POLYTILE_KERNEL(name, (i), (T, x, 1)) {                                                        \
        (void)PT_AT(x, i);                                                                         \
    }

BODY(of_float, const float)
BODY(of_double, double)
BODY(of_char, signed char)
BODY(of_uchar, unsigned char)
BODY(of_short, const short)
BODY(of_ushort, uint16_t)
BODY(of_int, int)
BODY(of_unsigned, unsigned)
BODY(of_long, long)
BODY(of_long_long, const long long)
BODY(of_u64, uint64_t)
BODY(of_i64, int64_t)
BODY(of_bool, bool)
BODY(of_pair, Pair)
BODY(of_colour, Colour)
BODY(of_pointer, float *)
BODY(of_c64, const pt_c64)
BODY(of_c128, pt_c128)
BODY(of_indexed, pt_f32_i64)

const polytile_view_shape by_hand[] = {POLYTILE_VIEW_SHAPE(const float, 1)};
const polytile_view_shape of_four_bytes[] = {{4, 1, POLYTILE_ANY_NUMBER}};

polytile_implementation with(const polytile_view_shape *views) {
    polytile_implementation made = {};
    made.host = of_float_kernel.host;
    made.n_views = 1;
    made.views = views;
    return made;
}

const polytile_implementation hand_kernel = with(by_hand), untold_kernel = with(of_four_bytes);

struct Row {
    const char *body;
    const polytile_implementation *implementation;
    std::vector<polytile_type> taken;
};

const Row rows[] = {
    {"f32", &of_float_kernel, {POLYTILE_F32, POLYTILE_BYTES(4)}},
    {"f64", &of_double_kernel, {POLYTILE_F64, POLYTILE_BYTES(8)}},
    {"i8", &of_char_kernel, {POLYTILE_I8, POLYTILE_BYTES(1)}},
    {"u8", &of_uchar_kernel, {POLYTILE_U8, POLYTILE_BYTES(1)}},
    {"i16", &of_short_kernel, {POLYTILE_I16, POLYTILE_BYTES(2)}},
    {"u16", &of_ushort_kernel, {POLYTILE_U16, POLYTILE_F16, POLYTILE_BF16, POLYTILE_BYTES(2)}},
    {"i32", &of_int_kernel, {POLYTILE_I32, POLYTILE_BYTES(4)}},
    {"u32", &of_unsigned_kernel, {POLYTILE_U32, POLYTILE_BYTES(4)}},
    {"i64", &of_long_kernel, {POLYTILE_I64, POLYTILE_BYTES(8)}},
    {"i64", &of_long_long_kernel, {POLYTILE_I64, POLYTILE_BYTES(8)}},
    {"u64", &of_u64_kernel, {POLYTILE_U64, POLYTILE_BYTES(8)}},
    {"i64", &of_i64_kernel, {POLYTILE_I64, POLYTILE_BYTES(8)}},
    {"1 B", &of_bool_kernel, {POLYTILE_I8, POLYTILE_U8, POLYTILE_BYTES(1)}},
    {"8 B",
     &of_pair_kernel,
     {POLYTILE_I64, POLYTILE_U64, POLYTILE_F64, POLYTILE_C64, POLYTILE_BYTES(8)}},
    {"4 B", &of_colour_kernel, {POLYTILE_I32, POLYTILE_U32, POLYTILE_F32, POLYTILE_BYTES(4)}},
    {"8 B",
     &of_pointer_kernel,
     {POLYTILE_I64, POLYTILE_U64, POLYTILE_F64, POLYTILE_C64, POLYTILE_BYTES(8)}},
    {"c64", &of_c64_kernel, {POLYTILE_C64, POLYTILE_BYTES(8)}},
    {"c128", &of_c128_kernel, {POLYTILE_C128}},
    {"f32_i64", &of_indexed_kernel, {POLYTILE_INDEXED(POLYTILE_F32)}},
    {"f32", &hand_kernel, {POLYTILE_F32, POLYTILE_BYTES(4)}},
    {"4 B", &untold_kernel, {POLYTILE_I32, POLYTILE_U32, POLYTILE_F32, POLYTILE_BYTES(4)}},
};

struct Type {
    const char *text;
    polytile_type type;
};

const Type types[] = {
#define TYPE_ROW(name, text, bytes) {text, POLYTILE_##name},
    POLYTILE_TYPES(TYPE_ROW)
#undef TYPE_ROW
        {"f32_i64", POLYTILE_INDEXED(POLYTILE_F32)},
    {"i32_i64", POLYTILE_INDEXED(POLYTILE_I32)},
    {"1 B", POLYTILE_BYTES(1)},
    {"2 B", POLYTILE_BYTES(2)},
    {"4 B", POLYTILE_BYTES(4)},
    {"8 B", POLYTILE_BYTES(8)},
    {"3 B", POLYTILE_BYTES(3)},
};

class RunTypes : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_array *array_of(polytile_type type) {
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx, "data", type, 1, &extent, memory.data(), &array),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        return array;
    }
    polytile_kernel *kernel_of(const polytile_implementation *implementation) {
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx, "k[i]: inout x[i]", implementation, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        return kernel;
    }
    static std::string refusal(const Type &array, const std::string &body) {
        return std::string("k: array data has elements of ") + array.text +
               ", and the kernel body's view 0 (x) elements of " + body + "; give an array of " +
               body + ", or a body for " + array.text;
    }

    const int64_t extent = 64;
    const polytile_domain threads = {1, {{0, 63, 1}}};
    std::vector<double> memory = std::vector<double>(128);
    polytile_context *ctx = nullptr;
};

TEST_F(RunTypes, AreThoseOfTheBodyOrTheRunIsRefused) {
    polytile_device *device = nullptr;
    ASSERT_EQ(polytile_device_open(ctx, "host(memory=64KiB,threads=1)", &device), POLYTILE_OK);
    for (const Row &row : rows) {
        polytile_kernel *kernel = kernel_of(row.implementation);
        for (const Type &type : types) {
            polytile_array *array = array_of(type.type);
            const bool is_taken =
                std::find(row.taken.begin(), row.taken.end(), type.type) != row.taken.end();
            EXPECT_EQ(polytile_run(device, kernel, &threads, polytile_kernel_get_n_arrays(kernel),
                                   &array, nullptr),
                      is_taken ? POLYTILE_OK : POLYTILE_INVALID)
                << row.body << " over " << type.text;
            EXPECT_EQ(polytile_last_error(ctx), is_taken ? "" : refusal(type, row.body));
            polytile_array_destroy(array);
        }
    }
}

TEST_F(RunTypes, AreComparedWhereverAKernelIsGivenArrays) {
    const Type whole = {"i32", POLYTILE_I32};
    polytile_kernel *kernel = kernel_of(&of_float_kernel);
    polytile_array *array = array_of(whole.type);
    polytile_device *device = nullptr;
    polytile_plan *plan = nullptr;
    polytile_use use = {};
    ASSERT_EQ(polytile_device_open(ctx, "host", &device), POLYTILE_OK);
    ASSERT_EQ(polytile_plan_create(kernel, &threads, polytile_kernel_get_n_arrays(kernel), &array,
                                   nullptr, &plan),
              POLYTILE_OK);
    const auto expect_refused = [&](polytile_status status) {
        EXPECT_EQ(status, POLYTILE_INVALID);
        EXPECT_EQ(polytile_last_error(ctx), refusal(whole, "f32"));
    };
    expect_refused(polytile_plan_run(plan, device, kernel, polytile_kernel_get_n_arrays(kernel),
                                     &array, NULL));
    expect_refused(polytile_check_run(
        device, kernel, &threads, polytile_kernel_get_n_arrays(kernel), &array, nullptr, nullptr));
    expect_refused(polytile_check_use(device, kernel, &threads,
                                      polytile_kernel_get_n_arrays(kernel), &array, nullptr, &use));
    for (const char *text : {"host", "host(memory=1KiB)", "host,host"}) {
        polytile_queue *queue = nullptr;
        ASSERT_EQ(polytile_queue_create(ctx, text, &queue), POLYTILE_OK);
        ASSERT_EQ(polytile_queue_attach(queue, 1, &array), POLYTILE_OK);
        expect_refused(polytile_queue_launch(queue, kernel, &threads, 1, &array, nullptr));
        EXPECT_EQ(polytile_queue_detach(queue, 1, &array), POLYTILE_OK);
        polytile_queue_destroy(queue);
    }
}

} // namespace
