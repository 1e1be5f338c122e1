#include "compile/build.h"
#include "compile/diagnose.h"
#include "compile/process.h"

#include "base/cache_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The system's C compiler, as POLYTILE_CC names it, builds a shared library. */

/** Loops run on the library's threads, so of OpenMP a body needs what one thread can do. A short
 * loop takes a quarter longer on some processors where its jump lies across the end of a cache
 * line. The tab stop makes columns places of the text. */
static const char *const options[] = {"-x",
                                      "c",
                                      "-std=gnu11",
                                      "-O3",
                                      "-march=native",
                                      "-fopenmp-simd",
                                      "-falign-loops=64",
                                      "-fPIC",
                                      "-shared",
                                      "-fvisibility=hidden",
                                      "-fno-math-errno",
                                      "-ftabstop=1",
                                      "-Werror=implicit-function-declaration",
                                      "-Werror=int-conversion",
                                      "-Werror=incompatible-pointer-types",
                                      "-Werror=return-type"};

enum { N_OPTIONS = sizeof options / sizeof *options, MAX_WORDS = 64 };

static const char *contraction_option(const pti_body_text *body) {
    return body->contracts ? "-ffp-contract=fast" : "-ffp-contract=off";
}

/** The words of POLYTILE_CC. */
typedef struct command {
    char *text; /* owned, as path */
    char *path; /* of the first word's program */
    char *word[MAX_WORDS + 1];
    int n_words;
} command;

static void free_command(command *of) {
    free(of->text);
    free(of->path);
}

static polytile_status refuse_compiler(polytile_context *ctx, const pti_body_text *body,
                                       const char *name, int error) {
    if (error == ENOMEM)
        return pti_fail_memory(ctx, body->declaration->name, PTI_UNKNOWN_BYTES);
    if (error != ENOENT && error != ENOTDIR)
        return pti_fail(ctx, POLYTILE_IO,
                        "%s: the C compiler %s cannot be used: %s; name another with POLYTILE_CC",
                        body->declaration->name, name, strerror(error));
    return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                    "%s: there is no C compiler %s here, which its body needs on the host; install "
                    "one (gcc or clang), or name one with POLYTILE_CC",
                    body->declaration->name, name);
}

static polytile_status find_command(polytile_context *ctx, const pti_body_text *body, command *of) {
    char *rest = NULL;
    *of = (command){.text = strdup(pti_get_settings(ctx)->compiler)};
    if (of->text == NULL)
        return pti_fail_memory(ctx, "POLYTILE_CC", PTI_UNKNOWN_BYTES);
    for (char *word = strtok_r(of->text, " ", &rest); word != NULL && of->n_words < MAX_WORDS;
         word = strtok_r(NULL, " ", &rest))
        of->word[of->n_words++] = word;
    const int error = pti_program_find(of->word[0], &of->path);
    return error == 0 ? POLYTILE_OK : refuse_compiler(ctx, body, of->word[0], error);
}

/** Append the lines of the first processor that say what it is. */
static void add_processor(pti_text *text) {
    static const char *const keys[] = {"vendor_id",   "cpu family", "model",    "stepping",
                                       "flags",       "Features",   "CPU part", "CPU implementer",
                                       "CPU variant", "isa",        "cpu",      "uarch"};
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL;
    size_t capacity = 0;
    while (file != NULL && getline(&line, &capacity, file) > 1) {
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const size_t length = strlen(keys[k]);
            if (strncmp(line, keys[k], length) == 0 && strchr("\t: ", line[length]) != NULL &&
                strncmp(line, "cpu MHz", strlen("cpu MHz")) != 0)
                pti_text_add(text, "%s", line);
        }
    }
    free(line);
    if (file != NULL)
        fclose(file);
}

