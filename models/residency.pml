/*
 * Slots of device memory, the pieces of an array that come and go in them, and three streams.
 *
 * The planner takes launches in order, finds a slot for each of their pieces, and emits operations
 * to the streams: uploads, launches, downloads. Each stream runs its own in order, at any speed
 * beside the others; an operation first waits for given numbers of operations of the other streams
 * to be done. The planner never asks how far the streams are.
 *
 * An operation is one step: two that could overlap could run in either order, and if they must not
 * overlap one of the orders is wrong. Each checks that what it reads is the piece and the version
 * that the launches, run one after another, would read.
 *
 * Which launches there are, and which piece leaves a slot, is open: any policy is a case of it.
 * Pieces are alike, as are empty slots: the first of those not used yet stands for all of them.
 */

#ifndef N_LAUNCHES
#define N_LAUNCHES 5
#endif
#ifndef N_PIECES
#define N_PIECES 4
#endif
#ifndef N_AHEAD
#define N_AHEAD 3 /* launches that have slots and are not submitted yet */
#endif

#define N_SLOTS 3
#define NONE    N_PIECES
#define N_QUEUED 16

/* What memory holds: touched by the streams alone. */
byte slot_piece[N_SLOTS] = NONE;
byte slot_version[N_SLOTS];
byte host_version[N_PIECES];

/* How many operations of each stream are done. */
byte uploads_done, launches_done, downloads_done;

/* slot, piece, its version; waits for so many launches and downloads */
chan uploads = [N_QUEUED] of {byte, byte, byte, byte, byte};
/* slot, piece, version of two that are read and one that is written; waits for uploads and
 * downloads */
chan launches = [N_LAUNCHES] of {byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte};
/* slot, piece, version; waits for uploads, launches */
chan downloads = [N_QUEUED] of {byte, byte, byte, byte, byte};

inline check_holds(slot, piece, version) {
    assert(slot_piece[slot] == piece);
    assert(slot_version[slot] == version)
}

active proctype upload_stream() {
    byte slot, piece, version, after_launches, after_downloads;
    xr uploads;
end:
    do
    :: uploads?slot,piece,version,after_launches,after_downloads ->
        d_step {
            launches_done >= after_launches && downloads_done >= after_downloads ->
            assert(host_version[piece] == version);
            slot_piece[slot] = piece;
            slot_version[slot] = version;
            uploads_done++;
            slot = 0; piece = 0; version = 0; after_launches = 0; after_downloads = 0
        }
    od
}

active proctype compute_stream() {
    byte a_slot, a, a_version, b_slot, b, b_version, to_slot, to, to_version;
    byte after_uploads, after_downloads;
    xr launches;
end:
    do
    :: launches?a_slot,a,a_version,b_slot,b,b_version,to_slot,to,to_version,
                after_uploads,after_downloads ->
        d_step {
            uploads_done >= after_uploads && downloads_done >= after_downloads ->
            check_holds(a_slot, a, a_version);
            check_holds(b_slot, b, b_version);
            slot_piece[to_slot] = to;
            slot_version[to_slot] = to_version;
            launches_done++;
            a_slot = 0; a = 0; a_version = 0; b_slot = 0; b = 0; b_version = 0;
            to_slot = 0; to = 0; to_version = 0; after_uploads = 0; after_downloads = 0
        }
    od
}

active proctype download_stream() {
    byte slot, piece, version, after_uploads, after_launches;
    xr downloads;
end:
    do
    :: downloads?slot,piece,version,after_uploads,after_launches ->
        d_step {
            uploads_done >= after_uploads && launches_done >= after_launches ->
            check_holds(slot, piece, version);
            host_version[piece] = version;
            downloads_done++;
            slot = 0; piece = 0; version = 0; after_uploads = 0; after_launches = 0
        }
    od
}

/* What the planner knows of a slot. Operations are known by their number in their stream. */
typedef image {
    byte piece;
    byte n_pins;        /* launches that have the slot and are not submitted */
    bool is_dirty;      /* newer than the host's */
    byte used_by_upload, used_by_launch, used_by_download; /* the last of each stream */
    byte written_by_upload, written_by_launch
}

