#include "fuzz/fuzz.h"

extern "C" {
#include "launch/open/open.h"
#include "values.h"
}

/* Short texts: devices, sizes, types, and the values of the command's options. The first byte says
 * which, the others are the text. */

namespace {

/** Of the devices only the text is looked at: nothing is opened, nothing allocated. */
void try_device(const std::string &text) {
    polytile_context *ctx = shared_context();
    pti_device_text parsed = {};
    pti_clear_error(ctx);
    const polytile_status status = pti_device_text_parse(ctx, text.c_str(), &parsed);
    require(status == POLYTILE_OK || status == POLYTILE_INVALID, "another error than INVALID");
    require_told(ctx, status);
    if (status != POLYTILE_OK)
        return;
    require(parsed.driver != nullptr && parsed.number >= 0, "a device has a driver and a number");
    for (int64_t value : parsed.value)
        require(value >= 0, "values are positive");
    require(parsed.value[PTI_OPTION_THREADS] <= PTI_MAX_THREADS, "not too many threads");
}

/** A size is written so that it is read again: the same, or rounded to two digits. */
void try_size(const std::string &text) {
    int64_t bytes = -1;
    if (!polytile_size_parse(text.c_str(), &bytes)) {
        require(bytes == -1, "what is no size leaves the result alone");
        return;
    }
    require(bytes > 0, "a size is positive");
    char shown[32];
    polytile_size_format(bytes, shown);
    require(std::string(shown).find(' ') != std::string::npos, "a size is shown with its unit");
    int64_t again = 0;
    require(polytile_size_parse((std::to_string(bytes) + "B").c_str(), &again) && again == bytes,
            "bytes are read exactly");
}

void try_type(const std::string &text) {
    polytile_type type = 0;
    if (polytile_type_parse(text.c_str(), &type) == POLYTILE_OK)
        require(polytile_type_get_bytes(type) > 0, "a type has bytes");
}

void require_why(const char *why) {
    require(*why != '\0', "a refusal says why");
}

void try_domain(const std::string &text) {
    polytile_domain domain = {};
    char why[WHY_SIZE] = "";
    if (!parse_domain(text.c_str(), &domain, why))
        return require_why(why);
    require(domain.n_dims >= 1 && domain.n_dims <= POLYTILE_MAX_DIMS, "1 to 8 dimensions");
    for (int d = 0; d < domain.n_dims; d++)
        require(domain.range[d].step >= 1, "steps are at least 1");
}

void try_extents(const std::string &text) {
    int n_dims = 0;
    int64_t extents[POLYTILE_MAX_DIMS] = {};
    char why[WHY_SIZE] = "";
    if (!parse_extents(text.c_str(), &n_dims, extents, why))
        return require_why(why);
    require(n_dims >= 1 && n_dims <= POLYTILE_MAX_DIMS, "1 to 8 dimensions");
    for (int d = 0; d < n_dims; d++)
        require(extents[d] >= 1, "extents are at least 1");
}

void try_array(const std::string &text) {
    array_value value = {};
    char why[WHY_SIZE] = "";
    if (parse_array(text.c_str(), &value, why) != PARSED)
        return require_why(why);
    require(value.name != nullptr && polytile_type_get_bytes(value.type) > 0, "a name and a type");
    std::free(value.name);
}

void try_parameter(const std::string &text) {
    parameter_value value = {};
    char why[WHY_SIZE] = "";
    if (parse_parameter(text.c_str(), &value, why) != PARSED)
        return require_why(why);
    require(value.name != nullptr, "a parameter has a name");
    std::free(value.name);
}

void try_swap(const std::string &text) {
    swap_value value = {};
    char why[WHY_SIZE] = "";
    if (parse_swap(text.c_str(), &value, why) != PARSED)
        return require_why(why);
    require(std::string(value.one) != value.other, "two names differ");
    std::free(value.one);
    std::free(value.other);
}

void (*const kinds[])(const std::string &) = {try_device,  try_size,  try_type,      try_domain,
                                              try_extents, try_array, try_parameter, try_swap};
constexpr size_t n_kinds = sizeof kinds / sizeof *kinds;

} // namespace

/** 'a' is the first kind, so that corpora are text. */
void fuzz_one(const uint8_t *bytes, size_t n_bytes) {
    if (n_bytes == 0)
        return;
    const std::string text(reinterpret_cast<const char *>(bytes) + 1, n_bytes - 1);
    kinds[static_cast<size_t>(bytes[0] + 256 - 'a') % n_kinds](text);
}
