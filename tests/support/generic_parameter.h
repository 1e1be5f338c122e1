#ifndef POLYTILE_TESTS_SUPPORT_GENERIC_PARAMETER_H
#define POLYTILE_TESTS_SUPPORT_GENERIC_PARAMETER_H

#include "support/random.h"

#include <polytile/polytile.h>

#include <string>
#include <vector>

/* Parameters of kernels whose bodies follow from what they declare: of any type, and with values
 * that launches give in any way that C numbers have. */

struct GenericParameter {
    const char *name; /* which outlives it */
    polytile_type type;
    bool is_narrow = false; /* its values are least to most, of floats in steps of 1/4; else any */
    int64_t least = 0, most = 0;
};

/** What a launch gives for a parameter, and the bytes that bodies find then, the lowest first. */
struct GenericValue {
    polytile_parameter given;
    uint64_t bits;
};

/** 1 to `most` parameters of any type, called p0, p1 and so on, of which there are four. */
std::vector<GenericParameter> draw_parameters(Random *random, int64_t most);
/** A type of integers with values of both signs. */
polytile_type draw_signed_type(Random *random);
polytile_type draw_integer_type(Random *random);

GenericValue draw_value(const GenericParameter &of, Random *random);
/** One of each; now and then some stay as they were, if there are any. */
void draw_values(const std::vector<GenericParameter> &of, Random *random,
                 std::vector<GenericValue> *values);

/** "(f32 p0, i64 p1)"; "" of none. */
std::string text_of(const std::vector<GenericParameter> &parameters);
/** ", p0 = 7" and so on. */
std::string text_of(const std::vector<GenericValue> &values);

/** What an integer of a type is, of which the bytes are given. */
int64_t integer_of(polytile_type type, uint64_t bits);

/** What bodies take parameters for. */
std::vector<polytile_body_parameter>
body_parameters_of(const std::vector<GenericParameter> &parameters);

/** The bytes of values that bodies find after their arrays' views. */
std::vector<uint64_t> read_values(const polytile_view *views,
                                  const std::vector<GenericParameter> &parameters);
std::vector<uint64_t> bits_of(const std::vector<GenericValue> &values);
/** As a launch takes them, in any order. */
std::vector<polytile_parameter> given_of(const std::vector<GenericValue> &values, Random *random);

/** The same with names of their own. When it goes all are something else, so that it shows where a
 * launch has kept them. */
class GivenValues {
  public:
    GivenValues(const std::vector<GenericValue> &values, Random *random);
    ~GivenValues();
    GivenValues(const GivenValues &) = delete;
    GivenValues &operator=(const GivenValues &) = delete;

    void give(polytile_launch_options *options) const;

  private:
    std::vector<polytile_parameter> given_;
    std::vector<std::string> names_;
};

#endif
