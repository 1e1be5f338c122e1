#include <polytile/compile.h>
#include <polytile/polytile.h>

#include "api/files.h"
#include "support/c_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Kernels from text. What is compiled is kept in a directory of this process, not in the user's. */

__attribute__((constructor)) static void keep_apart(void) {
    setenv("POLYTILE_CACHE", file_named("cache"), 1);
}

enum { N = 1000, ROWS = 40, COLUMNS = 30 };

static const char add[] = "add[i]: in x[i], y[i]; out z[i]";
static const char sum[] = "z(i) = x(i) + y(i);";
static const polytile_type f32s[] = {POLYTILE_F32, POLYTILE_F32, POLYTILE_F32};
static const polytile_compile_options at_once = {.n_types = 3, .types = f32s};

static const char *const devices[] = {"host", "host(threads=1)", "host(memory=4KiB,threads=2)",
                                      "host(memory=64KiB)"};

static polytile_kernel *compile(polytile_context *ctx, const char *declaration, const char *body) {
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_kernel_compile(ctx, declaration, body, NULL, &kernel));
    return kernel;
}

static polytile_array *wrap(polytile_context *ctx, const char *name, polytile_type type, int n_dims,
                            const int64_t *extents, void *data) {
    polytile_array *array = NULL;
    CHECK_OK(polytile_array_wrap(ctx, name, type, n_dims, extents, data, &array));
    return array;
}

static polytile_array *wrap_row(polytile_context *ctx, const char *name, polytile_type type,
                                void *data) {
    return wrap(ctx, name, type, 1, (int64_t[]){N}, data);
}

static polytile_device *open(polytile_context *ctx, const char *text) {
    polytile_device *device = NULL;
    CHECK_OK(polytile_device_open(ctx, text, &device));
    return device;
}

/* What bodies may say. */

TEST_TABLE(ApiCompile, ABodySaysEdgesAsTheDeclarationDoes, devices) {
    static float A[ROWS * COLUMNS], B[ROWS * COLUMNS];
    int n_right = 0;
    for (int k = 0; k < ROWS * COLUMNS; k++)
        A[k] = (float)k;
    polytile_kernel *kernel =
        compile(ctx, "k[i, j]: in A[wrap(i-1), clamp(j+2)], A[i, wrap(j+1)]; out B[i, j]",
                "B(i, j) = A(wrap(i - 1), clamp(j + 2)) + 2 * PT_AT(A, i, wrap(j + 1)) +\n"
                "          0 * A(PT_WRAP(A, 0, (i - 1)), clamp((j) + 2));");
    polytile_array *a = wrap(ctx, "A", POLYTILE_F32, 2, (int64_t[]){ROWS, COLUMNS}, A);
    polytile_array *b = wrap(ctx, "B", POLYTILE_F32, 2, (int64_t[]){ROWS, COLUMNS}, B);
    CHECK_OK(polytile_run(open(ctx, *row), kernel, POLYTILE_EXTENTS(ROWS, COLUMNS),
                          POLYTILE_ARRAYS(a, b), NULL));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            n_right +=
                B[i * COLUMNS + j] ==
                A[(i + ROWS - 1) % ROWS * COLUMNS + (j + 2 < COLUMNS ? j + 2 : COLUMNS - 1)] +
                    2 * A[i * COLUMNS + (j + 1) % COLUMNS];
    CHECK_EQUAL(n_right, ROWS * COLUMNS);
}

TEST_TABLE(ApiCompile, ABodyRunsOnEveryHostDevice, devices) {
    static float x[N], y[N], z[N];
    int n_right = 0;
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = (float)(i % 7);
        z[i] = -1;
    }
    CHECK_OK(polytile_run(open(ctx, *row), compile(ctx, add, sum), POLYTILE_EXTENTS(N),
                          POLYTILE_ARRAYS(wrap_row(ctx, "x", POLYTILE_F32, x),
                                          wrap_row(ctx, "y", POLYTILE_F32, y),
                                          wrap_row(ctx, "z", POLYTILE_F32, z)),
                          NULL));
    for (int i = 0; i < N; i++)
        n_right += z[i] == x[i] + y[i];
    CHECK_EQUAL(n_right, N);
}

