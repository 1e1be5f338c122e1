#ifndef POLYTILE_TESTS_QUEUE_PROGRAM_LIST_H
#define POLYTILE_TESTS_QUEUE_PROGRAM_LIST_H

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
};

const std::vector<ProgramKernel> &program_kernels();

/** What a launch does to plain memory, one vector an operand. */
void run_plainly(const ProgramKernel &kernel, int64_t n, const polytile_domain &threads,
                 const std::vector<std::vector<uint32_t> *> &memory);

#endif
