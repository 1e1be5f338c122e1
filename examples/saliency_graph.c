/* Saliency as a graph of actors.
 *
 * Source  Boulos et al., "Efficient implementation of data flow graphs on multi-gpu clusters",
 *         2012, section 5.3. */
#include "saliency_graph.h"

#include "saliency_fft.h"
#include "saliency_kernels.h"

#include <inttypes.h>

/** An array, of maps or of one frame. */
static void write_array(FILE *to, const int64_t *extent, const char *name, const char *type,
                        bool has_maps) {
    fprintf(to, "%s [type=%s, extents=\"", name, type);
    if (has_maps)
        fprintf(to, "%dx", SALIENCY_MAPS);
    fprintf(to, "%" PRId64 "x%" PRId64 "\"];\n", extent[0], extent[1]);
}

/** An actor; those whose declarations have parameters need the frame's extents. */
static void write_actor(FILE *to, const int64_t *extent, const char *name, const char *declaration,
                        bool has_extents) {
    fprintf(to, "%s [kernel=\"%s\"", name, declaration);
    if (has_extents)
        fprintf(to, ", params=\"ni=%" PRId64 ",nj=%" PRId64 "\"", extent[0], extent[1]);
    fprintf(to, "];\n");
}

static void write_nodes(FILE *to, const int64_t *extent) {
    write_array(to, extent, "frame", "f32", false);
    write_array(to, extent, "framed", "c64", false);
    write_array(to, extent, "spectrum", "c64", false);
    write_array(to, extent, "filtered", "c64", true);
    write_array(to, extent, "responses", "c64", true);
    write_array(to, extent, "maps", "f32", true);
    fprintf(to, "{ node [type=f32, extents=%d]; top; total }\n", SALIENCY_MAPS);
    write_array(to, extent, "weighed", "f32", true);
    write_array(to, extent, "saliency", "f32", false);
    write_actor(to, extent, "hanning", HANNING_DECLARATION, true);
    write_actor(to, extent, "forward", FORWARD_DECLARATION, false);
    write_actor(to, extent, "gabor", GABOR_DECLARATION, true);
    write_actor(to, extent, "inverse", INVERSE_DECLARATION, false);
    write_actor(to, extent, "interact", INTERACT_DECLARATION, true);
    fprintf(to,
            "measure [kernel=\"" MEASURE_DECLARATION "\", domain=\"%dx%" PRId64 "x%" PRId64
            "\"];\n",
            SALIENCY_MAPS, extent[0], extent[1]);
    write_actor(to, extent, "normalise", NORMALISE_DECLARATION, true);
    write_actor(to, extent, "add", ADD_DECLARATION, false);
}

static const char edges[] =
    "frame -> hanning [as=x]; hanning -> framed [as=h]; framed -> forward [as=h];\n"
    "forward -> spectrum [as=f]; spectrum -> gabor [as=f]; gabor -> filtered [as=g];\n"
    "filtered -> inverse [as=g]; inverse -> responses [as=c]; responses -> interact [as=c];\n"
    "interact -> maps [as=m]; maps -> measure [as=m]; measure -> top [as=top];\n"
    "measure -> total [as=total]; maps -> normalise [as=m]; top -> normalise [as=top];\n"
    "total -> normalise [as=total]; normalise -> weighed [as=n]; weighed -> add [as=n];\n"
    "add -> saliency [as=s];\n";

polytile_status saliency_write_graph(session *s, const int64_t *extent, char **text) {
    size_t length;
    FILE *to = open_memstream(text, &length);
    if (to != NULL) {
        fprintf(to, "digraph saliency {\n");
        write_nodes(to, extent);
        fprintf(to, "%s}\n", edges);
    }
    if (to != NULL && frames_close_text(to))
        return POLYTILE_OK;
    return session_fail(s, POLYTILE_NO_MEMORY,
                        "the text of the graph cannot be written: no memory is left");
}