/* The slot of a piece, or N_SLOTS. */
inline find(wanted, found) {
    found = 0;
    do
    :: found < N_SLOTS && slots[found].piece != wanted -> found++
    :: else -> break
    od
}

#define IN_LAUNCH(s) (slots[s].piece == a || slots[s].piece == b || slots[s].piece == to)
#ifdef IGNORE_PINS
#define MAY_LEAVE(s) (!IN_LAUNCH(s))
#else
#define MAY_LEAVE(s) (!IN_LAUNCH(s) && slots[s].n_pins == 0)
#endif
#define IS_EMPTY(s) (slots[s].piece == NONE)

inline choose_slot(chosen) {
    if
    :: IS_EMPTY(0) -> chosen = 0
    :: !IS_EMPTY(0) && IS_EMPTY(1) -> chosen = 1
    :: !IS_EMPTY(0) && !IS_EMPTY(1) && IS_EMPTY(2) -> chosen = 2
    :: !IS_EMPTY(0) && !IS_EMPTY(1) && !IS_EMPTY(2) && MAY_LEAVE(0) -> chosen = 0
    :: !IS_EMPTY(0) && !IS_EMPTY(1) && !IS_EMPTY(2) && MAY_LEAVE(1) -> chosen = 1
    :: !IS_EMPTY(0) && !IS_EMPTY(1) && !IS_EMPTY(2) && MAY_LEAVE(2) -> chosen = 2
    fi
}

inline emit_download(s) {
    n_downloads++;
#ifdef NO_WAIT_FOR_WRITERS
    downloads!s,slots[s].piece,newest[slots[s].piece],0,0;
#else
    downloads!s,slots[s].piece,newest[slots[s].piece],slots[s].written_by_upload,
              slots[s].written_by_launch;
#endif
    slots[s].used_by_download = n_downloads;
    downloaded_by[slots[s].piece] = n_downloads;
    slots[s].is_dirty = false
}

inline evict(s) {
    if
#ifndef NO_DOWNLOAD
    :: slots[s].is_dirty -> emit_download(s)
#endif
    :: else -> slots[s].is_dirty = false
    fi
}

/* The latest of what used the slot before and, where the piece comes from the host, of the download
 * that brought it there. */
inline emit_upload(s) {
    n_uploads++;
    wait_launches = slots[s].used_by_launch;
    wait_downloads = slots[s].used_by_download;
#ifdef NO_WAIT_FOR_USERS
    wait_launches = 0;
    wait_downloads = 0;
#endif
#ifndef NO_WAIT_FOR_HOST
    wait_downloads = (downloaded_by[slots[s].piece] > wait_downloads ->
                      downloaded_by[slots[s].piece] : wait_downloads);
#endif
    uploads!s,slots[s].piece,newest[slots[s].piece],wait_launches,wait_downloads;
    slots[s].used_by_upload = n_uploads;
    slots[s].written_by_upload = n_uploads;
    wait_launches = 0;
    wait_downloads = 0
}

/* A slot for a piece of the launch, pinned; what is overwritten as a whole is not uploaded. */
inline place(piece_, is_read, s) {
    find(piece_, s);
    if
    :: s == N_SLOTS ->
        choose_slot(s);
        evict(s);
        slots[s].piece = piece_;
        if
        :: is_read -> emit_upload(s)
        :: else
        fi
    :: else
    fi;
    slots[s].n_pins++
}

/* Whether the slots that the pieces of the launch still need could be emptied. */
inline check_fits() {
    n_missing = 0;
    find(a, i);
    n_missing = n_missing + (i == N_SLOTS);
    find(b, i);
    n_missing = n_missing + (i == N_SLOTS && b != a);
    find(to, i);
    n_missing = n_missing + (i == N_SLOTS && to != a && to != b);
    i = 0;
    fits = (n_missing <= MAY_LEAVE(0) + MAY_LEAVE(1) + MAY_LEAVE(2));
    n_missing = 0
}

/* Any piece in use, or the first of the others. */
inline choose_piece(chosen, from) {
    chosen = from;
    do
    :: chosen < n_known && chosen < N_PIECES - 1 -> chosen++
    :: break
    od;
    n_known = (chosen == n_known -> n_known + 1 : n_known)
}

