#define _GNU_SOURCE
#include "faults/inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <isl/ctx.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

/* clang and gcc tell of AddressSanitizer in different ways. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

/* Memory comes from glibc, or under AddressSanitizer from it. */
#ifdef __SANITIZE_ADDRESS__
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif
void *REAL(malloc)(size_t n_bytes);
void *REAL(calloc)(size_t n, size_t n_bytes);
void *REAL(realloc)(void *memory, size_t n_bytes);
void *REAL(memalign)(size_t alignment, size_t n_bytes);
void REAL(free)(void *memory);

const char *faults_kind_word(faults_kind kind) {
    static const char *const words[] = {"none",  "memory",  "isl-memory", "files",      "interrupt",
                                        "short", "threads", "cuda",       "isl-context"};
    return words[kind];
}

/* Who calls. */

typedef enum module { OTHER, OURS, LIBC, ISL, JANSSON } module;

typedef struct module_range {
    uintptr_t lo;
    uintptr_t hi;
    module of;
} module_range;

enum { MAX_RANGES = 64 };
static module_range ranges[MAX_RANGES];
static atomic_int n_ranges;

static module module_named(const char *path) {
    static const struct {
        const char *part;
        module of;
    } known[] = {{"libpolytile_inject", OTHER}, {"libisl", ISL},  {"libgmp", ISL},
                 {"libjansson", JANSSON},       {"/libc.", LIBC}, {"libpolytile", OURS}};
    if (path[0] == '\0')
        return OURS;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strstr(path, known[k].part) != NULL)
            return known[k].of;
    return OTHER;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[k];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0 || n_ranges == MAX_RANGES)
            continue;
        uintptr_t lo = info->dlpi_addr + part->p_vaddr;
        ranges[n_ranges] = (module_range){lo, lo + part->p_memsz, module_named(info->dlpi_name)};
        n_ranges++;
    }
    return 0;
}

static module module_at(const void *address) {
    uintptr_t at = (uintptr_t)address;
    for (int k = 0; k < n_ranges; k++)
        if (at >= ranges[k].lo && at < ranges[k].hi)
            return ranges[k].of;
    return OTHER;
}

/* What fails when. */

static atomic_int armed_kind;
static _Atomic int64_t n_calls;
static _Atomic int64_t n_to_fail;
static atomic_bool fails_for_ever;
static atomic_bool spares_libc;
static const char *_Atomic struck;
static void *struck_at[FAULTS_MAX_FRAMES];
static atomic_int n_struck_at;
static _Thread_local bool is_exempt;
static _Thread_local bool makes_context;

void faults_arm(faults_kind kind, int64_t n, bool for_ever) {
    n_calls = 0;
    n_to_fail = n;
    fails_for_ever = for_ever;
    struck = NULL;
    n_struck_at = 0;
    armed_kind = (int)kind;
}

void faults_spare_libc(void) {
    spares_libc = true;
}

int64_t faults_disarm(void) {
    armed_kind = FAULTS_NONE;
    return n_calls;
}

const char *faults_get_struck(void) {
    return struck;
}

int faults_get_struck_at(void **frames) {
    memcpy(frames, struck_at, sizeof struck_at);
    return n_struck_at;
}

/* Of the leak sanitizer, where there is one. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static void begin_exempt(void) {
    is_exempt = true;
    if (__lsan_disable != NULL)
        __lsan_disable();
}

static void end_exempt(void) {
    if (__lsan_enable != NULL)
        __lsan_enable();
    is_exempt = false;
}

/** What backtrace() allocates itself is let through. */
static void note_strike(const char *name) {
    begin_exempt();
    n_struck_at = backtrace(struck_at, FAULTS_MAX_FRAMES);
    end_exempt();
    struck = name;
}

static bool is_due(faults_kind kind, const char *name) {
    if (armed_kind != (int)kind || is_exempt)
        return false;
    int64_t n = atomic_fetch_add(&n_calls, 1) + 1, first = n_to_fail;
    if (first == 0 || n < first || (n > first && !fails_for_ever))
        return false;
    if (struck == NULL)
        note_strike(name);
    return true;
}

