#include "distribute/mpi/array_open.h"

#include "distribute/group/words.h"
#include <polytile/mpi.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The functions of polytile/mpi.h for all elements of an array: open it, move, close it. */

/** The words by which ranks compare calls. */
typedef struct words {
    char text[512];
} words;

/** Make the words of a call. more: after the array's name; NULL or empty: nothing. Words that are
 * too long end in a hash. */
static words words_of(const char *call, const polytile_array *array, const char *more) {
    enum { SHOWN_BYTES = 256 };
    words of;
    char end[32] = "";
    bool has_more = more != NULL && *more != '\0';
    if (has_more && strlen(more) > SHOWN_BYTES)
        snprintf(end, sizeof end, "...#%016" PRIx64, pti_words_hash(more));
    snprintf(of.text, sizeof of.text, "%s() of %.128s%s%.*s%s", call, array->name,
             has_more ? ", " : "", SHOWN_BYTES, has_more ? more : "", end);
    return of;
}

static words words_of_rank(const char *call, const polytile_array *array, int root) {
    char rank[32];
    snprintf(rank, sizeof rank, "root %d", root);
    return words_of(call, array, rank);
}

polytile_status polytile_mpi_array_fill(polytile_array *array, polytile_mpi_element *element,
                                        void *user) {
    pti_open_array open;
    polytile_status status;
    bool has_begun = false;
    PTI_ENTER(array, array->object.context, "array");
    words call = words_of("polytile_mpi_array_fill", array, "");
    PTI_TRY(pti_array_open(array, PTI_ARRAY_REPLACES, call.text, &open));
    if (element == NULL)
        status = pti_fail(pti_spread_context(&open.spread), POLYTILE_INVALID,
                          "array %s: the function to fill it is NULL", array->name);
    PTI_TRY(pti_spread_agree(&open.spread, status));
    has_begun = true;
    pti_store_fill(&open.spread.store, element, user);
done:
    return pti_array_close(&open, status, has_begun, NULL);
}

polytile_status polytile_mpi_array_scatter(polytile_array *array, int root, const void *elements) {
    pti_open_array open;
    polytile_status status;
    bool has_begun = false;
    PTI_ENTER(array, array->object.context, "array");
    words call = words_of_rank("polytile_mpi_array_scatter", array, root);
    PTI_TRY(pti_array_open(array, PTI_ARRAY_REPLACES, call.text, &open));
    PTI_TRY(pti_spread_scatter(&open.spread, root, elements, &has_begun));
done:
    return pti_array_close(&open, status, has_begun, NULL);
}

polytile_status polytile_mpi_array_gather(polytile_array *array, int root, void *elements) {
    pti_open_array open;
    polytile_status status;
    PTI_ENTER(array, array->object.context, "array");
    words call = words_of_rank("polytile_mpi_array_gather", array, root);
    PTI_TRY(pti_array_open(array, PTI_ARRAY_READS, call.text, &open));
    PTI_TRY(pti_spread_gather(&open.spread, root, elements));
done:
    return pti_array_close(&open, status, false, NULL);
}

/** Check a path, which is the same on all ranks: all fail or none. */
static polytile_status check_path(const polytile_array *array, const char *path) {
    if (path != NULL && *path != '\0')
        return POLYTILE_OK;
    return pti_fail(array->object.context, POLYTILE_INVALID, "array %s: a file needs a path",
                    array->name);
}

polytile_status polytile_mpi_array_read(polytile_array *array, const char *path) {
    pti_open_array open;
    polytile_status status;
    bool has_begun = false;
    PTI_ENTER(array, array->object.context, "array");
    words call = words_of("polytile_mpi_array_read", array, path);
    PTI_TRY(pti_array_open(array, PTI_ARRAY_REPLACES, call.text, &open));
    PTI_TRY(check_path(array, path));
    PTI_TRY(pti_spread_read(&open.spread, path, &has_begun));
done:
    return pti_array_close(&open, status, has_begun, NULL);
}

polytile_status polytile_mpi_array_write(polytile_array *array, const char *path) {
    pti_open_array open;
    polytile_status status;
    PTI_ENTER(array, array->object.context, "array");
    words call = words_of("polytile_mpi_array_write", array, path);
    PTI_TRY(pti_array_open(array, PTI_ARRAY_READS, call.text, &open));
    PTI_TRY(check_path(array, path));
    PTI_TRY(pti_spread_write(&open.spread, path));
done:
    return pti_array_close(&open, status, false, NULL);
}
