#include <polytile/polytile.h>
#include <polytile/tuning.h>

#include "api/files.h"
#include "support/c_test.h"

#include <string.h>

static polytile_kernel *declare(polytile_context *ctx) {
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_kernel_create(ctx, "heat[i]: in x[i]; out y[i]", NULL, &kernel));
    return kernel;
}

static const polytile_character characters[] = {
    {0},
    {.coalescing = POLYTILE_COALESCING_SCATTER},
    {.coalescing = POLYTILE_COALESCING_FULL,
     .arithmetic = POLYTILE_LEVEL_LOW,
     .evictions = POLYTILE_LEVEL_NONE,
     .reuse = POLYTILE_LEVEL_HIGH},
};

TEST_TABLE(ApiTuning, AKernelHasACharacter, characters) {
    CHECK_OK(polytile_kernel_characterise(declare(ctx), row));
}

static const struct {
    polytile_character character;
    const char *says;
} wrong_characters[] = {
    {{.coalescing = (polytile_coalescing)4}, "coalescing"},
    {{.arithmetic = (polytile_level)5}, "arithmetic"},
    {{.evictions = (polytile_level)-1}, "evictions"},
    {{.reuse = (polytile_level)99}, "reuse"},
    {{.reserved = {0, 3}}, "reserved[1] of polytile_character is 3"},
};

TEST_TABLE(ApiTuning, ACharacterHasValuesOfItsEnumerations, wrong_characters) {
    CHECK_REFUSED(polytile_kernel_characterise(declare(ctx), &row->character), POLYTILE_INVALID,
                  "heat", row->says);
}

TEST_CASE(ApiTuning, MayBeNull) {
    const polytile_character character = {0};
    CHECK_REFUSED(polytile_kernel_characterise(NULL, &character), POLYTILE_INVALID,
                  "kernel is NULL");
    CHECK_REFUSED(polytile_kernel_characterise(declare(ctx), NULL), POLYTILE_INVALID, "NULL");
    CHECK_REFUSED(polytile_tuning_load(ctx, NULL), POLYTILE_INVALID, "NULL");
    CHECK_REFUSED(polytile_tuning_load(NULL, "table.json"), POLYTILE_INVALID, "NULL");
}

#define TABLE(rows) "{ \"version\": 1,\n\"architectures\": { \"hopper\": [\"9.0\"] },\n" rows "}"

static const char *const tables[] = {
    TABLE("\"rows\": []"),
    TABLE("\"rows\": [{\"architecture\": \"hopper\", \"block\": [256]}]"),
    TABLE(
        "\"rows\": [{\"architecture\": \"hopper\", \"kernel\": \"heat\", \"block\": [2, 4, 64],"
        "\"cache\": \"l1\", \"coalescing\": \"full\", \"arithmetic\": \"def\", \"reuse\": \"low\","
        "\"evictions\": \"none\", \"source\": \"a test\"}], \"source\": \"tests\""),
};

TEST_TABLE(ApiTuning, ATableIsLoaded, tables) {
    file_write(file_named("table.json"), *row, strlen(*row));
    CHECK_OK(polytile_tuning_load(ctx, file_named("table.json")));
}

/* Each with the line that is told. */
static const struct {
    const char *text, *says;
} wrong_tables[] = {
    {"", "table.json"},
    {"[]", "table.json"},
    {"{}", "version"},
    {"{ \"version\": 2, \"architectures\": {}, \"rows\": [] }", "version"},
    {TABLE("\"rows\": [{\"architecture\": \"moon\", \"block\": [256]}]"), "moon"},
    {TABLE("\"rows\": [{\"architecture\": \"hopper\"}]"), "block"},
    {TABLE("\"rows\": [{\"architecture\": \"hopper\", \"block\": [2048]}]"), "1024"},
    {TABLE("\"rows\": [{\"architecture\": \"hopper\", \"block\": [65, 1, 1]}]"), "64"},
    {TABLE("\"rows\": [{\"architecture\": \"hopper\", \"block\": [1, 1, 1, 1]}]"), "block"},
    {TABLE("\"rows\": [{\"architecture\": \"hopper\", \"block\": [0]}]"), "block"},
    {TABLE("\"rows\": [{\"architecture\": \"hopper\", \"block\": [32], \"colour\": 1}]"), "colour"},
    {TABLE("\"rows\": [{\"architecture\": \"hopper\", \"block\": [32],\n\"reuse\": \"much\"}]"),
     "table.json:4: \"reuse\" is \"much\""},
    {TABLE("\"rows\": []\n,\"rows\": []"), "rows"},
};

TEST_TABLE(ApiTuning, AWrongTableIsRefusedWithItsNameTheLineAndTheReason, wrong_tables) {
    file_write(file_named("table.json"), row->text, strlen(row->text));
    CHECK_REFUSED(polytile_tuning_load(ctx, file_named("table.json")), POLYTILE_INVALID,
                  "table.json");
    CHECK_CONTAINS(polytile_last_error(ctx), row->says);
}

TEST_CASE(ApiTuning, ATableThatCannotBeReadIsAnIoError) {
    CHECK_REFUSED(polytile_tuning_load(ctx, file_named("no.json")), POLYTILE_IO, "no.json",
                  "No such file");
}
