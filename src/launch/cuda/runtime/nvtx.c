#include "launch/cuda/runtime/nvtx.h"

#include <nvtx3/nvToolsExt.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static nvtxDomainHandle_t domain; /* of the library, for the whole process */

static void create_domain(void) {
    domain = nvtxDomainCreateA("polytile");
}

void pti_nvtx_push(const char *name) {
    nvtxEventAttributes_t range = {.version = NVTX_VERSION,
                                   .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                   .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                   .message.ascii = name};
    pthread_once(&once, create_domain);
    nvtxDomainRangePushEx(domain, &range);
}

void pti_nvtx_pop(void) {
    nvtxDomainRangePop(domain);
}
