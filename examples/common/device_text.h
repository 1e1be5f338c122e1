#ifndef EXAMPLES_DEVICE_TEXT_H
#define EXAMPLES_DEVICE_TEXT_H

#include <stdbool.h>

enum {
    DEVICE_TEXT_SIZE = 256,
    DEVICE_LIST_MAX = 16,
    DEVICE_LIST_SIZE = 2 * DEVICE_LIST_MAX * DEVICE_TEXT_SIZE
};

/** A device's text, such as "host(memory=64MiB,threads=2)", taken apart. */
typedef struct device_text {
    char bare[DEVICE_TEXT_SIZE]; /* without its memory: "host(threads=2)" */
    bool has_memory;
    char memory[DEVICE_TEXT_SIZE]; /* "64MiB", as given, when it has one */
} device_text;

/** Take a text apart; false when it is too long. A malformed text is left whole in bare. */
bool device_text_split(const char *text, device_text *parts);

/** Join the parts in a buffer of twice DEVICE_TEXT_SIZE bytes, which it returns. */
char *device_text_join(const device_text *parts, char *buffer);

/** Devices with commas or plus signs between them, such as "cuda:0,cuda:1(memory=1GiB)", taken
 * apart. Those of one rank have plus signs between them, commas separate ranks. */
typedef struct device_list {
    int n;
    device_text device[DEVICE_LIST_MAX];
    char separator[DEVICE_LIST_MAX]; /* each device: ',', '+'; '\0': the last */
} device_list;

/** Take a list apart; false when it, or one of its texts, is too long. */
bool device_list_split(const char *text, device_list *list);

/** Join n devices of a list in a buffer of DEVICE_LIST_SIZE bytes, which it returns. */
char *device_list_join(const device_list *list, int first, int n, char *buffer);

/** Find the devices of a rank; where there are more ranks than commas, the list begins again.
 * Returns the number of the first, *n is how many. */
int device_list_find_rank(const device_list *list, int rank, int *n);

/** Return the K of "cuda:K", 0 of "cuda", -1 of what is no GPU. */
int device_text_cuda(const device_text *parts);

#endif
