#ifndef POLYTILE_LAUNCH_H
#define POLYTILE_LAUNCH_H

#include <polytile/array.h>
#include <polytile/declaration.h>

#ifdef __cplusplus
extern "C++" {
#include <initializer_list>
}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The arguments of a launch: arrays, parameters, and options for planning. */

/** A list of arrays as two arguments, a count and a pointer: POLYTILE_ARRAYS(x, y, z). It lasts
 * as long as the call; in C, as the block. C++ evaluates each array twice. */
#ifdef __cplusplus
#define POLYTILE_ARRAYS(...)                                                                       \
    static_cast<int>(std::initializer_list<polytile_array *>{__VA_ARGS__}.size()),                 \
        std::initializer_list<polytile_array *>{__VA_ARGS__}.begin()
#else
#define POLYTILE_ARRAYS(...)                                                                       \
    (int)(sizeof((polytile_array *const[]){__VA_ARGS__}) / sizeof(polytile_array *)),              \
        (polytile_array *const[]) {                                                                \
        __VA_ARGS__                                                                                \
    }
#endif

/**
 * The value of a declaration's parameter in one launch; POLYTILE_PARAMETER() makes one.
 *
 * It is converted to the declared type as C does it, but never to another integer: one that the
 * type cannot hold, a fraction for an integer, and a finite number that becomes infinite are
 * refused.
 */
typedef struct polytile_parameter {
    const char *name;
    int64_t value;          /* unless number says real; of an unsigned number its bits */
    double real;            /* with POLYTILE_FLOAT_NUMBER */
    polytile_number number; /* POLYTILE_ANY_NUMBER, which is 0: a signed integer */
} polytile_parameter;

static inline polytile_parameter polytile_parameter_signed(const char *name, int64_t value) {
    polytile_parameter made = {name, value, 0, POLYTILE_SIGNED_NUMBER};
    return made;
}

static inline polytile_parameter polytile_parameter_unsigned(const char *name, uint64_t value) {
    polytile_parameter made = {name, (int64_t)value, 0, POLYTILE_UNSIGNED_NUMBER};
    return made;
}

static inline polytile_parameter polytile_parameter_real(const char *name, double value) {
    polytile_parameter made = {name, 0, value, POLYTILE_FLOAT_NUMBER};
    return made;
}

/** A parameter's value by name: POLYTILE_PARAMETER("a", 2.5f), of any C number. */
#ifdef __cplusplus
extern "C++" template <class T>
inline polytile_parameter polytile_parameter_of(const char *name, T value) {
    return static_cast<T>(0.5) != static_cast<T>(0)
               ? polytile_parameter_real(name, static_cast<double>(value))
           : static_cast<T>(-1) < static_cast<T>(0)
               ? polytile_parameter_signed(name, static_cast<int64_t>(value))
               : polytile_parameter_unsigned(name, static_cast<uint64_t>(value));
}
#define POLYTILE_PARAMETER(name, value) polytile_parameter_of(name, value)
#else
#define POLYTILE_PARAMETER(name, value)                                                            \
    ((__typeof__(value))0.5 != (__typeof__(value))0                                                \
         ? polytile_parameter_real(name, (double)(value))                                          \
     : (__typeof__(value))-1 < (__typeof__(value))1                                                \
         ? polytile_parameter_signed(name, (int64_t)(value))                                       \
         : polytile_parameter_unsigned(name, (uint64_t)(value)))
#endif

/** What a plan assumes of the device and its link to the host. Units: bytes, seconds, bytes per
 * second. */
typedef struct polytile_link {
    double upload_bytes_per_s;
    double download_bytes_per_s;
    double duplex_bytes_per_s; /* each way, when both are busy */
    double transfer_latency_s; /* of one operation */
    double run_overhead_bytes; /* what each short contiguous run of a strided transfer costs on top,
                                  where runs begin 64 KiB or more apart; less where closer, or
                                  longer */
    double launch_latency_s;   /* of one sub-kernel */
    double kernel_bytes_per_s; /* footprint bytes that a kernel goes through */
    double kernel_accesses_per_s; /* element accesses of threads, at most, out of whatever cache or
                                     register; 0: not known, taken as no bound */
    double cache_bytes;           /* of the device's last cache; 0: not known, taken as none */
    double cache_bytes_per_s;     /* footprint bytes that a kernel goes through which lie in it */
    int64_t reserved[4];          /* zeros */
} polytile_link;

