#include "launch/peers/peers_state.h"

#include <stdlib.h>
#include <string.h>

/* Find the uploads that several schedules share, and one order of them for all. */

/** Uploads farther apart in their schedules than this part of them, and than a few operations, are
 * not shared: one device would wait for the other as long. */
static const double most_apart = 1.0 / 16;
enum { FEW_OPERATIONS = 8 };

/** An upload that several devices make. */
typedef struct group {
    int n;
    const pti_offer *offer[PTI_MOST_PEERS];
    double progress; /* of the one that comes to it last */
} group;

/** The offers of all devices, and what they have in common. */
typedef struct matching {
    pti_offer *offer; /* those of one box side by side; owned */
    int n_offers;
    group *group; /* owned */
    int n_groups;
} matching;

static int compare_keys(const pti_offer *a, const pti_offer *b) {
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return pti_box_compare(&a->box, &b->box);
}

static int compare_offers(const void *first, const void *second) {
    const pti_offer *a = first, *b = second;
    int keys = compare_keys(a, b);
    if (keys != 0)
        return keys;
    if (a->peer != b->peer)
        return a->peer - b->peer;
    return a->op < b->op ? -1 : a->op > b->op;
}

static int compare_groups(const void *first, const void *second) {
    const group *a = first, *b = second;
    if (a->progress != b->progress)
        return a->progress < b->progress ? -1 : 1;
    return compare_offers(a->offer[0], b->offer[0]);
}

/** Collect the offers of all peers that meet, those of the same elements side by side. */
static bool collect_offers(const pti_peers *peers, matching *of) {
    int n = 0;
    for (int p = 0; p < peers->n_peers; p++)
        n += peers->peer[p].is_offering ? peers->peer[p].n_offers : 0;
    of->offer = calloc((size_t)n + 1, sizeof *of->offer);
    of->group = calloc((size_t)n + 1, sizeof *of->group);
    if (of->offer == NULL || of->group == NULL)
        return false;
    for (int p = 0; p < peers->n_peers; p++) {
        const pti_peer *peer = &peers->peer[p];
        for (int k = 0; peer->is_offering && k < peer->n_offers; k++) {
            of->offer[of->n_offers] = peer->offer[k];
            of->offer[of->n_offers++].peer = p;
        }
    }
    qsort(of->offer, (size_t)of->n_offers, sizeof *of->offer, compare_offers);
    return true;
}

/** Find where each device's offers of one box begin in offers[first .. end - 1], and where the last
 * device's end. */
static void find_begins(const pti_offer *offers, int first, int end, int n_peers, int *begin) {
    begin[0] = first;
    for (int p = 0; p < n_peers; p++) {
        int k = begin[p];
        while (k < end && offers[k].peer == p)
            k++;
        begin[p + 1] = k;
    }
}

static bool are_offers_near(const pti_offer *a, const pti_offer *b) {
    double apart =
        a->progress < b->progress ? b->progress - a->progress : a->progress - b->progress;
    int64_t operations = a->op < b->op ? b->op - a->op : a->op - b->op;
    return apart <= most_apart || operations <= FEW_OPERATIONS;
}

static void add_to(group *of, const pti_offer *offer) {
    if (of->n > 0 && !are_offers_near(of->offer[0], offer))
        return;
    of->offer[of->n++] = offer;
    of->progress = offer->progress > of->progress ? offer->progress : of->progress;
}

/** Group offers of a box: each device's first with the others' first, its second with their
 * second. */
static void group_box(const pti_peers *peers, matching *of, int first, int end) {
    int begin[PTI_MOST_PEERS + 1], n_left = end - first;
    find_begins(of->offer, first, end, peers->n_peers, begin);
    for (int n = 0; n_left > 0; n++) {
        group made = {0};
        for (int p = 0; p < peers->n_peers; p++) {
            if (begin[p] + n >= begin[p + 1])
                continue;
            add_to(&made, &of->offer[begin[p] + n]);
            n_left--;
        }
        if (made.n > 1)
            of->group[of->n_groups++] = made;
    }
}

static void group_all(const pti_peers *peers, matching *of) {
    for (int first = 0, end; first < of->n_offers; first = end) {
        for (end = first + 1;
             end < of->n_offers && compare_keys(&of->offer[first], &of->offer[end]) == 0;)
            end++;
        group_box(peers, of, first, end);
    }
    qsort(of->group, (size_t)of->n_groups, sizeof *of->group, compare_groups);
}

/** Return the dimension along which to cut a box into n_parts; -1: none is long enough. */
static int find_cut(const polytile_domain *box, int n_parts) {
    for (int d = 0; d < box->n_dims; d++) {
        if (pti_range_count(box->range[d]) >= n_parts)
            return d;
    }
    return -1;
}

/** Return whether a group keeps every device's order. last: of each device, the last operation that
 * it shares. */
static bool keeps_order(const group *of, const int64_t last[PTI_MOST_PEERS]) {
    bool does = true;
    for (int q = 0; q < of->n; q++)
        does = does && of->offer[q]->op > last[of->offer[q]->peer];
    return does;
}

static void divide_upload(const group *of, int dim, pti_shared_upload *upload) {
    *upload = (pti_shared_upload){.n_parts = of->n};
    for (int q = 0; q < of->n; q++) {
        pti_upload_share *part = &upload->part[q];
        part->peer = of->offer[q]->peer;
        part->op = of->offer[q]->op;
        part->box = of->offer[q]->box;
        part->box.range[dim] = pti_range_cut(part->box.range[dim], of->n, q);
        part->done = 1U << q;
    }
}

static void choose_uploads(const matching *of, pti_session *session) {
    int64_t last[PTI_MOST_PEERS];
    for (int p = 0; p < PTI_MOST_PEERS; p++)
        last[p] = -1;
    for (int g = 0; g < of->n_groups; g++) {
        const group *next = &of->group[g];
        int dim = find_cut(&next->offer[0]->box, next->n);
        if (dim < 0 || !keeps_order(next, last))
            continue;
        divide_upload(next, dim, &session->upload[session->n_uploads++]);
        for (int q = 0; q < next->n; q++)
            last[next->offer[q]->peer] = next->offer[q]->op;
    }
}

void pti_session_free(pti_session *session) {
    free(session->upload);
    free(session);
}

static pti_session *make_session(const matching *of) {
    pti_session *made = of->n_groups == 0 ? NULL : calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->upload = calloc((size_t)of->n_groups, sizeof *made->upload);
    if (made->upload != NULL)
        choose_uploads(of, made);
    if (made->n_uploads > 0)
        return made;
    pti_session_free(made);
    return NULL;
}

pti_session *pti_peers_match(const pti_peers *peers) {
    matching of = {0};
    pti_session *session = NULL;
    if (collect_offers(peers, &of)) {
        group_all(peers, &of);
        session = make_session(&of);
    }
    free(of.offer);
    free(of.group);
    return session;
}
