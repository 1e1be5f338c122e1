#include "support/generic_parameter.h"

#include "support/mixture.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace {

const char *const names[] = {"p0", "p1", "p2", "p3"};

struct Type {
    const char *text;
    int64_t bytes;
    polytile_number number;
};

/** By their codes. */
const Type types[] = {{"i8", 1, POLYTILE_SIGNED_NUMBER},    {"i16", 2, POLYTILE_SIGNED_NUMBER},
                      {"i32", 4, POLYTILE_SIGNED_NUMBER},   {"i64", 8, POLYTILE_SIGNED_NUMBER},
                      {"u8", 1, POLYTILE_UNSIGNED_NUMBER},  {"u16", 2, POLYTILE_UNSIGNED_NUMBER},
                      {"u32", 4, POLYTILE_UNSIGNED_NUMBER}, {"u64", 8, POLYTILE_UNSIGNED_NUMBER},
                      {"f16", 2, POLYTILE_FLOAT_NUMBER},    {"f32", 4, POLYTILE_FLOAT_NUMBER},
                      {"f64", 8, POLYTILE_FLOAT_NUMBER}};

/** Numbers of two bytes, which C has no type for. */
const struct {
    double value;
    uint64_t bits;
} halves[] = {{0, 0x0000},     {1, 0x3c00},       {-2, 0xc000},   {0.5, 0x3800},
              {65504, 0x7bff}, {3, 0x4200},       {1024, 0x6400}, {-0.125, 0xb000},
              {-1, 0xbc00},    {0x1p-24, 0x0001}, {2049, 0x6800}};

constexpr auto n_halves = static_cast<int64_t>(std::size(halves));

/** All that a double holds whole. */
constexpr int64_t most_whole = int64_t{1} << 53;

const Type &type_of(const GenericParameter &of) {
    return types[of.type];
}

/** Any of the type: small numbers, the least, the most, or any bytes. */
uint64_t draw_bits(int64_t n_bytes, Random *random) {
    const uint64_t top = uint64_t{1} << (8 * n_bytes - 1);
    const auto any = static_cast<uint64_t>(random->number(0, INT64_MAX - 1)) * 2654435761U;
    switch (random->number(0, 5)) {
    case 0:
        return top;
    case 1:
        return top - 1;
    case 2:
        return largest(n_bytes);
    case 3:
        return any & largest(n_bytes);
    default:
        return static_cast<uint64_t>(random->number(0, 5));
    }
}

/** An integer as a signed, an unsigned or a real number. */
GenericValue draw_integer(const GenericParameter &of, Random *random) {
    const bool is_signed = type_of(of).number == POLYTILE_SIGNED_NUMBER;
    const uint64_t bits = of.is_narrow ? static_cast<uint64_t>(random->number(of.least, of.most)) &
                                             largest(type_of(of).bytes)
                                       : draw_bits(type_of(of).bytes, random);
    const int64_t value = integer_of(of.type, bits);
    const bool is_large = !is_signed && value < 0;
    const int64_t way = random->number(0, 3);
    if (way == 0 && !is_large && value > -most_whole && value < most_whole)
        return {polytile_parameter_real(of.name, static_cast<double>(value)), bits};
    if (is_large || (way == 1 && value >= 0))
        return {polytile_parameter_unsigned(of.name, static_cast<uint64_t>(value)), bits};
    if (way == 2)
        return {{of.name, value, 0, POLYTILE_ANY_NUMBER}, bits};
    return {polytile_parameter_signed(of.name, value), bits};
}

template <class Float> uint64_t bytes_of(Float value) {
    return load(&value, sizeof value);
}

/** Whole, or not what a float has, infinite, or no number. */
double draw_real(Random *random) {
    const int64_t whole = random->number(-1000, 1000);
    const int64_t kind = random->number(0, 9);
    return kind == 0   ? std::numeric_limits<double>::infinity()
           : kind == 1 ? std::numeric_limits<double>::quiet_NaN()
           : kind < 5  ? static_cast<double>(whole)
                       : 0.1 * static_cast<double>(whole);
}

