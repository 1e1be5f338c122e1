#include "launch/tuning/tuning.h"

#include "base/cache_file.h"
#include "launch/tuning/learned.h"
#include "launch/tuning/library.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct pti_tuning {
    pti_object object;
    pthread_mutex_t mutex; /* of all below */
    pti_tuning_table *loaded;
    pti_learned learned;
    pti_tuning_table *library;
    _Atomic int64_t generation;
};

/** Guards the creation of a context's tables. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static void destroy_tuning(pti_object *object) {
    pti_tuning *tuning = (pti_tuning *)object;
    while (tuning->loaded != NULL) {
        pti_tuning_table *table = tuning->loaded;
        tuning->loaded = table->next;
        pti_tuning_table_free(table);
    }
    pti_learned_free(&tuning->learned);
    pti_tuning_table_free(tuning->library);
    pthread_mutex_destroy(&tuning->mutex);
    free(tuning);
}

static polytile_status refuse_file(polytile_context *ctx, const char *path, int error,
                                   const pti_text *why) {
    const char *reason = why->length > 0 ? why->data : strerror(error);
    return pti_fail(ctx, error == EFBIG ? POLYTILE_INVALID : POLYTILE_IO,
                    "%s: the tuning table cannot be read, since %s", path, reason);
}

/** Read a table from its text; path is for the error's text. */
static polytile_status read_table(polytile_context *ctx, const char *path, const char *text,
                                  size_t n_bytes, pti_tuning_table **table) {
    pti_text why = {0};
    int line;
    polytile_status status = pti_tuning_table_read(text, n_bytes, table, &line, &why);
    if (status != POLYTILE_OK)
        pti_fail(ctx, status, "%s:%d: %s; docs/tuning.md has the format of tuning tables", path,
                 line, why.failed ? "no valid table" : why.data);
    pti_text_free(&why);
    return status;
}

static polytile_status read_table_file(polytile_context *ctx, const char *path,
                                       pti_tuning_table **table) {
    pti_text why = {0};
    polytile_status status = POLYTILE_OK;
    char *text = malloc(PTI_TUNING_MAX_BYTES + 1);
    if (text == NULL)
        return pti_fail_memory(ctx, path, PTI_TUNING_MAX_BYTES + 1);
    ssize_t n_bytes = pti_file_read(path, text, PTI_TUNING_MAX_BYTES, &why);
    if (n_bytes < 0)
        PTI_TRY(refuse_file(ctx, path, errno, &why));
    PTI_TRY(read_table(ctx, path, text, (size_t)n_bytes, table));
done:
    pti_text_free(&why);
    free(text);
    return status;
}

static void put_first(pti_tuning *tuning, pti_tuning_table *table) {
    pthread_mutex_lock(&tuning->mutex);
    table->next = tuning->loaded;
    tuning->loaded = table;
    tuning->generation++;
    pthread_mutex_unlock(&tuning->mutex);
}

static polytile_status load_table(pti_tuning *tuning, const char *path) {
    pti_tuning_table *table;
    polytile_status status = read_table_file(tuning->object.context, path, &table);
    if (status == POLYTILE_OK)
        put_first(tuning, table);
    return status;
}

/** Make the tables that exist from the start. */
static polytile_status fill_tables(pti_tuning *tuning) {
    polytile_context *ctx = tuning->object.context;
    const char *path = pti_get_settings(ctx)->tuning_path;
    polytile_status status;
    PTI_TRY(read_table(ctx, "the library's own table", (const char *)pti_tuning_library_text,
                       pti_tuning_library_bytes, &tuning->library));
    if (path != NULL)
        PTI_TRY(load_table(tuning, path));
    pti_learned_read(ctx, &tuning->learned);
done:
    return status;
}

static polytile_status make_tuning(polytile_context *ctx, pti_tuning **tuning) {
    polytile_status status;
    pti_tuning *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pti_fail_memory(ctx, "tuning tables", sizeof *made);
    made->object = (pti_object){.context = ctx, .destroy = destroy_tuning};
    pthread_mutex_init(&made->mutex, NULL);
    PTI_TRY(fill_tables(made));
    pti_set_tuning(ctx, &made->object);
    *tuning = made;
    return POLYTILE_OK;
done:
    destroy_tuning(&made->object);
    return status;
}

polytile_status pti_tuning_get(polytile_context *ctx, pti_tuning **tuning) {
    polytile_status status = POLYTILE_OK;
    pthread_mutex_lock(&making);
    *tuning = (pti_tuning *)pti_get_tuning(ctx);
    if (*tuning == NULL)
        status = make_tuning(ctx, tuning);
    pthread_mutex_unlock(&making);
    return status;
}

int64_t pti_tuning_generation(const pti_tuning *tuning) {
    return tuning->generation;
}

bool pti_tuning_find(pti_tuning *tuning, const pti_tuning_query *query, pti_tuning_row *found) {
    const pti_tuning_row *row = NULL;
    pthread_mutex_lock(&tuning->mutex);
    for (pti_tuning_table *table = tuning->loaded; table != NULL && row == NULL;
         table = table->next)
        row = pti_tuning_table_find(table, query);
    if (row == NULL && tuning->learned.table != NULL)
        row = pti_tuning_table_find(tuning->learned.table, query);
    if (row == NULL)
        row = pti_tuning_table_find(tuning->library, query);
    if (row != NULL)
        *found = *row;
    pthread_mutex_unlock(&tuning->mutex);
    return row != NULL;
}

void pti_tuning_learn(pti_tuning *tuning, const pti_tuning_row *row, int capability) {
    pthread_mutex_lock(&tuning->mutex);
    if (pti_learned_add(tuning->object.context, &tuning->learned, row, capability))
        tuning->generation++;
    pthread_mutex_unlock(&tuning->mutex);
}

polytile_status polytile_tuning_load(polytile_context *ctx, const char *path) {
    pti_tuning *tuning;
    polytile_status status;
    PTI_ENTER(ctx, ctx, "context");
    if (path == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "tuning table: the path is NULL");
    PTI_TRY(pti_tuning_get(ctx, &tuning));
    PTI_TRY(load_table(tuning, path));
done:
    return status;
}
