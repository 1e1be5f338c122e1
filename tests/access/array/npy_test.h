#ifndef POLYTILE_TESTS_ACCESS_ARRAY_NPY_TEST_H
#define POLYTILE_TESTS_ACCESS_ARRAY_NPY_TEST_H

#include <gtest/gtest.h>
#include <polytile/polytile.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

/* Files as NumPy has them, each in a directory of its own. */

namespace npy_test {

/** A head of version major with the dictionary given, padded to 64 bytes unless told otherwise. */
inline std::string Head(const std::string &dictionary, int major = 1, size_t padded_to = 64) {
    std::string bytes("\x93NUMPY", 6);
    bytes += static_cast<char>(major);
    bytes += '\0';
    const size_t width = major == 1 ? 2 : 4, before = bytes.size() + width;
    size_t length = dictionary.size() + 1;
    while ((before + length) % padded_to != 0)
        length++;
    for (size_t b = 0; b < width; b++)
        bytes += static_cast<char>((length >> (8 * b)) & 0xff);
    return bytes + dictionary + std::string(length - dictionary.size() - 1, ' ') + "\n";
}

inline std::string Dictionary(const std::string &descr, const std::string &order,
                              const std::string &shape) {
    return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

inline std::string Floats(const std::vector<float> &values) {
    return std::string(reinterpret_cast<const char *>(values.data()),
                       values.size() * sizeof(float));
}

inline polytile_domain Extents(const std::vector<int64_t> &extents) {
    return polytile_domain_from_extents(static_cast<int>(extents.size()), extents.data());
}

class Npy : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        char name[] = "/tmp/polytile_npy_XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        directory = name;
        path = directory + "/field.npy";
    }

    void TearDown() override {
        polytile_context_destroy(ctx);
        EXPECT_EQ(std::system(("rm -r '" + directory + "'").c_str()), 0);
    }

    void Write(const std::string &bytes) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    }

    std::string Read() {
        std::ifstream file(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    }

    polytile_status Open(bool writable = false) {
        return polytile_npy_open(ctx, "field", path.c_str(), writable, &array);
    }

    polytile_status Create(polytile_type type, const polytile_domain &domain) {
        return polytile_npy_create(ctx, "field", path.c_str(), type, &domain, &array);
    }

    bool Says(const std::string &text) {
        const std::string said = polytile_last_error(ctx);
        return said.find(text) != std::string::npos && said.find(path) != std::string::npos;
    }

    polytile_context *ctx = nullptr;
    polytile_array *array = nullptr;
    std::string directory;
    std::string path;
};

} // namespace npy_test

#endif
