#include "queue/cache.h"

#include "launch/device/completeness.h"
#include "queue/queue.h"

pti_prepared *pti_cache_find(const polytile_queue *queue, const pti_request *request,
                             uint64_t hash) {
    pti_prepared *prepared = queue->prepared[hash % PTI_PREPARED_BUCKETS];
    while (prepared != NULL && (prepared->hash != hash || !pti_prepared_is_for(prepared, request)))
        prepared = prepared->next;
    return prepared;
}

static bool is_related(const pti_prepared *prepared, const pti_request *request) {
    if (prepared->all_fit)
        return false;
    for (int a = 0; a < request->kernel->declaration->n_arrays; a++) {
        if (request->arrays[a] != NULL && pti_prepared_uses(prepared, request->arrays[a]->position))
            return true;
    }
    return false;
}

const pti_prepared *pti_cache_find_related(const polytile_queue *queue,
                                           const pti_request *request) {
    const pti_prepared *latest = NULL;
    for (int bucket = 0; bucket < PTI_PREPARED_BUCKETS; bucket++) {
        for (const pti_prepared *next = queue->prepared[bucket]; next != NULL; next = next->next) {
            if ((latest == NULL || next->last_used > latest->last_used) &&
                is_related(next, request))
                latest = next;
        }
    }
    return latest;
}

static bool is_cut_as(const pti_prepared *cut, const pti_prepared *prepared) {
    return !cut->all_fit && !prepared->all_fit && cut->arena_bytes == prepared->arena_bytes &&
           cut->partition.n_superblocks > 0 && pti_prepared_is_twin(cut, prepared);
}

const pti_prepared *pti_cache_find_twin(const polytile_queue *queue, const pti_prepared *prepared,
                                        const pti_prepared *related) {
    const pti_prepared *twin = NULL;
    if (related != NULL)
        return is_cut_as(related, prepared) ? related : NULL;
    for (int k = 0; twin == NULL && k < PTI_MAX_VICTIMS; k++)
        if (queue->victim[k] != NULL && queue->victim[k]->is_cut_apart &&
            is_cut_as(queue->victim[k], prepared))
            twin = queue->victim[k];
    for (int bucket = 0; twin == NULL && bucket < PTI_PREPARED_BUCKETS; bucket++)
        for (const pti_prepared *next = queue->prepared[bucket]; next != NULL; next = next->next)
            if (next->is_cut_apart && is_cut_as(next, prepared))
                twin = next;
    return twin;
}

static bool overwrites_array(const pti_prepared *prepared, int position) {
    for (int a = 0; a < prepared->n_arrays; a++) {
        if (prepared->position[a] == position && prepared->instance->operand[a].writes &&
            pti_completeness_is_overwritten(prepared->instance, a))
            return true;
    }
    return false;
}

bool pti_cache_is_overwritten(polytile_queue *queue, int position) {
    bool is_overwritten = false;
    pthread_mutex_lock(&queue->mutex);
    for (int bucket = 0; bucket < PTI_PREPARED_BUCKETS && !is_overwritten; bucket++) {
        for (const pti_prepared *next = queue->prepared[bucket]; next != NULL; next = next->next)
            is_overwritten |= next->n_items > 0 && overwrites_array(next, position);
    }
    pthread_mutex_unlock(&queue->mutex);
    return is_overwritten;
}

/* By when they were used last. */

static void link_newest(polytile_queue *queue, pti_prepared *prepared) {
    prepared->older = queue->newest_used;
    prepared->newer = NULL;
    if (queue->newest_used != NULL)
        queue->newest_used->newer = prepared;
    else
        queue->oldest_used = prepared;
    queue->newest_used = prepared;
}

static void unlink_used(polytile_queue *queue, pti_prepared *prepared) {
    if (prepared->older != NULL)
        prepared->older->newer = prepared->newer;
    else
        queue->oldest_used = prepared->newer;
    if (prepared->newer != NULL)
        prepared->newer->older = prepared->older;
    else
        queue->newest_used = prepared->older;
}

void pti_cache_use(polytile_queue *queue, pti_prepared *prepared, int64_t number) {
    unlink_used(queue, prepared);
    link_newest(queue, prepared);
    prepared->last_used = number;
}

/** The launch that was not used for longest and is not queued; NULL: all are queued. The mutex is
 * locked. */
static pti_prepared *find_oldest(const polytile_queue *queue) {
    pti_prepared *oldest = queue->oldest_used;
    while (oldest != NULL && oldest->n_items > 0)
        oldest = oldest->newer;
    return oldest;
}

static pti_prepared *take_out(polytile_queue *queue, pti_prepared **at) {
    pti_prepared *prepared = *at;
    *at = prepared->next;
    unlink_used(queue, prepared);
    queue->n_prepared--;
    return prepared;
}

/** Where the cache points to a launch that is in it. */
static pti_prepared **find_place(polytile_queue *queue, const pti_prepared *prepared) {
    pti_prepared **at = &queue->prepared[prepared->hash % PTI_PREPARED_BUCKETS];
    while (*at != prepared)
        at = &(*at)->next;
    return at;
}

static void evict_oldest_prepared(polytile_queue *queue) {
    pti_prepared *oldest = NULL;
    pthread_mutex_lock(&queue->mutex);
    do {
        oldest = queue->n_prepared < PTI_MAX_PREPARED ? NULL : find_oldest(queue);
        if (oldest != NULL)
            pti_prepared_free(take_out(queue, find_place(queue, oldest)));
    } while (oldest != NULL);
    pthread_mutex_unlock(&queue->mutex);
}

void pti_cache_add(polytile_queue *queue, pti_prepared *prepared) {
    evict_oldest_prepared(queue);
    pti_prepared **bucket = &queue->prepared[prepared->hash % PTI_PREPARED_BUCKETS];
    prepared->next = *bucket;
    *bucket = prepared;
    link_newest(queue, prepared);
    queue->n_prepared++;
}

void pti_cache_drop(polytile_queue *queue, const pti_prepared *prepared) {
    pti_prepared_free(take_out(queue, find_place(queue, prepared)));
}

void pti_queue_forget_prepared(polytile_queue *queue, int position) {
    pti_victims_forget(queue, position);
    for (int bucket = 0; bucket < PTI_PREPARED_BUCKETS; bucket++) {
        pti_prepared **at = &queue->prepared[bucket];
        while (*at != NULL) {
            if (position < 0 || pti_prepared_uses(*at, position))
                pti_victims_add(queue, take_out(queue, at), position);
            else
                at = &(*at)->next;
        }
    }
}
