#ifndef POLYTILE_TESTS_LAUNCH_CUDA_PROGRAMS_H
#define POLYTILE_TESTS_LAUNCH_CUDA_PROGRAMS_H

#include "queue/program.h"
#include "support/fake_cuda.h"

#include <vector>

/* Random programs on the runtime that needs no GPU. */

/** What programs run: their host functions stand for the symbols of CUDA kernels, too. */
inline const std::vector<polytile_implementation> &fake_program_kernels() {
    static const std::vector<polytile_implementation> made = [] {
        std::vector<polytile_implementation> all;
        for (const ProgramKernel &kernel : program_kernels()) {
            all.push_back(*kernel.implementation);
            all.back().cuda = reinterpret_cast<const void *>(kernel.implementation->host);
        }
        return all;
    }();
    return made;
}

inline void add_program_kernels(FakeCuda &cuda) {
    for (const polytile_implementation &implementation : fake_program_kernels())
        cuda.add_kernel(implementation.cuda, implementation);
}

#endif
