#ifndef POLYTILE_STATUS_H
#define POLYTILE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/** Every status that a function of this library can return, with its meaning. */
#define POLYTILE_STATUSES(X)                                                                       \
    X(OK, "success")                                                                               \
    X(INVALID, "invalid argument")                                                                 \
    X(DECLARATION, "wrong declaration")                                                            \
    X(CONFLICT, "conflicting accesses")                                                            \
    X(NO_FIT, "nothing fits the memory limit")                                                     \
    X(OVERFLOW, "a size exceeds 64 bits")                                                          \
    X(NO_MEMORY, "out of host memory")                                                             \
    X(IO, "a file could not be read or written")                                                   \
    X(DEVICE, "the device failed")                                                                 \
    X(UNSUPPORTED, "not supported")                                                                \
    X(INTERNAL, "a plan failed its own check")                                                     \
    X(DEADLOCK, "no slot of a team kernel can go on")                                              \
    X(TIMEOUT, "a team kernel made no progress")                                                   \
    X(CANCELLED, "cancelled")

typedef enum polytile_status {
#define POLYTILE_STATUS_CODE(name, text) POLYTILE_##name,
    POLYTILE_STATUSES(POLYTILE_STATUS_CODE)
#undef POLYTILE_STATUS_CODE
} polytile_status;

/** Find the meaning of a status in a few words; never NULL. The details are in
 * polytile_last_error(). */
const char *polytile_status_text(polytile_status status);

#ifdef __cplusplus
}
#endif

#endif
