/* What stands in for the products with sparse matrices where the CUDA Toolkit has no cuSPARSE. */
#include "gpu/cases.h"
#include "gpu/report.h"

void sparse_uniform_resident(void) {
    gpu_fail("built without cuSPARSE");
}

void sparse_band_resident(void) {
    gpu_fail("built without cuSPARSE");
}
