#ifndef POLYTILE_LAUNCH_TUNING_READER_H
#define POLYTILE_LAUNCH_TUNING_READER_H

#include "launch/tuning/json_line.h"
#include "launch/tuning/table.h"

#include <jansson.h>

/* What readers of a table's JSON share: the current place, and refusals. */

enum { PTI_READER_MAX_STEPS = 4, PTI_READER_SHOWN_BYTES = 100 };

/** A table being read. */
typedef struct pti_reader {
    const char *text;
    size_t n_bytes;
    pti_tuning_table *table;
    pti_json_step step[PTI_READER_MAX_STEPS]; /* to the place that is looked at */
    int n_steps;
    polytile_status status; /* of a refusal */
    int *line;
    pti_text *why;
} pti_reader;

/** Enter a member of the current object or, without a key, an element; and leave it. */
void pti_reader_enter(pti_reader *r, const char *key, size_t element);
void pti_reader_pop(pti_reader *r);

/** Record what is wrong at the current place; returns false. */
bool pti_reader_refuse(pti_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool pti_reader_no_memory(pti_reader *r, const char *what);

/** Foreign text for a message: printable, and not too long. */
typedef struct pti_shown {
    char text[PTI_READER_SHOWN_BYTES + sizeof "..."];
} pti_shown;

pti_shown pti_reader_show(const char *foreign);

/** A member that an object may have, and the reader of its value. */
typedef struct pti_member {
    const char *name;
    bool (*read)(pti_reader *r, const struct pti_member *member, const json_t *value,
                 pti_tuning_row *row);
    bool is_needed;
    int trait; /* that it is of a row */
} pti_member;

/* All of these return false after a refusal. */

/** Read an object that may have these members and no others. */
bool pti_reader_object(pti_reader *r, const char *what, const pti_member *members, size_t n_members,
                       json_t *object, pti_tuning_row *row);

/** Read a string of 1 to max_bytes bytes. */
bool pti_reader_string(pti_reader *r, const char *name, const json_t *value, size_t max_bytes);

/** Read a word, as its number. */
bool pti_reader_word(pti_reader *r, const char *name, const json_t *value, const char *const *words,
                     int *number);

/** Check an array of least to most elements. */
bool pti_reader_array(pti_reader *r, const char *name, const json_t *value, size_t least,
                      size_t most);

/** Members of the table: its rows, once its architectures are read, and where it comes from. */
bool pti_read_rows(pti_reader *r, const pti_member *m, const json_t *value, pti_tuning_row *row);
bool pti_read_source(pti_reader *r, const pti_member *m, const json_t *value, pti_tuning_row *row);

#endif
