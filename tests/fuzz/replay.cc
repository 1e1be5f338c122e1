#include "fuzz/fuzz.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

/* Stands in for libFuzzer where that is not: tries the files that are named, and those in
 * directories. Each input lies in memory of exactly its size, so that AddressSanitizer sees where
 * it ends. */

namespace fs = std::filesystem;

static void replay(const fs::path &file) {
    std::ifstream stream(file, std::ios::binary);
    require(stream.good(), "cannot read " + file.string());
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
    const std::unique_ptr<uint8_t[]> exact(new uint8_t[bytes.size()]);
    std::copy(bytes.begin(), bytes.end(), exact.get());
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);
    fuzz_one(exact.get(), bytes.size());
}

int main(int n_arguments, char **arguments) {
    int n_inputs = 0;
    for (int k = 1; k < n_arguments; k++) {
        if (!fs::is_directory(arguments[k])) {
            replay(arguments[k]);
            n_inputs++;
            continue;
        }
        for (const auto &entry : fs::directory_iterator(arguments[k])) {
            replay(entry.path());
            n_inputs++;
        }
    }
    std::printf("%d inputs\n", n_inputs);
    return n_inputs > 0 ? 0 : 1;
}
