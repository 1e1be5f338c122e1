#include "compile/process.h"

#include "base/retry.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/** Return 0 for a program, or why it is none. */
static int check_program(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0)
        return errno;
    if (!S_ISREG(status.st_mode))
        return ENOENT;
    return access(path, X_OK) == 0 ? 0 : errno;
}

/** Look for a name in one directory of PATH; *path is set if it is there. */
static int look_in(const char *directory, size_t length, const char *name, char **path) {
    pti_text made = {0};
    pti_text_add(&made, "%.*s%s%s", (int)length, directory, length == 0 ? "./" : "/", name);
    const int error = made.failed ? ENOMEM : check_program(made.data);
    if (error == 0)
        *path = made.data;
    else
        pti_text_free(&made);
    return error;
}

static int copy_path(const char *name, char **path) {
    const int error = check_program(name);
    *path = error == 0 ? strdup(name) : NULL;
    return error == 0 && *path == NULL ? ENOMEM : error;
}

static bool means_absent(int error) {
    return error == ENOENT || error == ENOTDIR;
}

int pti_program_find(const char *name, char **path) {
    static const char usual[] = "/usr/local/bin:/usr/bin:/bin";
    const char *at = getenv("PATH");
    int why = ENOENT;
    *path = NULL;
    if (strchr(name, '/') != NULL)
        return copy_path(name, path);
    at = at == NULL ? usual : at;
    for (bool has_more = true; has_more && *path == NULL;) {
        const size_t length = strcspn(at, ":");
        const int error = look_in(at, length, name, path);
        why = means_absent(error) ? why : error;
        at += length;
        has_more = *at++ == ':';
    }
    return *path == NULL ? why : 0;
}

/** Return the environment with the locale C, whose list is for free(); NULL: no memory. */
static char **environment_in_c(void) {
    static char locale[] = "LC_ALL=C";
    size_t n = 0, n_kept = 0;
    while (environ != NULL && environ[n] != NULL)
        n++;
    char **list = calloc(n + 2, sizeof(char *));
    for (size_t k = 0; list != NULL && k < n; k++)
        if (strncmp(environ[k], "LC_ALL=", strlen("LC_ALL=")) != 0)
            list[n_kept++] = environ[k];
    if (list != NULL)
        list[n_kept] = locale;
    return list;
}

static int set_attributes(posix_spawnattr_t *attributes) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0)
        error = posix_spawnattr_setsigdefault(attributes, &all);
    if (error == 0)
        error =
            posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return error;
}

static int set_files(posix_spawn_file_actions_t *actions, const char *said_path) {
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, said_path,
                                                 O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, STDERR_FILENO, STDOUT_FILENO);
    return error;
}

/** Start a program with attributes and files that are initialised. Returns an errno. */
static int start_program(const char *path, char *const *arguments, const char *said_path,
                         posix_spawnattr_t *attributes, posix_spawn_file_actions_t *actions,
                         pid_t *pid) {
    char **environment = environment_in_c();
    int error = environment == NULL ? ENOMEM : set_attributes(attributes);
    if (error == 0)
        error = set_files(actions, said_path);
    if (error == 0)
        error = posix_spawn(pid, path, actions, attributes, arguments, environment);
    free(environment);
    return error;
}

/** A program that ignores SIGCHLD is not told how its children end: taken for success, since what
 * they should have made is looked at. */
static bool await_end(pid_t pid, int *exit_code) {
    int status = 0;
    pid_t ended;
    PTI_RETRY(ended, waitpid(pid, &status, 0));
    if (ended < 0 && errno != ECHILD)
        return false;
    *exit_code = ended < 0 ? 0 : WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return true;
}

bool pti_program_run(const char *path, char *const *arguments, const char *said_path,
                     int *exit_code) {
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    int error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        errno = error;
        return false;
    }
    error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        error = start_program(path, arguments, said_path, &attributes, &actions, &pid);
        posix_spawn_file_actions_destroy(&actions);
    }
    posix_spawnattr_destroy(&attributes);
    errno = error;
    return error == 0 && await_end(pid, exit_code);
}
