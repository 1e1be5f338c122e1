#include "access/array/npy_header.h"

#include "access/array/type.h"
#include "access/set/range.h"
#include "base/checked.h"
#include "base/text_cursor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "\x93NUMPY"

enum { MAGIC_BYTES = 6, ALIGNMENT = 64 };

static const char not_npy[] = "is no .npy file (it does not begin with NumPy's magic bytes)";
static const char cut_head[] = "is truncated in its header";
static const char bad_head[] = "has a header that is not NumPy's dictionary of descr, "
                               "fortran_order and shape";

/** What the dictionary says, unchecked. */
typedef struct dictionary {
    char descr[24];                  /* empty if longer */
    const char *fields, *fields_end; /* a structured type's text, borrowed */
    polytile_type indexed;           /* of a value and an index */
    bool has_descr;
    bool structured; /* of other fields */
    bool is_indexed;
    bool has_order;
    bool fortran_order;
    bool has_shape;
    bool shape_overflows;
    int n_dims; /* may exceed POLYTILE_MAX_DIMS */
    int64_t extents[POLYTILE_MAX_DIMS];
} dictionary;

static bool take_word(pti_text_cursor *c, const char *word) {
    size_t length = strlen(word);
    pti_text_cursor_skip_space(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

/** Take a quoted string without escapes; empty if it does not fit. */
static bool take_string(pti_text_cursor *c, char *text, size_t capacity) {
    pti_text_cursor_skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    const char *first = c->at + 1;
    const char *last = memchr(first, *c->at, (size_t)(c->end - first));
    if (last == NULL || memchr(first, '\\', (size_t)(last - first)) != NULL)
        return false;
    size_t length = (size_t)(last - first) < capacity ? (size_t)(last - first) : 0;
    memcpy(text, first, length);
    text[length] = '\0';
    c->at = last + 1;
    return true;
}

static bool take_flag(pti_text_cursor *c, bool *flag) {
    *flag = take_word(c, "True");
    return *flag || take_word(c, "False");
}

/** Take a number as Python writes it, with the L of Python 2, but no negative one. */
static bool take_extent(pti_text_cursor *c, int64_t *extent, bool *overflows) {
    pti_text_cursor_skip_space(c);
    const char *first = c->at;
    *extent = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        *overflows |= pti_mul_overflows(*extent, 10, extent) ||
                      pti_add_overflows(*extent, *c->at - '0', extent);
    bool is_number = c->at > first;
    if (is_number && c->at < c->end && *c->at == 'L')
        c->at++;
    return is_number;
}

/** Take a tuple: (), (3,), (3, 4), (3, 4, ); one number needs its comma. */
static bool take_shape(pti_text_cursor *c, dictionary *d) {
    if (!pti_text_cursor_accept(c, '('))
        return false;
    bool may_go_on = true;
    while (!pti_text_cursor_accept(c, ')')) {
        int64_t extent;
        if (!may_go_on || !take_extent(c, &extent, &d->shape_overflows))
            return false;
        if (d->n_dims < POLYTILE_MAX_DIMS)
            d->extents[d->n_dims] = extent;
        d->n_dims += d->n_dims <= POLYTILE_MAX_DIMS;
        may_go_on = pti_text_cursor_accept(c, ',');
    }
    return d->n_dims != 1 || may_go_on;
}

static bool is_one_of(char mark, const char *marks) {
    return mark != '\0' && strchr(marks, mark) != NULL;
}

/** Return the end of a value in brackets, after the closing one. Brackets in quotes do not
 * count. */
static const char *find_end_of_value(const pti_text_cursor *c) {
    const char *at = c->at;
    int depth = 0;
    char quote = '\0';
    for (; at < c->end; at++) {
        if (quote == '\0' && is_one_of(*at, "'\""))
            quote = *at;
        else if (quote == *at)
            quote = '\0';
        else if (quote == '\0')
            depth += is_one_of(*at, "[({") - is_one_of(*at, "])}");
        if (depth == 0)
            return at + 1;
    }
    return at;
}

/** NumPy's text for a type, without the byte order: f4 for f32. */
static const struct {
    const char *text;
    int64_t bytes;
} types[] = {
#define TYPE_ROW(name, text, bytes) {text, bytes},
    POLYTILE_TYPES(TYPE_ROW)
#undef TYPE_ROW
};

enum { N_TYPES = sizeof types / sizeof *types };

static void write_descr(polytile_type type, char descr[8]) {
    snprintf(descr, 8, "%c%c%d", types[type].bytes == 1 ? '|' : '<', types[type].text[0],
             (int)types[type].bytes);
}

/** Find the type of a text of NumPy, which has no bf16; one byte has no order, so '<i1' is
 * '|i1'. */
static bool find_type(const char *descr, polytile_type *type) {
    for (polytile_type t = 0; t < N_TYPES; t++) {
        char known[8];
        if (t == POLYTILE_BF16)
            continue;
        write_descr(t, known);
        bool same_order = descr[0] == known[0] || (types[t].bytes == 1 && descr[0] == '<');
        if (same_order && strcmp(descr + 1, known + 1) == 0) {
            *type = t;
            return true;
        }
    }
    return false;
}

/** Take a field, as ('value', '<f4'), but not its name. */
static bool take_field(pti_text_cursor *c, char descr[8]) {
    char name[64];
    return pti_text_cursor_accept(c, '(') && take_string(c, name, sizeof name) &&
           pti_text_cursor_accept(c, ',') && take_string(c, descr, 8) &&
           pti_text_cursor_accept(c, ')');
}

/** Take the fields of a value and an index, with padding up to the index: [('value', '<f4'), ('',
 * '|V4'), ('index', '<i8')]. */
static bool take_indexed(pti_text_cursor c, polytile_type *type) {
    char descr[8], padding[16];
    polytile_type scalar;
    if (!pti_text_cursor_accept(&c, '[') || !take_field(&c, descr) || !find_type(descr, &scalar) ||
        pti_type_part(scalar) >= 0)
        return false;
    const int n_padding = PTI_INDEX_OFFSET - (int)types[scalar].bytes;
    snprintf(padding, sizeof padding, "|V%d", n_padding);
    if (n_padding > 0 &&
        (!pti_text_cursor_accept(&c, ',') || !take_field(&c, descr) || strcmp(descr, padding) != 0))
        return false;
    *type = POLYTILE_INDEXED(scalar);
    return pti_text_cursor_accept(&c, ',') && take_field(&c, descr) && strcmp(descr, "<i8") == 0 &&
           pti_text_cursor_accept(&c, ']');
}

static bool take_descr(pti_text_cursor *c, dictionary *d) {
    pti_text_cursor_skip_space(c);
    d->structured = c->at < c->end && (*c->at == '[' || *c->at == '(' || *c->at == '{');
    d->fields = c->at;
    d->fields_end = d->structured ? find_end_of_value(c) : c->at;
    d->is_indexed = d->structured && take_indexed(*c, &d->indexed);
    d->structured = d->structured && !d->is_indexed;
    if (d->is_indexed)
        c->at = d->fields_end;
    return d->structured || d->is_indexed || take_string(c, d->descr, sizeof d->descr);
}

/** Take the value of a key, which must not come twice. */
static bool take_value(pti_text_cursor *c, const char *key, dictionary *d) {
    bool *seen = strcmp(key, "descr") == 0           ? &d->has_descr
                 : strcmp(key, "fortran_order") == 0 ? &d->has_order
                 : strcmp(key, "shape") == 0         ? &d->has_shape
                                                     : NULL;
    if (seen == NULL || *seen)
        return false;
    *seen = true;
    return seen == &d->has_descr   ? take_descr(c, d)
           : seen == &d->has_order ? take_flag(c, &d->fortran_order)
                                   : take_shape(c, d);
}

/** Read the dictionary up to a structured type, which is refused anyway. */
static bool read_dictionary(pti_text_cursor c, dictionary *d) {
    if (!pti_text_cursor_accept(&c, '{'))
        return false;
    bool may_go_on = true;
    while (!d->structured && !pti_text_cursor_accept(&c, '}')) {
        char key[16];
        if (!may_go_on || !take_string(&c, key, sizeof key) || !pti_text_cursor_accept(&c, ':') ||
            !take_value(&c, key, d))
            return false;
        may_go_on = pti_text_cursor_accept(&c, ',');
    }
    pti_text_cursor_skip_space(&c);
    return d->structured || (c.at == c.end && d->has_descr && d->has_order && d->has_shape);
}

/** Types of NumPy that arrays lack, by letter, and how to save their data for polytile. */
static const struct {
    char letter;
    const char *name;
    const char *way_out;
} foreign[] = {
    {'b', "bool", "save them as u8, with numpy.save(path, a.view('u1'))"},
    {'c', "complex numbers of another size", "convert them, as with a.astype('c16')"},
    {'f', "a float of another size", "convert them, as with a.astype('f8')"},
    {'M', "dates", "save them as i64, with numpy.save(path, a.view('i8'))"},
    {'m', "time spans", "save them as i64, with numpy.save(path, a.view('i8'))"},
    {'O', "Python objects", "convert them, as with a.astype('f8')"},
    {'S', "text", "save its bytes, with numpy.save(path, a.view('u1'))"},
    {'U', "text", "save its characters, with numpy.save(path, a.view('u4'))"},
    {'V', "raw bytes", "save them as u8, with numpy.save(path, a.view('u1'))"},
};

enum { N_FOREIGN = sizeof foreign / sizeof *foreign };

static void refuse_type(const dictionary *d, pti_npy_header *header) {
    for (size_t k = 0; d->descr[0] != '\0' && k < N_FOREIGN; k++) {
        if (d->descr[1] != foreign[k].letter)
            continue;
        snprintf(header->refusal, sizeof header->refusal, "has the element type %s ('%s'); %s",
                 foreign[k].name, d->descr, foreign[k].way_out);
        return;
    }
    snprintf(
        header->refusal, sizeof header->refusal,
        "has the element type '%s', which is none of i8 to i64, u8 to u64, f16, f32, f64, c64 and "
        "c128; convert them, as with a.astype('f8')",
        d->descr);
}

static void refuse_order(const dictionary *d, pti_npy_header *header) {
    snprintf(header->refusal, sizeof header->refusal,
             "is big-endian ('%s'); convert it, as with a.astype(a.dtype.newbyteorder('<'))",
             d->descr);
}

static void refuse_fields(const dictionary *d, pti_npy_header *header) {
    const int64_t n_bytes = d->fields_end - d->fields, n_shown = pti_min(n_bytes, 64);
    snprintf(
        header->refusal, sizeof header->refusal,
        "has elements of several fields (a structured dtype, %.*s%s); save one field alone, as "
        "with numpy.save(path, a['NAME'])",
        (int)n_shown, d->fields, n_shown < n_bytes ? "..." : "");
}

static polytile_status judge_type(const dictionary *d, pti_npy_header *header,
                                  const char **reason) {
    *reason = header->refusal;
    if (d->structured)
        refuse_fields(d, header);
    else if (d->descr[0] == '>')
        refuse_order(d, header);
    else if (!d->is_indexed && !find_type(d->descr, &header->type))
        refuse_type(d, header);
    else if (d->fortran_order)
        *reason = "is in Fortran order; save it in C order, as with numpy.ascontiguousarray(a)";
    else {
        header->type = d->is_indexed ? d->indexed : header->type;
        return POLYTILE_OK;
    }
    return POLYTILE_UNSUPPORTED;
}

static polytile_status judge_shape(const dictionary *d, pti_npy_header *header,
                                   const char **reason) {
    *reason = d->n_dims == 0 ? "holds a single number (no dimensions); an array has 1 to 8"
                             : "has more than 8 dimensions";
    if (d->n_dims == 0 || d->n_dims > POLYTILE_MAX_DIMS)
        return POLYTILE_UNSUPPORTED;
    *reason = "says a size that exceeds 64 bits";
    if (d->shape_overflows)
        return POLYTILE_OVERFLOW;
    int64_t bytes = polytile_type_get_bytes(header->type);
    for (int k = 0; k < d->n_dims; k++) {
        if (d->extents[k] == 0) {
            *reason = "has no elements (a dimension of size 0)";
            return POLYTILE_UNSUPPORTED;
        }
        if (pti_mul_overflows(bytes, d->extents[k], &bytes))
            return POLYTILE_OVERFLOW;
    }
    header->domain = polytile_domain_from_extents(d->n_dims, d->extents);
    header->data_bytes = bytes;
    return POLYTILE_OK;
}

static polytile_status refuse_version(int major, pti_npy_header *header, const char **reason) {
    snprintf(header->refusal, sizeof header->refusal,
             "is of version %d of the format, and 1, 2 and 3 are read; save it again with "
             "numpy.save",
             major);
    *reason = header->refusal;
    return POLYTILE_UNSUPPORTED;
}

/** Find the dictionary; versions differ in the width of its length. */
static polytile_status find_dictionary(const unsigned char *bytes, int64_t n_bytes,
                                       pti_text_cursor *text, pti_npy_header *header,
                                       const char **reason) {
    *reason = not_npy;
    if (n_bytes < MAGIC_BYTES || memcmp(bytes, MAGIC, MAGIC_BYTES) != 0)
        return POLYTILE_IO;
    *reason = cut_head;
    if (n_bytes < MAGIC_BYTES + 2)
        return POLYTILE_IO;
    int major = bytes[MAGIC_BYTES];
    if (major < 1 || major > 3)
        return refuse_version(major, header, reason);
    int64_t width = major == 1 ? 2 : 4, length = 0, first = MAGIC_BYTES + 2 + width;
    *reason = cut_head;
    if (n_bytes < first)
        return POLYTILE_IO;
    for (int64_t b = 0; b < width; b++)
        length |= (int64_t)bytes[MAGIC_BYTES + 2 + b] << (8 * b);
    if (length > n_bytes - first)
        return POLYTILE_IO;
    *text = (pti_text_cursor){(const char *)bytes + first, (const char *)bytes + first + length};
    return POLYTILE_OK;
}

polytile_status pti_npy_header_read(const unsigned char *bytes, int64_t n_bytes,
                                    pti_npy_header *header, const char **reason) {
    pti_text_cursor text;
    dictionary d = {0};
    polytile_status status = find_dictionary(bytes, n_bytes, &text, header, reason);
    if (status != POLYTILE_OK)
        return status;
    header->data_offset = text.end - (const char *)bytes;
    *reason = bad_head;
    if (!read_dictionary(text, &d))
        return POLYTILE_IO;
    status = judge_type(&d, header, reason);
    return status == POLYTILE_OK ? judge_shape(&d, header, reason) : status;
}

/** Append to the head's text, which always fits. */
static void append_text(char *bytes, int *length, const char *text) {
    *length += snprintf(bytes + *length, (size_t)(PTI_NPY_HEADER_CAPACITY - *length), "%s", text);
}

polytile_status pti_npy_header_check(polytile_context *ctx, const char *path,
                                     const pti_npy_header *header, int64_t file_bytes) {
    const int64_t there_bytes = file_bytes - header->data_offset;
    if (header->data_bytes <= there_bytes)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_IO,
                    "%s: is truncated: its header says %" PRId64
                    " bytes of elements, the file has %" PRId64,
                    path, header->data_bytes, there_bytes);
}

/** Append '<f4', or the fields of a value and an index. */
static void append_descr(char *bytes, int *length, polytile_type type) {
    const int scalar = pti_type_indexed(type);
    char descr[8], text[64], padding[24] = "";
    write_descr(scalar < 0 ? type : scalar, descr);
    if (scalar >= 0 && types[scalar].bytes < PTI_INDEX_OFFSET)
        snprintf(padding, sizeof padding, "('', '|V%d'), ",
                 PTI_INDEX_OFFSET - (int)types[scalar].bytes);
    if (scalar < 0)
        snprintf(text, sizeof text, "'%s'", descr);
    else
        snprintf(text, sizeof text, "[('value', '%s'), %s('index', '<i8')]", descr, padding);
    append_text(bytes, length, text);
}

void pti_npy_header_write(pti_npy_header *header, char bytes[PTI_NPY_HEADER_CAPACITY]) {
    enum { FIRST = MAGIC_BYTES + 4 };
    char number[32];
    int length = FIRST;
    append_text(bytes, &length, "{'descr': ");
    append_descr(bytes, &length, header->type);
    append_text(bytes, &length, ", 'fortran_order': False, 'shape': (");
    for (int d = 0; d < header->domain.n_dims; d++) {
        const char *after = d + 1 < header->domain.n_dims ? ", "
                            : header->domain.n_dims == 1  ? ","
                                                          : "";
        snprintf(number, sizeof number, "%" PRId64 "%s", pti_range_count(header->domain.range[d]),
                 after);
        append_text(bytes, &length, number);
    }
    append_text(bytes, &length, "), }");
    int total = (int)pti_ceil_div(length + 1, ALIGNMENT) * ALIGNMENT;
    memset(bytes + length, ' ', (size_t)(total - length));
    bytes[total - 1] = '\n';
    memcpy(bytes, MAGIC "\x01", MAGIC_BYTES + 1);
    bytes[MAGIC_BYTES + 1] = 0;
    bytes[MAGIC_BYTES + 2] = (char)((total - FIRST) & 0xff);
    bytes[MAGIC_BYTES + 3] = (char)((total - FIRST) >> 8);
    header->data_offset = total;
}
