#include "report/event.h"

#include <math.h>
#include <string.h>

/* JSON of one event. jansson would make an object of each value, and drops bytes of texts where
 * memory runs out. */

/** How deep objects and lists may lie in one another. */
enum { MOST_DEPTH = 64 };

/** Where an object lies: the event itself, its args, or what nobody asks for. */
typedef enum object_place { IN_EVENT, IN_ARGS, ELSEWHERE } object_place;

/** An event while it is parsed. */
typedef struct parser {
    char *at;
    const char *end;
    int depth;
    const char *why; /* NULL: all is well so far */
    pti_trace_event *to;
} parser;

/** What the value of a member is. */
typedef enum member_kind { A_TEXT, A_NUMBER, THE_ARGS } member_kind;

/** The members of an event that a report wants. */
static const struct {
    object_place in;
    const char *key;
    member_kind kind;
    size_t offset;
} members[] = {
#define TEXT(in, key, member)                                                                      \
    { in, key, A_TEXT, offsetof(pti_trace_event, member) }
#define NUMBER(in, key, member)                                                                    \
    { in, key, A_NUMBER, offsetof(pti_trace_event, member) }
    TEXT(IN_EVENT, "name", name),
    TEXT(IN_EVENT, "cat", category),
    TEXT(IN_EVENT, "ph", phase),
    NUMBER(IN_EVENT, "ts", ts),
    NUMBER(IN_EVENT, "dur", dur),
    NUMBER(IN_EVENT, "pid", pid),
    NUMBER(IN_EVENT, "tid", tid),
    {IN_EVENT, "args", THE_ARGS, 0},
    TEXT(IN_ARGS, "name", given_name),
    NUMBER(IN_ARGS, "bytes", bytes),
    NUMBER(IN_ARGS, "sort_index", sort_index),
    NUMBER(IN_ARGS, "limit_bytes", limit_bytes),
    NUMBER(IN_ARGS, "upload_bytes_per_s", upload_bytes_per_s),
    NUMBER(IN_ARGS, "download_bytes_per_s", download_bytes_per_s),
    NUMBER(IN_ARGS, "run", run),
    NUMBER(IN_ARGS, "launches", launches),
    NUMBER(IN_ARGS, "superblocks", superblocks),
    NUMBER(IN_ARGS, "peak_bytes", peak_bytes),
    NUMBER(IN_ARGS, "planned_bytes", planned_bytes),
    NUMBER(IN_ARGS, "bound_bytes", bound_bytes),
#undef TEXT
#undef NUMBER
};

enum { N_MEMBERS = sizeof members / sizeof *members };

static void parse_value(parser *p, int member);

static void fail_at_byte(parser *p, const char *why) {
    p->why = p->why == NULL ? why : p->why;
}

static char peek_byte(const parser *p) {
    return p->at < p->end ? *p->at : '\0';
}

static void skip_blanks(parser *p) {
    while (peek_byte(p) == ' ' || peek_byte(p) == '\n' || peek_byte(p) == '\t' ||
           peek_byte(p) == '\r')
        p->at++;
}

/** Go on behind a byte that has to come. */
static bool take_byte(parser *p, char byte, const char *why) {
    skip_blanks(p);
    if (p->why == NULL && peek_byte(p) == byte && p->at < p->end) {
        p->at++;
        return true;
    }
    fail_at_byte(p, why);
    return false;
}

/* Texts. */

