#include "launch/open/open.h"

#include <polytile/size.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 64 };

/** A text being read; whole is for error texts. */
typedef struct reader {
    polytile_context *ctx;
    const char *whole;
    const char *next;
} reader;

static void skip_spaces(reader *in) {
    while (isspace((unsigned char)*in->next))
        in->next++;
}

/** Copy up to any of the delimiters, without spaces around; false if empty or too long. */
static bool read_word(reader *in, const char *delimiters, char word[WORD_BYTES]) {
    skip_spaces(in);
    size_t length = strcspn(in->next, delimiters);
    const char *start = in->next;
    in->next += length;
    while (length > 0 && isspace((unsigned char)start[length - 1]))
        length--;
    if (length == 0 || length >= WORD_BYTES)
        return false;
    memcpy(word, start, length);
    word[length] = '\0';
    return true;
}

static bool skip_mark(reader *in, char mark) {
    skip_spaces(in);
    if (*in->next != mark)
        return false;
    in->next++;
    return true;
}

static void describe_options(const pti_driver *driver, pti_text *text) {
    for (int k = 0; k < driver->n_options; k++) {
        const pti_device_option *option = &driver->options[k];
        pti_text_add(text, "%s%s=%s", k == 0 ? "" : ", ", option->name, option->form);
    }
}

/** Fail with a problem of the text, and what the driver takes or which drivers there are. */
static polytile_status fail_device_text(const reader *in, const pti_driver *driver,
                                        const char *problem, const char *word) {
    pti_text known = {0};
    if (driver == NULL)
        pti_drivers_describe(&known);
    else
        describe_options(driver, &known);
    polytile_status status =
        pti_fail(in->ctx, POLYTILE_INVALID, "device \"%s\": %s \"%s\"; %s%s %s", in->whole, problem,
                 word, driver == NULL ? "there is" : driver->name, driver == NULL ? "" : " takes",
                 known.failed ? "" : known.data);
    pti_text_free(&known);
    return status;
}

static polytile_status refuse_value(const reader *in, const pti_driver *driver,
                                    const pti_device_option *option, const char *value) {
    char why[POLYTILE_SIZE_WHY_BYTES];
    if (option->explain == NULL)
        return fail_device_text(in, driver, "wrong value", value);
    return pti_fail(in->ctx, POLYTILE_INVALID, "device \"%s\": wrong value \"%s\" of %s; %s",
                    in->whole, value, option->name, option->explain(value, why));
}

static const pti_device_option *find_option(const pti_driver *driver, const char *name) {
    for (int k = 0; k < driver->n_options; k++) {
        if (strcmp(driver->options[k].name, name) == 0)
            return &driver->options[k];
    }
    return NULL;
}

static polytile_status read_option(reader *in, pti_device_text *parsed) {
    char name[WORD_BYTES] = "", value[WORD_BYTES] = "";
    const char *start = in->next;
    if (!read_word(in, "=,()", name) || !skip_mark(in, '='))
        return fail_device_text(in, parsed->driver, "an option and its value are expected at",
                                start);
    const pti_device_option *option = find_option(parsed->driver, name);
    if (option == NULL)
        return fail_device_text(in, parsed->driver, "unknown option", name);
    if (parsed->value[option->kind] != 0)
        return fail_device_text(in, parsed->driver, "given twice is option", name);
    if (!read_word(in, ",()", value) || !option->parse(value, &parsed->value[option->kind]))
        return refuse_value(in, parsed->driver, option, value);
    return POLYTILE_OK;
}

static polytile_status read_options(reader *in, pti_device_text *parsed) {
    do {
        polytile_status status = read_option(in, parsed);
        if (status != POLYTILE_OK)
            return status;
    } while (skip_mark(in, ','));
    if (!skip_mark(in, ')'))
        return fail_device_text(in, parsed->driver, "a closing parenthesis is missing at",
                                in->next);
    return POLYTILE_OK;
}

static polytile_status read_device_number(reader *in, pti_device_text *parsed) {
    char digits[WORD_BYTES] = "";
    bool is_number = read_word(in, "(", digits) && strlen(digits) <= 4 &&
                     digits[strspn(digits, "0123456789")] == '\0';
    if (!parsed->driver->is_numbered)
        return fail_device_text(in, NULL, "takes no number, but has", digits);
    if (!is_number)
        return fail_device_text(in, NULL, "the number of a device cannot be", digits);
    parsed->number = atoi(digits);
    return POLYTILE_OK;
}

polytile_status pti_device_text_parse(polytile_context *ctx, const char *text,
                                      pti_device_text *parsed) {
    polytile_status status = POLYTILE_OK;
    reader in = {ctx, text, text};
    char name[WORD_BYTES] = "";
    *parsed = (pti_device_text){0};
    if (read_word(&in, ":(,", name))
        parsed->driver = pti_driver_find(name);
    if (parsed->driver == NULL)
        return fail_device_text(&in, NULL, "unknown device", name);
    if (skip_mark(&in, ':'))
        PTI_TRY(read_device_number(&in, parsed));
    if (skip_mark(&in, '('))
        PTI_TRY(read_options(&in, parsed));
    skip_spaces(&in);
    if (*in.next == ',')
        return pti_fail(ctx, POLYTILE_INVALID,
                        "device \"%s\": it is a list of devices, which only queues take; open one "
                        "of them, or create a queue",
                        text);
    if (*in.next != '\0')
        return fail_device_text(&in, parsed->driver, "cannot understand", in.next);
done:
    return status;
}
