#ifndef POLYTILE_TESTS_SUPPORT_DECLARED_KERNEL_H
#define POLYTILE_TESTS_SUPPORT_DECLARED_KERNEL_H

#include "support/generic_parameter.h"
#include "support/random_instance.h"

#include <vector>

/** A plain interpreter of any declaration: the kernel whose threads mix and write what it says, and
 * the values of parameters. */
class DeclaredKernel {
  public:
    /** The launch has to live as long. element_bytes: one number an array. parameters: those that
     * the declaration has in its list, which bodies take as they come. */
    DeclaredKernel(const RandomLaunch *launch, const std::vector<int64_t> &element_bytes,
                   const std::vector<GenericParameter> &parameters);

    /** It points to this kernel. */
    polytile_implementation implementation() const;

    /** What the launch does to arrays in plain memory, one memory an array. */
    void run_plainly(const std::vector<unsigned char *> &memory,
                     const std::vector<uint64_t> &values) const;

  private:
    struct Access {
        polytile_role role;
        int64_t element_bytes;
        const pti_access *declared;
    };

    void run(const polytile_domain &threads, const polytile_view *views,
             const std::vector<uint64_t> &values) const;
    void start(const polytile_view *views) const;
    polytile_domain touched(const Access &access, const int64_t *thread) const;
    template <class Call>
    void each_touched(const Access &access, const int64_t *thread, const Call &call) const;
    polytile_view plain_view(size_t array, unsigned char *memory) const;

    const RandomLaunch *launch_;
    std::vector<Access> accesses_;
    std::vector<polytile_view_shape> shapes_;
    std::vector<GenericParameter> parameters_;
    std::vector<polytile_body_parameter> taken_;
};

#endif
