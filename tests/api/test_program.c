#include <polytile/program.h>

#include "support/c_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 100 };

POLYTILE_KERNEL(add, (i), (const float, A, 1), (const float, B, 1), (float, C, 1)) {
    PT_AT(C, i) = PT_AT(A, i) + PT_AT(B, i);
}

POLYTILE_KERNEL(twice, (i), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) = 2 * PT_AT(x, i);
}

POLYTILE_KERNEL(scale, (i), (float, a), (float, x, 1)) {
    PT_AT(x, i) *= a;
}

static const char *const devices[] = {"host", "host(memory=768B)", "host(memory=1KiB),host"};

TEST_TABLE(ApiProgram, NamesItsArraysAndHasItsResultsWhenItIsClosed, devices) {
    float A[N], B[N], C[N];
    for (int k = 0; k < N; k++) {
        A[k] = (float)k;
        B[k] = 1;
    }
    polytile_program *p = polytile_program_open(*row);
    polytile_program_bind(p, POLYTILE_F32, POLYTILE_EXTENTS(N), POLYTILE_NAMED(A, B, C));
    polytile_program_launch(p, "add[i]: in A[i], B[i]; out C[i]", &add_kernel, POLYTILE_EXTENTS(N));
    polytile_program_close(p);
    for (int k = 0; k < N; k++)
        CHECK_NEAR(C[k], k + 1, 0);
}

TEST_TABLE(ApiProgram, ArraysWithoutMemoryAreInternal, devices) {
    float x[N], z[N];
    for (int k = 0; k < N; k++)
        x[k] = (float)k;
    polytile_program *p = polytile_program_open(*row);
    polytile_program_bind(p, POLYTILE_F32, POLYTILE_EXTENTS(N), "x, y, z",
                          POLYTILE_DATA(x, NULL, z));
    polytile_program_launch(p, "twice[i]: in x[i]; out y[i]", &twice_kernel, POLYTILE_EXTENTS(N));
    polytile_program_launch(p, "twice[i]: in y[i]; out z[i]", &twice_kernel, POLYTILE_EXTENTS(N));
    polytile_program_close(p);
    CHECK_NEAR(z[9], 36, 0);
}

TEST_CASE(ApiProgram, ADeclarationsTextMayBeReused) {
    char text[64];
    float x[N], y[N];
    for (int k = 0; k < N; k++)
        x[k] = (float)k;
    polytile_program *p = polytile_program_open("host");
    polytile_program_bind(p, POLYTILE_F32, POLYTILE_EXTENTS(N), POLYTILE_NAMED(x, y));
    strcpy(text, "twice[i]: in x[i]; out y[i]");
    polytile_program_launch(p, text, &twice_kernel, POLYTILE_EXTENTS(N));
    strcpy(text, "twice[i]: in y[i]; out x[i]");
    polytile_program_launch(p, text, &twice_kernel, POLYTILE_EXTENTS(N));
    polytile_program_close(p);
    CHECK_NEAR(y[9], 18, 0);
    CHECK_NEAR(x[9], 36, 0);
}

TEST_TABLE(ApiProgram, EachLaunchHasTheValuesThatAreSetBeforeIt, devices) {
    float x[N];
    char name[] = "a";
    for (int k = 0; k < N; k++)
        x[k] = 1;
    polytile_program *p = polytile_program_open(*row);
    polytile_program_bind(p, POLYTILE_F32, POLYTILE_EXTENTS(N), POLYTILE_NAMED(x));
    polytile_program_set(p, POLYTILE_PARAMETER("unused", 5));
    for (int a = 1; a <= 4; a++) {
        polytile_program_set(p, POLYTILE_PARAMETER(name, a));
        polytile_program_launch(p, "scale[i](f32 a): inout x[i]", &scale_kernel,
                                POLYTILE_EXTENTS(N));
    }
    name[0] = 'b';
    polytile_program_close(p);
    for (int k = 0; k < N; k++)
        CHECK_NEAR(x[k], 24, 0);
}