static polytile_status describe_compiler_build(polytile_context *ctx, const pti_build *build,
                                               pti_text *text) {
    struct stat file = {0};
    command compiler;
    polytile_status status;
    PTI_TRY(find_command(ctx, build->body, &compiler));
    stat(compiler.path, &file);
    pti_text_add(text, "compiler %s, %lld bytes of %lld.%09ld\noptions", compiler.path,
                 (long long)file.st_size, (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
    for (int k = 1; k < compiler.n_words; k++)
        pti_text_add(text, " %s", compiler.word[k]);
    for (int k = 0; k < N_OPTIONS; k++)
        pti_text_add(text, " %s", options[k]);
    pti_text_add(text, " %s\n", contraction_option(build->body));
    add_processor(text);
done:
    free_command(&compiler);
    return status;
}

/** A directory of this process's own, with the files of one compilation. */
typedef struct workshop {
    char *directory, *source, *result, *said; /* owned */
} workshop;

static char *path_in(const char *directory, const char *name) {
    pti_text path = {0};
    pti_text_add(&path, "%s/%s", directory, name);
    if (path.failed)
        pti_text_free(&path);
    return path.data;
}

static void close_workshop(workshop *of) {
    char *const files[] = {of->source, of->result, of->said};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        if (files[k] != NULL)
            unlink(files[k]);
        free(files[k]);
    }
    if (of->directory != NULL)
        rmdir(of->directory);
    free(of->directory);
    *of = (workshop){0};
}

static polytile_status open_workshop(polytile_context *ctx, workshop *of) {
    const char *temporary = getenv("TMPDIR");
    temporary = temporary == NULL || *temporary == '\0' ? "/tmp" : temporary;
    *of = (workshop){0};
    char *directory = path_in(temporary, "polytile.XXXXXX");
    if (directory == NULL)
        return pti_fail_memory(ctx, "compiler's files", PTI_UNKNOWN_BYTES);
    if (mkdtemp(directory) == NULL) {
        const polytile_status status = pti_fail_errno(ctx, directory, "create the directory");
        free(directory);
        return status;
    }
    of->directory = directory;
    of->source = path_in(directory, "body.c");
    of->result = path_in(directory, "body.so");
    of->said = path_in(directory, "said");
    return of->source != NULL && of->result != NULL && of->said != NULL
               ? POLYTILE_OK
               : pti_fail_memory(ctx, "compiler's files", PTI_UNKNOWN_BYTES);
}

static polytile_status write_source(polytile_context *ctx, const workshop *of,
                                    const pti_text *source) {
    return pti_file_replace_text(of->source, source) ? POLYTILE_OK
                                                     : pti_fail_errno(ctx, of->source, "write");
}

/** Read a file whole, NUL-terminated. Errors: IO, NO_MEMORY. */
static polytile_status read_whole_file(polytile_context *ctx, const char *path, pti_code *code) {
    struct stat file;
    pti_text why = {0};
    *code = (pti_code){0};
    if (stat(path, &file) != 0)
        return pti_fail_errno(ctx, path, "read");
    code->bytes = malloc((size_t)file.st_size + 1);
    if (code->bytes == NULL)
        return pti_fail_memory(ctx, path, (double)file.st_size);
    const ssize_t n_bytes = pti_file_read(path, code->bytes, (ssize_t)file.st_size, &why);
    pti_text_free(&why);
    if (n_bytes < 0) {
        const polytile_status status = pti_fail_errno(ctx, path, "read");
        free(code->bytes);
        *code = (pti_code){0};
        return status;
    }
    code->n_bytes = (size_t)n_bytes;
    code->bytes[n_bytes] = '\0';
    return POLYTILE_OK;
}

static void list_arguments(const pti_build *build, const command *compiler, const workshop *of,
                           const char **arguments) {
    int n = 0;
    for (int k = 0; k < compiler->n_words; k++)
        arguments[n++] = compiler->word[k];
    for (int k = 0; k < N_OPTIONS; k++)
        arguments[n++] = options[k];
    arguments[n++] = contraction_option(build->body);
    arguments[n++] = "-o";
    arguments[n++] = of->result;
    arguments[n++] = of->source;
    arguments[n++] = "-lm";
    arguments[n] = NULL;
}

static polytile_status explain_compiler_failure(polytile_context *ctx, const pti_build *build,
                                                const command *compiler, const workshop *of) {
    pti_code said;
    polytile_status status = read_whole_file(ctx, of->said, &said);
    if (status != POLYTILE_OK)
        return status;
    status =
        pti_diagnose(ctx, build->body, compiler->path, "name another with POLYTILE_CC", said.bytes);
    free(said.bytes);
    return status;
}

static polytile_status run_compiler(polytile_context *ctx, const pti_build *build,
                                    const command *compiler, const workshop *of) {
    const char *arguments[MAX_WORDS + N_OPTIONS + 6];
    int exit_code;
    list_arguments(build, compiler, of, arguments);
    if (!pti_program_run(compiler->path, (char *const *)(uintptr_t)arguments, of->said, &exit_code))
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%s: the C compiler %s cannot be run: %s; name another with POLYTILE_CC",
                        build->body->declaration->name, compiler->path, strerror(errno));
    return exit_code == 0 && access(of->result, R_OK) == 0
               ? POLYTILE_OK
               : explain_compiler_failure(ctx, build, compiler, of);
}

static polytile_status build_host(polytile_context *ctx, const pti_build *build,
                                  const pti_text *source, pti_code *code) {
    command compiler = {0};
    workshop files = {0};
    polytile_status status;
    PTI_TRY(find_command(ctx, build->body, &compiler));
    PTI_TRY(open_workshop(ctx, &files));
    PTI_TRY(write_source(ctx, &files, source));
    PTI_TRY(run_compiler(ctx, build, &compiler, &files));
    PTI_TRY(read_whole_file(ctx, files.result, code));
done:
    close_workshop(&files);
    free_command(&compiler);
    return status;
}

const pti_compiler pti_host_compiler = {describe_compiler_build, build_host};

const pti_compiler *pti_compiler_for(pti_target target) {
    return pti_target_is_host(target) ? &pti_host_compiler : &pti_cuda_compiler;
}
