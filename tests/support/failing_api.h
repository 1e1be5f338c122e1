#ifndef POLYTILE_TESTS_SUPPORT_FAILING_API_H
#define POLYTILE_TESTS_SUPPORT_FAILING_API_H

#include <cstdint>
#include <mutex>
#include <string>

extern "C" {
#include "launch/cuda/runtime/api.h"
}

/**
 * Another runtime whose n-th call fails once: while it lives, devices that are opened use it.
 *
 * A call that fails does nothing, but for those that free something or wait: CUDA lets them report
 * what went wrong before, and they have done their work.
 */
class FailingApi {
  public:
    /** Over the table in use. */
    FailingApi();
    ~FailingApi();
    FailingApi(const FailingApi &) = delete;
    FailingApi &operator=(const FailingApi &) = delete;

    /** Let the n-th call from now on fail, counted from 1, or the n-th of one name: with
     * cudaErrorMemoryAllocation if it is cudaMalloc, else with cudaErrorUnknown. */
    void let_fail(int64_t n) { let_fail(n, "", cudaSuccess); }
    /** With an error of your own choice. */
    void let_fail(int64_t n, const std::string &name, cudaError_t error);
    /** Let memory be unpinned up to so many microseconds later than is asked for: meanwhile other
     * threads go on. */
    void let_unpinning_linger(int most_us) { most_us_ = most_us; }
    /** Let no call fail any more. */
    void stop() { n_to_fail_ = 0; }

    /** How many calls are left until one fails. */
    int64_t n_left() const { return n_to_fail_; }

    /** The call that failed since let_fail(); empty: none yet. */
    const std::string &failed() const { return failed_; }

  private:
    template <auto Member, int number> friend struct FailingApiEntry;

    bool is_due(int call);
    void linger();
    cudaError_t error_of(int call) const;

    std::mutex mutex_; /* of what is_due() changes: devices have threads of their own */
    const pti_cuda_api *inner_;
    int64_t n_to_fail_ = 0;
    std::string name_, failed_;
    cudaError_t error_ = cudaSuccess;
    int most_us_ = 0;
    int64_t n_lingered_ = 0;
};

#endif
