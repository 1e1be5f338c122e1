#include "fuzz/fuzz.h"
#include "support/declared.h"

/* Declarations from text: one that is accepted is written, read back, and the same. */

namespace {

void compare(const polytile_declaration *first) {
    polytile_context *ctx = shared_context();
    const std::string text = written(*first);
    polytile_declaration *second = nullptr;
    require(pti_declaration_parse(ctx, text.c_str(), &second) == POLYTILE_OK,
            text + " is not read back: " + polytile_last_error(ctx));
    require(difference(first, second).empty(), text + ": " + difference(first, second));
    require(relation_difference(first, second).empty(),
            text + ": " + relation_difference(first, second));
    pti_declaration_free(second);
}

} // namespace

void fuzz_one(const uint8_t *bytes, size_t n_bytes) {
    polytile_context *ctx = shared_context();
    const std::string text(reinterpret_cast<const char *>(bytes), n_bytes);
    polytile_declaration *declaration = nullptr;
    pti_clear_error(ctx);
    const polytile_status status = pti_declaration_parse(ctx, text.c_str(), &declaration);
    require((status == POLYTILE_OK) == (declaration != nullptr),
            "a declaration comes with success");
    require(status == POLYTILE_OK || status == POLYTILE_DECLARATION,
            std::string("another error than DECLARATION: ") + polytile_last_error(ctx));
    require_told(ctx, status);
    if (declaration != nullptr)
        compare(declaration);
    pti_declaration_free(declaration);
}
