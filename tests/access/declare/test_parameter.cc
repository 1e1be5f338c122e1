#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <polytile/polytile.h>

extern "C" {
#include "access/declare/parameter.h"
#include "base/half.h"
}

namespace {

class Parameter : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_kernel *create(const std::string &text,
                            std::vector<polytile_body_parameter> *body = nullptr) {
        polytile_kernel *kernel = nullptr;
        polytile_implementation implementation = {};
        if (body != nullptr) {
            implementation.n_parameters = static_cast<int>(body->size());
            implementation.parameters = body->data();
        }
        EXPECT_EQ(polytile_kernel_create(ctx, text.c_str(), &implementation, &kernel), POLYTILE_OK)
            << error();
        return kernel;
    }

    polytile_status bind(const polytile_kernel *kernel,
                         const std::vector<polytile_parameter> &given, pti_value *values) {
        return pti_parameters_bind(ctx, kernel, static_cast<int>(given.size()), given.data(),
                                   values);
    }

    polytile_status match(const polytile_kernel *kernel,
                          const std::vector<polytile_parameter> &given, int64_t *values) {
        return pti_parameters_match(ctx, kernel->declaration, static_cast<int>(given.size()),
                                    given.data(), values);
    }

    std::string error() const { return polytile_last_error(ctx); }
    bool says(const std::string &part) const { return error().find(part) != std::string::npos; }

    polytile_context *ctx = nullptr;
};

template <class T> T value_of(const pti_value &value) {
    T made;
    std::memcpy(&made, value.bytes, sizeof made);
    for (size_t k = sizeof made; k < sizeof value.bytes; k++)
        EXPECT_EQ(value.bytes[k], 0);
    return made;
}

const char *const type_names[] = {
#define TYPE_NAME(name, text, bytes) text,
    POLYTILE_TYPES(TYPE_NAME)
#undef TYPE_NAME
};

/** What a value becomes in an integer type: as the bits of 64, or refused. */
class IntegerParameter : public Parameter {
  protected:
    template <class T> void expect_range(polytile_type type) {
        const polytile_kernel *kernel =
            create(std::string("k[i](") + type_names[type] + " n): in x[i]");
        const __int128 least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
        for (const __int128 value : {least - 1, least, least + 1, static_cast<__int128>(-1),
                                     static_cast<__int128>(0), most - 1, most, most + 1}) {
            const bool fits = value >= least && value <= most;
            if (value >= INT64_MIN && value <= INT64_MAX)
                expect<T>(kernel, polytile_parameter_signed("n", static_cast<int64_t>(value)), fits,
                          value);
            if (value >= 0 && value <= UINT64_MAX)
                expect<T>(kernel, polytile_parameter_unsigned("n", static_cast<uint64_t>(value)),
                          fits, value);
            const double real = static_cast<double>(value);
            const __int128 rounded = static_cast<__int128>(real);
            expect<T>(kernel, polytile_parameter_real("n", real),
                      rounded >= least && rounded <= most, rounded);
        }
        const double infinity = std::numeric_limits<double>::infinity();
        for (const double real : {0.5, -0.25, 126.5, static_cast<double>(most) + 0.5, 1e300, -1e300,
                                  infinity, -infinity, std::nan(""), 5e-324})
            if (real != std::trunc(real) || std::fabs(real) > 1e299 || std::isnan(real))
                expect<T>(kernel, polytile_parameter_real("n", real), false, 0);
        expect<T>(kernel, polytile_parameter_real("n", -0.0), true, 0);
        polytile_parameter any = {"n", 1, 0, POLYTILE_ANY_NUMBER};
        expect<T>(kernel, any, true, 1);
        any.value = INT64_MIN;
        expect<T>(kernel, any, least == INT64_MIN, INT64_MIN);
        n_types++;
    }

    template <class T>
    void expect(const polytile_kernel *kernel, const polytile_parameter &given, bool fits,
                __int128 value) {
        pti_value held = {};
        int64_t unused[POLYTILE_MAX_PARAMETERS];
        const polytile_status status = bind(kernel, {given}, &held);
        EXPECT_EQ(status, fits ? POLYTILE_OK : POLYTILE_INVALID)
            << given.value << ", " << given.real << error();
        EXPECT_EQ(match(kernel, {given}, unused), status);
        if (fits)
            EXPECT_TRUE(value_of<T>(held) == static_cast<T>(value)) << given.value;
        else
            EXPECT_TRUE(says("k: parameter n is ") && says(" and cannot hold ") &&
                        says(" to " + std::to_string(std::numeric_limits<T>::max())) &&
                        says(" from " + std::to_string(std::numeric_limits<T>::min())))
                << error();
    }

