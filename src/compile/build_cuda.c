#include "compile/build.h"
#include "compile/diagnose.h"
#include "compile/source.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* NVRTC, CUDA's compiler as a library, which is looked for when it is needed. */

typedef struct program *nvrtc_program;

/** Functions of NVRTC; all return 0 for success. */
#define NVRTC_CALLS(X)                                                                             \
    X(nvrtcVersion, (int *major, int *minor))                                                      \
    X(nvrtcGetNumSupportedArchs, (int *n))                                                         \
    X(nvrtcGetSupportedArchs, (int *capabilities))                                                 \
    X(nvrtcCreateProgram, (nvrtc_program * program, const char *source, const char *name,          \
                           int n_headers, const char *const *headers, const char *const *names))   \
    X(nvrtcCompileProgram, (nvrtc_program program, int n_options, const char *const *options))     \
    X(nvrtcGetProgramLogSize, (nvrtc_program program, size_t * n_bytes))                           \
    X(nvrtcGetProgramLog, (nvrtc_program program, char *said))                                     \
    X(nvrtcGetCUBINSize, (nvrtc_program program, size_t * n_bytes))                                \
    X(nvrtcGetCUBIN, (nvrtc_program program, char *code))                                          \
    X(nvrtcGetPTXSize, (nvrtc_program program, size_t * n_bytes))                                  \
    X(nvrtcGetPTX, (nvrtc_program program, char *code))                                            \
    X(nvrtcDestroyProgram, (nvrtc_program * program))

static struct nvrtc {
    char path[PATH_MAX]; /* of the library; "": it is not found */
    bool is_loaded;
#define MEMBER(name, parameters) int(*name) parameters;
    NVRTC_CALLS(MEMBER)
#undef MEMBER
} nvrtc;

/** Libraries by name, as the loader finds them: also those that the program has loaded, such as
 * that of pip's package. The newest goes first. */
static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH", NULL};
static const char *const folders[] = {"lib64", "lib", "targets/x86_64-linux/lib",
                                      "targets/sbsa-linux/lib"};

enum {
    N_NAMES = sizeof names / sizeof *names,
    N_FOLDERS = sizeof folders / sizeof *folders,
};

/** Note the path of a library that is loaded. */
static void note_path(void *library) {
    void *symbol = dlsym(library, "nvrtcVersion");
    Dl_info info;
    char resolved[PATH_MAX];
    if (symbol == NULL || dladdr(symbol, &info) == 0 || realpath(info.dli_fname, resolved) == NULL)
        return;
    memcpy(nvrtc.path, resolved, sizeof resolved);
}

/** Find a file below one toolkit's directory. */
static bool find_below(const char *toolkit) {
    bool is_found = false;
    for (int f = 0; f < N_FOLDERS && !is_found; f++)
        for (int n = 0; n < N_NAMES && !is_found; n++) {
            pti_text path = {0};
            pti_text_add(&path, "%s/%s/%s", toolkit, folders[f], names[n]);
            is_found = !path.failed && realpath(path.data, nvrtc.path) != NULL;
            pti_text_free(&path);
        }
    if (!is_found)
        nvrtc.path[0] = '\0';
    return is_found;
}

/** Find NVRTC in the toolkits that the environment names, then where they usually are. */
static bool find_nvrtc_in_toolkits(void) {
    bool is_found = false;
    for (int k = 0; variables[k] != NULL && !is_found; k++)
        is_found = getenv(variables[k]) != NULL && find_below(getenv(variables[k]));
    return is_found || find_below("/usr/local/cuda");
}

/** Find the library: one that is loaded already, one of a toolkit, or one that the loader knows.
 * Only the last has to be loaded to know where it is. */
static void find_library(void) {
    void *library = NULL;
    for (int n = 0; n < N_NAMES && library == NULL; n++)
        library = dlopen(names[n], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library == NULL && find_nvrtc_in_toolkits())
        return;
    for (int n = 0; n < N_NAMES && library == NULL; n++)
        library = dlopen(names[n], RTLD_NOW | RTLD_LOCAL);
    if (library != NULL)
        note_path(library);
}

