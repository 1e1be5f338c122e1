#ifndef OUTSIDE_NUMBER_H
#define OUTSIDE_NUMBER_H

/* Numbers as launches give them, and what the declared type of a parameter makes of them. */
#include "outside/dice.h"

#include <polytile/array.h>
#include <polytile/implementation.h>

#include <string>

namespace outside {

/** A C number: bits of an int64_t, of a uint64_t, or of a double. */
struct Number {
    polytile_number kind = POLYTILE_ANY_NUMBER; /* a signed one, too */
    uint64_t bits = 0;

    bool operator==(const Number &other) const { return kind == other.kind && bits == other.bits; }
};

Number signed_number(int64_t value);
Number unsigned_number(uint64_t value);
Number real_number(double value);
double to_real(const Number &number);

/**
 * Convert a number as include/polytile/launch.h says, without the library.
 *
 * Shapes  raw: the value in the declared type, in its lowest bytes.
 * Errors  false: the type cannot hold the number.
 */
bool convert(polytile_type type, const Number &number, uint64_t &raw);

/** A value's bits; the same ones for whatever is not a number. */
uint64_t canonical(polytile_type type, uint64_t raw);

bool is_integer(polytile_type type);
bool is_unsigned(polytile_type type);
bool is_indexed(polytile_type type);

/** The type of the values of an indexed one. */
polytile_type value_type(polytile_type type);

/** What a real type of two bytes holds. */
double from_narrow(polytile_type type, uint16_t raw);

/** The value of an integer type. */
int64_t to_integer(polytile_type type, uint64_t raw);

/** A number that the type can hold, often at its ends, or between two of its values; with
 * is_refused one that it cannot hold, false if there is none. */
bool draw_number(Dice &dice, polytile_type type, bool is_refused, Number &number);

/** One of the numbers that are an integer. */
Number draw_integer_number(Dice &dice, int64_t value);

std::string number_text(const Number &number);

} // namespace outside

#endif
