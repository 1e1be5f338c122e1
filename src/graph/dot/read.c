#include "graph/dot/dot.h"

#include "base/retry.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** Read an open file to its end as a text for free(); false, with errno: it cannot be read. */
static bool read_whole_text(FILE *file, char **text) {
    size_t n_bytes = 0;
    *text = NULL;
    const ssize_t length = getdelim(text, &n_bytes, '\0', file);
    if (ferror(file))
        return false;
    if (*text == NULL || (length < 0 && !feof(file))) {
        errno = ENOMEM;
        return false;
    }
    if (length < 0)
        **text = '\0';
    return true;
}

static polytile_status fail_file(polytile_context *ctx, const char *path, const char *action) {
    return errno == ENOMEM ? pti_fail_memory(ctx, path, PTI_UNKNOWN_BYTES)
                           : pti_fail_errno(ctx, path, action);
}

/** Return a stream of a file, or NULL with errno. */
static FILE *open_file(const char *path) {
    int descriptor;
    PTI_RETRY(descriptor, open(path, O_RDONLY | O_CLOEXEC));
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "r");
    if (file == NULL && descriptor >= 0) {
        close(descriptor);
        errno = ENOMEM;
    }
    return file;
}

polytile_status pti_dot_read(polytile_context *ctx, const char *path, pti_dot **dot) {
    char *text = NULL;
    FILE *file = open_file(path);
    *dot = NULL;
    if (file == NULL)
        return fail_file(ctx, path, "open");
    polytile_status status =
        read_whole_text(file, &text) ? POLYTILE_OK : fail_file(ctx, path, "read");
    fclose(file);
    if (status == POLYTILE_OK)
        status = pti_dot_parse(ctx, path, text, dot);
    free(text);
    return status;
}