/* What is not freed: a table of addresses, each in the first free place after where its hash says.
 */

typedef struct block {
    void *memory;
    void *caller;
    size_t n_bytes;
} block;

enum { N_PLACES = 1 << 20 };
static block table[N_PLACES];
static int64_t n_blocks;
static atomic_bool tracks;
static atomic_flag is_locked = ATOMIC_FLAG_INIT;

static void lock(void) {
    while (atomic_flag_test_and_set_explicit(&is_locked, memory_order_acquire)) {
    }
}

static void unlock(void) {
    atomic_flag_clear_explicit(&is_locked, memory_order_release);
}

static size_t place_of(const void *memory) {
    return (size_t)(((uintptr_t)memory >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 44);
}

static size_t find_place(const void *memory) {
    size_t at = place_of(memory);
    while (table[at].memory != NULL && table[at].memory != memory)
        at = (at + 1) % N_PLACES;
    return at;
}

static void note(void *memory, size_t n_bytes, void *caller) {
    if (memory == NULL || !tracks || is_exempt || module_at(caller) == OTHER)
        return;
    lock();
    if (n_blocks < N_PLACES / 2) {
        table[find_place(memory)] = (block){memory, caller, n_bytes};
        n_blocks++;
    }
    unlock();
}

/* What lies after a place that becomes free moves up, unless it would then lie before its hash. */
static void clear_place(size_t free_place) {
    table[free_place].memory = NULL;
    for (size_t at = (free_place + 1) % N_PLACES; table[at].memory != NULL;
         at = (at + 1) % N_PLACES) {
        size_t wanted = place_of(table[at].memory);
        if ((at - wanted) % N_PLACES >= (at - free_place) % N_PLACES) {
            table[free_place] = table[at];
            table[at].memory = NULL;
            free_place = at;
        }
    }
}

static void forget(void *memory) {
    if (memory == NULL || n_blocks == 0)
        return;
    lock();
    size_t at = find_place(memory);
    if (table[at].memory != NULL) {
        clear_place(at);
        n_blocks--;
    }
    unlock();
}

void faults_track(bool on) {
    tracks = on;
}

/** The C library keeps the state of dlerror() as long as a thread lives; what makes it lies after
 * that function. */
static bool is_kept_by_thread(const block *of) {
    return (uintptr_t)of->caller - (uintptr_t)dlerror < 2048;
}

int64_t faults_count_leaks(void **at, size_t *n_bytes) {
    lock();
    int64_t n = n_blocks;
    for (size_t k = 0; n > 0 && k < N_PLACES; k++) {
        if (table[k].memory != NULL && is_kept_by_thread(&table[k])) {
            n--;
        } else if (table[k].memory != NULL) {
            *at = table[k].caller;
            *n_bytes = table[k].n_bytes;
        }
    }
    if (n_blocks > 0)
        memset(table, 0, sizeof table);
    n_blocks = 0;
    unlock();
    return n;
}

/* Memory. */

static bool context_is_due(const char *name, void *caller) {
    return makes_context && module_at(caller) == ISL && is_due(FAULTS_ISL_CONTEXT, name);
}

static bool memory_is_due(const char *name, void *caller) {
    if (armed_kind == FAULTS_ISL_CONTEXT)
        return context_is_due(name, caller);
    if (armed_kind != FAULTS_MEMORY && armed_kind != FAULTS_ISL_MEMORY)
        return false;
    module of = module_at(caller);
    if (of == OTHER || (of == LIBC && spares_libc) ||
        !is_due(of == ISL ? FAULTS_ISL_MEMORY : FAULTS_MEMORY, name))
        return false;
    errno = ENOMEM;
    return true;
}

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

void *malloc(size_t n_bytes) {
    if (memory_is_due("malloc", CALLER))
        return NULL;
    void *memory = REAL(malloc)(n_bytes);
    note(memory, n_bytes, CALLER);
    return memory;
}

void *calloc(size_t n, size_t n_bytes) {
    if (memory_is_due("calloc", CALLER))
        return NULL;
    void *memory = REAL(calloc)(n, n_bytes);
    note(memory, n * n_bytes, CALLER);
    return memory;
}

void *realloc(void *memory, size_t n_bytes) {
    if (memory_is_due("realloc", CALLER))
        return NULL;
    forget(memory);
    void *moved = REAL(realloc)(memory, n_bytes);
    note(moved == NULL && n_bytes > 0 ? memory : moved, n_bytes, CALLER);
    return moved;
}

void *aligned_alloc(size_t alignment, size_t n_bytes) {
    if (memory_is_due("aligned_alloc", CALLER))
        return NULL;
    void *memory = REAL(memalign)(alignment, n_bytes);
    note(memory, n_bytes, CALLER);
    return memory;
}

int posix_memalign(void **memory, size_t alignment, size_t n_bytes) {
    if (memory_is_due("posix_memalign", CALLER))
        return ENOMEM;
    *memory = REAL(memalign)(alignment, n_bytes);
    note(*memory, n_bytes, CALLER);
    return *memory == NULL ? ENOMEM : 0;
}

void free(void *memory) {
    forget(memory);
    REAL(free)(memory);
}

void *faults_isl_malloc(size_t n_bytes) {
    return is_due(FAULTS_ISL_MEMORY, "malloc") ? NULL : REAL(malloc)(n_bytes);
}

void *faults_isl_realloc(void *memory, size_t n_bytes) {
    return is_due(FAULTS_ISL_MEMORY, "realloc") ? NULL : REAL(realloc)(memory, n_bytes);
}

void *faults_allocate_aside(size_t n_bytes, size_t alignment) {
    return REAL(memalign)(alignment, n_bytes);
}

void faults_free_aside(void *memory) {
    REAL(free)(memory);
}

/* Files, and what else the library asks of the system. Only its own calls count. */

static _Atomic int64_t n_mappings;
static _Atomic int64_t n_files;

static bool file_is_due(const char *name, void *caller, int error) {
    if (armed_kind != FAULTS_FILES || module_at(caller) != OURS || !is_due(FAULTS_FILES, name))
        return false;
    errno = error;
    return true;
}

static bool interruptible_is_due(const char *name, void *caller, int error) {
    if (armed_kind == FAULTS_INTERRUPT && module_at(caller) == OURS &&
        is_due(FAULTS_INTERRUPT, name)) {
        errno = EINTR;
        return true;
    }
    return file_is_due(name, caller, error);
}

static size_t shortened(const char *name, void *caller, size_t n_bytes) {
    if (armed_kind != FAULTS_SHORT || module_at(caller) != OURS || n_bytes < 2 ||
        !is_due(FAULTS_SHORT, name))
        return n_bytes;
    return 1;
}

/** What the search allocates is not the library's. */
static void *find_next(const char *name) {
    begin_exempt();
    void *found = dlsym(RTLD_NEXT, name);
    end_exempt();
    return found;
}

/* The next function of a name after ours. */
#define NEXT(name)                                                                                 \
    static __typeof__(&name) next;                                                                 \
    if (next == NULL)                                                                              \
    *(void **)&next = find_next(#name)

#define WRAP(result, name, parameters, arguments, due, failure)                                    \
    result name parameters {                                                                       \
        NEXT(name);                                                                                \
        return due ? failure : next arguments;                                                     \
    }

static void count(void *caller, _Atomic int64_t *counter, int change) {
    if (module_at(caller) == OURS)
        *counter += change;
}

int64_t faults_count_mappings(void) {
    return n_mappings;
}

int64_t faults_count_files(void) {
    return n_files;
}

static int open_for(void *caller, const char *path, int flags, mode_t mode) {
    NEXT(open);
    if (interruptible_is_due("open", caller, EACCES))
        return -1;
    int file = next(path, flags, mode);
    if (file >= 0)
        count(caller, &n_files, 1);
    return file;
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return open_for(CALLER, path, flags, mode);
}

int close(int file) {
    NEXT(close);
    count(CALLER, &n_files, -1);
    int result = next(file);
    return file_is_due("close", CALLER, EIO) ? -1 : result;
}

FILE *fopen(const char *path, const char *mode) {
    NEXT(fopen);
    if (interruptible_is_due("fopen", CALLER, EACCES))
        return NULL;
    FILE *file = next(path, mode);
    if (file != NULL)
        count(CALLER, &n_files, 1);
    return file;
}

int fclose(FILE *file) {
    NEXT(fclose);
    count(CALLER, &n_files, -1);
    int result = next(file);
    return file_is_due("fclose", CALLER, ENOSPC) ? EOF : result;
}

void *mmap(void *address, size_t n_bytes, int protection, int flags, int file, off_t offset) {
    NEXT(mmap);
    bool of_file = (flags & MAP_ANONYMOUS) == 0;
    if (module_at(CALLER) == OURS && is_due(of_file ? FAULTS_FILES : FAULTS_MEMORY, "mmap")) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void *mapping = next(address, n_bytes, protection, flags, file, offset);
    if (mapping != MAP_FAILED)
        count(CALLER, &n_mappings, 1);
    return mapping;
}

int munmap(void *address, size_t n_bytes) {
    NEXT(munmap);
    count(CALLER, &n_mappings, -1);
    return next(address, n_bytes);
}

int memfd_create(const char *name, unsigned flags) {
    NEXT(memfd_create);
    if (file_is_due("memfd_create", CALLER, EMFILE))
        return -1;
    int file = next(name, flags);
    if (file >= 0)
        count(CALLER, &n_files, 1);
    return file;
}

int mkostemp(char *pattern, int flags) {
    NEXT(mkostemp);
    if (file_is_due("mkostemp", CALLER, EACCES))
        return -1;
    int file = next(pattern, flags);
    if (file >= 0)
        count(CALLER, &n_files, 1);
    return file;
}

static ssize_t read_for(void *caller, int file, void *bytes, size_t n_bytes) {
    NEXT(read);
    return interruptible_is_due("read", caller, EIO)
               ? -1
               : next(file, bytes, shortened("read", caller, n_bytes));
}

ssize_t read(int file, void *bytes, size_t n_bytes) {
    return read_for(CALLER, file, bytes, n_bytes);
}

ssize_t write(int file, const void *bytes, size_t n_bytes) {
    NEXT(write);
    return interruptible_is_due("write", CALLER, ENOSPC)
               ? -1
               : next(file, bytes, shortened("write", CALLER, n_bytes));
}

static ssize_t pread_for(void *caller, int file, void *bytes, size_t n_bytes, off_t offset) {
    NEXT(pread);
    return interruptible_is_due("pread", caller, EIO)
               ? -1
               : next(file, bytes, shortened("pread", caller, n_bytes), offset);
}

ssize_t pread(int file, void *bytes, size_t n_bytes, off_t offset) {
    return pread_for(CALLER, file, bytes, n_bytes, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t n_bytes, off_t offset) {
    NEXT(pwrite);
    return interruptible_is_due("pwrite", CALLER, ENOSPC)
               ? -1
               : next(file, bytes, shortened("pwrite", CALLER, n_bytes), offset);
}

/* What compilers that check sizes (_FORTIFY_SOURCE, as some set by themselves) call instead. */

int __open_2(const char *path, int flags);
ssize_t __read_chk(int file, void *bytes, size_t n_bytes, size_t size);
ssize_t __pread_chk(int file, void *bytes, size_t n_bytes, off_t offset, size_t size);

int __open_2(const char *path, int flags) {
    return open_for(CALLER, path, flags, 0);
}

ssize_t __read_chk(int file, void *bytes, size_t n_bytes, size_t size) {
    (void)size;
    return read_for(CALLER, file, bytes, n_bytes);
}

ssize_t __pread_chk(int file, void *bytes, size_t n_bytes, off_t offset, size_t size) {
    (void)size;
    return pread_for(CALLER, file, bytes, n_bytes, offset);
}

int posix_fallocate(int file, off_t offset, off_t n_bytes) {
    NEXT(posix_fallocate);
    return interruptible_is_due("posix_fallocate", CALLER, ENOSPC) ? errno
                                                                   : next(file, offset, n_bytes);
}

int fallocate(int file, int mode, off_t offset, off_t n_bytes) {
    NEXT(fallocate);
    return interruptible_is_due("fallocate", CALLER, ENOSPC) ? -1
                                                             : next(file, mode, offset, n_bytes);
}

WRAP(int, ftruncate, (int file, off_t n_bytes), (file, n_bytes),
     interruptible_is_due("ftruncate", CALLER, ENOSPC), -1)
WRAP(int, rename, (const char *from, const char *to), (from, to),
     file_is_due("rename", CALLER, EACCES), -1)
WRAP(int, unlink, (const char *path), (path), file_is_due("unlink", CALLER, EACCES), -1)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode),
     file_is_due("mkdir", CALLER, EACCES), -1)
WRAP(int, stat, (const char *restrict path, struct stat *restrict info), (path, info),
     file_is_due("stat", CALLER, EACCES), -1)
WRAP(int, fstat, (int file, struct stat *info), (file, info), file_is_due("fstat", CALLER, EIO), -1)

/* isl 0.25 crashes when the memory for a context runs out while it is made: polytile asks for
 * memory before, and that may fail. Only the kind that is about that crash lets it fail here. */
isl_ctx *isl_ctx_alloc(void) {
    NEXT(isl_ctx_alloc);
    is_exempt = armed_kind != FAULTS_ISL_CONTEXT;
    makes_context = true;
    isl_ctx *isl = next();
    makes_context = false;
    is_exempt = false;
    return isl;
}

/* Nor does isl 0.25 survive that while it reduces a basis, to find a point of a set:
 * docs/faults.md. */
struct isl_tab;
struct isl_tab *isl_tab_compute_reduced_basis(struct isl_tab *tab);

struct isl_tab *isl_tab_compute_reduced_basis(struct isl_tab *tab) {
    NEXT(isl_tab_compute_reduced_basis);
    is_exempt = true;
    struct isl_tab *reduced = next(tab);
    is_exempt = false;
    return reduced;
}

/* Threads. Those of OpenMP's runtime are left alone; mutexes and conditions need nothing. */

static bool thread_is_due(const char *name, void *caller) {
    return armed_kind == FAULTS_THREADS && module_at(caller) == OURS &&
           is_due(FAULTS_THREADS, name);
}

WRAP(int, pthread_create,
     (pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*body)(void *),
      void *restrict user),
     (thread, attributes, body, user), thread_is_due("pthread_create", CALLER), EAGAIN)
