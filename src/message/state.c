#include "message/state.h"

#include "base/clock.h"
#include <polytile/message.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void pti_server_wake(pti_server *server, int participant) {
    pti_participant *of = &server->participant[participant];
    if (of->word != NULL)
        pthread_cond_signal(&of->wake);
}

void pti_server_call_carrier(pti_server *server) {
    if (server->processes != NULL)
        pthread_cond_signal(&pti_program_of(server)->wake);
}

void pti_server_tell_still(pti_server *server) {
    if (server->n_ended < server->n_here && !server->is_ending)
        return;
    pti_server_call_carrier(server);
    pthread_cond_broadcast(&server->changed);
}

void pti_server_lock(pti_server *server) {
    enum { N_TRIES = 500 };
    for (int k = 0; k < N_TRIES; k++)
        if (pthread_mutex_trylock(&server->mutex) == 0)
            return;
    pthread_mutex_lock(&server->mutex);
}

void pti_server_note_progress(pti_server *server) {
    server->progress_s = pti_coarse_now_s();
    if (server->processes != NULL)
        server->processes->own_progress_s = server->progress_s;
    server->n_polls = 0;
}

void pti_server_end(pti_server *server, polytile_status status, const char *format, ...) {
    va_list arguments;
    if (server->is_ending)
        return;
    va_start(arguments, format);
    vsnprintf(server->text, sizeof server->text, format, arguments);
    va_end(arguments);
    server->status = status;
    server->is_ending = true;
    for (int k = 0; k < server->n_parts; k++)
        if (server->part[k].words != NULL)
            PT_STORE_RELEASE(&server->part[k].words->ending, 1);
    for (int p = 0; p <= server->n_slots; p++)
        pti_server_wake(server, p);
    pti_server_call_carrier(server);
    pthread_cond_broadcast(&server->changed);
}

void pti_posts_append(pti_posts *posts, pti_post *post) {
    post->next = NULL;
    if (posts->first == NULL)
        posts->first = post;
    else
        posts->last->next = post;
    posts->last = post;
}

pti_post *pti_posts_take(pti_posts *posts, pti_post **at) {
    pti_post *taken = *at;
    *at = taken->next;
    if (posts->last == taken)
        posts->last =
            at == &posts->first ? NULL : (pti_post *)((char *)at - offsetof(pti_post, next));
    return taken;
}

pti_post *pti_post_make(pti_server *server, const pti_post *as) {
    pti_post *made = server->spare;
    if (made != NULL)
        server->spare = made->next;
    else
        made = malloc(sizeof *made);
    if (made != NULL)
        *made = *as;
    return made;
}

bool pti_post_keep(pti_post *post) {
    post->kept = post->n_bytes <= PTI_SMALL_BYTES ? post->small : malloc((size_t)post->n_bytes);
    return post->kept != NULL;
}

void pti_post_free(pti_server *server, pti_post *post) {
    if (post == NULL)
        return;
    if (post->kept != post->small)
        free(post->kept);
    post->next = server->spare;
    server->spare = post;
}

void pti_posts_free_spare(pti_server *server) {
    while (server->spare != NULL) {
        pti_post *post = server->spare;
        server->spare = post->next;
        free(post);
    }
}

void pti_post_forget(pti_server *server, pti_post *post) {
    if (post != NULL && post->request != PT_NO_REQUEST)
        server->participant[post->owner].request[post->request] = NULL;
    pti_post_free(server, post);
}

pti_participant_name pti_name_participant(const pti_server *server, int participant) {
    pti_participant_name name;
    if (participant == PT_ANY)
        snprintf(name.text, sizeof name.text, "anyone");
    else if (participant == server->n_slots)
        snprintf(name.text, sizeof name.text, "the program");
    else
        snprintf(name.text, sizeof name.text, "slot %d", participant);
    return name;
}