/** One kernel, and arrays of one type after the other. */
static const struct {
    polytile_type type;
    const char *body;
    double largest; /* that x holds */
} kinds[] = {{POLYTILE_I8, "y(i) = 2 * x(i);", 60},    {POLYTILE_U8, "y(i) = 2 * x(i);", 120},
             {POLYTILE_I16, "y(i) = 2 * x(i);", 1000}, {POLYTILE_U16, "y(i) = 2 * x(i);", 1000},
             {POLYTILE_I32, "y(i) = 2 * x(i);", 1000}, {POLYTILE_U32, "y(i) = 2 * x(i);", 1000},
             {POLYTILE_I64, "y(i) = 2 * x(i);", 1000}, {POLYTILE_U64, "y(i) = 2 * x(i);", 1000},
             {POLYTILE_F32, "y(i) = 2 * x(i);", 1000}, {POLYTILE_F64, "y(i) = 2 * x(i);", 1000}};

#define READ_AS(type) return (double)((const type *)data)[k]
static double read_element(polytile_type type, const void *data, int k) {
    switch (type) {
    case POLYTILE_I8:
        READ_AS(int8_t);
    case POLYTILE_U8:
        READ_AS(uint8_t);
    case POLYTILE_I16:
        READ_AS(int16_t);
    case POLYTILE_U16:
        READ_AS(uint16_t);
    case POLYTILE_I32:
        READ_AS(int32_t);
    case POLYTILE_U32:
        READ_AS(uint32_t);
    case POLYTILE_I64:
        READ_AS(int64_t);
    case POLYTILE_U64:
        READ_AS(uint64_t);
    case POLYTILE_F32:
        READ_AS(float);
    default:
        READ_AS(double);
    }
}

/** Let element k hold a small whole number. */
static void write_element(polytile_type type, void *data, int k, int number) {
    const int64_t whole = number;
    const double real = number;
    const float single = (float)number;
    const size_t n_bytes = (size_t)polytile_type_get_bytes(type);
    const void *from = type == POLYTILE_F64   ? (const void *)&real
                       : type == POLYTILE_F32 ? (const void *)&single
                                              : &whole;
    memcpy((char *)data + (size_t)k * n_bytes, from, n_bytes);
}

TEST_CASE(ApiCompile, TypesAreThoseOfTheArrays) {
    static int64_t x[N], y[N];
    polytile_kernel *twice = compile(ctx, "twice[i]: in x[i]; out y[i]", kinds[0].body);
    polytile_device *host = open(ctx, "host");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const polytile_type type = kinds[k].type;
        int n_right = 0;
        for (int i = 0; i < N; i++)
            write_element(type, x, i, i % ((int)kinds[k].largest + 1));
        CHECK_OK(polytile_run(
            host, twice, POLYTILE_EXTENTS(N),
            POLYTILE_ARRAYS(wrap_row(ctx, "x", type, x), wrap_row(ctx, "y", type, y)), NULL));
        for (int i = 0; i < N; i++)
            n_right += read_element(type, y, i) == 2 * read_element(type, x, i);
        CHECK_EQUAL(n_right, N);
    }
}

/** Arrays of different types, a parameter of each kind, a function of math.h and an early end. */
TEST_TABLE(ApiCompile, ParametersAndIndicesStandByTheirNames, devices) {
    static double A[ROWS][COLUMNS];
    static int32_t b[COLUMNS];
    static float C[ROWS][COLUMNS];
    int n_right = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            A[i][j] = i + 100 * j;
            C[i][j] = -1;
            b[j] = j;
        }
    polytile_kernel *kernel =
        compile(ctx, "mix[i, j](f32 a, i32 n): in A[i, j], b[j]; inout C[i, j]",
                "if (i == n)\n    return;\nC(i, j) = a * (float)sqrt(A(i, j)) + b(j) + i - j;");
    CHECK_OK(polytile_run(
        open(ctx, *row), kernel, POLYTILE_EXTENTS(ROWS, COLUMNS),
        POLYTILE_ARRAYS(wrap(ctx, "A", POLYTILE_F64, 2, (int64_t[]){ROWS, COLUMNS}, A),
                        wrap(ctx, "b", POLYTILE_I32, 1, (int64_t[]){COLUMNS}, b),
                        wrap(ctx, "C", POLYTILE_F32, 2, (int64_t[]){ROWS, COLUMNS}, C)),
        POLYTILE_PARAMETERS(POLYTILE_PARAMETER("a", 2.5f), POLYTILE_PARAMETER("n", 3))));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            const float value = 2.5f * (float)sqrt(A[i][j]) + (float)b[j] + (float)i - (float)j;
            n_right += C[i][j] == (i == 3 ? -1 : value);
        }
    CHECK_EQUAL(n_right, ROWS * COLUMNS);
}

