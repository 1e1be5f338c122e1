#include "launch/cuda/runtime/fault.h"

#include <pthread.h>

enum { MAX_FAULTS = 64, ANY_NUMBER = -1 };

/** Known faults; rows are only appended. */
static struct {
    pthread_mutex_t mutex;
    int n_faults;
    pti_cuda_fault fault[MAX_FAULTS];
} known = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/** Find the fault of a GPU. The mutex is held. */
static const pti_cuda_fault *find_fault(const pti_cuda_api *api, int number) {
    for (int k = 0; k < known.n_faults; k++) {
        const pti_cuda_fault *fault = &known.fault[k];
        if (fault->api == api && (number == ANY_NUMBER || fault->number == number))
            return fault;
    }
    return NULL;
}

void pti_cuda_fault_add(const pti_cuda_fault *fault) {
    pthread_mutex_lock(&known.mutex);
    if (find_fault(fault->api, fault->number) == NULL && known.n_faults < MAX_FAULTS)
        known.fault[known.n_faults++] = *fault;
    pthread_mutex_unlock(&known.mutex);
}

bool pti_cuda_fault_find(const pti_cuda_api *api, int number, pti_cuda_fault *fault) {
    pthread_mutex_lock(&known.mutex);
    const pti_cuda_fault *found = find_fault(api, number);
    if (found != NULL)
        *fault = *found;
    pthread_mutex_unlock(&known.mutex);
    return found != NULL;
}

cudaError_t pti_cuda_count_gpus(const pti_cuda_api *api, int *n_gpus) {
    pti_cuda_fault fault;
    *n_gpus = 0;
    cudaError_t error = api->cudaGetDeviceCount(n_gpus);
    if (error == cudaSuccess)
        return cudaSuccess;
    api->cudaGetLastError();
    if (!pti_cuda_fault_find(api, ANY_NUMBER, &fault))
        return error;
    *n_gpus = fault.n_gpus;
    return cudaSuccess;
}

void pti_cuda_faults_forget(void) {
    pthread_mutex_lock(&known.mutex);
    known.n_faults = 0;
    pthread_mutex_unlock(&known.mutex);
}