inline choose_launch() {
    choose_piece(a, 0);
#if N_READS == 1
    b = a;
#else
    choose_piece(b, a);
#endif
    choose_piece(to, 0);
    has_next = true
}

inline reserve() {
    place(a, true, a_slot);
    place(b, true, b_slot);
    place(to, false, to_slot);
    newest_a = newest[a];
    newest_b = newest[b];
    newest[to]++;
    planned!a_slot,a,newest_a,b_slot,b,newest_b,to_slot,to,newest[to];
    n_planned++;
    has_next = false;
    a = NONE; b = NONE; to = NONE;
    a_slot = 0; b_slot = 0; to_slot = 0; newest_a = 0; newest_b = 0
}

#define MAX(x, y) ((x) > (y) -> (x) : (y))

/* The oldest planned launch. It waits for the fills of what it reads, and for all that used what it
 * writes. */
inline submit() {
    planned?sa,pa,va,sb,pb,vb,st,pt,vt;
    n_launches++;
    wait_uploads = MAX(slots[sa].written_by_upload, slots[sb].written_by_upload);
    wait_uploads = MAX(wait_uploads, slots[st].used_by_upload);
    wait_downloads = slots[st].used_by_download;
#ifdef NO_WAIT_FOR_FILLS
    wait_uploads = 0;
#endif
#ifdef NO_WAIT_FOR_READERS
    wait_downloads = 0;
#endif
    launches!sa,pa,va,sb,pb,vb,st,pt,vt,wait_uploads,wait_downloads;
    slots[sa].used_by_launch = n_launches;
    slots[sb].used_by_launch = n_launches;
    slots[st].used_by_launch = n_launches;
    slots[st].written_by_launch = n_launches;
    slots[st].is_dirty = true;
    slots[sa].n_pins--;
    slots[sb].n_pins--;
    slots[st].n_pins--;
    sa = 0; pa = 0; va = 0; sb = 0; pb = 0; vb = 0; st = 0; pt = 0; vt = 0;
    wait_uploads = 0; wait_downloads = 0
}

/* What the program gets back in the end. */
inline bring_back() {
    i = 0;
    do
    :: i < N_SLOTS -> evict(i); i++
    :: else -> break
    od;
    i = 0
}

inline check_host() {
    i = 0;
    do
    :: i < N_PIECES -> assert(host_version[i] == newest[i]); i++
    :: else -> break
    od
}

active proctype planner() {
    image slots[N_SLOTS];
    byte newest[N_PIECES], downloaded_by[N_PIECES];
    byte n_uploads, n_launches, n_downloads, n_planned, n_known, n_missing, i;
    byte wait_uploads, wait_launches, wait_downloads;
    byte a = NONE, b = NONE, to = NONE, a_slot, b_slot, to_slot, newest_a, newest_b;
    byte sa, pa, va, sb, pb, vb, st, pt, vt;
    bool has_next, fits;
    chan planned = [N_AHEAD] of {byte, byte, byte, byte, byte, byte, byte, byte, byte};
    xs uploads;
    xs launches;
    xs downloads;

    atomic {
        slots[0].piece = NONE;
        slots[1].piece = NONE;
        slots[2].piece = NONE
    }
    do
    :: atomic {
        n_planned < N_LAUNCHES && !has_next ->
        choose_launch();
        check_fits()
    }
    :: atomic { has_next && fits && nfull(planned) -> reserve(); fits = false }
#ifdef LOOK_AHEAD_HOLDS
    :: atomic { has_next && full(planned) -> submit(); check_fits() }
#else
    :: atomic { has_next && (!fits || full(planned)) -> submit(); check_fits() }
#endif
    :: atomic { n_planned == N_LAUNCHES && nempty(planned) -> submit() }
    :: n_planned == N_LAUNCHES && empty(planned) -> break
    od;
    atomic { bring_back() }
    atomic {
        uploads_done == n_uploads && launches_done == n_launches && downloads_done == n_downloads ->
        check_host()
    }
}
