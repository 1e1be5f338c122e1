#include "faults/inject.h"

#include <new>

/* What C++ allocates is not the library's, which is written in C. Where the C++ runtime is linked
 * statically, its calls of malloc() come from the program as those of the library do; so operators
 * of the program's own ask for that memory. */

static void *allocate(std::size_t n_bytes, std::size_t alignment) {
    void *memory = faults_allocate_aside(n_bytes, alignment);
    if (memory == nullptr)
        throw std::bad_alloc();
    return memory;
}

void *operator new(std::size_t n_bytes) {
    return allocate(n_bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}

void *operator new(std::size_t n_bytes, std::align_val_t alignment) {
    return allocate(n_bytes, static_cast<std::size_t>(alignment));
}

void operator delete(void *memory) noexcept {
    faults_free_aside(memory);
}

void operator delete(void *memory, std::size_t) noexcept {
    faults_free_aside(memory);
}

void operator delete(void *memory, std::align_val_t) noexcept {
    faults_free_aside(memory);
}

void operator delete(void *memory, std::size_t, std::align_val_t) noexcept {
    faults_free_aside(memory);
}
