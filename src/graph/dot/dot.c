#include "graph/dot/dot.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pti_dot *pti_dot_hold(pti_dot *dot) {
    dot->n_holders++;
    return dot;
}

void pti_dot_free(pti_dot *dot) {
    if (dot == NULL || dot->n_holders-- > 0)
        return;
    for (int64_t k = 0; k < dot->n_nodes; k++)
        free(dot->node[k].attributes.attribute);
    for (int64_t k = 0; k < dot->n_edges; k++)
        free(dot->edge[k].attributes.attribute);
    for (int64_t k = 0; k < dot->n_strings; k++)
        free(dot->string[k]);
    free(dot->node);
    free(dot->edge);
    free(dot->string);
    free(dot->source);
    free(dot->text);
    free(dot);
}

const pti_dot_attribute *pti_dot_find(const pti_dot_attributes *attributes, const char *name) {
    for (int64_t k = 0; k < attributes->n; k++)
        if (strcmp(attributes->attribute[k].name, name) == 0)
            return &attributes->attribute[k];
    return NULL;
}

polytile_status pti_dot_fail_memory(const pti_dot *dot) {
    return pti_fail_memory(dot->ctx, dot->source, PTI_UNKNOWN_BYTES);
}

polytile_status pti_dot_fail(const pti_dot *dot, size_t at, const char *format, ...) {
    char message[PTI_ERROR_BYTES / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    pti_text place = {0};
    pti_text_add_place(&place, dot->text, at);
    polytile_status status = pti_fail(dot->ctx, POLYTILE_DECLARATION, "%s: %s%s", dot->source,
                                      message, place.data == NULL ? "" : place.data);
    pti_text_free(&place);
    return status;
}

/** Return whether a word is in a list of them, which spaces separate. */
static bool is_word_listed(const char *words, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = words; length > 0 && *at != '\0';) {
        const size_t next = strcspn(at, " ");
        if (next == length && strncmp(at, word, length) == 0)
            return true;
        at += next + (at[next] == ' ');
    }
    return false;
}

/** The attributes of nodes and edges in Graphviz's manual. */
static const char graphviz[] =
    "URL area arrowhead arrowsize arrowtail class color colorscheme comment constraint decorate "
    "dir distortion edgeURL edgehref edgetarget edgetooltip fillcolor fixedsize fontcolor fontname "
    "fontsize gradientangle group headURL head_lp headclip headhref headlabel headport headtarget "
    "headtooltip height href id image imagepos imagescale label labelURL labelangle labeldistance "
    "labelfloat labelfontcolor labelfontname labelfontsize labelhref labelloc labeltarget "
    "labeltooltip layer len lhead lp ltail margin minlen nojustify ordering orientation penwidth "
    "peripheries pin pos radius rects regular root samehead sametail samplepoints shape "
    "shapefile showboxes sides skew sortv style tailURL tail_lp tailclip tailhref taillabel "
    "tailport tailtarget tailtooltip target tooltip vertices weight width xdotversion xlabel xlp "
    "z";

polytile_status pti_dot_check_names(const pti_dot *dot, const pti_dot_attributes *attributes,
                                    const char *what, const char *words) {
    for (int64_t k = 0; k < attributes->n; k++) {
        const pti_dot_attribute *attribute = &attributes->attribute[k];
        if (!is_word_listed(words, attribute->name) && !is_word_listed(graphviz, attribute->name))
            return pti_dot_fail(dot, attribute->name_at,
                                "%s has no attribute '%s'; there are %s, and Graphviz's own", what,
                                attribute->name, words);
    }
    return POLYTILE_OK;
}

void pti_dot_write_quoted(pti_text *text, const char *string) {
    pti_text_add(text, "\"");
    for (; *string != '\0'; string++)
        pti_text_add(text, *string == '"' ? "\\%c" : "%c", *string);
    pti_text_add(text, "\"");
}
