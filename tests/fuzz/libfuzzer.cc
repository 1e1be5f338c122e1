#include "fuzz/fuzz.h"

/* What libFuzzer calls. */

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    fuzz_one(bytes, n_bytes);
    return 0;
}
