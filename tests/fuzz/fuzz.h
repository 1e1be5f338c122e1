#ifndef POLYTILE_TESTS_FUZZ_FUZZ_H
#define POLYTILE_TESTS_FUZZ_FUZZ_H

#include <polytile/polytile.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

/* What fuzz targets share. A target is one file fuzz_NAME.cc with fuzz_one(): libFuzzer calls it
 * with bytes of its own making, the replay with those of corpus/NAME. */

/** Try one input; whatever is wrong ends the process, by a sanitizer or by require(). */
void fuzz_one(const uint8_t *bytes, size_t n_bytes);

/** End the process unless a promise holds; what: the promise, and what was found instead. */
inline void require(bool holds, const std::string &what) {
    if (holds)
        return;
    std::fprintf(stderr, "fuzz: broken promise: %s\n", what.c_str());
    std::abort();
}

/** The promise that a failure has a text, and success none of the codes of a failure. */
inline void require_told(polytile_context *ctx, polytile_status status) {
    if (status != POLYTILE_OK)
        require(*polytile_last_error(ctx) != '\0',
                std::string("an error without a text: ") + polytile_status_text(status));
    require(status != POLYTILE_INTERNAL, polytile_last_error(ctx));
}

/** A context that all inputs of a process share, since making one reads the environment; a target
 * destroys what it makes. */
inline polytile_context *shared_context() {
    static polytile_context *ctx = [] {
        polytile_context *made = nullptr;
        if (polytile_context_create(&made) != POLYTILE_OK)
            std::abort();
        return made;
    }();
    return ctx;
}

/** Bytes as numbers: draws that an input decides, 0 once it is used up. */
class Bytes {
  public:
    Bytes(const uint8_t *bytes, size_t n_bytes) : at_(bytes), end_(bytes + n_bytes) {}

    bool empty() const { return at_ == end_; }

    uint8_t byte() { return empty() ? uint8_t{0} : *at_++; }

    /** A number in lo .. hi, both included, of as few bytes as tell these apart. */
    int64_t number(int64_t lo, int64_t hi) {
        const uint64_t n_values = static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo) + 1;
        uint64_t drawn = byte();
        for (uint64_t reach = 256; reach != 0 && reach < n_values; reach <<= 8)
            drawn = drawn << 8 | byte();
        return static_cast<int64_t>(static_cast<uint64_t>(lo) +
                                    (n_values == 0 ? drawn : drawn % n_values));
    }

    bool chance(int percent) { return number(0, 99) < percent; }

    /** The text up to a newline or the end. */
    std::string line() {
        std::string text;
        while (!empty() && *at_ != '\n' && *at_ != '\0')
            text += static_cast<char>(*at_++);
        if (!empty())
            at_++;
        return text;
    }

  private:
    const uint8_t *at_;
    const uint8_t *end_;
};

#endif
