#include "gpu/cublas.h"

#include "gpu/report.h"

void gpu_check_cublas(cublasStatus_t status, const char *call, const char *file, int line) {
    if (status != CUBLAS_STATUS_SUCCESS)
        gpu_fail("%s:%d: %s: %s (%s)", file, line, call, cublasGetStatusString(status),
                 cublasGetStatusName(status));
}
