#include "base/crash.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/** Raised by what a thread does itself. */
static const struct {
    int number;
    const char *name;
} watched[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}};
enum { N_WATCHED = sizeof watched / sizeof *watched };

static _Thread_local const pti_crash_note *volatile runs;

/** Threads that run the same crash together. */
static atomic_flag has_told = ATOMIC_FLAG_INIT;

/** A text of limited length, made without any function that a handler must not call. */
typedef struct line {
    size_t length;
    char text[512];
} line;

static void add(line *to, const char *text) {
    for (; *text != '\0' && to->length < sizeof to->text; text++)
        to->text[to->length++] = *text;
}

static const char *name_of(int number) {
    const char *name = "a signal";
    for (int k = 0; k < N_WATCHED; k++) {
        if (watched[k].number == number)
            name = watched[k].name;
    }
    return name;
}

static void write_crash_line(const pti_crash_note *note, int number) {
    line of = {0};
    add(&of, "polytile: ");
    add(&of, note->name);
    add(&of, ": ended by ");
    add(&of, name_of(number));
    add(&of, ": ");
    add(&of, note->advice);
    add(&of, "\n");
    ssize_t n_written = write(STDERR_FILENO, of.text, of.length);
    (void)n_written;
}

/** Whether a fault raised the signal, and not a call of kill() or its like: then what raised it
 * does so again. */
static bool is_fault(const siginfo_t *info) {
    return info->si_code > 0;
}

static void end_as_without(int number, const siginfo_t *info) {
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigemptyset(&usual.sa_mask);
    sigaction(number, &usual, NULL);
    if (!is_fault(info))
        raise(number);
}

static void handle(int number, siginfo_t *info, void *context) {
    int error = errno;
    const pti_crash_note *note = runs;
    (void)context;
    if (note != NULL && is_fault(info) && !atomic_flag_test_and_set(&has_told))
        write_crash_line(note, number);
    end_as_without(number, info);
    errno = error;
}

static bool is_free(int number) {
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
           now.sa_handler == SIG_DFL;
}

void pti_crash_install(void) {
    struct sigaction ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    for (int k = 0; k < N_WATCHED; k++) {
        if (is_free(watched[k].number))
            sigaction(watched[k].number, &ours, NULL);
    }
}

void pti_crash_watch(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, pti_crash_install);
}

const pti_crash_note *pti_crash_enter(const pti_crash_note *note) {
    const pti_crash_note *before = runs;
    runs = note;
    return before;
}
