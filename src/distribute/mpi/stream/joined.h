#ifndef POLYTILE_DISTRIBUTE_MPI_STREAM_JOINED_H
#define POLYTILE_DISTRIBUTE_MPI_STREAM_JOINED_H

#include "distribute/mpi/transport_mpi.h"
#include "graph/stream/stream.h"

/* distribute/mpi/stream: streams whose graphs have units of several ranks. A frame that goes from
 * rank to rank is a message, and how far the readers at its target are is another one. All of that
 * is sent and received by the program's thread, inside the calls of a stream. */

/** Tags. A task's words have one, and its frames the next one. */
enum { PTI_TAG_WORDS, PTI_TAG_DROPS, PTI_TAG_TASKS };

/** A rank's way to its end. */
typedef enum pti_joined_stage {
    PTI_JOINED_RUNS,
    PTI_JOINED_ENDS,    /* its program does nothing more, but frames of others go on */
    PTI_JOINED_STOPPED, /* these are its last words */
    PTI_JOINED_CLEARED  /* after a failure: nothing comes into its memory any more */
} pti_joined_stage;

/** How far a rank is, as it tells others; behind that the rounds of each task, and a failure. */
typedef enum pti_told_word {
    PTI_TOLD_STAGE, /* a pti_joined_stage */
    PTI_TOLD_PUSHED,
    PTI_TOLD_PULLED,
    PTI_TOLD_DECIDED,
    PTI_N_TOLD_WORDS
} pti_told_word;

/** What has failed of MPI, and on which rank; "": nothing. It goes behind the words. */
typedef struct pti_joined_failure {
    char text[192];
} pti_joined_failure;
enum { PTI_N_FAILURE_WORDS = sizeof(pti_joined_failure) / sizeof(int64_t) };

/** What a lost frame brings in place of its bytes. */
typedef struct pti_lost_note {
    int failed_task;
    pti_error error;
} pti_lost_note;

/** A link's transfer under way. A word goes before a frame's bytes; 1: the frame is lost, and a
 * note follows in place of them. */
typedef struct pti_joined_lane {
    bool has_come; /* a frame's word: it is taken once the cycle allows it */
    int come_task;
    MPI_Message come;
    bool is_under_way;
    pti_crossing crossing;
    int64_t word;
    pti_lost_note note;
    int n_requests;
    MPI_Request *request; /* of the word, and of each chunk of the bytes; borrowed */
} pti_joined_lane;

/** The ranks of a stream on a communicator. */
typedef struct pti_joined_ranks {
    pti_stream_ranks ranks;
    polytile_context *ctx;
    MPI_Comm comm; /* its own; errors are returned */
    pti_joined_stage stage;
    pti_joined_failure failure;
    bool is_failing; /* MPI has failed on this rank */
    bool is_joined;  /* all ranks have made their streams: they also end them together */
    int n_tasks;
    int n_lanes;
    pti_joined_lane *lane; /* one a lane of the stream; owned, as all lists */
    size_t n_requests;     /* of all lanes together, each as many */
    MPI_Request *request;  /* of all lanes */
    bool *must_tell;       /* of each rank and task */
    int64_t *told;         /* words to each rank, on their way or as they were last */
    MPI_Request *telling;  /* of each rank */
    int64_t *said;         /* whether a frame is dropped, on its way */
    MPI_Request *saying;   /* of these words, to each rank */
    int64_t *heard;        /* words as they come */
} pti_joined_ranks;

static inline int pti_n_told_words(const pti_joined_ranks *joined) {
    return PTI_N_TOLD_WORDS + joined->n_tasks + PTI_N_FAILURE_WORDS;
}

/** Return where the words of a failure stand. */
static inline int pti_failure_place(const pti_joined_ranks *joined) {
    return PTI_N_TOLD_WORDS + joined->n_tasks;
}

/** The functions of what carries frames; see graph/stream/stream.h. */
extern const pti_stream_ranks_functions pti_joined_functions;

/* failed.c */

/** Return whether MPI has failed on a rank, as far as this one has heard. */
bool pti_joined_has_failed(const pti_joined_ranks *joined);
/** Note that a call of MPI has failed here, whose status that is. */
void pti_joined_note_failure(pti_joined_ranks *joined, polytile_status status);
/** Return the error of a stream that has failed, on whichever rank. */
polytile_status pti_joined_fail(const pti_joined_ranks *joined, const polytile_stream *stream);
/** Return until when a rank waits for others on which MPI fails, and whether that is over. */
double pti_joined_end_of_patience(void);
bool pti_joined_gives_up(const pti_joined_ranks *joined, double end_s);

/* frames.c */

/** Find out whether requests are done; those that are none are. Errors: DEVICE. */
polytile_status pti_joined_test(pti_joined_ranks *joined, int n, MPI_Request *requests,
                                bool *are_done);

/** Begin and end what transfers of frames can. Errors: DEVICE. */
polytile_status pti_joined_move_frames(pti_joined_ranks *joined, polytile_stream *stream,
                                       bool *has_moved);
/** The same while streams end: frames come, and are forgotten; none is sent. *is_done: all that
 * was sent is there. */
polytile_status pti_joined_drain_frames(pti_joined_ranks *joined, polytile_stream *stream,
                                        bool *is_done);

/* words.c */

/** Tell other ranks how far this one is, as far as that has changed, and hear them. */
polytile_status pti_joined_exchange_words(pti_joined_ranks *joined, polytile_stream *stream,
                                          bool *has_moved);
/** Return whether no rank waits for words that were not sent. */
bool pti_joined_has_told(pti_stream_ranks *ranks, polytile_stream *stream);
polytile_status pti_joined_agree_to_drop(pti_stream_ranks *ranks, const polytile_stream *stream,
                                         bool *drops, bool *is_known);
/** The stream ends: say so to all, once a stage, and hear them. *is_done: all have said it, and
 * heard this rank. */
polytile_status pti_joined_exchange_last_words(pti_joined_ranks *joined, polytile_stream *stream,
                                               bool *is_done);

/* abandon.c */

/** Give up what is under way. */
void pti_joined_abandon(pti_joined_ranks *joined, polytile_stream *stream);

#endif