    int n_types = 0;
};

TEST_F(IntegerParameter, HoldsWhatItsTypeHoldsAndNothingElse) {
    expect_range<int8_t>(POLYTILE_I8);
    expect_range<int16_t>(POLYTILE_I16);
    expect_range<int32_t>(POLYTILE_I32);
    expect_range<int64_t>(POLYTILE_I64);
    expect_range<uint8_t>(POLYTILE_U8);
    expect_range<uint16_t>(POLYTILE_U16);
    expect_range<uint32_t>(POLYTILE_U32);
    expect_range<uint64_t>(POLYTILE_U64);
    EXPECT_EQ(n_types, 8);
}

TEST_F(Parameter, IsGivenInOneArgumentFromCppToo) {
    polytile_array *x = nullptr;
    const polytile_kernel *kernel = create("k[i](f32 a): inout x[i+n]");
    ASSERT_EQ(polytile_array_describe(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(8), &x),
              POLYTILE_OK);
    const auto check = [&](const polytile_launch_options *options) {
        return polytile_check(kernel, POLYTILE_EXTENTS(4), POLYTILE_ARRAYS(x), options);
    };
    EXPECT_EQ(check(POLYTILE_PARAMETERS(POLYTILE_PARAMETER("n", 4))), POLYTILE_OK) << error();
    EXPECT_EQ(check(POLYTILE_PARAMETERS(POLYTILE_PARAMETER("a", 2.5f), POLYTILE_PARAMETER("n", 4))),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(check(POLYTILE_PARAMETERS(POLYTILE_PARAMETER("n", 5))), POLYTILE_DECLARATION);
}

TEST_F(Parameter, RefusalsShowTheValueAndTheRange) {
    pti_value value;
    const struct {
        const char *type;
        polytile_parameter given;
        const char *text;
    } rows[] = {
        {"i32", polytile_parameter_signed("n", 2147483648),
         "k: parameter n is i32 and cannot hold 2147483648; give an integer from -2147483648 to "
         "2147483647, or declare another type"},
        {"u8", polytile_parameter_real("n", 16777217.5),
         "k: parameter n is u8 and cannot hold 16777217.5; give an integer from 0 to 255, or "
         "declare another type"},
        {"i64", polytile_parameter_unsigned("n", UINT64_MAX),
         "k: parameter n is i64 and cannot hold 18446744073709551615; give an integer from "
         "-9223372036854775808 to 9223372036854775807, or declare another type"},
        {"i8", polytile_parameter_real("n", std::nan("")),
         "k: parameter n is i8 and cannot hold nan; give an integer from -128 to 127, or declare "
         "another type"},
        {"f16", polytile_parameter_signed("n", -65520),
         "k: parameter n is f16, in which -65520 would be infinite; give a number from -65504 to "
         "65504, or declare another type"},
        {"f32", polytile_parameter_real("n", 1e300),
         "k: parameter n is f32, in which 1e+300 would be infinite; give a number from "
         "-3.40282e+38 to 3.40282e+38, or declare another type"},
    };
    for (const auto &row : rows) {
        EXPECT_EQ(
            bind(create(std::string("k[i](") + row.type + " n): in x[i]"), {row.given}, &value),
            POLYTILE_INVALID);
        EXPECT_EQ(error(), row.text);
    }
}

const double largest = std::numeric_limits<double>::max();
const double infinite = std::numeric_limits<double>::infinity();
const float largest_float = std::numeric_limits<float>::max();

TEST_F(Parameter, OfF64IsTheNumber) {
    const polytile_kernel *kernel = create("k[i](f64 a): in x[i]");
    pti_value value;
    for (const double real : {0.0, -0.0, 0.1, 5e-324, -largest, infinite, -infinite}) {
        ASSERT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", real)}, &value), POLYTILE_OK);
        EXPECT_EQ(value_of<double>(value), real);
        EXPECT_EQ(std::signbit(value_of<double>(value)), std::signbit(real));
    }
    ASSERT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", std::nan(""))}, &value), POLYTILE_OK);
    EXPECT_TRUE(std::isnan(value_of<double>(value)));
    ASSERT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", UINT64_MAX)}, &value), POLYTILE_OK);
    EXPECT_EQ(value_of<double>(value), 0x1p64);
    ASSERT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", INT64_MIN)}, &value), POLYTILE_OK);
    EXPECT_EQ(value_of<double>(value), -0x1p63);
}

TEST_F(Parameter, OfF32IsRoundedAsCDoes) {
    const polytile_kernel *kernel = create("k[i](f32 a): in x[i]");
    const double half_a_step_above = 0x1.ffffffp127;
    pti_value value;
    for (const double real :
         {0.0, -0.0, 0.1, 1e-45, 1e-50, -1e-40, 16777217.0, static_cast<double>(largest_float),
          std::nextafter(half_a_step_above, 0.0), infinite, -infinite}) {
        ASSERT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", real)}, &value), POLYTILE_OK) << real;
        EXPECT_EQ(value_of<float>(value), static_cast<float>(real));
        EXPECT_EQ(std::signbit(value_of<float>(value)), std::signbit(real));
    }
    ASSERT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", std::nan(""))}, &value), POLYTILE_OK);
    EXPECT_TRUE(std::isnan(value_of<float>(value)));
    for (const double real : {half_a_step_above, -half_a_step_above, largest})
        EXPECT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", real)}, &value), POLYTILE_INVALID) << real;
    const int64_t by_way_of_double = (int64_t{1} << 60) + (int64_t{1} << 36) + 1;
    ASSERT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", by_way_of_double)}, &value), POLYTILE_OK);
    EXPECT_EQ(value_of<float>(value), 0x1.000002p60f);
    ASSERT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", UINT64_MAX)}, &value), POLYTILE_OK);
    EXPECT_EQ(value_of<float>(value), 0x1p64f);
}

TEST_F(Parameter, OfF16IsRoundedOnce) {
    const polytile_kernel *kernel = create("k[i](f16 a): in x[i]");
    pti_value value;
    const struct {
        double real, half;
    } rows[] = {
        {0.0, 0.0},
        {-0.0, -0.0},
        {2.5, 2.5},
        {65504, 65504},
        {65519.9999999999, 65504},
        {-65519.9999999999, -65504},
        {0x1p-24, 0x1p-24},               /* the least one */
        {0x1p-25, 0.0},                   /* a tie to even */
        {0x1.0000000000001p-25, 0x1p-24}, /* above it, by less than float shows */
        {0x1.fffffffffffffp-26, 0.0},     /* below it */
        {-0x1.8p-24, -0x1p-23},           /* a tie to even, away from zero */
        {0x1.ff8p-15, 0x1.ff8p-15},       /* the greatest subnormal */
        {0x1.002p0, 1.0},                 /* a tie to even */
        {0x1.0020000000001p0, 0x1.004p0}, /* above it */
        {0x1.005ffffffffffp0, 0x1.004p0}, /* below a tie that would go up */
        {1e-300, 0.0},
        {infinite, infinite},
        {-infinite, -infinite},
    };
    for (const auto &row : rows) {
        ASSERT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", row.real)}, &value), POLYTILE_OK)
            << row.real;
        const double half = static_cast<double>(pti_half_to_float(value_of<uint16_t>(value)));
        EXPECT_EQ(half, row.half) << row.real;
        EXPECT_EQ(std::signbit(half), std::signbit(row.half)) << row.real;
    }
    ASSERT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", std::nan(""))}, &value), POLYTILE_OK);
    EXPECT_TRUE(std::isnan(pti_half_to_float(value_of<uint16_t>(value))));
    for (const double real : {65520.0, -65520.0, 1e10, largest})
        EXPECT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", real)}, &value), POLYTILE_INVALID) << real;
    EXPECT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", UINT64_MAX)}, &value), POLYTILE_INVALID);
}

/** Integers that no double is equal to, just beside a tie of bf16. */
TEST_F(Parameter, IntegersOfBf16AreRoundedOnce) {
    const polytile_kernel *kernel = create("k[i](bf16 a): in x[i]");
    const int64_t power = INT64_C(1) << 60, step = power >> 7;
    pti_value value;
    const struct {
        int64_t integer;
        double rounded;
    } rows[] = {
        {power, 0x1p60},
        {power + step / 2, 0x1p60}, /* a tie to even */
        {power + step / 2 + 1, 0x1p60 + 0x1p53},
        {power + step / 2 - 1, 0x1p60},
        {power + 3 * (step / 2) - 1, 0x1p60 + 0x1p53}, /* below a tie that goes up */
        {power + 3 * (step / 2), 0x1p60 + 0x1p54},
    };
    for (const auto &row : rows)
        for (const int sign : {1, -1}) {
            ASSERT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", sign * row.integer)}, &value),
                      POLYTILE_OK)
                << error();
            EXPECT_EQ(static_cast<double>(pti_brain_to_float(value_of<uint16_t>(value))),
                      sign * row.rounded)
                << row.integer;
        }
    ASSERT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", UINT64_MAX)}, &value), POLYTILE_OK);
    EXPECT_EQ(pti_brain_to_float(value_of<uint16_t>(value)), 0x1p64f);
    ASSERT_EQ(bind(kernel, {POLYTILE_PARAMETER("a", INT64_MIN)}, &value), POLYTILE_OK);
    EXPECT_EQ(pti_brain_to_float(value_of<uint16_t>(value)), -0x1p63f);
}