static void load_functions(void) {
    void *library = dlopen(nvrtc.path, RTLD_NOW | RTLD_LOCAL);
    nvrtc.is_loaded = library != NULL;
    if (library == NULL)
        return;
#define FIND(name, parameters)                                                                     \
    {                                                                                              \
        void *symbol = dlsym(library, #name);                                                      \
        memcpy(&nvrtc.name, &symbol, sizeof symbol);                                               \
        nvrtc.is_loaded = nvrtc.is_loaded && symbol != NULL;                                       \
    }
    NVRTC_CALLS(FIND)
#undef FIND
}

static polytile_status find_nvrtc(polytile_context *ctx, const char *kernel) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_library);
    if (nvrtc.path[0] != '\0')
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                    "%s: there is no NVRTC (libnvrtc.so.12 or newer) here, which its body needs on "
                    "a GPU; install it (CUDA's package cuda-nvrtc, or pip's nvidia-cuda-nvrtc), or "
                    "set CUDA_HOME",
                    kernel);
}

static polytile_status load_nvrtc(polytile_context *ctx, const char *kernel) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    polytile_status status;
    PTI_TRY(find_nvrtc(ctx, kernel));
    pthread_once(&once, load_functions);
    if (!nvrtc.is_loaded)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%s: %s cannot be loaded, or is older than CUDA 12; install a newer one, "
                        "or set CUDA_HOME",
                        kernel, nvrtc.path);
done:
    return status;
}

static const char *nvrtc_contraction_option(const pti_body_text *body) {
    return body->contracts ? "--fmad=true" : "--fmad=false";
}

/** Append the directory of CUDA's headers that belongs to the library; only halves need it. Pip's
 * packages of CUDA 12 have a directory each. */
static void add_include(const char *flag, pti_text *text) {
    static const char header[] = "cuda_fp16.h";
    char directory[PATH_MAX];
    const char *const places[] = {"../include", "../../../include", "../../cuda_runtime/include"};
    memcpy(directory, nvrtc.path, sizeof directory);
    char *slash = strrchr(directory, '/');
    if (slash != NULL)
        *slash = '\0';
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        pti_text path = {0};
        pti_text_add(&path, "%s/%s/%s", directory, places[k], header);
        const bool is_there = !path.failed && access(path.data, R_OK) == 0;
        pti_text_free(&path);
        if (is_there) {
            pti_text_add(text, "%s%s/%s", flag, directory, places[k]);
            return;
        }
    }
}

