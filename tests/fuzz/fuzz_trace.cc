#include "fuzz/fuzz.h"

#include <fstream>
#include <unistd.h>

/* Traces: one that is read is written in each form, and what its page says is within the run. */

namespace {

const std::string &path() {
    static const std::string name = "/tmp/polytile-fuzz-" + std::to_string(getpid()) + ".json";
    return name;
}

void write_all(polytile_context *ctx, const polytile_trace *trace) {
    for (polytile_format format : {POLYTILE_TEXT, POLYTILE_JSON, POLYTILE_HTML}) {
        char *text = nullptr;
        require_told(ctx, polytile_trace_to_string(trace, format, &text));
        require(text != nullptr && *text != '\0', "a trace that was read has each form");
        free(text);
    }
}

} // namespace

void fuzz_one(const uint8_t *bytes, size_t n_bytes) {
    polytile_context *ctx = shared_context();
    polytile_trace *trace = nullptr;
    std::ofstream(path(), std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes), static_cast<std::streamsize>(n_bytes));
    const polytile_status status = polytile_trace_read(ctx, path().c_str(), &trace);
    unlink(path().c_str());
    require_told(ctx, status);
    require((status == POLYTILE_OK) == (trace != nullptr), "a trace comes with success");
    require(status == POLYTILE_OK || status == POLYTILE_INVALID, "another error than INVALID");
    if (trace != nullptr)
        write_all(ctx, trace);
    polytile_trace_destroy(trace);
}