TEST_TABLE(ApiCompile, ThreadsCombineIntoReducingElements, devices) {
    static int32_t x[N];
    int64_t s = 0;
    int32_t most = 0;
    for (int i = 0; i < N; i++)
        x[i] = (i * 37) % 101;
    polytile_kernel *kernel = compile(ctx, "sums[i]: in x[i]; out sum s[0]; out max m[0]",
                                      "PT_SUM(s(0), x(i)); PT_MAX(m(0), x(i));");
    CHECK_OK(polytile_run(open(ctx, *row), kernel, POLYTILE_EXTENTS(N),
                          POLYTILE_ARRAYS(wrap_row(ctx, "x", POLYTILE_I32, x),
                                          wrap(ctx, "s", POLYTILE_I64, 1, (int64_t[]){1}, &s),
                                          wrap(ctx, "m", POLYTILE_I32, 1, (int64_t[]){1}, &most)),
                          NULL));
    int64_t expected = 0;
    for (int i = 0; i < N; i++)
        expected += x[i];
    CHECK_EQUAL(s, expected);
    CHECK_EQUAL(most, 100);
}

TEST_TABLE(ApiCompile, ScratchHasItsTypeFromTheDeclaration, devices) {
    static int32_t A[ROWS][COLUMNS], B[ROWS][COLUMNS];
    int n_right = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            A[i][j] = 100 * i + j;
    polytile_kernel *kernel =
        compile(ctx, "turn[s]: in A[s, :]; scratch i32 w[s, 0:29]; out B[s, :]",
                "for (int k = 0; k < 30; k++)\n    w(s, k) = A(s, 29 - k);\n"
                "for (int k = PT_FIRST(B, 1); k <= PT_LAST(B, 1); k++)\n    B(s, k) = w(s, k);");
    CHECK_OK(polytile_run(
        open(ctx, *row), kernel, POLYTILE_EXTENTS(ROWS),
        POLYTILE_ARRAYS(wrap(ctx, "A", POLYTILE_I32, 2, (int64_t[]){ROWS, COLUMNS}, A),
                        wrap(ctx, "B", POLYTILE_I32, 2, (int64_t[]){ROWS, COLUMNS}, B)),
        NULL));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            n_right += B[i][j] == A[i][COLUMNS - 1 - j];
    CHECK_EQUAL(n_right, ROWS * COLUMNS);
}

/** Elements of which only the bytes are known are copied. */
TEST_CASE(ApiCompile, ElementsOfBytesAreCopied) {
    static char x[N][3], y[N][3];
    for (int i = 0; i < N; i++)
        snprintf(x[i], sizeof x[i], "%c%c", 'a' + i % 26, 'A' + i % 25);
    polytile_kernel *kernel = compile(ctx, "reverse[i]: in x[999-i]; out y[i]", "y(i) = x(999-i);");
    CHECK_OK(polytile_run(open(ctx, "host(memory=2KiB)"), kernel, POLYTILE_EXTENTS(N),
                          POLYTILE_ARRAYS(wrap_row(ctx, "x", POLYTILE_BYTES(3), x),
                                          wrap_row(ctx, "y", POLYTILE_BYTES(3), y)),
                          NULL));
    int n_right = 0;
    for (int i = 0; i < N; i++)
        n_right += memcmp(y[i], x[N - 1 - i], 3) == 0;
    CHECK_EQUAL(n_right, N);
}

static const char *const queues[] = {"host", "host(memory=8KiB)",
                                     "host(memory=8KiB),host(memory=16KiB)"};

/** Many launches over arrays that stay, on one device and on two; the kernel ends before they
 * run. */
