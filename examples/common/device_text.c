#include "device_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char memory_key[] = "memory=";
enum { MEMORY_KEY_LENGTH = sizeof(memory_key) - 1 };

/** Put one option of a device where it belongs; the first of bare's opens the parenthesis. */
static void keep_option(device_text *parts, const char *option, size_t length, bool *first) {
    if (length >= MEMORY_KEY_LENGTH && memcmp(option, memory_key, MEMORY_KEY_LENGTH) == 0 &&
        !parts->has_memory) {
        parts->has_memory = true;
        memcpy(parts->memory, option + MEMORY_KEY_LENGTH, length - MEMORY_KEY_LENGTH);
        parts->memory[length - MEMORY_KEY_LENGTH] = '\0';
        return;
    }
    strcat(parts->bare, *first ? "(" : ",");
    strncat(parts->bare, option, length);
    *first = false;
}

bool device_text_split(const char *text, device_text *parts) {
    size_t length = strlen(text);
    const char *options = strchr(text, '(');
    *parts = (device_text){.bare = ""};
    if (length + 2 > DEVICE_TEXT_SIZE)
        return false;
    if (options == NULL || text[length - 1] != ')') {
        memcpy(parts->bare, text, length + 1);
        return true;
    }
    bool first = true;
    memcpy(parts->bare, text, (size_t)(options - text));
    for (const char *option = options + 1; option < text + length;) {
        size_t option_length = strcspn(option, ",)");
        keep_option(parts, option, option_length, &first);
        option += option_length + 1;
    }
    strcat(parts->bare, first ? "" : ")");
    return true;
}

char *device_text_join(const device_text *parts, char *buffer) {
    size_t length = strlen(parts->bare);
    bool has_options = length > 0 && parts->bare[length - 1] == ')';
    if (!parts->has_memory)
        snprintf(buffer, 2 * DEVICE_TEXT_SIZE, "%s", parts->bare);
    else
        snprintf(buffer, 2 * DEVICE_TEXT_SIZE, "%.*s%c%s%s)", (int)(length - has_options),
                 parts->bare, has_options ? ',' : '(', memory_key, parts->memory);
    return buffer;
}

/** Return the length up to the comma or plus sign after the first device, not in parentheses, or to
 * the end. */
static size_t first_length(const char *list) {
    size_t length = 0;
    for (int depth = 0;
         list[length] != '\0' && ((list[length] != ',' && list[length] != '+') || depth > 0);
         ++length)
        depth += (list[length] == '(') - (list[length] == ')');
    return length;
}

bool device_list_split(const char *text, device_list *list) {
    char one[DEVICE_TEXT_SIZE];
    for (list->n = 0; list->n < DEVICE_LIST_MAX;) {
        size_t length = first_length(text);
        if (length >= sizeof one)
            return false;
        memcpy(one, text, length);
        one[length] = '\0';
        list->separator[list->n] = text[length];
        if (!device_text_split(one, &list->device[list->n++]))
            return false;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
    return false;
}

char *device_list_join(const device_list *list, int first, int n, char *buffer) {
    size_t length = 0;
    for (int d = first; d < first + n; ++d) {
        if (d > first)
            buffer[length++] = list->separator[d - 1];
        length += strlen(device_text_join(&list->device[d], buffer + length));
    }
    return buffer;
}

int device_list_find_rank(const device_list *list, int rank, int *n) {
    int n_ranks = 1, first = 0;
    for (int d = 0; d < list->n; ++d)
        n_ranks += list->separator[d] == ',';
    for (int left = rank % n_ranks; left > 0; ++first)
        left -= list->separator[first] == ',';
    for (*n = 1; list->separator[first + *n - 1] == '+';)
        ++*n;
    return first;
}

int device_text_cuda(const device_text *parts) {
    if (strncmp(parts->bare, "cuda", 4) != 0 || strchr(":(", parts->bare[4]) == NULL)
        return -1;
    return parts->bare[4] == ':' ? atoi(parts->bare + 5) : 0;
}