TEST_F(Parameter, PlanningNeedsTheValuesThatSubscriptsUse) {
    const polytile_kernel *kernel = create("k[i](f32 a, u8 n, f64 b): in x[i+n+m]; out y[i]");
    int64_t values[POLYTILE_MAX_PARAMETERS] = {9, 9, 9, 9};
    ASSERT_EQ(match(kernel, {POLYTILE_PARAMETER("m", -3), POLYTILE_PARAMETER("n", 200)}, values),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(std::vector<int64_t>(values, values + 4), (std::vector<int64_t>{0, 200, 0, -3}));
    ASSERT_EQ(match(kernel,
                    {POLYTILE_PARAMETER("b", 1), POLYTILE_PARAMETER("m", 2.0),
                     POLYTILE_PARAMETER("a", 2.5), POLYTILE_PARAMETER("n", 1u)},
                    values),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(std::vector<int64_t>(values, values + 4), (std::vector<int64_t>{0, 1, 0, 2}));
    const polytile_parameter m = POLYTILE_PARAMETER("m", 1), n = POLYTILE_PARAMETER("n", 1);
    const struct {
        std::vector<polytile_parameter> given;
        polytile_status status;
        const char *says;
    } rows[] = {
        {{n}, POLYTILE_DECLARATION, "k: m is no index, so it is a parameter, and has no value; "},
        {{m},
         POLYTILE_DECLARATION,
         "k: parameter n has no value; give one at the launch, such as n=100"},
        {{m, n, POLYTILE_PARAMETER("c", 2.5)},
         POLYTILE_INVALID,
         "k: there is no parameter c in the declaration, but it is given 2.5"},
        {{m, n, POLYTILE_PARAMETER("a", 1), POLYTILE_PARAMETER("a", 2.5)},
         POLYTILE_INVALID,
         "k: parameter a is given twice, 1 and 2.5"},
        {{m, n, POLYTILE_PARAMETER("a", 1e39)}, POLYTILE_INVALID, "k: parameter a is f32"},
        {{m, POLYTILE_PARAMETER("n", 256)}, POLYTILE_INVALID, "k: parameter n is u8"},
        {{n, POLYTILE_PARAMETER("m", 0.5)}, POLYTILE_INVALID, "k: parameter m is i64"},
        {{n, m, POLYTILE_PARAMETER(nullptr, 0.5)}, POLYTILE_INVALID, "name is NULL"},
    };
    for (const auto &row : rows) {
        EXPECT_EQ(match(kernel, row.given, values), row.status) << row.says;
        EXPECT_TRUE(says(row.says)) << error();
    }
}

TEST_F(Parameter, SubscriptsTakeNoMoreThanInt64) {
    const polytile_kernel *used = create("k[i](u64 n): in x[i+n]; out y[i]");
    const polytile_kernel *unused = create("k[i](u64 n): in x[i]; out y[i]");
    int64_t values[POLYTILE_MAX_PARAMETERS];
    const uint64_t most = INT64_MAX;
    ASSERT_EQ(match(used, {POLYTILE_PARAMETER("n", most)}, values), POLYTILE_OK);
    EXPECT_EQ(values[0], INT64_MAX);
    EXPECT_EQ(match(used, {POLYTILE_PARAMETER("n", most + 1)}, values), POLYTILE_INVALID);
    EXPECT_EQ(error(), "k: parameter n is given 9223372036854775808, but subscripts use it; give "
                       "at most 9223372036854775807");
    EXPECT_EQ(match(unused, {POLYTILE_PARAMETER("n", most + 1)}, values), POLYTILE_OK);
}

TEST_F(Parameter, BodiesGetAllInTheDeclarationsOrder) {
    const polytile_kernel *kernel = create("k[i](f32 a, i16 b): in x[i+n]; out y[i]");
    pti_value values[3];
    ASSERT_EQ(pti_kernel_n_values(kernel), 3);
    ASSERT_EQ(bind(kernel,
                   {POLYTILE_PARAMETER("n", 7), POLYTILE_PARAMETER("a", 2.5),
                    POLYTILE_PARAMETER("b", -1)},
                   values),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(value_of<float>(values[0]), 2.5f);
    EXPECT_EQ(value_of<int16_t>(values[1]), -1);
    EXPECT_EQ(value_of<int64_t>(values[2]), 7);
    EXPECT_EQ(bind(kernel, {POLYTILE_PARAMETER("n", 7), POLYTILE_PARAMETER("b", 1)}, values),
              POLYTILE_DECLARATION);
    EXPECT_EQ(error(), "k: parameter a has no value; give one at the launch, such as a=2.5");
    EXPECT_EQ(pti_parameters_bind(ctx, kernel, 1, nullptr, values), POLYTILE_INVALID);
    EXPECT_EQ(pti_parameters_bind(ctx, kernel, -1, nullptr, values), POLYTILE_INVALID);
}

TEST_F(Parameter, BodiesGetThoseThatTheyNameInTheirOrder) {
    std::vector<polytile_body_parameter> body = {{"n", 8, POLYTILE_SIGNED_NUMBER},
                                                 {"a", 4, POLYTILE_FLOAT_NUMBER}};
    const polytile_kernel *kernel = create("k[i](f32 a, i16 b): in x[i+n]; out y[i]", &body);
    pti_value values[2];
    ASSERT_EQ(pti_kernel_n_values(kernel), 2);
    const polytile_parameter a = POLYTILE_PARAMETER("a", 2.5), b = POLYTILE_PARAMETER("b", 1),
                             n = POLYTILE_PARAMETER("n", 7);
    ASSERT_EQ(bind(kernel, {a, b, n}, values), POLYTILE_OK) << error();
    EXPECT_EQ(value_of<int64_t>(values[0]), 7);
    EXPECT_EQ(value_of<float>(values[1]), 2.5f);
    EXPECT_EQ(bind(kernel, {a, n}, values), POLYTILE_DECLARATION);
    EXPECT_TRUE(says("parameter b has no value")) << error();
    std::vector<polytile_body_parameter> none;
    none.reserve(1);
    EXPECT_EQ(pti_kernel_n_values(create("k[i](f32 a): in x[i]", &none)), 0);
}

TEST_F(Parameter, BodiesWithoutNamesGetTheNextOfTheDeclaration) {
    std::vector<polytile_body_parameter> body = {{"b", 0, POLYTILE_ANY_NUMBER},
                                                 {nullptr, 8, POLYTILE_SIGNED_NUMBER}};
    const polytile_kernel *kernel = create("k[i](f32 a, i16 b): in x[i+n]; out y[i]", &body);
    pti_value values[2];
    ASSERT_EQ(
        bind(kernel,
             {POLYTILE_PARAMETER("a", 2.5), POLYTILE_PARAMETER("b", 1), POLYTILE_PARAMETER("n", 7)},
             values),
        POLYTILE_OK)
        << error();
    EXPECT_EQ(value_of<int16_t>(values[0]), 1);
    EXPECT_EQ(value_of<int64_t>(values[1]), 7);
}

TEST_F(Parameter, BodiesTakeTheTypesOfTheDeclaration) {
    struct Body {
        std::vector<polytile_body_parameter> parameters;
        const char *says; /* "" if it suits */
    };
    const Body rows[] = {
        {{{"a", 4, POLYTILE_FLOAT_NUMBER}}, ""},
        {{{"a", 4, POLYTILE_ANY_NUMBER}}, ""},
        {{{"a", 0, POLYTILE_SIGNED_NUMBER}}, ""},
        {{{"h", 2, POLYTILE_UNSIGNED_NUMBER}}, ""},
        {{{"h", 2, POLYTILE_FLOAT_NUMBER}}, ""},
        {{{nullptr, 4, POLYTILE_FLOAT_NUMBER}, {nullptr, 2, POLYTILE_FLOAT_NUMBER}}, ""},
        {{{"a", 8, POLYTILE_FLOAT_NUMBER}},
         "k: parameter a is f32 in the declaration and f64 in the kernel body"},
        {{{"a", 4, POLYTILE_SIGNED_NUMBER}},
         "k: parameter a is f32 in the declaration and i32 in the kernel body"},
        {{{"a", 8, POLYTILE_ANY_NUMBER}},
         "k: parameter a is f32 in the declaration and 8 B in the kernel body"},
        {{{"h", 2, POLYTILE_SIGNED_NUMBER}},
         "k: parameter h is f16 in the declaration and i16 in the kernel body"},
        {{{nullptr, 2, POLYTILE_FLOAT_NUMBER}},
         "k: parameter a is f32 in the declaration and f16 in the kernel body"},
        {{{"b", 8, POLYTILE_FLOAT_NUMBER}},
         "k: the kernel body takes a parameter b, which the declaration does not have; declare it "
         "after the indices, k[...](f64 b)"},
        {{{"h", 0, POLYTILE_ANY_NUMBER}, {nullptr, 0, POLYTILE_ANY_NUMBER}},
         "k: the kernel body takes one more parameter, its number 2, than the declaration has"},
        {{{"a", 4, POLYTILE_FLOAT_NUMBER}, {"a", 4, POLYTILE_FLOAT_NUMBER}},
         "k: the kernel body takes parameter a twice"},
        {std::vector<polytile_body_parameter>(17, {"a", 4, POLYTILE_FLOAT_NUMBER}),
         "k: the kernel body takes 17 parameters; it may take 0 to 16"},
    };
    for (const Body &row : rows) {
        polytile_implementation implementation = {};
        implementation.n_parameters = static_cast<int>(row.parameters.size());
        implementation.parameters = row.parameters.data();
        polytile_kernel *kernel = nullptr;
        const polytile_status status = polytile_kernel_create(
            ctx, "k[i](f32 a, f16 h): in x[i]; out y[i]", &implementation, &kernel);
        EXPECT_EQ(status, *row.says == '\0' ? POLYTILE_OK : POLYTILE_DECLARATION) << error();
        EXPECT_TRUE(says(row.says)) << error();
    }
    polytile_implementation listless = {};
    polytile_kernel *kernel = nullptr;
    for (const int n : {-1, 1}) {
        listless.n_parameters = n;
        EXPECT_EQ(polytile_kernel_create(ctx, "k[i](f32 a): out y[i]", &listless, &kernel),
                  POLYTILE_DECLARATION);
    }
}

TEST_F(Parameter, HashesDifferWithNamesAndTypesAndCopiesKeepThem) {
    const uint64_t of_f32 = create("k[i](f32 a): in x[i]; out y[i]")->declaration_hash;
    EXPECT_EQ(create("k[i](f32 a): in x[i]; out y[i]")->declaration_hash, of_f32);
    EXPECT_NE(create("k[i](f64 a): in x[i]; out y[i]")->declaration_hash, of_f32);
    EXPECT_NE(create("k[i](f32 b): in x[i]; out y[i]")->declaration_hash, of_f32);
    EXPECT_NE(create("k[i]: in x[i]; out y[i]")->declaration_hash, of_f32);
    const polytile_kernel *kernel = create("k[i](f32 a, u8 b): in x[i+b+0*n]; out y[i]");
    polytile_declaration *copy = nullptr;
    ASSERT_EQ(pti_declaration_copy(kernel->declaration, &copy), POLYTILE_OK);
    ASSERT_EQ(copy->n_parameters, 3);
    for (int p = 0; p < 3; p++) {
        EXPECT_EQ(copy->parameter_type[p], kernel->declaration->parameter_type[p]);
        EXPECT_EQ(copy->is_typed[p], p < 2);
        EXPECT_EQ(copy->is_in_subscripts[p], p > 0);
    }
    EXPECT_EQ(pti_declaration_hash(copy), kernel->declaration_hash);
    pti_declaration_free(copy);
}

} // namespace
