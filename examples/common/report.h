#ifndef EXAMPLES_REPORT_H
#define EXAMPLES_REPORT_H

#include "session.h"

/** The figures for people, several lines on stdout. */
void report_text(const session *s, const result *r);

/** The figures as one JSON object on one line of stdout. */
void report_json(const session *s, const result *r);

/** Add a launch to the sum over a repetition's launches; peaks do not add up. */
void report_add(polytile_report *sum, const polytile_report *launch);

/** Keep a repetition if it is the first or the fastest. */
void report_keep_fastest(result *r, const polytile_report *repetition);

#endif
