/* What stands in for the matrix products where the CUDA Toolkit has no cuBLAS. */
#include "gpu/cases.h"
#include "gpu/report.h"

void sgemm(void) {
    gpu_fail("built without cuBLAS");
}

void sgemm_fp32_eighth(void) {
    gpu_fail("built without cuBLAS");
}

void sgemm_fp32_64th(void) {
    gpu_fail("built without cuBLAS");
}

void sgemm_tf32_eighth(void) {
    gpu_fail("built without cuBLAS");
}

/** No rows: as on a host with one GPU. */
void several_sgemm(void) {
}

void several_panels(void) {
}

void several_policies(void) {
}

void sgemm_overhead(void) {
    gpu_fail("built without cuBLAS");
}