/* Modules are known before main(). A program that only preloads this says by variables what fails
 * from there on: what is initialised before is not the library's, as the CUDA runtime. */

__attribute__((constructor)) static void begin(void) {
    dl_iterate_phdr(add_module, NULL);
}

static int (*programs_main)(int, char **, char **);

static int main_with_faults(int argc, char **argv, char **environment) {
    const char *kind = getenv("FAULTS_KIND"), *n = getenv("FAULTS_N");
    for (int k = 1; kind != NULL && n != NULL && k < N_FAULTS_KINDS; k++)
        if (strcmp(kind, faults_kind_word((faults_kind)k)) == 0)
            faults_arm((faults_kind)k, strtoll(n, NULL, 10), getenv("FAULTS_FOR_EVER") != NULL);
    return programs_main(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end) {
    NEXT(__libc_start_main);
    programs_main = main;
    return next(main_with_faults, argc, argv, init, fini, rtld_fini, stack_end);
}

/* A process that only counts says how many calls there were. */
__attribute__((destructor)) static void end(void) {
    const char *path = getenv("FAULTS_COUNT");
    FILE *file = path == NULL ? NULL : fopen(path, "w");
    if (file != NULL) {
        fprintf(file, "%lld\n", (long long)faults_disarm());
        fclose(file);
    }
}
