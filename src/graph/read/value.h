#ifndef POLYTILE_GRAPH_READ_VALUE_H
#define POLYTILE_GRAPH_READ_VALUE_H

#include <polytile/launch.h>
#include <stdbool.h>

/* Values of attributes. Each function returns false where the text is none. */

/** A whole number in lo .. hi. */
bool pti_value_integer(const char *text, int64_t lo, int64_t hi, int64_t *value);

/** "512x512", from 0, or "1:8190,0:99", both ends included; a third number is the step. */
bool pti_value_domain(const char *text, polytile_domain *domain);

/** "n=100, a=2.5". Names are copied after *names, which has room for the text and its end. */
bool pti_value_parameters(const char *text, char *names, int *n, polytile_parameter *parameters);

/** "50GB/s" or "50GiB/s", in bytes a second, above 0. */
bool pti_value_rate(const char *text, double *bytes_per_s);

/** "5us", at least 0; a number alone is in seconds. */
bool pti_value_seconds(const char *text, double *seconds);

#endif
