#ifndef POLYTILE_TESTS_QUEUE_PROGRAM_LIST_H
#define POLYTILE_TESTS_QUEUE_PROGRAM_LIST_H

#include "support/generic_parameter.h"

#include <polytile/polytile.h>

#include <vector>

/** What programs run, the parts of a declaration in one place; every sum is one of unsigned
 * numbers, so that its order does not matter. */
struct ProgramKernel {
    const char *declaration;
    const polytile_implementation *implementation;
    std::vector<int> dims;      /* of each operand; its array is n in each */
    int n_indices;              /* each thread index runs within 0 .. n - 1 */
    int64_t least;              /* no thread index is less */
    int64_t (*most)(int64_t n); /* nor more */
    int n_written;              /* operands that are written: the last ones */
    bool is_fresh;              /* the last one starts from zero */
    std::vector<GenericParameter> parameters = {};
};

/** Those with parameters come last. */
const std::vector<ProgramKernel> &program_kernels();
/** The kernels without. */
size_t count_plain_kernels();
/** The one that copies an array of so many dimensions. */
size_t copying_kernel(int n_dims);

/** What a launch does to plain memory, one vector an operand. values: of parameters, if any. */
void run_plainly(const ProgramKernel &kernel, int64_t n, const polytile_domain &threads,
                 const std::vector<std::vector<uint32_t> *> &memory,
                 const std::vector<GenericValue> &values = {});

#endif
