#include "compile/load.h"
#include "compile/source.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* Kernels that the driver loads for all GPUs of the process; the CUDA runtime launches them by
 * their handles, whichever copy of the runtime it is. */

const pti_driver_calls *pti_current_driver_calls;

/** Let *to be a function of a library. */
static bool find_function(void *library, const char *name, void *to) {
    void *symbol = dlsym(library, name);
    memcpy(to, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool find_calls(pti_driver_calls *calls) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library != NULL && find_function(library, "cuLibraryLoadData", &calls->load) &&
           find_function(library, "cuLibraryGetKernel", &calls->find) &&
           find_function(library, "cuLibraryUnload", &calls->unload);
}

/** Those of libcuda.so.1, which stays open. */
static pti_driver_calls found_calls;
static bool has_calls;

static void look_for_calls(void) {
    has_calls = find_calls(&found_calls);
}

/** Return the driver's functions, or NULL. */
static const pti_driver_calls *driver_calls(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (pti_current_driver_calls != NULL)
        return pti_current_driver_calls;
    pthread_once(&once, look_for_calls);
    return has_calls ? &found_calls : NULL;
}

static polytile_status check_driver(polytile_context *ctx, const char *kernel, int error,
                                    const char *what) {
    if (error == 0)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_DEVICE,
                    "%s: CUDA's driver does not load the compiled body: %s gives error %d", kernel,
                    what, error);
}

/** Find the kernels of a body; of one index there is no coarse one. */
static polytile_status find_kernels(polytile_context *ctx, const pti_build *build,
                                    const pti_driver_calls *calls, pti_loaded *loaded) {
    polytile_implementation *implementation = &loaded->implementation;
    const char *name = build->body->declaration->name;
    const bool has_coarse = build->body->declaration->n_indices > 1;
    const struct {
        const char *symbol;
        const void **kernel;
        bool is_made;
    } wanted[] = {{PTI_CUDA_SYMBOL, &implementation->cuda, true},
                  {PTI_CUDA_CONTIGUOUS_SYMBOL, &implementation->cuda_contiguous, true},
                  {PTI_CUDA_PIECES_SYMBOL, &implementation->cuda_pieces, true},
                  {PTI_CUDA_COARSE_SYMBOL, &implementation->cuda_coarse, has_coarse},
                  {PTI_CUDA_TILES_SYMBOL, &implementation->cuda_tiles,
                   pti_source_has_tiles(build->body, build->types)}};
    polytile_status status = POLYTILE_OK;
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        void *kernel = NULL;
        if (!wanted[k].is_made)
            continue;
        PTI_TRY(check_driver(ctx, name, calls->find(&kernel, loaded->module, wanted[k].symbol),
                             "cuLibraryGetKernel"));
        *wanted[k].kernel = kernel;
    }
    implementation->cuda_tiles_go_round = pti_source_goes_round(build->body, build->types);
    implementation->n_coarse = has_coarse ? POLYTILE_COARSENING : 0;
done:
    return status;
}

static void fill_shapes(const pti_build *build, pti_loaded *loaded) {
    const polytile_declaration *declaration = build->body->declaration;
    for (int a = 0; a < declaration->n_arrays; a++)
        loaded->shapes[a] =
            (polytile_view_shape){polytile_type_get_bytes(build->types[a]),
                                  declaration->array_n_dims[a], POLYTILE_ANY_NUMBER};
    for (int p = 0; p < declaration->n_parameters; p++)
        loaded->parameters[p] = (polytile_body_parameter){
            NULL, polytile_type_get_bytes(declaration->parameter_type[p]), POLYTILE_ANY_NUMBER};
    loaded->implementation.parameters = loaded->parameters;
    loaded->implementation.n_parameters = declaration->n_parameters;
    loaded->implementation.views = loaded->shapes;
    loaded->implementation.n_views = declaration->n_arrays;
    loaded->implementation.n_indices = declaration->n_indices;
    loaded->implementation.takes_steps = true;
    loaded->implementation.has_cuda_handles = true;
}

polytile_status pti_load_cuda(polytile_context *ctx, const pti_build *build, const pti_code *code,
                              pti_loaded *loaded) {
    const pti_driver_calls *calls = driver_calls();
    const char *name = build->body->declaration->name;
    polytile_status status;
    if (calls == NULL)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%s: libcuda.so.1 is not here or is older than CUDA 12, so that its "
                        "compiled body cannot be loaded; install a newer driver",
                        name);
    PTI_TRY(check_driver(ctx, name,
                         calls->load(&loaded->module, code->bytes, NULL, NULL, 0, NULL, NULL, 0),
                         "cuLibraryLoadData"));
    PTI_TRY(find_kernels(ctx, build, calls, loaded));
    fill_shapes(build, loaded);
done:
    return status;
}

void pti_unload_cuda(pti_loaded *loaded) {
    const pti_driver_calls *calls = loaded->module == NULL ? NULL : driver_calls();
    if (calls != NULL)
        calls->unload(loaded->module);
}