TEST_TABLE(ApiCompile, LaunchesOfAQueueOutliveTheKernel, queues) {
    static float x[N], expected[N], next[N];
    enum { STEPS = 10 };
    polytile_queue *queue = NULL;
    polytile_array *u[2];
    for (int i = 0; i < N; i++)
        x[i] = expected[i] = (float)((i * 31) % 17);
    CHECK_OK(polytile_queue_create(ctx, *row, &queue));
    u[0] = wrap_row(ctx, "u", POLYTILE_F32, x);
    CHECK_OK(polytile_queue_create_array(queue, "v", POLYTILE_F32, 1, (int64_t[]){N}, &u[1]));
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(u[0])));
    polytile_kernel *blur = compile(ctx, "blur[i]: in a[i-1:i+1]; out b[i]",
                                    "b(i) = 0.25f * a(i - 1) + 0.5f * a(i) + 0.25f * a(i + 1);");
    polytile_queue_pause(queue);
    for (int step = 0; step < STEPS; step++)
        CHECK_OK(polytile_queue_launch(queue, blur, POLYTILE_INTERIOR(1, N),
                                       POLYTILE_ARRAYS(u[step % 2], u[1 - step % 2]), NULL));
    polytile_kernel_destroy(blur);
    CHECK_OK(polytile_queue_detach(queue, POLYTILE_ARRAYS(u[0])));
    for (int step = 0; step < STEPS; step++) {
        memset(next, 0, sizeof next);
        for (int i = 1; i < N - 1; i++)
            next[i] = 0.25f * expected[i - 1] + 0.5f * expected[i] + 0.25f * expected[i + 1];
        if (step % 2 == 1) {
            next[0] = x[0];
            next[N - 1] = x[N - 1];
        }
        memcpy(expected, next, sizeof next);
    }
    int n_right = 0;
    for (int i = 0; i < N; i++)
        n_right += x[i] == expected[i];
    CHECK_EQUAL(n_right, N);
}

/* What is wrong with bodies. */

static const struct {
    const char *declaration, *body, *says;
} wrong[] = {
    {add, "z(i) = x(i) + w(i);", "w is unknown; the declaration has index i; array x, y, z"},
    {add, "float t = x(i);\nz(i) = t + q;", "q is unknown"},
    {add, "z(i) = x(i) + y(i)", "in the body, expected"},
    {add, "x(i) = y(i);", "x is assigned, but the declaration says \"in x\""},
    {add, "x(i) += y(i);", "x is assigned"},
    {add, "z(i) = x(i)++;", "x is assigned"},
    {add, "z(i) = --y(i);", "y is assigned"},
    {add, "PT_AT(x, i) = 1;", "x is assigned"},
    {add, "z(i) = x(i, 0);", "x has 2 subscripts here and 1 in the declaration"},
    {add, "z(i) = x();", "x has 0 subscripts here and 1 in the declaration"},
    {add, "z(i) = x + 1;", "x is an array: write x(i)"},
    {add, "z[i] = x(i);", "z is an array: write z(i)"},
    {add, "float x = 1; z(i) = x;", "x is an array"},
    {add, "z(i) = (x(i);", "a bracket that is not closed"},
    {add, "} void more(void) {", "a bracket that closes none"},
    {add, "z(i) = x(i]);", "a bracket that closes none"},
    {add, "/* never ends", "a comment without its end"},
    {add, "z(i) = 'x", "a literal without its closing quote"},
    {add, "#include <stdio.h>\nz(i) = 1;", "a line of the preprocessor"},
    {add, "%:define q 1\nz(i) = q;", "a line of the preprocessor"},
    {add, "return 3;", "return"},
    {add, "z(i) = \"text\";", "float"},
    {add, " \n\t", "the body is empty"},
    {"dot[i]: in x[i]; out sum s[0]", "s(0) += x(i);", "write PT_SUM(s(...), value)"},
    {"top[i]: in x[i]; out argmax s[0]", "PT_MAX(s(0), x(i));",
     "write PT_ARGMAX(s(...), value, index)"},
    {"dot[i]: in x[i]; out sum s[0]", "PT_MAX(s(0), x(i));", "write PT_SUM(s(...), value)"},
    {"dot[i]: in x[i]; out sum s[0]", "PT_SUM(s(0), s(0));", "write PT_SUM(s(...), value)"},
    {"add[i]: in int[i]; out z[i]", "z(i) = 1;", "cannot use the name int"},
    {"add[i]: in x[i*i]; out z[i]", "z(i) = 1;", "affine"},
};

/** Some mistakes only compilers find, which knew all types at once here. */
TEST_TABLE(ApiCompile, AWrongBodyIsShownWithItsPlace, wrong) {
    const bool is_add = row->declaration == add;
    polytile_kernel *kernel = (polytile_kernel *)1;
    const polytile_compile_options options = {.n_types = is_add ? 3 : 2, .types = f32s};
    CHECK_REFUSED(polytile_kernel_compile(ctx, row->declaration, row->body, &options, &kernel),
                  POLYTILE_DECLARATION, row->says);
    CHECK(kernel == NULL);
}

