#include <cmath>
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
}

TEST(Reduction, CombinesByRole) {
    EXPECT_EQ(combined<int32_t>(POLYTILE_SUM, POLYTILE_I32, 3, -5), -2);
    EXPECT_EQ(combined<int32_t>(POLYTILE_PROD, POLYTILE_I32, 3, -5), -15);
    EXPECT_EQ(combined<int32_t>(POLYTILE_MIN, POLYTILE_I32, 3, -5), -5);
    EXPECT_EQ(combined<int32_t>(POLYTILE_MAX, POLYTILE_I32, 3, -5), 3);
    EXPECT_EQ(combined<double>(POLYTILE_SUM, POLYTILE_F64, 0.5, 0.25), 0.75);
    EXPECT_EQ(combined<uint16_t>(POLYTILE_SUM, POLYTILE_F16, 0x3C00, 0x3C00), 0x4000);
    EXPECT_EQ(combined<uint16_t>(POLYTILE_MAX, POLYTILE_F16, 0xC000, 0xBC00), 0xBC00);
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
