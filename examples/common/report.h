#ifndef EXAMPLES_REPORT_H
#define EXAMPLES_REPORT_H

#include "session.h"

/** Print the figures for people, several lines on stdout. */
void report_text(const session *s, const result *r);

/** Print the figures as one JSON object on one line of stdout. */
void report_json(const session *s, const result *r);

/** Report what a queue did since the last report, as one run of all devices and ranks, in the time
 * that the program measured; collective. lower_bound_bytes: what all of it must move. */
polytile_report report_of_queue(session *s, double total_s, int64_t lower_bound_bytes);

/** Keep a repetition if it is the first or the fastest. */
void report_keep_fastest(result *r, const polytile_report *repetition);

#endif