TEST_CASE(ApiCompile, ACaretShowsTheColumnOfTheLine) {
    polytile_kernel *kernel = NULL;
    CHECK_REFUSED(
        polytile_kernel_compile(ctx, add, "float t = x(i);\n\tz(i) = t + q;", &at_once, &kernel),
        POLYTILE_DECLARATION, "add: in the body, q is unknown", "(line 2, column 13)",
        "\n  \tz(i) = t + q;\n  \t           ^");
}

/** Without types, what only a compiler finds is the launch's error; the next launch has it, too. */
TEST_CASE(ApiCompile, WithoutTypesTheLaunchFails) {
    static float x[N];
    polytile_kernel *kernel = compile(ctx, "bad[i]: in x[i]; out y[i]", "y(i) = unheard_of(x(i));");
    polytile_array *arrays[] = {wrap_row(ctx, "x", POLYTILE_F32, x),
                                wrap_row(ctx, "y", POLYTILE_F32, (float[N]){0})};
    polytile_queue *queue = NULL;
    for (int k = 0; k < 2; k++)
        CHECK_REFUSED(polytile_run(open(ctx, "host"), kernel, POLYTILE_EXTENTS(N), 2, arrays, NULL),
                      POLYTILE_DECLARATION, "bad: in the body, unheard_of is unknown");
    CHECK_OK(polytile_queue_create(ctx, "host(memory=4KiB)", &queue));
    CHECK_OK(polytile_queue_attach(queue, 2, arrays));
    CHECK_REFUSED(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N), 2, arrays, NULL),
                  POLYTILE_DECLARATION, "bad: in the body, unheard_of is unknown");
    CHECK_OK(polytile_queue_detach(queue, 2, arrays));
}

TEST_CASE(ApiCompile, PlansNeedNoCompiler) {
    polytile_plan *plan = NULL;
    polytile_array *arrays[3];
    const char *const names[] = {"x", "y", "z"};
    for (int a = 0; a < 3; a++)
        CHECK_OK(
            polytile_array_describe(ctx, names[a], POLYTILE_F32, POLYTILE_EXTENTS(N), &arrays[a]));
    polytile_kernel *kernel = compile(ctx, add, "z(i) = unheard_of(x(i));");
    CHECK_OK(polytile_plan_create(kernel, POLYTILE_EXTENTS(N), 3, arrays, NULL, &plan));
    CHECK_OK(polytile_check(kernel, POLYTILE_EXTENTS(N), 3, arrays, NULL));
}

static const struct {
    const char *declaration, *body;
    polytile_compile_options options;
    const char *says;
} misused[] = {
    {NULL, sum, {0}, "the declaration is NULL"},
    {add, NULL, {0}, "the body is NULL"},
    {add, sum, {.n_types = 2, .types = f32s}, "the options have 2 types and the declaration 3"},
    {add, sum, {.n_types = 3}, "give one each"},
    {add, sum, {.n_types = 3, .types = (polytile_type[]){99, 0, 0}}, "type of x, 99, is none"},
    {add, sum, {.cuda_capability = -1}, "the compute capability is -1"},
    {add, sum, {.reserved = {0, 1}}, "reserved[1]"},
};

TEST_TABLE(ApiCompile, WrongCallsAreRefused, misused) {
    polytile_kernel *kernel = NULL;
    CHECK_REFUSED(polytile_kernel_compile(ctx, row->declaration, row->body, &row->options, &kernel),
                  POLYTILE_INVALID, row->says);
}

TEST_CASE(ApiCompile, MoreThanEightArraysAreRefused) {
    polytile_kernel *kernel = NULL;
    CHECK_REFUSED(polytile_kernel_compile(
                      ctx, "many[i]: in a[i], b[i], c[i], d[i], e[i], f[i], g[i], h[i]; out k[i]",
                      "k(i) = 0;", NULL, &kernel),
                  POLYTILE_DECLARATION, "9 arrays are declared and a body takes at most 8");
}

/* Compilers, and what they compiled. */

/** A context for which variables are set; NULL ends them. */
static polytile_context *context_with(const char *const *variables) {
    polytile_context *made = NULL;
    for (int k = 0; variables[k] != NULL; k += 2)
        setenv(variables[k], variables[k + 1], 1);
    if (polytile_context_create(&made) != POLYTILE_OK)
        made = NULL;
    for (int k = 0; variables[k] != NULL; k += 2)
        if (strcmp(variables[k], "POLYTILE_CACHE") != 0)
            unsetenv(variables[k]);
    setenv("POLYTILE_CACHE", file_named("cache"), 1);
    return made;
}