static int digit_of(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 'a' ^ 'A';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/** Return the number of four hexadecimal digits behind "\u". */
static uint32_t parse_unit(parser *p) {
    uint32_t unit = 0;
    for (int k = 0; k < 4; k++) {
        const int digit = digit_of(peek_byte(p));
        if (digit < 0) {
            fail_at_byte(p, "\\u has four digits");
            return 0;
        }
        unit = unit << 4 | (uint32_t)digit;
        p->at++;
    }
    return unit;
}

/** Return the character behind "\u", of one unit or of two. */
static uint32_t parse_character(parser *p) {
    const uint32_t unit = parse_unit(p);
    if (unit < 0xD800 || unit > 0xDFFF)
        return unit;
    if (unit > 0xDBFF || p->end - p->at < 6 || p->at[0] != '\\' || p->at[1] != 'u') {
        fail_at_byte(p, "a surrogate stands alone");
        return 0;
    }
    p->at += 2;
    const uint32_t low = parse_unit(p);
    if (low < 0xDC00 || low > 0xDFFF)
        fail_at_byte(p, "a surrogate stands alone");
    return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
}

/** Write a character as UTF-8, which is no longer than what it was escaped as; return its end. */
static char *write_character(char *to, uint32_t c) {
    static const unsigned char heads[] = {0, 0xC0, 0xE0, 0xF0};
    const int n_more = (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);
    *to++ = (char)(heads[n_more] | c >> 6 * n_more);
    for (int k = n_more - 1; k >= 0; k--)
        *to++ = (char)(0x80 | (c >> 6 * k & 0x3F));
    return to;
}

static char *parse_escape(parser *p, char *to) {
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char c = peek_byte(p);
    const char *found = c == '\0' ? NULL : strchr(escapes, c);
    p->at += p->at < p->end;
    if (found != NULL) {
        *to = meant[found - escapes];
        return to + 1;
    }
    const uint32_t character = c == 'u' ? parse_character(p) : 0;
    if (character == 0)
        fail_at_byte(p, "an escape is none");
    return write_character(to, character);
}

/** Parse a text behind its first quote, in place. */
static const char *parse_text(parser *p) {
    char *begin = p->at, *to = begin;
    while (p->why == NULL) {
        const char c = peek_byte(p);
        if (c == '"') {
            p->at++;
            *to = '\0';
            return begin;
        }
        if (p->at == p->end || (unsigned char)c < ' ') {
            fail_at_byte(p, "a text has a control character, or no end");
            break;
        }
        p->at++;
        if (c == '\\')
            to = parse_escape(p, to);
        else
            *to++ = c;
    }
    return NULL;
}

/* Numbers. */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/** Take digits as further ones of a number; its decimal places are counted. */
static void parse_digits(parser *p, pti_event_number *number, bool are_decimals, int *exponent) {
    if (!is_digit(peek_byte(p)))
        fail_at_byte(p, "a number lacks a digit");
    for (; is_digit(peek_byte(p)); p->at++) {
        const int digit = *p->at - '0';
        number->real = 10 * number->real + digit;
        *exponent -= are_decimals;
        number->is_whole &= !are_decimals &&
                            !__builtin_mul_overflow(number->whole, 10, &number->whole) &&
                            !__builtin_add_overflow(number->whole, digit, &number->whole);
    }
}

static int parse_exponent(parser *p) {
    enum { BEYOND_ANY = 10000 };
    const bool is_negative = peek_byte(p) == '-';
    int exponent = 0;
    p->at += is_negative || peek_byte(p) == '+';
    if (!is_digit(peek_byte(p)))
        fail_at_byte(p, "an exponent lacks a digit");
    for (; is_digit(peek_byte(p)); p->at++)
        exponent = exponent < BEYOND_ANY ? 10 * exponent + (*p->at - '0') : exponent;
    return is_negative ? -exponent : exponent;
}

/** Digits are added up as a double, so that a number of more than 15 is right but for its last. */
static pti_event_number parse_number(parser *p) {
    pti_event_number number = {.is_there = true, .is_whole = true};
    const bool is_negative = peek_byte(p) == '-';
    int exponent = 0;
    p->at += is_negative;
    parse_digits(p, &number, false, &exponent);
    if (peek_byte(p) == '.') {
        p->at++;
        number.is_whole = false;
        parse_digits(p, &number, true, &exponent);
    }
    if (peek_byte(p) == 'e' || peek_byte(p) == 'E') {
        p->at++;
        number.is_whole = false;
        exponent += parse_exponent(p);
    }
    if (number.real > 0 && exponent != 0)
        number.real =
            exponent < 0 ? number.real / pow(10, -exponent) : number.real * pow(10, exponent);
    number.real = is_negative ? -number.real : number.real;
    number.whole = is_negative && number.is_whole ? -number.whole : number.whole;
    return number;
}

/* Values. */

static void parse_word(parser *p) {
    static const char *const words[] = {"true", "false", "null"};
    for (int k = 0; k < 3; k++) {
        const size_t length = strlen(words[k]);
        if ((size_t)(p->end - p->at) >= length && memcmp(p->at, words[k], length) == 0) {
            p->at += length;
            return;
        }
    }
    fail_at_byte(p, "a value is none");
}

static int find_member(object_place in, const char *key) {
    int k = 0;
    while (k < N_MEMBERS && (members[k].in != in || strcmp(members[k].key, key) != 0))
        k++;
    return k;
}

static void parse_object(parser *p, object_place in) {
    skip_blanks(p);
    if (peek_byte(p) == '}') {
        p->at++;
        return;
    }
    do {
        const char *key = take_byte(p, '"', "a member has no name") ? parse_text(p) : NULL;
        if (key == NULL || !take_byte(p, ':', "a member has no colon"))
            return;
        parse_value(p, find_member(in, key));
        skip_blanks(p);
    } while (p->why == NULL && peek_byte(p) == ',' && p->at++ != NULL);
    take_byte(p, '}', "an object has no end");
}

static void parse_list(parser *p) {
    skip_blanks(p);
    if (peek_byte(p) == ']') {
        p->at++;
        return;
    }
    do {
        parse_value(p, N_MEMBERS);
        skip_blanks(p);
    } while (p->why == NULL && peek_byte(p) == ',' && p->at++ != NULL);
    take_byte(p, ']', "a list has no end");
}

/** Parse what lies within other values. */
static void parse_within(parser *p, int member) {
    const bool is_object = *p->at++ == '{';
    if (++p->depth > MOST_DEPTH)
        fail_at_byte(p, "values lie in one another too deeply");
    else if (is_object)
        parse_object(p,
                     member < N_MEMBERS && members[member].kind == THE_ARGS ? IN_ARGS : ELSEWHERE);
    else
        parse_list(p);
    p->depth--;
}

/** Parse a value, and keep it for its member, N_MEMBERS: of none. */
static void parse_value(parser *p, int member) {
    char *to = (char *)p->to + (member < N_MEMBERS ? members[member].offset : 0);
    const bool is_wanted = member < N_MEMBERS;
    skip_blanks(p);
    const char c = peek_byte(p);
    if (c == '{' || c == '[') {
        parse_within(p, member);
    } else if (c == '"') {
        p->at++;
        const char *text = parse_text(p);
        if (is_wanted && members[member].kind == A_TEXT)
            *(const char **)(void *)to = text;
    } else if (c == '-' || is_digit(c)) {
        const pti_event_number number = parse_number(p);
        if (is_wanted && members[member].kind == A_NUMBER)
            *(pti_event_number *)(void *)to = number;
    } else {
        parse_word(p);
    }
}

const char *pti_trace_event_parse(char *text, size_t n_bytes, pti_trace_event *event,
                                  size_t *place) {
    parser p = {.at = text, .end = n_bytes > 0 ? text + n_bytes : text, .to = event};
    *event = (pti_trace_event){0};
    if (take_byte(&p, '{', "it is no object"))
        parse_object(&p, IN_EVENT);
    skip_blanks(&p);
    if (p.why == NULL && p.at < p.end)
        fail_at_byte(&p, "something follows");
    *place = (size_t)(p.at - text);
    return p.why;
}
