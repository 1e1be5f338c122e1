#ifndef POLYTILE_TESTS_SUPPORT_SCALE_H
#define POLYTILE_TESTS_SUPPORT_SCALE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

/* POLYTILE_TEST_SCALE shortens the randomised tests, for builds that run slowly (sanitizers). */

inline double test_scale() {
    const char *text = std::getenv("POLYTILE_TEST_SCALE");
    return text != nullptr ? std::atof(text) : 1.0;
}

/** How many rounds of n to run: n times POLYTILE_TEST_SCALE (default 1), at least 1. */
inline int64_t scaled(int64_t n) {
    return std::max<int64_t>(1, std::llround(static_cast<double>(n) * test_scale()));
}

/** The least count to expect of a case that `share` of n_rounds random rounds draw: fewer come with
 * a chance below 1e-7, of a binomial distribution. It is 0 where the rounds are too few for any. */
inline int64_t least_count(int64_t n_rounds, double share) {
    const auto n = static_cast<double>(n_rounds);
    double chance_of_fewer = 0;
    for (int64_t count = 0; count < n_rounds; count++) {
        const auto k = static_cast<double>(count);
        const double n_ways_log = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
        chance_of_fewer +=
            std::exp(n_ways_log + k * std::log(share) + (n - k) * std::log1p(-share));
        if (chance_of_fewer > 1e-7)
            return count;
    }
    return n_rounds;
}

/** Whether to leave out row k of a table. A scale below 0.2 takes one row of n, another with each
 * POLYTILE_TEST_SEED; any other takes all. */
inline bool is_left_out(int64_t k, int64_t n) {
    const char *seed = std::getenv("POLYTILE_TEST_SEED");
    const uint64_t first = seed != nullptr ? std::strtoull(seed, nullptr, 10) : 0;
    const auto rows = static_cast<uint64_t>(n);
    return test_scale() < 0.2 && (static_cast<uint64_t>(k) + first) % rows != 0;
}

#endif