#define CONTEXT_WITH(...) context_with((const char *const[]){__VA_ARGS__, NULL})

static polytile_status compile_at_once(polytile_context *ctx, const char *body) {
    polytile_kernel *kernel = NULL;
    return polytile_kernel_compile(ctx, add, body, &at_once, &kernel);
}

static void expect_refused(polytile_context *made, const char *body, polytile_status status,
                           const char *says) {
    CHECK_EQUAL(compile_at_once(made, body), status);
    CHECK_CONTAINS(polytile_last_error(made), says);
    polytile_context_destroy(made);
}

TEST_CASE(ApiCompile, ACompilerThatIsNotThereIsNamed) {
    expect_refused(CONTEXT_WITH("POLYTILE_CC", "no-such-compiler -m64"), sum, POLYTILE_UNSUPPORTED,
                   "add: there is no C compiler no-such-compiler here");
    expect_refused(CONTEXT_WITH("POLYTILE_CC", "/bin/false"), sum, POLYTILE_UNSUPPORTED,
                   "/bin/false does not compile the body, and says: nothing; name another with "
                   "POLYTILE_CC");
    expect_refused(CONTEXT_WITH("POLYTILE_CC", "cc --no-such-option"), sum, POLYTILE_UNSUPPORTED,
                   "name another with POLYTILE_CC");
    expect_refused(CONTEXT_WITH("POLYTILE_CC", "/bin/true"), sum, POLYTILE_UNSUPPORTED,
                   "name another with POLYTILE_CC");
}

/** A compiler that counts how often it runs. */
static const char *counting_compiler(const char *log) {
    static char script[512];
    const char *path = file_named("counting-cc");
    snprintf(script, sizeof script, "#!/bin/sh\necho x >>%s\nexec cc \"$@\"\n", log);
    if (!file_is_there(path)) {
        file_write(path, script, strlen(script));
        CHECK_EQUAL(chmod(path, 0700), 0);
    }
    return path;
}

static int times_run(const char *log) {
    char text[64];
    return (int)strlen(file_read(log, text, sizeof text)) / 2;
}

/** Return how often the counting compiler ran for a body in a new context. */
static int runs_for(const char *cache, const char *body) {
    char log[256];
    snprintf(log, sizeof log, "%s", file_named("runs"));
    polytile_context *made =
        CONTEXT_WITH("POLYTILE_CC", counting_compiler(log), "POLYTILE_CACHE", cache);
    const int before = times_run(log);
    CHECK_EQUAL(compile_at_once(made, body), POLYTILE_OK);
    CHECK_EQUAL(compile_at_once(made, body), POLYTILE_OK);
    CHECK_TEXT(polytile_last_error(made), "");
    polytile_context_destroy(made);
    return times_run(log) - before;
}

TEST_CASE(ApiCompile, ABodyIsCompiledOnceAndKept) {
    char cache[256];
    struct stat folder;
    snprintf(cache, sizeof cache, "%s", file_named("kept"));
    CHECK_EQUAL(runs_for(cache, sum), 1);
    CHECK_EQUAL(runs_for(cache, sum), 0);
    CHECK_EQUAL(runs_for(cache, "z(i) = x(i) - y(i);"), 1);
    CHECK_EQUAL(runs_for(cache, sum), 0);
    CHECK_EQUAL(runs_for("off", sum), 1);
    CHECK_EQUAL(runs_for("off", sum), 1);
    CHECK_EQUAL(stat(cache, &folder), 0);
    CHECK_EQUAL(folder.st_mode & 0777, 0700);
}

/** Run a shell command with a path after it. */
static void shell(const char *command, const char *path) {
    char line[512];
    snprintf(line, sizeof line, command, path);
    CHECK_EQUAL(system(line), 0);
}

static const char *const damages[] = {
    "for f in %s/kernels/*; do truncate -s 1000 $f; done",
    "for f in %s/kernels/*; do truncate -s 0 $f; done",
    "for f in %s/kernels/*; do printf x | dd of=$f bs=1 seek=20 conv=notrunc status=none; done",
    "for f in %s/kernels/*; do truncate -s -3 $f; printf abc >>$f; done",
    "for f in %s/kernels/*; do chmod 666 $f; done",
    "sed -i 's/polytile [0-9.]*, kernel/polytile 0.0.9, kernel/' %s/kernels/*",
};

