#ifndef POLYTILE_TESTS_SUPPORT_RANDOM_H
#define POLYTILE_TESTS_SUPPORT_RANDOM_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <random>

/* Random draws that can be repeated: every randomised test prints its seed, and POLYTILE_TEST_SEED
 * sets it. */

/** The seed of a test, printed with its name. */
inline uint64_t test_seed(const char *test) {
    const char *given = std::getenv("POLYTILE_TEST_SEED");
    const uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("%s: POLYTILE_TEST_SEED=%llu\n", test, static_cast<unsigned long long>(seed));
    return seed;
}

class Random {
  public:
    explicit Random(uint64_t seed) : engine_(seed) {}

    /** A number in lo .. hi, both included; the slight bias does not matter here. */
    int64_t number(int64_t lo, int64_t hi) {
        const uint64_t n = static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo) + 1;
        return static_cast<int64_t>(static_cast<uint64_t>(lo) + engine_() % n);
    }

    bool chance(int percent) { return number(1, 100) <= percent; }

    /** One of the values; those listed twice come twice as often. */
    int64_t one_of(std::initializer_list<int64_t> values) {
        return values.begin()[number(0, static_cast<int64_t>(values.size()) - 1)];
    }

  private:
    std::mt19937_64 engine_;
};

#endif
