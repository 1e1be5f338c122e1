#include "launch/open/device_list.h"

#include <string.h>

static bool is_separator(char c) {
    return c == ',' || c == '+';
}

const char *pti_devices_end_of_first(const char *text) {
    int depth = 0;
    for (; *text != '\0' && (!is_separator(*text) || depth > 0); text++)
        depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
    return text;
}

int pti_devices_count(const char *text) {
    int n_devices = 1;
    if (text == NULL)
        return 1;
    for (text = pti_devices_end_of_first(text); is_separator(*text);
         text = pti_devices_end_of_first(text + 1))
        n_devices++;
    return n_devices;
}

/** Return the next character of a device's text that counts: its number does not. */
static const char *skip_number(const char *text) {
    return *text == ':' ? text + 1 + strspn(text + 1, "0123456789") : text + 1;
}

/** Return whether the first devices of two lists are the same but for their numbers. */
static bool are_devices_alike(const char *a, const char *b) {
    const char *end_of_a = pti_devices_end_of_first(a), *end_of_b = pti_devices_end_of_first(b);
    while (a < end_of_a && b < end_of_b && *a == *b) {
        a = skip_number(a);
        b = skip_number(b);
    }
    return a == end_of_a && b == end_of_b;
}

bool pti_devices_are_different(const char *text) {
    bool are = false;
    if (text == NULL)
        return false;
    for (const char *next = pti_devices_end_of_first(text); is_separator(*next);
         next = pti_devices_end_of_first(next + 1))
        are |= !are_devices_alike(text, next + 1);
    return are;
}

char *pti_devices_copy_first(const char *text) {
    return strndup(text, (size_t)(pti_devices_end_of_first(text) - text));
}
