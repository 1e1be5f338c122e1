#include "launch/cuda/link.h"

#include "base/checked.h"
#include "launch/device/link_cache.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Where the link of a GPU comes from: this process, the disk, or a measurement. */

enum {
    GRANULARITY_BYTES = 2 << 20, /* of what cudaMalloc hands out, and the least that is fair */
    MAX_LINKS = 64,
    KEY_BYTES = 64,
};

/** The links that this process knows, with the device memory of their measurement. */
static struct known_link {
    char key[KEY_BYTES];
    int64_t device_bytes;
    polytile_link link;
} known_links[MAX_LINKS];
static int n_known_links;

/** Guards the links; one GPU is measured at a time. */
static pthread_mutex_t links_mutex = PTHREAD_MUTEX_INITIALIZER;

/** Return the entry of a GPU; NULL if there is none. */
static struct known_link *find_known_link(const char *key) {
    for (int k = 0; k < n_known_links; k++) {
        if (strcmp(known_links[k].key, key) == 0)
            return &known_links[k];
    }
    return NULL;
}

static void remember_link(const char *key, int64_t device_bytes, const polytile_link *link) {
    struct known_link *entry = find_known_link(key);
    if (entry == NULL && n_known_links < MAX_LINKS)
        entry = &known_links[n_known_links++];
    if (entry == NULL)
        return;
    snprintf(entry->key, sizeof entry->key, "%s", key);
    entry->device_bytes = device_bytes;
    entry->link = *link;
}

/** Look a link up in this process and on disk; one measured with more memory serves less. */
static bool recall_link(polytile_context *ctx, const char *key, int64_t device_bytes,
                        polytile_link *link) {
    const struct known_link *entry = find_known_link(key);
    bool is_known = entry != NULL && entry->device_bytes >= device_bytes;
    if (is_known) {
        *link = entry->link;
        return true;
    }
    if (!pti_link_cache_read(ctx, key, link))
        return false;
    remember_link(key, PTI_CUDA_LINK_BYTES, link);
    return true;
}

static polytile_status measure_and_keep(pti_cuda_device *cuda, const char *key,
                                        int64_t device_bytes, polytile_link *link) {
    bool is_measured;
    polytile_status status = pti_cuda_measure(cuda, device_bytes, link, &is_measured);
    if (is_measured)
        remember_link(key, device_bytes, link);
    else
        *link = polytile_link_default;
    if (is_measured && device_bytes == PTI_CUDA_LINK_BYTES)
        pti_link_cache_write(cuda->device.object.context, key, link);
    return status;
}

/** Write the UUID as nvidia-smi does, and the driver's version, which may change the figures. */
static void write_key(const cudaUUID_t *uuid, int driver_version, char *key, size_t capacity) {
    size_t length = (size_t)snprintf(key, capacity, "GPU-");
    for (size_t k = 0; k < sizeof uuid->bytes; k++) {
        bool is_group = k == 4 || k == 6 || k == 8 || k == 10;
        length += (size_t)snprintf(key + length, capacity - length, "%s%02x", is_group ? "-" : "",
                                   (unsigned)(unsigned char)uuid->bytes[k]);
    }
    snprintf(key + length, capacity - length, "-%d", driver_version);
}

/** Set the link of a GPU without the memory to measure. */
static polytile_status assume_link(polytile_link *link) {
    *link = polytile_link_default;
    return POLYTILE_OK;
}

polytile_status pti_cuda_link(pti_cuda_device *cuda, const struct cudaDeviceProp *properties,
                              int64_t max_device_bytes, polytile_link *link) {
    char key[KEY_BYTES];
    int driver_version = 0;
    int64_t device_bytes =
        pti_min(max_device_bytes, PTI_CUDA_LINK_BYTES) / GRANULARITY_BYTES * GRANULARITY_BYTES;
    polytile_status status = PTI_CUDA(cuda, cudaDriverGetVersion, (&driver_version));
    if (status != POLYTILE_OK)
        return status;
    write_key(&properties->uuid, driver_version, key, sizeof key);
    pthread_mutex_lock(&links_mutex);
    if (!recall_link(cuda->device.object.context, key, device_bytes, link))
        status = device_bytes < GRANULARITY_BYTES ? assume_link(link)
                                                  : measure_and_keep(cuda, key, device_bytes, link);
    pthread_mutex_unlock(&links_mutex);
    link->cache_bytes = properties->l2CacheSize;
    return status;
}
