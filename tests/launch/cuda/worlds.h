#ifndef POLYTILE_TESTS_LAUNCH_CUDA_WORLDS_H
#define POLYTILE_TESTS_LAUNCH_CUDA_WORLDS_H

#include "launch/cases.h"
#include "support/fake_cuda.h"

#include <memory>
#include <vector>

/* Where tests of the CUDA device run: on a runtime that needs no GPU, or on a GPU. Tests of both
 * are templates over the world: runs.h, failures.h and memory_limit.h. */

/** Adds a case's CUDA kernels, found by its name, such as "add", to its implementation. */
using AddKernels = void (*)(const std::string &name, polytile_implementation *to);

/** The cases of launch/cases.h with CUDA kernels. */
class CudaCases {
  public:
    explicit CudaCases(AddKernels add);
    const std::vector<Case> &all() const { return cases_; }
    /** The first case of a declaration that begins so. */
    const Case &of(const std::string &declaration) const;

  private:
    std::vector<std::unique_ptr<polytile_implementation>> implementations_;
    std::vector<Case> cases_;
};

/** A GPU that is not there: the kernel's host functions stand for its symbols. */
class FakeWorld {
  public:
    explicit FakeWorld(uint64_t seed) : FakeWorld(seed, FakeCuda::Options()) {}
    FakeWorld(uint64_t seed, const FakeCuda::Options &options);
    static const CudaCases &cases();

    /** Nothing is left to do, and nothing was done wrong. */
    void expect_idle() const;
    /** Nothing is left that was taken. */
    void expect_nothing_taken() const;

    FakeCuda cuda;
};

#endif
