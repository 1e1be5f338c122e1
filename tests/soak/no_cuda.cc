#include "soak/place.h"

/* A build without the CUDA device. */

std::unique_ptr<Place> make_fake_cuda(uint64_t) {
    return nullptr;
}