static polytile_status describe_nvrtc_build(polytile_context *ctx, const pti_build *build,
                                            pti_text *text) {
    struct stat file = {0};
    polytile_status status;
    PTI_TRY(find_nvrtc(ctx, build->body->declaration->name));
    stat(nvrtc.path, &file);
    pti_text_add(text, "compiler %s, %lld bytes of %lld.%09ld\noptions %s\nGPU %d\n", nvrtc.path,
                 (long long)file.st_size, (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec,
                 nvrtc_contraction_option(build->body), build->target.capability);
done:
    return status;
}

/** Headers of C that kernel code includes, which NVRTC does not have. */
static const char *const header_names[] = {"stdint.h", "stdbool.h"};
static const char *const headers[] = {
    "typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long "
    "int64_t;\n"
    "typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned uint32_t;\n"
    "typedef unsigned long uint64_t; typedef long intptr_t; typedef unsigned long uintptr_t;\n"
    "#define INT32_MIN (-2147483647 - 1)\n#define INT32_MAX 2147483647\n"
    "#define INT64_MIN (-9223372036854775807L - 1)\n#define INT64_MAX 9223372036854775807L\n",
    ""};

enum { N_HEADERS = sizeof headers / sizeof *headers };

/** Find the newest architecture that NVRTC knows and the GPU has. */
static polytile_status find_architecture(polytile_context *ctx, const pti_build *build,
                                         int *capability) {
    enum { MAX_CAPABILITIES = 128 };
    int known[MAX_CAPABILITIES], n = 0;
    *capability = 0;
    if (nvrtc.nvrtcGetNumSupportedArchs(&n) != 0 || n > MAX_CAPABILITIES ||
        nvrtc.nvrtcGetSupportedArchs(known) != 0)
        n = 0;
    for (int k = 0; k < n; k++)
        if (known[k] <= build->target.capability && known[k] > *capability)
            *capability = known[k];
    if (*capability > 0)
        return POLYTILE_OK;
    return pti_fail(
        ctx, POLYTILE_UNSUPPORTED,
        "%s: %s compiles for no GPU of compute capability %d.%d; install another NVRTC, "
        "or set CUDA_HOME",
        build->body->declaration->name, nvrtc.path, build->target.capability / 10,
        build->target.capability % 10);
}

static polytile_status explain_nvrtc_failure(polytile_context *ctx, const pti_build *build,
                                             nvrtc_program program) {
    size_t n_bytes = 0;
    char *said = NULL;
    if (nvrtc.nvrtcGetProgramLogSize(program, &n_bytes) == 0)
        said = calloc(n_bytes + 1, 1);
    if (said == NULL)
        return pti_fail_memory(ctx, build->body->declaration->name, (double)n_bytes);
    nvrtc.nvrtcGetProgramLog(program, said);
    const polytile_status status =
        pti_diagnose(ctx, build->body, "NVRTC", "install another one, or set CUDA_HOME", said);
    free(said);
    return status;
}

/** Take the machine code, or what the driver compiles for a GPU newer than NVRTC. */
static polytile_status take_nvrtc_code(polytile_context *ctx, const pti_build *build,
                                       nvrtc_program program, bool is_machine_code,
                                       pti_code *code) {
    size_t n_bytes = 0;
    int error = is_machine_code ? nvrtc.nvrtcGetCUBINSize(program, &n_bytes)
                                : nvrtc.nvrtcGetPTXSize(program, &n_bytes);
    code->bytes = error == 0 ? malloc(n_bytes + 1) : NULL;
    if (code->bytes == NULL)
        return pti_fail_memory(ctx, build->body->declaration->name, (double)n_bytes);
    error = is_machine_code ? nvrtc.nvrtcGetCUBIN(program, code->bytes)
                            : nvrtc.nvrtcGetPTX(program, code->bytes);
    code->n_bytes = n_bytes;
    code->bytes[n_bytes] = '\0';
    if (error == 0)
        return POLYTILE_OK;
    free(code->bytes);
    *code = (pti_code){0};
    return pti_fail(ctx, POLYTILE_UNSUPPORTED, "%s: NVRTC gives no code (error %d)",
                    build->body->declaration->name, error);
}

static polytile_status compile_program(polytile_context *ctx, const pti_build *build,
                                       nvrtc_program program, pti_code *code) {
    pti_text architecture = {0}, include = {0};
    int capability = 0;
    polytile_status status;
    PTI_TRY(find_architecture(ctx, build, &capability));
    const bool is_machine_code = capability == build->target.capability;
    pti_text_add(&architecture, "--gpu-architecture=%s_%d", is_machine_code ? "sm" : "compute",
                 capability);
    add_include("-I", &include);
    const char *options[] = {architecture.data,
                             nvrtc_contraction_option(build->body),
                             "-std=c++17",
                             "-default-device",
                             "-w",
                             include.data};
    const int n_options = (int)(sizeof options / sizeof *options) - (include.data == NULL);
    if (architecture.failed || include.failed)
        PTI_TRY(pti_fail_memory(ctx, build->body->declaration->name, PTI_UNKNOWN_BYTES));
    if (nvrtc.nvrtcCompileProgram(program, n_options, options) != 0)
        PTI_TRY(explain_nvrtc_failure(ctx, build, program));
    PTI_TRY(take_nvrtc_code(ctx, build, program, is_machine_code, code));
done:
    pti_text_free(&architecture);
    pti_text_free(&include);
    return status;
}

static polytile_status build_cuda(polytile_context *ctx, const pti_build *build,
                                  const pti_text *source, pti_code *code) {
    nvrtc_program program = NULL;
    polytile_status status;
    PTI_TRY(load_nvrtc(ctx, build->body->declaration->name));
    if (nvrtc.nvrtcCreateProgram(&program, source->data, PTI_REST_FILE, N_HEADERS, headers,
                                 header_names) != 0)
        PTI_TRY(pti_fail_memory(ctx, build->body->declaration->name, (double)source->length));
    status = compile_program(ctx, build, program, code);
    nvrtc.nvrtcDestroyProgram(&program);
done:
    return status;
}

const pti_compiler pti_cuda_compiler = {describe_nvrtc_build, build_cuda};
