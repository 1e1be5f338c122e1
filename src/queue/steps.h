#ifndef POLYTILE_QUEUE_STEPS_H
#define POLYTILE_QUEUE_STEPS_H

#include "queue/queue.h"

/* Steps of a window, on a device with memory of its own: planned as one schedule, and run. */

typedef struct pti_steps {
    int n_steps;
    pti_step *step;
    const pti_prepared **prepared; /* one a step; NULL: no launch */
    pti_asked *asked;              /* one a step */
    const pti_step **behind; /* of each position the first step behind these that uses it; NULL, or
                                one of them: none is known */
    pti_step *known_behind;  /* the steps that these are */
    int n_launches;
    pti_body *body;         /* one a launch, in order */
    const char *name;       /* of the first launch, for errors; NULL: there is none */
    double plan_s;          /* that planning took */
    polytile_report report; /* of the run */
} pti_steps;

/** Room for n_steps of them; freed with pti_steps_free(). False when memory runs out. */
bool pti_steps_create(int n_steps, pti_steps *steps);
void pti_steps_free(pti_steps *steps);

void pti_steps_add_launch(pti_steps *steps, const pti_prepared *prepared);
/** kind: any other; boxes: fetch and renew, borrowed, else NULL. */
void pti_steps_add(pti_steps *steps, pti_step_kind kind, int position, const pti_boxes *boxes);

/** Note what comes behind, as far as the queue has noted it and memory allows. */
void pti_steps_note_behind(pti_steps *steps, const polytile_queue *queue);

/** Some of the steps, which they share; not to be freed. */
pti_steps pti_steps_part(const pti_steps *steps, int first, int end);

/**
 * Plan the steps, going on from what is resident, and run them: chains of launches slab by slab,
 * the others one after the other.
 *
 * After an error of planning or running nothing is resident. What lay on the device before is
 * brought to the host if the run left it alone; the arrays that lost elements, or that it had begun
 * to write, are marked incomplete and named in the text.
 */
polytile_status pti_steps_run(polytile_queue *queue, pti_steps *steps);

/** Bring everything back to the host, so that nothing is resident. Errors as pti_steps_run(). */
polytile_status pti_steps_flush(polytile_queue *queue, polytile_report *report);

/** The same after a failure, whose status is returned and whose text stays the first. What cannot
 * be brought back is lost. */
polytile_status pti_leave_nothing(polytile_queue *queue, polytile_status status,
                                  polytile_report *report);

/** Take an array's memory out of the program's reach again, if it is guarded. Should that fail it
 * is only told: nothing is wrong with the results. */
void pti_close_guard(polytile_queue *queue, int position);

/** Add up runs; of peak_device_bytes the larger counts. */
void pti_report_add(polytile_report *sum, const polytile_report *part);

#endif
