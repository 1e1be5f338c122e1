/* What stands in for the matrix product where the CUDA Toolkit has no cuBLAS. */
#include "gpu/cases.h"
#include "gpu/report.h"

void sgemm(void) {
    gpu_fail("built without cuBLAS");
}

void sgemm_overhead(void) {
    gpu_fail("built without cuBLAS");
}
