#include "api/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char directory[] = "/tmp/polytile-api-XXXXXX";
static pid_t maker; /* children leave it alone */

static void remove_directory(void) {
    char command[64];
    if (getpid() != maker)
        return;
    snprintf(command, sizeof command, "rm -r %s", directory);
    if (system(command) != 0)
        perror(directory);
}

static void make_directory(void) {
    static bool is_made;
    maker = is_made ? maker : getpid();
    if (!is_made && mkdtemp(directory) != NULL)
        is_made = atexit(remove_directory) == 0;
}

const char *file_named(const char *name) {
    static char paths[8][256];
    static int next;
    char *path = paths[next];
    next = (next + 1) % 8;
    make_directory();
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

void file_write(const char *path, const void *bytes, size_t n_bytes) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, n_bytes, file) != n_bytes || fclose(file) != 0)
        perror(path);
}

const char *file_read(const char *path, char *buffer, size_t n_bytes) {
    FILE *file = fopen(path, "rb");
    buffer[0] = '\0';
    if (file == NULL)
        return buffer;
    buffer[fread(buffer, 1, n_bytes - 1, file)] = '\0';
    fclose(file);
    return buffer;
}

bool file_is_there(const char *path) {
    return access(path, F_OK) == 0;
}