GenericValue draw_float(const GenericParameter &of, Random *random) {
    if (of.type == POLYTILE_F16) {
        const auto &half = halves[random->number(0, n_halves - 1)];
        return {polytile_parameter_real(of.name, half.value), half.bits};
    }
    const double value = of.is_narrow
                             ? 0.25 * static_cast<double>(random->number(4 * of.least, 4 * of.most))
                             : draw_real(random);
    const uint64_t bits =
        of.type == POLYTILE_F32 ? bytes_of(static_cast<float>(value)) : bytes_of(value);
    const bool is_whole = std::trunc(value) == value && std::isfinite(value);
    if (is_whole && random->chance(50))
        return {polytile_parameter_signed(of.name, static_cast<int64_t>(value)), bits};
    return {polytile_parameter_real(of.name, value), bits};
}

} // namespace

std::vector<GenericParameter> draw_parameters(Random *random, int64_t most) {
    std::vector<GenericParameter> drawn;
    for (int64_t n = random->number(1, most); n > 0; n--)
        drawn.push_back({names[drawn.size()],
                         static_cast<polytile_type>(random->number(POLYTILE_I8, POLYTILE_F64))});
    return drawn;
}

polytile_type draw_signed_type(Random *random) {
    return static_cast<polytile_type>(random->number(POLYTILE_I8, POLYTILE_I64));
}

polytile_type draw_integer_type(Random *random) {
    return static_cast<polytile_type>(random->number(POLYTILE_I8, POLYTILE_U64));
}

GenericValue draw_value(const GenericParameter &of, Random *random) {
    return type_of(of).number == POLYTILE_FLOAT_NUMBER ? draw_float(of, random)
                                                       : draw_integer(of, random);
}

void draw_values(const std::vector<GenericParameter> &of, Random *random,
                 std::vector<GenericValue> *values) {
    const size_t n_before = values->size();
    values->resize(of.size());
    for (size_t p = 0; p < of.size(); p++)
        if (p >= n_before || random->chance(60))
            (*values)[p] = draw_value(of[p], random);
}

std::string text_of(const std::vector<GenericParameter> &parameters) {
    std::string text;
    for (const GenericParameter &of : parameters)
        text += (text.empty() ? "(" : ", ") + std::string(type_of(of).text) + " " + of.name;
    return text.empty() ? text : text + ")";
}

std::string text_of(const std::vector<GenericValue> &values) {
    std::string text;
    for (const GenericValue &value : values)
        text += ", " + std::string(value.given.name) + " = " +
                (value.given.number == POLYTILE_FLOAT_NUMBER ? std::to_string(value.given.real)
                                                             : std::to_string(value.given.value));
    return text;
}

int64_t integer_of(polytile_type type, uint64_t bits) {
    const Type &of = types[type];
    const uint64_t top = uint64_t{1} << (8 * of.bytes - 1);
    return static_cast<int64_t>(of.number == POLYTILE_SIGNED_NUMBER ? (bits ^ top) - top : bits);
}

std::vector<polytile_body_parameter>
body_parameters_of(const std::vector<GenericParameter> &parameters) {
    std::vector<polytile_body_parameter> taken;
    for (const GenericParameter &of : parameters)
        taken.push_back({of.name, type_of(of).bytes, type_of(of).number});
    return taken;
}

std::vector<uint64_t> read_values(const polytile_view *views,
                                  const std::vector<GenericParameter> &parameters) {
    std::vector<uint64_t> bits;
    for (size_t p = 0; p < parameters.size(); p++)
        bits.push_back(load(views[p].origin, type_of(parameters[p]).bytes));
    return bits;
}

std::vector<uint64_t> bits_of(const std::vector<GenericValue> &values) {
    std::vector<uint64_t> bits;
    for (const GenericValue &value : values)
        bits.push_back(value.bits);
    return bits;
}

std::vector<polytile_parameter> given_of(const std::vector<GenericValue> &values, Random *random) {
    std::vector<polytile_parameter> given;
    for (const GenericValue &value : values)
        given.insert(random->chance(50) ? given.begin() : given.end(), value.given);
    return given;
}

GivenValues::GivenValues(const std::vector<GenericValue> &values, Random *random)
    : given_(given_of(values, random)) {
    for (const polytile_parameter &parameter : given_)
        names_.emplace_back(parameter.name);
    for (size_t p = 0; p < given_.size(); p++)
        given_[p].name = names_[p].c_str();
}

GivenValues::~GivenValues() {
    for (std::string &name : names_)
        std::fill(name.begin(), name.end(), '?');
    std::fill(given_.begin(), given_.end(), polytile_parameter_signed("gone", 99));
}

void GivenValues::give(polytile_launch_options *options) const {
    options->n_parameters = static_cast<int>(given_.size());
    options->parameters = given_.data();
}