/** The default link: one NVIDIA H200 on PCIe 5 x16, as measured in docs/ceilings.md. */
extern const polytile_link polytile_link_default;

/** How to plan; zero or NULL in a member means its default. */
typedef struct polytile_plan_options {
    int64_t limit_bytes;  /* device memory, all buffers included; 0: as the device, or none */
    const char *strategy; /* "min-time" (default), "min-traffic", "min-kernels", "paper", of which
                              the last two never fuse launches */
    int n_buffers;        /* superblocks in flight: 1, 2, 3; 0: chosen by the strategy */
    const int64_t *block; /* threads of a block, one number an index; NULL: chosen */
    const polytile_link *link; /* NULL: polytile_link_default */
    int64_t
        launches_per_pass; /* chains: the most launches that one pass over the data runs; 1: each
                                  by itself, 0: chosen */
    int64_t n_streams; /* on which a launch's superblocks run side by side, if each of its threads
                              is much work: 1 to 32; 0: as the device's text says */
    int64_t fill_threads; /* of the launch that fill the device: with fewer in a superblock a part
                             of it is idle; 0: as the device that runs it, or not known */
    int64_t reserved[4];  /* zeros */
} polytile_plan_options;

/** The options of a launch; zeros are the defaults, and so is NULL in place of the whole. */
typedef struct polytile_launch_options {
    int n_parameters;
    const polytile_parameter *parameters; /* exactly those of the declaration, in any order; to plan
                                             alone, those that no subscript names may be left out */
    polytile_plan_options plan;
    double message_timeout_s; /* of team kernels: a launch is ended whose slots wait so long without
                                 any progress; 0: 60 s */
    int64_t reserved[4];      /* zeros */
} polytile_launch_options;

/** Options that give parameters and are else the defaults, as an argument:
 * POLYTILE_PARAMETERS(POLYTILE_PARAMETER("a", 2.5f), POLYTILE_PARAMETER("n", n)). They last as long
 * as the call; in C, as the block. C++ evaluates each parameter twice. */
#ifdef __cplusplus
#define POLYTILE_PARAMETERS(...)                                                                   \
    (&static_cast<const polytile_launch_options &>(polytile_launch_options_of(                     \
        static_cast<int>(std::initializer_list<polytile_parameter>{__VA_ARGS__}.size()),           \
        std::initializer_list<polytile_parameter>{__VA_ARGS__}.begin())))
inline polytile_launch_options polytile_launch_options_of(int n_parameters,
                                                          const polytile_parameter *parameters) {
    polytile_launch_options made = {};
    made.n_parameters = n_parameters;
    made.parameters = parameters;
    return made;
}
#else
#define POLYTILE_PARAMETERS(...)                                                                   \
    (&(const polytile_launch_options){                                                             \
        .n_parameters =                                                                            \
            (int)(sizeof((const polytile_parameter[]){__VA_ARGS__}) / sizeof(polytile_parameter)), \
        .parameters = (const polytile_parameter[]){__VA_ARGS__}})
#endif

/** One of several launches that are planned together. */
typedef struct polytile_chain_launch {
    const polytile_kernel *kernel;
    polytile_domain domain;
    int n_arrays; /* one an operand, in the declaration's order */
    polytile_array *const *arrays;
    int n_parameters;
    const polytile_parameter *parameters; /* exactly those of the declaration, in any order; to plan
                                             alone, those that no subscript names may be left out */
    int64_t reserved[4];                  /* zeros */
} polytile_chain_launch;

#ifdef __cplusplus
}
#endif

#endif
