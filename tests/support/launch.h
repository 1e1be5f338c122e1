#ifndef POLYTILE_TESTS_SUPPORT_LAUNCH_H
#define POLYTILE_TESTS_SUPPORT_LAUNCH_H

#include <map>
#include <string>
#include <vector>

#include <polytile/polytile.h>

extern "C" {
#include "access/declare/kernel.h"
#include "access/footprint/instance.h"
}

/** A domain from text: "100x50" (from 0), or "0:9, 3:3" with inclusive ends and perhaps a step. */
polytile_domain domain_of(const std::string &text);

/** A launch made from texts: its own context, the kernel, described arrays and the instance. */
class Launch {
  public:
    struct Options {
        std::map<std::string, int64_t> parameters;
        std::map<std::string, polytile_type> types; /* f32 where not given */
    };

    /** arrays: name to domain; those of the kernel that are not there stay NULL. */
    Launch(const std::string &declaration, const std::string &threads,
           const std::map<std::string, std::string> &arrays, const Options &options = {});
    ~Launch();
    Launch(const Launch &) = delete;
    Launch &operator=(const Launch &) = delete;

    polytile_status status() const { return status_; }
    std::string error() const { return polytile_last_error(ctx_); }
    polytile_context *context() const { return ctx_; }
    const polytile_kernel *kernel() const { return kernel_; }
    /** NULL unless status() is POLYTILE_OK. */
    const pti_instance *instance() const { return instance_; }
    /** The position of the named operand. */
    int operand(const std::string &name) const;

  private:
    polytile_status make(const std::string &declaration, const std::string &threads,
                         const std::map<std::string, std::string> &arrays, const Options &options);

    polytile_context *ctx_ = nullptr;
    polytile_kernel *kernel_ = nullptr;
    pti_instance *instance_ = nullptr;
    polytile_status status_;
};

#endif
