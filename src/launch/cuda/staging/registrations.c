#include "launch/cuda/staging/registrations.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

/** Pinned memory is never swapped out, and its untouched pages get memory: all arrays together may
 * pin this fraction of the machine's memory. */
enum { PINNED_PART = 2 };

/** Memory that runs have pinned. */
typedef struct registration {
    struct registration *next;
    void *memory;
    int64_t n_bytes;
    int n_runs;
} registration;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static registration *registrations; /* under the mutex, owned */

static uintptr_t first_page(const void *memory) {
    return (uintptr_t)memory / PAGE_BYTES;
}

static uintptr_t last_page(const void *memory, int64_t n_bytes) {
    return ((uintptr_t)memory + (uintptr_t)n_bytes - 1) / PAGE_BYTES;
}

static bool share_pages(const registration *one, const void *memory, int64_t n_bytes) {
    return first_page(one->memory) <= last_page(memory, n_bytes) &&
           first_page(memory) <= last_page(one->memory, one->n_bytes);
}

/** Share memory that a run has pinned. The mutex is held. */
static pti_registration share_registration(const void *memory, int64_t n_bytes) {
    pti_registration found = PTI_NOT_REGISTERED;
    for (registration *one = registrations; one != NULL; one = one->next) {
        if (one->memory == memory && one->n_bytes == n_bytes) {
            one->n_runs++;
            return PTI_REGISTRATION_SHARED;
        }
        if (share_pages(one, memory, n_bytes))
            found = PTI_REGISTERED_IN_PART;
    }
    return found;
}

static polytile_status type_at(pti_cuda_device *cuda, const void *byte, enum cudaMemoryType *type) {
    struct cudaPointerAttributes attributes = {.type = cudaMemoryTypeUnregistered};
    polytile_status status = PTI_CUDA(cuda, cudaPointerGetAttributes, (&attributes, byte));
    *type = attributes.type;
    return status;
}

polytile_status pti_registrations_look(pti_cuda_device *cuda, const void *memory, int64_t n_bytes,
                                       pti_registration *found, enum cudaMemoryType *first,
                                       enum cudaMemoryType *last) {
    polytile_status status = POLYTILE_OK;
    *first = *last = cudaMemoryTypeUnregistered;
    pthread_mutex_lock(&mutex);
    *found = share_registration(memory, n_bytes);
    if (*found != PTI_NOT_REGISTERED)
        goto done;
    PTI_TRY(type_at(cuda, memory, first));
    PTI_TRY(type_at(cuda, (const char *)memory + n_bytes - 1, last));
done:
    pthread_mutex_unlock(&mutex);
    return status;
}

/** Return whether n_bytes more may be pinned. The mutex is held. */
static bool fits_limit(int64_t n_bytes) {
    int64_t left_bytes =
        (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE) / PINNED_PART;
    for (const registration *one = registrations; one != NULL; one = one->next)
        left_bytes -= one->n_bytes;
    return n_bytes <= left_bytes;
}

/** Pin memory as portable, so that runs on other devices may share it. */
static const char *register_memory(pti_cuda_device *cuda, void *memory, int64_t n_bytes) {
    if (!fits_limit(n_bytes))
        return "more than half of the machine's memory would be pinned";
    registration *made = malloc(sizeof *made);
    if (made == NULL)
        return "out of memory";
    cudaError_t error =
        cuda->api->cudaHostRegister(memory, (size_t)n_bytes, cudaHostRegisterPortable);
    if (error != cudaSuccess) {
        free(made);
        cuda->api->cudaGetLastError();
        return cudaGetErrorString(error);
    }
    *made = (registration){registrations, memory, n_bytes, 1};
    registrations = made;
    return NULL;
}

const char *pti_registrations_take(pti_cuda_device *cuda, void *memory, int64_t n_bytes) {
    const char *why_not = NULL;
    pthread_mutex_lock(&mutex);
    switch (share_registration(memory, n_bytes)) {
    case PTI_NOT_REGISTERED:
        why_not = register_memory(cuda, memory, n_bytes);
        break;
    case PTI_REGISTERED_IN_PART:
        why_not = "another run has pinned a part of it";
        break;
    case PTI_REGISTRATION_SHARED:
        break;
    }
    pthread_mutex_unlock(&mutex);
    return why_not;
}

polytile_status pti_registrations_give_back(pti_cuda_device *cuda, void *memory) {
    polytile_status status = POLYTILE_OK;
    pthread_mutex_lock(&mutex);
    registration **at = &registrations;
    while ((*at)->memory != memory)
        at = &(*at)->next;
    registration *one = *at;
    if (--one->n_runs == 0) {
        *at = one->next;
        free(one);
        status = PTI_CUDA(cuda, cudaHostUnregister, (memory));
    }
    pthread_mutex_unlock(&mutex);
    return status;
}
