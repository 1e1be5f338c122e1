#include <cmath>
#include <complex>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

extern "C" {
#include "base/half.h"
#include "launch/device/reduction.h"
}

namespace {

const polytile_role roles[] = {POLYTILE_SUM, POLYTILE_PROD, POLYTILE_MIN, POLYTILE_MAX};

/** The first element of to, after combining from into it. */
template <class T> T combined(polytile_role role, polytile_type type, T to, T from) {
    const int64_t one = 1;
    const polytile_domain box = polytile_domain_from_extents(1, &one);
    const pti_memory_layout layout = pti_memory_layout_of(&box, sizeof(T));
    pti_move move = {&box, sizeof(T), {&to, &layout}, {&from, &layout}};
    pti_reduction_combine(role, type, &move);
    return to;
}

template <class T> void expect_identities(polytile_type type, const std::vector<T> &values) {
    for (polytile_role role : roles) {
        for (T value : values) {
            unsigned char bytes[PTI_MAX_SCALAR_BYTES];
            T identity;
            pti_reduction_identity(role, type, bytes);
            std::memcpy(&identity, bytes, sizeof identity);
            EXPECT_EQ(combined(role, type, identity, value), value) << type << " " << role;
            EXPECT_EQ(combined(role, type, value, identity), value) << type << " " << role;
        }
    }
}

template <class T> std::vector<T> values_of() {
    using limits = std::numeric_limits<T>;
    std::vector<T> values = {limits::lowest(), 0, 1, 17, limits::max()};
    if (limits::has_infinity) {
        values.push_back(limits::infinity());
        values.push_back(-limits::infinity());
    }
    return values;
}

TEST(Reduction, IdentitiesChangeNothing) {
    expect_identities<int8_t>(POLYTILE_I8, values_of<int8_t>());
    expect_identities<int16_t>(POLYTILE_I16, values_of<int16_t>());
    expect_identities<int32_t>(POLYTILE_I32, values_of<int32_t>());
    expect_identities<int64_t>(POLYTILE_I64, values_of<int64_t>());
    expect_identities<uint8_t>(POLYTILE_U8, values_of<uint8_t>());
    expect_identities<uint16_t>(POLYTILE_U16, values_of<uint16_t>());
    expect_identities<uint32_t>(POLYTILE_U32, values_of<uint32_t>());
    expect_identities<uint64_t>(POLYTILE_U64, values_of<uint64_t>());
    expect_identities<float>(POLYTILE_F32, values_of<float>());
    expect_identities<double>(POLYTILE_F64, values_of<double>());
    expect_identities<uint16_t>(POLYTILE_F16, {0x0000, 0x3C00, 0xC500, 0x7BFF, 0x0001, 0x7C00});
    expect_identities<uint16_t>(POLYTILE_BF16, {0x0000, 0x3F80, 0xC0A0, 0x7F7F, 0x0001, 0x7F80});
}

TEST(Reduction, CombinesByRole) {
    EXPECT_EQ(combined<int32_t>(POLYTILE_SUM, POLYTILE_I32, 3, -5), -2);
    EXPECT_EQ(combined<int32_t>(POLYTILE_PROD, POLYTILE_I32, 3, -5), -15);
    EXPECT_EQ(combined<int32_t>(POLYTILE_MIN, POLYTILE_I32, 3, -5), -5);
    EXPECT_EQ(combined<int32_t>(POLYTILE_MAX, POLYTILE_I32, 3, -5), 3);
    EXPECT_EQ(combined<double>(POLYTILE_SUM, POLYTILE_F64, 0.5, 0.25), 0.75);
    EXPECT_EQ(combined<uint16_t>(POLYTILE_SUM, POLYTILE_F16, 0x3C00, 0x3C00), 0x4000);
    EXPECT_EQ(combined<uint16_t>(POLYTILE_MAX, POLYTILE_F16, 0xC000, 0xBC00), 0xBC00);
    EXPECT_EQ(combined<uint16_t>(POLYTILE_SUM, POLYTILE_BF16, 0x3F80, 0x3F80), 0x4000);
    EXPECT_EQ(combined<uint16_t>(POLYTILE_PROD, POLYTILE_BF16, 0xC000, 0x4040), 0xC0C0);
    EXPECT_EQ(combined<uint16_t>(POLYTILE_MIN, POLYTILE_BF16, 0xC000, 0xBF80), 0xC000);
}

template <class R> void expect_complex(polytile_type type) {
    using Complex = std::complex<R>;
    const Complex a(1, 2), b(3, -4);
    EXPECT_EQ(combined(POLYTILE_SUM, type, a, b), Complex(4, -2));
    EXPECT_EQ(combined(POLYTILE_PROD, type, a, b), Complex(11, 2));
    for (polytile_role role : {POLYTILE_SUM, POLYTILE_PROD}) {
        unsigned char bytes[PTI_MAX_SCALAR_BYTES];
        Complex identity;
        pti_reduction_identity(role, type, bytes);
        std::memcpy(&identity, bytes, sizeof identity);
        EXPECT_EQ(combined(role, type, identity, a), a);
        EXPECT_EQ(combined(role, type, b, identity), b);
        EXPECT_TRUE(pti_reduction_is_known(role, type));
    }
    EXPECT_FALSE(pti_reduction_is_known(POLYTILE_MIN, type));
    EXPECT_FALSE(pti_reduction_is_known(POLYTILE_MAX, type));
    EXPECT_FALSE(pti_reduction_is_known(POLYTILE_ARGMAX, type));
}

TEST(Reduction, OfComplexNumbersAddsAndMultiplies) {
    expect_complex<float>(POLYTILE_C64);
    expect_complex<double>(POLYTILE_C128);
}

template <class T> struct Indexed {
    T value;
    alignas(8) int64_t index;
};

/** Whether a is taken where b stands: a plain statement of the order. */
template <class T> bool wins(polytile_role role, const Indexed<T> &a, const Indexed<T> &b) {
    const bool a_is_number = a.value == a.value, b_is_number = b.value == b.value;
    if (a_is_number != b_is_number)
        return a_is_number;
    if (a_is_number && a.value != b.value)
        return role == POLYTILE_ARGMAX ? a.value > b.value : a.value < b.value;
    return a.index < b.index;
}

template <class T> void expect_order(polytile_scalar scalar, std::vector<T> values) {
    const polytile_type type = POLYTILE_INDEXED(scalar);
    if (std::numeric_limits<T>::has_quiet_NaN)
        values.push_back(std::numeric_limits<T>::quiet_NaN());
    for (polytile_role role : {POLYTILE_ARGMIN, POLYTILE_ARGMAX}) {
        std::vector<Indexed<T>> elements;
        for (T value : values)
            for (int64_t index : {INT64_C(-3), INT64_C(0), INT64_C(5), INT64_MAX - 1})
                elements.push_back({value, index});
        unsigned char bytes[PTI_MAX_SCALAR_BYTES];
        Indexed<T> identity;
        pti_reduction_identity(role, type, bytes);
        std::memcpy(static_cast<void *>(&identity), bytes, sizeof identity);
        EXPECT_EQ(identity.index, INT64_MAX);
        for (const Indexed<T> &a : elements) {
            for (const Indexed<T> &b : elements) {
                const Indexed<T> got = combined(role, type, a, b);
                const Indexed<T> &expected = wins(role, b, a) ? b : a;
                EXPECT_EQ(std::memcmp(&got.value, &expected.value, sizeof(T)), 0);
                EXPECT_EQ(got.index, expected.index);
            }
            for (const Indexed<T> &got :
                 {combined(role, type, identity, a), combined(role, type, a, identity)}) {
                EXPECT_EQ(got.index, a.index);
                EXPECT_TRUE(got.value == a.value || (got.value != got.value && a.value != a.value));
            }
        }
        EXPECT_TRUE(pti_reduction_is_known(role, type));
        EXPECT_FALSE(pti_reduction_is_known(role, scalar));
    }
    for (polytile_role role : roles)
        EXPECT_FALSE(pti_reduction_is_known(role, type));
}

TEST(Reduction, WithAnIndexHasATotalOrder) {
    expect_order<int8_t>(POLYTILE_I8, values_of<int8_t>());
    expect_order<int16_t>(POLYTILE_I16, values_of<int16_t>());
    expect_order<int32_t>(POLYTILE_I32, values_of<int32_t>());
    expect_order<int64_t>(POLYTILE_I64, values_of<int64_t>());
    expect_order<uint8_t>(POLYTILE_U8, values_of<uint8_t>());
    expect_order<uint16_t>(POLYTILE_U16, values_of<uint16_t>());
    expect_order<uint32_t>(POLYTILE_U32, values_of<uint32_t>());
    expect_order<uint64_t>(POLYTILE_U64, values_of<uint64_t>());
    expect_order<float>(POLYTILE_F32, values_of<float>());
    expect_order<double>(POLYTILE_F64, values_of<double>());
}

TEST(Reduction, WithAnIndexTakesZerosOfBothSignsForEqual) {
    const Indexed<float> minus = {-0.0f, 7}, plus = {0.0f, 3};
    const polytile_type type = POLYTILE_INDEXED(POLYTILE_F32);
    EXPECT_EQ(combined(POLYTILE_ARGMAX, type, minus, plus).index, 3);
    EXPECT_EQ(combined(POLYTILE_ARGMIN, type, minus, plus).index, 3);
}

TEST(Reduction, WithAnIndexComparesHalvesAsNumbers) {
    const Indexed<uint16_t> less = {0xC000, 1}, more = {0xBC00, 2}, none = {0x7FFF, 0};
    for (polytile_scalar scalar : {POLYTILE_F16, POLYTILE_BF16}) {
        const polytile_type type = POLYTILE_INDEXED(scalar);
        EXPECT_EQ(combined(POLYTILE_ARGMAX, type, less, more).index, 2);
        EXPECT_EQ(combined(POLYTILE_ARGMIN, type, less, more).index, 1);
        EXPECT_EQ(combined(POLYTILE_ARGMIN, type, none, more).index, 2);
        EXPECT_EQ(combined(POLYTILE_ARGMIN, type, more, none).index, 2);
    }
}

TEST(Reduction, IntegersWrapAround) {
    EXPECT_EQ(combined<int8_t>(POLYTILE_SUM, POLYTILE_I8, 127, 1), -128);
    EXPECT_EQ(combined<int64_t>(POLYTILE_SUM, POLYTILE_I64, INT64_MAX, 1), INT64_MIN);
    EXPECT_EQ(combined<uint16_t>(POLYTILE_PROD, POLYTILE_U16, 0xFFFF, 0xFFFF), 1);
}

TEST(Reduction, IsKnownForScalarsOnly) {
    EXPECT_TRUE(pti_reduction_is_known(POLYTILE_SUM, POLYTILE_F16));
    EXPECT_FALSE(pti_reduction_is_known(POLYTILE_OUT, POLYTILE_F32));
    EXPECT_FALSE(pti_reduction_is_known(POLYTILE_SUM, POLYTILE_BYTES(12)));
}

TEST(Brain, EveryValueSurvivesTheWayThroughFloat) {
    for (uint32_t brain = 0; brain <= 0xFFFF; brain++) {
        const float value = pti_brain_to_float(static_cast<uint16_t>(brain));
        const uint16_t back = pti_brain_from_float(value);
        if (std::isnan(value))
            EXPECT_TRUE(std::isnan(pti_brain_to_float(back)));
        else
            EXPECT_EQ(back, brain);
    }
}

TEST(Brain, RoundsToTheNearestAndTiesToEven) {
    const struct {
        float value;
        uint16_t brain;
    } rows[] = {
        {0.0f, 0x0000},        {-0.0f, 0x8000},        {1.0f, 0x3F80},
        {-2.0f, 0xC000},       {0x1.01p0f, 0x3F80},    {0x1.03p0f, 0x3F82},
        {0x1.0101p0f, 0x3F81}, {0x1.FEp127f, 0x7F7F},  {0x1.FEFFp127f, 0x7F7F},
        {0x1.FFp127f, 0x7F80}, {-0x1.FFp127f, 0xFF80}, {1e-45f, 0x0000},
    };
    for (const auto &row : rows)
        EXPECT_EQ(pti_brain_from_float(row.value), row.brain) << row.value;
}

TEST(Half, EveryValueSurvivesTheWayThroughFloat) {
    for (uint32_t half = 0; half <= 0xFFFF; half++) {
        const float value = pti_half_to_float(static_cast<uint16_t>(half));
        const uint16_t back = pti_half_from_float(value);
        if (std::isnan(value))
            EXPECT_TRUE(std::isnan(pti_half_to_float(back)));
        else
            EXPECT_EQ(back, half);
    }
}

TEST(Half, RoundsToTheNearestAndTiesToEven) {
    const struct {
        float value;
        uint16_t half;
    } rows[] = {
        {0.0f, 0x0000},         {-0.0f, 0x8000},     {1.0f, 0x3C00},     {-2.0f, 0xC000},
        {65504.0f, 0x7BFF},     {65519.0f, 0x7BFF},  {65520.0f, 0x7C00}, {2049.0f, 0x6800},
        {2051.0f, 0x6802},      {5.9604645e-8f, 1},  {2.9802322e-8f, 0}, {2.99e-8f, 1},
        {6.1035156e-5f, 0x400}, {1e30f, 0x7C00},     {1e-30f, 0x0000},   {-1e30f, 0xFC00},
        {0.33325195f, 0x3555},  {6.1005e-5f, 0x3FF},
    };
    for (const auto &row : rows)
        EXPECT_EQ(pti_half_from_float(row.value), row.half) << row.value;
}

} // namespace
