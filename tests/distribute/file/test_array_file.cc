#include <gtest/gtest.h>
#include <polytile/polytile.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

extern "C" {
#include "distribute/file/array_file.h"
}

namespace {

namespace fs = std::filesystem;

std::string BytesOf(const fs::path &file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

void Overwrite(const std::string &path, int64_t offset, const void *bytes, size_t n_bytes) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(offset);
    file.write(static_cast<const char *>(bytes), static_cast<std::streamsize>(n_bytes));
}

class ArrayFile : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        char name[] = "/tmp/polytile_array_file_XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        directory = name;
    }
    void TearDown() override {
        pti_part_file_keep(&part);
        polytile_context_destroy(ctx);
        fs::remove_all(directory);
    }

    polytile_array *Array(polytile_type type, const std::vector<int64_t> &extents) {
        polytile_array *array = nullptr;
        const polytile_domain domain =
            polytile_domain_from_extents(static_cast<int>(extents.size()), extents.data());
        EXPECT_EQ(polytile_array_describe(ctx, "u", type, &domain, &array), POLYTILE_OK);
        return array;
    }

    std::string Path(const std::string &name) const { return (directory / name).string(); }

    /** What inspecting says, or the offset. */
    std::string Inspect(const std::string &path, const polytile_array *array,
                        polytile_status expected) {
        int64_t offset = -1;
        EXPECT_EQ(pti_array_file_inspect(ctx, path.c_str(), array, &offset), expected);
        return expected == POLYTILE_OK ? std::to_string(offset) : polytile_last_error(ctx);
    }

    /** A file of numbers 0, 1, ... as f32. */
    void Write(const std::string &path, const polytile_array *array) {
        ASSERT_EQ(pti_array_file_begin(ctx, path.c_str(), array, &part), POLYTILE_OK);
        std::vector<float> values(static_cast<size_t>(array->n_bytes / 4));
        for (size_t k = 0; k < values.size(); k++)
            values[k] = static_cast<float>(k);
        Overwrite(path + ".part", pti_array_file_offset(array, path.c_str()), values.data(),
                  values.size() * sizeof(float));
        ASSERT_EQ(pti_array_file_commit(ctx, &part), POLYTILE_OK);
    }

    bool HasNoFiles() const { return fs::is_empty(directory); }

    polytile_context *ctx = nullptr;
    fs::path directory;
    pti_part_file part = {};
};

TEST_F(ArrayFile, OfNumPyIsReadByTheLibrarysOwnReader) {
    const std::string path = Path("u.npy");
    Write(path, Array(POLYTILE_F32, {3, 5}));
    polytile_array *mapped = nullptr;
    ASSERT_EQ(polytile_npy_open(ctx, "v", path.c_str(), false, &mapped), POLYTILE_OK);
    EXPECT_EQ(polytile_array_get_domain(mapped)->range[1].hi, 4);
    EXPECT_EQ(static_cast<const float *>(polytile_array_get_data(mapped))[14], 14.0F);
}

TEST_F(ArrayFile, WithoutHeaderHoldsTheElementsAlone) {
    const std::string path = Path("u.bin");
    const polytile_array *array = Array(POLYTILE_F32, {3, 5});
    Write(path, array);
    EXPECT_EQ(fs::file_size(path), 60U);
    EXPECT_EQ(Inspect(path, array, POLYTILE_OK), "0");
}

TEST_F(ArrayFile, IsNotThereUntilItIsWhole) {
    const std::string path = Path("u.npy");
    std::ofstream(path) << "old";
    ASSERT_EQ(pti_array_file_begin(ctx, path.c_str(), Array(POLYTILE_F64, {7}), &part),
              POLYTILE_OK);
    EXPECT_EQ(BytesOf(path), "old");
    EXPECT_EQ(fs::file_size(path + ".part"), 128U + 56U);
    pti_part_file_abandon(&part);
    EXPECT_EQ(BytesOf(path), "old");
    EXPECT_FALSE(fs::exists(path + ".part"));
}

TEST_F(ArrayFile, ReplacesWhatAnEarlierAttemptLeft) {
    const std::string path = Path("u.bin");
    std::ofstream(path + ".part") << std::string(1000, 'x');
    const polytile_array *array = Array(POLYTILE_F32, {2});
    Write(path, array);
    EXPECT_EQ(fs::file_size(path), 8U);
    EXPECT_FALSE(fs::exists(path + ".part"));
}

/** As two jobs do. */
TEST_F(ArrayFile, ThatSomebodyElseBeginsAnewFailsInTheEnd) {
    const std::string path = Path("u.bin");
    const polytile_array *array = Array(POLYTILE_F32, {2});
    pti_part_file late = {};
    ASSERT_EQ(pti_array_file_begin(ctx, path.c_str(), array, &part), POLYTILE_OK);
    ASSERT_EQ(pti_array_file_begin(ctx, path.c_str(), array, &late), POLYTILE_OK);
    EXPECT_EQ(pti_array_file_commit(ctx, &part), POLYTILE_IO);
    EXPECT_EQ(polytile_last_error(ctx), path +
                                            ".part: was removed or replaced while it was "
                                            "written; " +
                                            path + " is as it was");
    EXPECT_EQ(pti_array_file_commit(ctx, &late), POLYTILE_OK);
    EXPECT_EQ(fs::file_size(path), 8U);
}