TEST_CASE(ApiProgram, HasAQueueForAllThatItLacks) {
    float x[N] = {0}, y[N];
    polytile_report report;
    polytile_program *p = polytile_program_open("host(memory=1MiB)");
    polytile_program_bind(p, POLYTILE_F32, POLYTILE_EXTENTS(N), POLYTILE_NAMED(x, y));
    polytile_program_launch(p, "twice[i]: in x[i]; out y[i]", &twice_kernel, POLYTILE_EXTENTS(N));
    polytile_queue_get_report(polytile_program_get_queue(p), false, &report);
    CHECK_EQUAL(report.n_launches, 1);
    polytile_program_close(p);
    CHECK(polytile_program_get_queue(NULL) == NULL);
    polytile_program_close(NULL);
}

/* An error is written, and ends the process. */

static void open_nothing(void) {
    polytile_program_open("moon");
}

static void launch_nothing(void) {
    polytile_program *p = polytile_program_open("host");
    polytile_program_launch(p, "k[i]: in x[i*i]; out y[i]", &twice_kernel, POLYTILE_EXTENTS(N));
}

static void launch_without_an_array(void) {
    polytile_program *p = polytile_program_open("host");
    polytile_program_launch(p, "k[i]: in x[i]; out missing[i]", &twice_kernel, POLYTILE_EXTENTS(N));
}

static void bind_other_names(void) {
    float x[N];
    polytile_program *p = polytile_program_open("host");
    polytile_program_bind(p, POLYTILE_F32, POLYTILE_EXTENTS(N), "x, y", POLYTILE_DATA(x));
}

static void launch_without_a_value(void) {
    float x[N];
    polytile_program *p = polytile_program_open("host");
    polytile_program_bind(p, POLYTILE_F32, POLYTILE_EXTENTS(N), POLYTILE_NAMED(x));
    polytile_program_set(p, POLYTILE_PARAMETER("b", 1));
    polytile_program_launch(p, "scale[i](f32 a): inout x[i]", &scale_kernel, POLYTILE_EXTENTS(N));
}

static void set_what_is_no_name(void) {
    polytile_program *p = polytile_program_open("host");
    polytile_program_set(p, POLYTILE_PARAMETER("2a", 1));
}

static void set_of_nothing(void) {
    polytile_program_set(NULL, POLYTILE_PARAMETER("a", 1));
}

static void bind_to_nothing(void) {
    float x[N];
    polytile_program_bind(NULL, POLYTILE_F32, POLYTILE_EXTENTS(N), POLYTILE_NAMED(x));
}

static int fail_with_six(const polytile_sub_kernel *launch) {
    (void)launch;
    return 6;
}

static void close_after_a_failure(void) {
    static const polytile_implementation failing = {.host_launcher = fail_with_six};
    float x[N] = {0};
    polytile_program *p = polytile_program_open("host");
    polytile_program_bind(p, POLYTILE_F32, POLYTILE_EXTENTS(N), POLYTILE_NAMED(x));
    polytile_program_launch(p, "broken[i]: inout x[i]", &failing, POLYTILE_EXTENTS(N));
    polytile_program_close(p);
}

static const struct {
    void (*run)(void);
    const char *says;
} mistakes[] = {
    {open_nothing, "moon"},
    {launch_nothing, "column"},
    {launch_without_an_array, "name x"},
    {bind_other_names, "2 and 1"},
    {bind_to_nothing, "NULL"},
    {close_after_a_failure, "broken"},
    {launch_without_a_value, "parameter a"},
    {set_what_is_no_name, "2a"},
    {set_of_nothing, "NULL"},
};

/* What a child process writes to standard error, and how it ends. */
static int status_of(void (*run)(void), char *said, size_t n_bytes) {
    int pipe_ends[2], status = -1;
    if (pipe(pipe_ends) != 0)
        return -1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(pipe_ends[1], STDERR_FILENO);
        run();
        _exit(0);
    }
    close(pipe_ends[1]);
    size_t n_read = 0;
    for (ssize_t n = 1; n > 0 && n_read < n_bytes - 1; n_read += (size_t)(n > 0 ? n : 0))
        n = read(pipe_ends[0], said + n_read, n_bytes - 1 - n_read);
    said[n_read] = '\0';
    close(pipe_ends[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_TABLE(ApiProgram, AnErrorIsWrittenAndEndsTheProcess, mistakes) {
    char said[4096];
    CHECK_EQUAL(status_of(row->run, said, sizeof said), 1);
    CHECK_CONTAINS(said, row->says);
}
