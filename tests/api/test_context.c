#include <polytile/context.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST_CASE(ApiContext, HasNoErrorAtFirst) {
    CHECK_TEXT(polytile_last_error(ctx), "");
}

TEST_CASE(ApiContext, HasTheTextOfTheLastErrorUntilTheNextCall) {
    polytile_kernel *kernel;
    polytile_array *array;
    CHECK_REFUSED(polytile_kernel_create(ctx, "nonsense", NULL, &kernel), POLYTILE_DECLARATION,
                  "nonsense");
    CHECK_OK(polytile_array_describe(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(4), &array));
    CHECK_TEXT(polytile_last_error(ctx), "");
}

TEST_CASE(ApiContext, IsIndependentOfOthers) {
    polytile_context *other;
    polytile_kernel *kernel;
    CHECK_OK(polytile_context_create(&other));
    CHECK_REFUSED(polytile_kernel_create(ctx, "nonsense", NULL, &kernel), POLYTILE_DECLARATION,
                  "nonsense");
    CHECK_TEXT(polytile_last_error(other), "");
    polytile_context_destroy(other);
    CHECK_CONTAINS(polytile_last_error(ctx), "nonsense");
}

TEST_CASE(ApiContext, OwnsWhatIsMadeFromIt) {
    float memory[4] = {0};
    polytile_context *mine;
    polytile_array *array;
    polytile_kernel *kernel;
    polytile_declaration *declaration;
    polytile_plan *plan;
    polytile_device *device;
    polytile_queue *queue;
    CHECK_OK(polytile_context_create(&mine));
    CHECK_OK(polytile_array_wrap(mine, "x", POLYTILE_F32, 1, (int64_t[]){4}, memory, &array));
    CHECK_OK(polytile_kernel_create(mine, "k[i]: inout x[i]", NULL, &kernel));
    CHECK_OK(
        polytile_declaration_create(mine, "k", 1, (const char *[]){"i"}, 0, NULL, &declaration));
    CHECK_OK(
        polytile_plan_create(kernel, POLYTILE_EXTENTS(4), POLYTILE_ARRAYS(array), NULL, &plan));
    CHECK_OK(polytile_device_open(mine, "host", &device));
    CHECK_OK(polytile_queue_create(mine, "host(memory=1MiB)", &queue));
    polytile_context_destroy(mine);
}

POLYTILE_KERNEL(add_one, (i), (float, x, 1)) {
    PT_AT(x, i) += 1;
}

TEST_CASE(ApiContext, RunsWhatItsQueuesStillHaveToBeforeItEnds) {
    float memory[4] = {1, 2, 3, 4};
    polytile_context *mine;
    polytile_array *array;
    polytile_kernel *kernel;
    polytile_queue *queue;
    CHECK_OK(polytile_context_create(&mine));
    CHECK_OK(polytile_array_wrap(mine, "x", POLYTILE_F32, 1, (int64_t[]){4}, memory, &array));
    CHECK_OK(polytile_kernel_create(mine, "k[i]: inout x[i]", &add_one_kernel, &kernel));
    CHECK_OK(polytile_queue_create(mine, "host(memory=1MiB)", &queue));
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(array)));
    polytile_queue_pause(queue);
    CHECK_OK(
        polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(4), POLYTILE_ARRAYS(array), NULL));
    polytile_context_destroy(mine);
    CHECK_NEAR(memory[0], 2, 0);
    CHECK_NEAR(memory[3], 5, 0);
}

/* What a function writes to standard error, in a buffer of its own. */
static void listen(void (*speak)(polytile_context *ctx), polytile_context *ctx, char *heard,
                   size_t n_bytes) {
    FILE *file = tmpfile();
    const int before = dup(STDERR_FILENO);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    speak(ctx);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    heard[fread(heard, 1, n_bytes - 1, file)] = '\0';
    fclose(file);
}

static void create_with_an_unknown_variable(polytile_context *ctx) {
    polytile_context *mine;
    setenv("POLYTILE_CHEKC", "plan", 1);
    CHECK_OK(polytile_context_create(&mine));
    unsetenv("POLYTILE_CHEKC");
    polytile_context_destroy(mine);
}

TEST_CASE(ApiContext, WarnsOfVariablesThatItDoesNotKnow) {
    char heard[1000];
    listen(create_with_an_unknown_variable, ctx, heard, sizeof heard);
    CHECK_CONTAINS(heard, "POLYTILE_CHEKC");
}

/* A context without an error, so that what fails shows what is said instead. */
static void create_with_a_wrong_value(polytile_context *ctx) {
    polytile_context *mine = ctx;
    setenv("POLYTILE_CHECK", "everything", 1);
    CHECK_STATUS(polytile_context_create(&mine), POLYTILE_INVALID);
    unsetenv("POLYTILE_CHECK");
    CHECK(mine == NULL);
}

TEST_CASE(ApiContext, IsNotCreatedIfAVariableIsNotUnderstood) {
    char heard[1000];
    const char *set = getenv("POLYTILE_CHECK");
    char *before = set == NULL ? NULL : strdup(set);
    listen(create_with_a_wrong_value, ctx, heard, sizeof heard);
    CHECK_CONTAINS(heard, "POLYTILE_CHECK", "everything");
    if (before != NULL)
        setenv("POLYTILE_CHECK", before, 1);
    free(before);
}

static polytile_context *own_context;

static int destroy_its_context(const polytile_sub_kernel *launch) {
    (void)launch;
    polytile_context_destroy(own_context);
    return 0;
}

static void destroy_in_a_launcher(polytile_context *ctx) {
    float memory[4] = {0};
    const polytile_implementation body = {.host_launcher = destroy_its_context};
    polytile_array *array;
    polytile_kernel *kernel;
    polytile_queue *queue;
    own_context = ctx;
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, (int64_t[]){4}, memory, &array));
    CHECK_OK(polytile_kernel_create(ctx, "k[i]: inout x[i]", &body, &kernel));
    CHECK_OK(polytile_queue_create(ctx, "host", &queue));
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(array)));
    CHECK_OK(
        polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(4), POLYTILE_ARRAYS(array), NULL));
    CHECK_OK(polytile_queue_wait(queue));
}

TEST_CASE(ApiContext, IsNotDestroyedByALauncherOfItsQueue) {
    char heard[1000];
    listen(destroy_in_a_launcher, ctx, heard, sizeof heard);
    CHECK_CONTAINS(heard, "not destroyed", "queue", "launcher");
    CHECK_TEXT(polytile_last_error(ctx), "");
}

TEST_CASE(ApiContext, MayBeNull) {
    polytile_array *array = NULL;
    polytile_context_destroy(NULL);
    CHECK_STATUS(polytile_context_create(NULL), POLYTILE_INVALID);
    CHECK_REFUSED(polytile_array_describe(NULL, "x", POLYTILE_F32, POLYTILE_EXTENTS(4), &array),
                  POLYTILE_INVALID, "context is NULL");
    CHECK_CONTAINS(polytile_last_error(NULL), "context is NULL");
}

TEST_CASE(ApiContext, HasAVersionOfThreeNumbers) {
    int major, minor, patch;
    char rest;
    CHECK_EQUAL(sscanf(polytile_version(), "%d.%d.%d%c", &major, &minor, &patch, &rest), 3);
}