TEST_F(ArrayFile, InADirectoryThatIsMissingCannotBeBegun) {
    const std::string path = Path("missing/u.npy");
    EXPECT_EQ(pti_array_file_begin(ctx, path.c_str(), Array(POLYTILE_F32, {2}), &part),
              POLYTILE_IO);
    EXPECT_EQ(polytile_last_error(ctx), path + ".part: cannot create: No such file or directory");
}

TEST_F(ArrayFile, LargerThanTheDiskLeavesNothingBehind) {
    const std::string path = Path("u.npy");
    const polytile_array *array = Array(POLYTILE_F64, {INT64_C(1) << 58});
    EXPECT_EQ(pti_array_file_begin(ctx, path.c_str(), array, &part), POLYTILE_IO);
    EXPECT_NE(std::string(polytile_last_error(ctx)).find("cannot reserve"), std::string::npos)
        << polytile_last_error(ctx);
    EXPECT_TRUE(HasNoFiles());
}

TEST_F(ArrayFile, NeverReplacesADirectory) {
    const std::string path = Path("u");
    fs::create_directory(path);
    EXPECT_EQ(pti_array_file_begin(ctx, path.c_str(), Array(POLYTILE_F32, {2}), &part),
              POLYTILE_IO);
    EXPECT_EQ(polytile_last_error(ctx), path + ": is not a regular file");
    EXPECT_EQ(Inspect(path, Array(POLYTILE_F32, {2}), POLYTILE_IO),
              path + ": is not a regular file");
}

TEST_F(ArrayFile, ThatCannotBeGivenItsNameIsRemoved) {
    const std::string path = Path("u.bin");
    ASSERT_EQ(pti_array_file_begin(ctx, path.c_str(), Array(POLYTILE_F32, {2}), &part),
              POLYTILE_OK);
    fs::create_directory(path);
    EXPECT_EQ(pti_array_file_commit(ctx, &part), POLYTILE_IO);
    EXPECT_EQ(polytile_last_error(ctx), path + ": cannot replace: Is a directory");
    EXPECT_FALSE(fs::exists(path + ".part"));
}

TEST_F(ArrayFile, OfRawBytesHasNoFormOfNumPys) {
    const std::string path = Path("u.npy");
    const polytile_array *array = Array(POLYTILE_BYTES(12), {2});
    EXPECT_EQ(pti_array_file_begin(ctx, path.c_str(), array, &part), POLYTILE_UNSUPPORTED);
    EXPECT_TRUE(HasNoFiles());
    EXPECT_EQ(pti_array_file_begin(ctx, Path("u.bin").c_str(), array, &part), POLYTILE_OK);
}

TEST_F(ArrayFile, OfAnotherShapeOrTypeIsRefusedWithBoth) {
    const std::string path = Path("u.npy");
    Write(path, Array(POLYTILE_F32, {3, 5}));
    EXPECT_EQ(Inspect(path, Array(POLYTILE_F32, {5, 3}), POLYTILE_INVALID),
              path + ": holds f32 of 3x5, array u is f32 of 5x3");
    EXPECT_EQ(Inspect(path, Array(POLYTILE_I32, {3, 5}), POLYTILE_INVALID),
              path + ": holds f32 of 3x5, array u is i32 of 3x5");
    EXPECT_EQ(Inspect(path, Array(POLYTILE_F32, {15}), POLYTILE_INVALID),
              path + ": holds f32 of 3x5, array u is f32 of 15");
}

TEST_F(ArrayFile, OfAnotherSizeIsRefused) {
    const std::string path = Path("u.bin");
    Write(path, Array(POLYTILE_F32, {15}));
    EXPECT_EQ(Inspect(path, Array(POLYTILE_F64, {15}), POLYTILE_INVALID),
              path + ": has 60 bytes, but the elements of array u are 120 bytes; a file without a "
                     "header holds nothing else");
}

TEST_F(ArrayFile, ThatIsTruncatedIsRefused) {
    const std::string path = Path("u.npy");
    const polytile_array *array = Array(POLYTILE_F32, {3, 5});
    Write(path, array);
    fs::resize_file(path, 128 + 59);
    EXPECT_EQ(Inspect(path, array, POLYTILE_IO),
              path + ": is truncated: its header says 60 bytes of elements, the file has 59");
    fs::resize_file(path, 64);
    EXPECT_EQ(Inspect(path, array, POLYTILE_IO), path + ": is truncated in its header");
}

TEST_F(ArrayFile, InFortranOrderIsRefused) {
    const std::string path = Path("u.npy");
    const polytile_array *array = Array(POLYTILE_F32, {3, 5});
    Write(path, array);
    const auto at = static_cast<int64_t>(BytesOf(path).find("False"));
    Overwrite(path, at, "True ", 5);
    EXPECT_EQ(Inspect(path, array, POLYTILE_UNSUPPORTED),
              path + ": is in Fortran order; save it in C order, as with "
                     "numpy.ascontiguousarray(a)");
}

TEST_F(ArrayFile, ThatIsMissingIsNamed) {
    const std::string path = Path("none.npy");
    EXPECT_EQ(Inspect(path, Array(POLYTILE_F32, {2}), POLYTILE_IO),
              path + ": cannot open: No such file or directory");
    EXPECT_EQ(pti_array_file_probe(ctx, path.c_str(), true), POLYTILE_IO);
    EXPECT_EQ(polytile_last_error(ctx),
              path + ": cannot open for writing: No such file or directory");
}

} // namespace
