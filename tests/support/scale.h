#ifndef POLYTILE_TESTS_SUPPORT_SCALE_H
#define POLYTILE_TESTS_SUPPORT_SCALE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

/* POLYTILE_TEST_SCALE shortens the randomised tests, for builds that run slowly (sanitizers). */

/** How many rounds of n to run: n times POLYTILE_TEST_SCALE (default 1), at least 1. */
inline int64_t scaled(int64_t n) {
    const char *text = std::getenv("POLYTILE_TEST_SCALE");
    const double scale = text != nullptr ? std::atof(text) : 1.0;
    return std::max<int64_t>(1, std::llround(static_cast<double>(n) * scale));
}

#endif
