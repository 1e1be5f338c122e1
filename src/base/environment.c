#include "base/context_state.h"

#include "base/text.h"

#include <polytile/text.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/** Debug builds, which have assertions, prove plans unless POLYTILE_CHECK says otherwise. */
#ifdef NDEBUG
enum { CHECKS_PLANS = 0 };
#else
enum { CHECKS_PLANS = 1 };
#endif

static const char *const level_names[] = {"error", "warn", "info", "debug"};

static bool read_log(const char *value, pti_settings *settings) {
    for (size_t k = 0; k < sizeof level_names / sizeof *level_names; k++) {
        if (strcmp(value, level_names[k]) == 0) {
            settings->log_level = (pti_log_level)k;
            return true;
        }
    }
    return value[0] == '\0';
}

/** Set what one word of a list asks for; false if the word is unknown. */
static bool read_check_word(const char *word, size_t length, pti_settings *settings) {
    const struct {
        const char *name;
        bool *is_set;
    } checks[] = {{"plan", &settings->check_plan},
                  {"attach", &settings->check_attach},
                  {"access", &settings->check_access},
                  {"wide", &settings->check_wide}};
    for (size_t k = 0; k < sizeof checks / sizeof *checks; k++) {
        if (pti_is_name(checks[k].name, word, length)) {
            *checks[k].is_set = true;
            return true;
        }
    }
    return false;
}

/** Read a list of all that is checked, which replaces the default. Words must stand on both sides
 * of a comma. */
static bool read_check(const char *value, pti_settings *settings) {
    bool known = true;
    if (*value == '\0')
        return true;
    settings->check_plan = false;
    if (strcmp(value, "off") == 0)
        return true;
    for (bool has_more = true; has_more && known; value++) {
        size_t length = strcspn(value, ",");
        known = read_check_word(value, length, settings);
        value += length;
        has_more = *value == ',';
    }
    return known;
}

static bool read_cache(const char *value, pti_settings *settings) {
    settings->no_cache = strcmp(value, "off") == 0;
    settings->cache_directory = settings->no_cache || value[0] == '\0' ? NULL : value;
    return true;
}

static bool read_compiler(const char *value, pti_settings *settings) {
    settings->compiler = value[strspn(value, " ")] == '\0' ? "cc" : value;
    return true;
}

static bool read_tuning(const char *value, pti_settings *settings) {
    settings->tuning_path = value[0] == '\0' ? NULL : value;
    return true;
}

/** Read "1" or "0"; nothing is "0". */
static bool read_switch(const char *value, bool *is_on) {
    *is_on = strcmp(value, "1") == 0;
    return *is_on || value[0] == '\0' || strcmp(value, "0") == 0;
}

static bool read_tune(const char *value, pti_settings *settings) {
    return read_switch(value, &settings->tunes);
}

static bool read_speeds(const char *value, pti_settings *settings) {
    return read_switch(value, &settings->keeps_speeds);
}

/** Accept a variable that the tests' support reads. */
static bool read_nothing(const char *value, pti_settings *settings) {
    (void)value;
    (void)settings;
    return true;
}

/** One row a variable; docs/environment.md has the same rows. */
static const struct variable {
    const char *name;
    bool (*read)(const char *value, pti_settings *settings);
    const char *values;
} variables[] = {
    {"POLYTILE_LOG", read_log, "error, warn, info or debug"},
    {"POLYTILE_CHECK", read_check,
     "plan, attach, access, wide, a list of them with commas between, off, or nothing for the "
     "default"},
    {"POLYTILE_CACHE", read_cache, "a directory, or off"},
    {"POLYTILE_CC", read_compiler, "a C compiler, perhaps with options"},
    {"POLYTILE_TUNING", read_tuning, "the file of a tuning table"},
    {"POLYTILE_TUNE", read_tune, "1, 0 or nothing"},
    {"POLYTILE_SPEEDS", read_speeds, "1, 0 or nothing"},
    {"POLYTILE_TEST_SEED", read_nothing, "a number"},
    {"POLYTILE_TEST_SCALE", read_nothing, "a number"},
};

static const struct variable *find_variable(const char *name, size_t length) {
    for (size_t k = 0; k < sizeof variables / sizeof *variables; k++) {
        if (pti_is_name(variables[k].name, name, length))
            return &variables[k];
    }
    return NULL;
}

/** The longest name or value that a message shows whole. */
enum { SHOWN_BYTES = 512 };

/** Read one variable; false, with a line on stderr, if its value is wrong. */
static bool read_one(const char *entry, pti_settings *settings) {
    const char *equals = strchr(entry, '=');
    size_t length = equals == NULL ? strlen(entry) : (size_t)(equals - entry);
    const char *value = equals == NULL ? "" : equals + 1;
    const struct variable *variable = find_variable(entry, length);
    char raw[SHOWN_BYTES], shown[SHOWN_BYTES];
    snprintf(raw, sizeof raw, "%.*s", (int)length, entry);
    if (variable == NULL) {
        fprintf(stderr,
                "polytile: warning: environment variable %s means nothing to polytile; "
                "known are POLYTILE_LOG, POLYTILE_CHECK, POLYTILE_CACHE, POLYTILE_CC, "
                "POLYTILE_TUNING, POLYTILE_TUNE and POLYTILE_SPEEDS\n",
                polytile_text_show(raw, shown, sizeof shown));
        return true;
    }
    if (variable->read(value, settings))
        return true;
    fprintf(stderr, "polytile: error: %s is \"%s\"; it may be %s\n", variable->name,
            polytile_text_show(value, shown, sizeof shown), variable->values);
    return false;
}

bool pti_environment_read(pti_settings *settings) {
    *settings = (pti_settings){
        .log_level = PTI_LOG_WARN, .check_plan = CHECKS_PLANS != 0, .compiler = "cc"};
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        if (strncmp(*entry, "POLYTILE_", strlen("POLYTILE_")) == 0 && !read_one(*entry, settings))
            return false;
    }
    return true;
}
