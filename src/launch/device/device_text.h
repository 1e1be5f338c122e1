#ifndef POLYTILE_LAUNCH_DEVICE_DEVICE_TEXT_H
#define POLYTILE_LAUNCH_DEVICE_DEVICE_TEXT_H

#include "base/context.h"

/* A device's text, NAME, NAME:NUMBER, NAME(OPTION=VALUE,...), as its driver gets it. */

typedef enum pti_option_kind {
    PTI_OPTION_MEMORY,
    PTI_OPTION_THREADS,
    PTI_N_OPTIONS
} pti_option_kind;

/** An option that a driver takes. */
typedef struct pti_device_option {
    pti_option_kind kind;
    const char *name;
    const char *form; /* what a value looks like, for error texts */
    /** False when the value is none. */
    bool (*parse)(const char *value, int64_t *number);
    /** Why it is none, in a buffer of POLYTILE_SIZE_WHY_BYTES; NULL: the form tells. */
    char *(*explain)(const char *value, char *buffer);
} pti_device_option;

/** A text that was understood. */
typedef struct pti_device_text {
    const struct pti_driver *driver;
    int64_t number;               /* 0 unless given */
    int64_t value[PTI_N_OPTIONS]; /* 0 unless given */
} pti_device_text;

enum { PTI_MAX_THREADS = 1024 };

/** A number of host threads, from 1 to PTI_MAX_THREADS; false: it is none. */
bool pti_parse_threads(const char *value, int64_t *n_threads);

#endif