TEST_TABLE(ApiCompile, ADamagedFileIsNotRun, damages) {
    char cache[256];
    snprintf(cache, sizeof cache, "%s", file_named("damaged"));
    runs_for(cache, sum);
    CHECK_EQUAL(runs_for(cache, sum), 0);
    shell(*row, cache);
    CHECK_EQUAL(runs_for(cache, sum), 1);
    CHECK_EQUAL(runs_for(cache, sum), 0);
}

TEST_CASE(ApiCompile, WhereOthersMayWriteNothingIsRun) {
    char cache[256];
    snprintf(cache, sizeof cache, "%s", file_named("open"));
    runs_for(cache, sum);
    shell("chmod 777 %s/kernels", cache);
    expect_refused(CONTEXT_WITH("POLYTILE_CACHE", cache), sum, POLYTILE_IO,
                   "which others may write (mode 777); chmod go-w");
    shell("chmod 700 %s/kernels; chmod 770 %1$s", cache);
    expect_refused(CONTEXT_WITH("POLYTILE_CACHE", cache), sum, POLYTILE_IO,
                   "which others may write (mode 770)");
    shell("chmod 700 %s", cache);
    CHECK_EQUAL(runs_for(cache, sum), 0);
}

/** Nothing can be kept below a file. */
TEST_CASE(ApiCompile, ADirectoryThatCannotBeMadeIsNoError) {
    file_write(file_named("file"), "", 0);
    char cache[300];
    snprintf(cache, sizeof cache, "%s/below", file_named("file"));
    CHECK_EQUAL(runs_for(cache, sum), 1);
    CHECK_EQUAL(runs_for(cache, sum), 1);
}

/* GPUs: NVRTC needs none. */

static const polytile_compile_options for_gpu = {
    .n_types = 3, .types = f32s, .cuda_capability = 90};

/** Whether NVRTC is here; else the text says that it is not. */
static bool has_nvrtc(polytile_context *ctx) {
    polytile_kernel *kernel = NULL;
    if (polytile_kernel_compile(ctx, add, sum, &for_gpu, &kernel) == POLYTILE_OK)
        return true;
    CHECK_CONTAINS(polytile_last_error(ctx), "NVRTC");
    return false;
}

static const char *const gpu_bodies[][2] = {
    {add, "z(i) = sqrtf(x(i)) + fabsf(y(i));"},
    {"dot[i](f32 a): in x[i], y[i]; out sum s[0]", "PT_SUM(s(0), a * x(i) * y(i));"},
    {"far[i, j, k]: in A[i, j, k], B[i, :, k]; out C[i, j, k]",
     "C(i, j, k) = A(i, j, k) + B(i, PT_FIRST(B, 1), k);"},
    {"w[s]: in x[s]; scratch f64 w[s, 0:3]; out z[s], y[s]",
     "w(s, 1) = x(s); z(s) = (float)w(s, 1); y(s) = z(s);"},
};

TEST_TABLE(ApiCompile, BodiesAreCompiledForGpusWithoutOne, gpu_bodies) {
    polytile_kernel *kernel = NULL;
    if (has_nvrtc(ctx))
        CHECK_OK(polytile_kernel_compile(ctx, (*row)[0], (*row)[1], &for_gpu, &kernel));
}

TEST_TABLE(ApiCompile, AWrongBodyIsShownByNvrtcAsWell, wrong) {
    const polytile_compile_options options = {
        .n_types = row->declaration == add ? 3 : 2, .types = f32s, .cuda_capability = 90};
    polytile_kernel *kernel = NULL;
    if (has_nvrtc(ctx))
        CHECK_REFUSED(polytile_kernel_compile(ctx, row->declaration, row->body, &options, &kernel),
                      POLYTILE_DECLARATION, row->says);
}

TEST_CASE(ApiCompile, AGpuThatNvrtcDoesNotKnowIsNamed) {
    polytile_compile_options options = for_gpu;
    polytile_kernel *kernel = NULL;
    options.cuda_capability = 10;
    if (has_nvrtc(ctx))
        CHECK_REFUSED(polytile_kernel_compile(ctx, add, sum, &options, &kernel),
                      POLYTILE_UNSUPPORTED, "compute capability 1.0");
}
