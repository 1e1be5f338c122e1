#include "base/json_text.h"

void pti_text_add_json(pti_text *text, const json_t *value, size_t flags) {
    size_t n_bytes = json_dumpb(value, NULL, 0, flags);
    char *written = n_bytes == 0 ? NULL : pti_text_extend(text, n_bytes);
    text->failed |= written == NULL || json_dumpb(value, written, n_bytes, flags) != n_bytes;
}
