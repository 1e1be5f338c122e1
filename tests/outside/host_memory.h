#ifndef OUTSIDE_HOST_MEMORY_H
#define OUTSIDE_HOST_MEMORY_H

#include "outside/interpret.h"

namespace outside {

/** The memory of one array of the program, with bytes on both sides that must stay as they are. */
class HostMemory {
  public:
    explicit HostMemory(const Array &array);

    void *data() { return bytes.data() + start; }
    const Integers &stride_bytes() const { return strides; }

    /** What it holds, without gaps, in C order. */
    Bytes held() const;
    void change(const Bytes &contents);

    /** What differs first from what it ought to hold, or "". */
    std::string difference(const Array &array, const Bytes &expected) const;

  private:
    Bytes bytes;
    Shape shape;
    Integers strides;
    std::vector<size_t> at; /* of each element in C order, its first byte */
    size_t start;

    void place(const Memory &memory);
    bool is_guarded() const;
};

/** What differs first in an array's elements in C order, or "". */
std::string difference_of(const Array &array, const Bytes &held, const Bytes &expected);

} // namespace outside

#endif
