#ifndef OUTSIDE_HOST_MEMORY_H
#define OUTSIDE_HOST_MEMORY_H

#include "outside/interpret.h"

namespace outside {

/** The memory of one array of the program, with bytes on both sides that must stay as they are. */
class HostMemory {
  public:
    HostMemory(const Shape &shape, uint64_t seed);

    void *data() { return bytes.data() + start; }
    void change(const Bytes &contents);

    /** What differs first from what it ought to hold, or "". */
    std::string difference(const Array &array, const Bytes &expected) const;

  private:
    Bytes bytes;
    size_t start;
    size_t size;

    bool is_guarded() const;
};

} // namespace outside

#endif
