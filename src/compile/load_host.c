#include "compile/load.h"
#include "compile/source.h"

#include "base/cache_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef const polytile_implementation *get_implementation(void);

/** The bytes that were checked are those that run: they are loaded from memory. It stays open,
 * since the loader takes two libraries of one name for one. */
static polytile_status open_memory(polytile_context *ctx, const char *kernel, const pti_code *code,
                                   int *file) {
    *file = memfd_create("polytile_kernel", MFD_CLOEXEC);
    if (*file >= 0 && pti_file_write(*file, code->bytes, code->n_bytes))
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_IO, "%s: the compiled body of %zu bytes cannot be loaded: %s",
                    kernel, code->n_bytes, strerror(errno));
}

static polytile_status find_implementation(polytile_context *ctx, const char *kernel,
                                           pti_loaded *loaded) {
    void *symbol = dlsym(loaded->library, PTI_HOST_SYMBOL);
    get_implementation *get;
    memcpy(&get, &symbol, sizeof get);
    if (get == NULL)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED, "%s: the compiled body has no %s: %s", kernel,
                        PTI_HOST_SYMBOL, dlerror());
    loaded->implementation = *get();
    return POLYTILE_OK;
}

polytile_status pti_load_host(polytile_context *ctx, const pti_build *build, const pti_code *code,
                              pti_loaded *loaded) {
    const char *kernel = build->body->declaration->name;
    char path[64];
    polytile_status status;
    PTI_TRY(open_memory(ctx, kernel, code, &loaded->file));
    snprintf(path, sizeof path, "/proc/self/fd/%d", loaded->file);
    loaded->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (loaded->library == NULL)
        PTI_TRY(pti_fail(ctx, POLYTILE_UNSUPPORTED, "%s: the compiled body cannot be loaded: %s",
                         kernel, dlerror()));
    PTI_TRY(find_implementation(ctx, kernel, loaded));
done:
    return status;
}

void pti_unload_host(pti_loaded *loaded) {
    if (loaded->library != NULL)
        dlclose(loaded->library);
    if (loaded->file >= 0)
        close(loaded->file);
}
