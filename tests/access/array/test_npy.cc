#include "access/array/npy_test.h"
#include "support/scale.h"

#include <cstdio>
#include <cstring>
#include <random>
#include <sys/stat.h>

extern "C" {
#include "access/array/array.h"
#include "access/array/npy_header.h"
}

namespace {

using namespace npy_test;

TEST_F(Npy, ReadsWhatNumPyWrites) {
    const struct {
        const char *descr, *shape;
        polytile_type type;
        std::vector<int64_t> extents;
    } rows[] = {
        {"'<f4'", "(3,)", POLYTILE_F32, {3}},
        {"'<f8'", "(2, 3)", POLYTILE_F64, {2, 3}},
        {"'<f2'", "(1, 2, 3)", POLYTILE_F16, {1, 2, 3}},
        {"'<c8'", "(4,)", POLYTILE_C64, {4}},
        {"'<c16'", "(4, 2)", POLYTILE_C128, {4, 2}},
        {"[('value', '<f8'), ('index', '<i8')]", "(3,)", POLYTILE_INDEXED(POLYTILE_F64), {3}},
        {"[('v', '|i1'),('', '|V7'),('n', '<i8')]", "(3,)", POLYTILE_INDEXED(POLYTILE_I8), {3}},
        {"[('value', '<f4'), ('', '|V4'), ('index', '<i8')]",
         "(3,)",
         POLYTILE_INDEXED(POLYTILE_F32),
         {3}},
        {"'|i1'", "(7,)", POLYTILE_I8, {7}},
        {"'<i1'", "(7,)", POLYTILE_I8, {7}},
        {"'|u1'", "(4, 1)", POLYTILE_U8, {4, 1}},
        {"'<i2'", "(5,)", POLYTILE_I16, {5}},
        {"'<i4'", "(5,)", POLYTILE_I32, {5}},
        {"'<i8'", "(5L,)", POLYTILE_I64, {5}},
        {"'<u2'", "(5,)", POLYTILE_U16, {5}},
        {"\"<u4\"", "(5,6)", POLYTILE_U32, {5, 6}},
        {"'<u8'", "(1,1,1,1,1,1,1,2)", POLYTILE_U64, {1, 1, 1, 1, 1, 1, 1, 2}}};
    for (const auto &row : rows)
        for (int major = 1; major <= 3; major++) {
            int64_t bytes = polytile_type_get_bytes(row.type);
            for (int64_t extent : row.extents)
                bytes *= extent;
            std::string data(static_cast<size_t>(bytes), '\0');
            for (size_t b = 0; b < data.size(); b++)
                data[b] = static_cast<char>(b + 1);
            Write(Head(Dictionary(row.descr, "False", row.shape), major) + data);
            ASSERT_EQ(Open(), POLYTILE_OK) << polytile_last_error(ctx);
            EXPECT_EQ(polytile_array_get_type(array), row.type);
            const polytile_domain *domain = polytile_array_get_domain(array);
            ASSERT_EQ(domain->n_dims, static_cast<int>(row.extents.size()));
            for (int d = 0; d < domain->n_dims; d++) {
                EXPECT_EQ(domain->range[d].lo, 0);
                EXPECT_EQ(domain->range[d].hi, row.extents[d] - 1);
            }
            EXPECT_TRUE(array->read_only);
            EXPECT_EQ(std::memcmp(polytile_array_get_data(array), data.data(), data.size()), 0);
            polytile_array_destroy(array);
        }
}

TEST_F(Npy, KeysComeInAnyOrderAndSpacing) {
    for (const char *dictionary :
         {"{'shape':(2,),'fortran_order':False,'descr':'<f4'}",
          "  { 'descr' : '<f4' , 'shape' : ( 2 , ) , 'fortran_order' : False }  ",
          "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2,), }"}) {
        Write(Head(dictionary) + Floats({1, 2}));
        ASSERT_EQ(Open(), POLYTILE_OK) << dictionary << polytile_last_error(ctx);
        polytile_array_destroy(array);
    }
}

TEST_F(Npy, RefusesWithTheReasonAndTheFile) {
    const auto dictionary = [](const char *descr, const char *order, const char *shape) {
        return Head(Dictionary(descr, order, shape)) + Floats(std::vector<float>(64, 1));
    };
    const std::string good = Dictionary("'<f4'", "False", "(2, 3)");
    const struct {
        std::string bytes;
        polytile_status status;
        const char *says;
    } rows[] = {
        {"", POLYTILE_IO, "is empty"},
        {"P5 2 2 255 abcd", POLYTILE_IO, "is no .npy file"},
        {"\x93NUM", POLYTILE_IO, "is no .npy file"},
        {"\x93NUMPY", POLYTILE_IO, "truncated in its header"},
        {std::string("\x93NUMPY\x01\x00\x20", 9), POLYTILE_IO, "truncated in its header"},
        {std::string("\x93NUMPY\x01\x00\xff\xff{", 11), POLYTILE_IO, "truncated in its header"},
        {std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13), POLYTILE_IO,
         "truncated in its header"},
        {Head(good, 4) + Floats(std::vector<float>(6)), POLYTILE_UNSUPPORTED,
         "is of version 4 of the format, and 1, 2 and 3 are read"},
        {Head(good) + Floats(std::vector<float>(5)), POLYTILE_IO,
         "its header says 24 bytes of elements, the file has 20"},
        {Head(good), POLYTILE_IO, "the file has 0"},
        {dictionary("'<f4'", "True", "(2, 3)"), POLYTILE_UNSUPPORTED, "Fortran order"},
        {dictionary("'>f4'", "False", "(2, 3)"), POLYTILE_UNSUPPORTED,
         "is big-endian ('>f4'); convert it, as with a.astype("},
        {dictionary("'|b1'", "False", "(2, 3)"), POLYTILE_UNSUPPORTED,
         "has the element type bool ('|b1'); save them as u8, with numpy.save(path, a.view('u1'))"},
        {dictionary("'<c32'", "False", "(2, 3)"), POLYTILE_UNSUPPORTED,
         "has the element type complex numbers of another size ('<c32'); convert them, as with "
         "a.astype('c16')"},
        {dictionary("'<V2'", "False", "(2, 3)"), POLYTILE_UNSUPPORTED, "raw bytes ('<V2')"},
        {dictionary("'<b2'", "False", "(2, 3)"), POLYTILE_UNSUPPORTED, "('<b2')"},
        {dictionary("[('v', '<f4'), ('i', '<i8')]", "False", "(2, 3)"), POLYTILE_UNSUPPORTED,
         "several fields"},
        {dictionary("[('v', '<f4'), ('', '|V3'), ('i', '<i8')]", "False", "(2, 3)"),
         POLYTILE_UNSUPPORTED, "several fields"},
        {dictionary("[('v', '<f8'), ('i', '<u8')]", "False", "(2, 3)"), POLYTILE_UNSUPPORTED,
         "several fields"},
        {dictionary("[('v', '<c8'), ('i', '<i8')]", "False", "(2, 3)"), POLYTILE_UNSUPPORTED,
         "several fields"},
        {dictionary("[('v', '<f8'), ('i', '<i8')]", "True", "(2, 3)"), POLYTILE_UNSUPPORTED,
         "Fortran order"},
        {dictionary("'<f16'", "False", "(2, 3)"), POLYTILE_UNSUPPORTED,
         "has the element type a float of another size ('<f16'); convert them"},
        {dictionary("'|S5'", "False", "(2, 3)"), POLYTILE_UNSUPPORTED, "text ('|S5'); save its"},
        {dictionary("'<f\x1b[2J4'", "False", "(2,)"), POLYTILE_UNSUPPORTED, "('<f\\x1b[2J4')"},
        {dictionary("'|O'", "False", "(2, 3)"), POLYTILE_UNSUPPORTED,
         "has the element type Python objects ('|O'); convert them"},
        {dictionary("'<M8[ns]'", "False", "(2, 3)"), POLYTILE_UNSUPPORTED,
         "has the element type dates ('<M8[ns]'); save them as i64"},
        {dictionary("'<q4x'", "False", "(2, 3)"), POLYTILE_UNSUPPORTED,
         "has the element type '<q4x', which is none of"},
        {dictionary("''", "False", "(2, 3)"), POLYTILE_UNSUPPORTED, "element type"},
        {dictionary("[('a', '<f4')]", "False", "(2, 3)"), POLYTILE_UNSUPPORTED,
         "has elements of several fields (a structured dtype, [('a', '<f4')]); save one field"},
        {dictionary("[('a]', '<f4', (2,)), (\"b'\", '<i4')]", "False", "(2, 3)"),
         POLYTILE_UNSUPPORTED, "dtype, [('a]', '<f4', (2,)), (\"b'\", '<i4')]); save one field"},
        {dictionary(("[('a', '<f4'), ('" + std::string(80, 'b') + "', '<i4')]").c_str(), "False",
                    "(2,)"),
         POLYTILE_UNSUPPORTED, "bbb...); save one field"},
        {dictionary("[('a', '<f4'", "False", "(2, 3)"), POLYTILE_UNSUPPORTED,
         "dtype, [('a', '<f4', 'fortran_order': False"},
        {dictionary("'<f4'", "False", "()"), POLYTILE_UNSUPPORTED, "single number"},
        {dictionary("'<f4'", "False", "(0, 3)"), POLYTILE_UNSUPPORTED, "no elements"},
        {dictionary("'<f4'", "False", "(1,1,1,1,1,1,1,1,1)"), POLYTILE_UNSUPPORTED, "more than 8"},
        {dictionary("'<f4'", "False", "(9223372036854775807,)"), POLYTILE_OVERFLOW, "64 bits"},
        {dictionary("'<f4'", "False", "(9223372036854775808,)"), POLYTILE_OVERFLOW, "64 bits"},
        {dictionary("'<f4'", "False", "(4294967296, 4294967296)"), POLYTILE_OVERFLOW, "64 bits"},
        {dictionary("'<f4'", "False", "(1152921504606846976,)"), POLYTILE_IO, "truncated"},
        {dictionary("'<f4'", "False", "(-2, 3)"), POLYTILE_IO, "dictionary"},
        {dictionary("'<f4'", "False", "(2 3)"), POLYTILE_IO, "dictionary"},
        {dictionary("'<f4'", "False", "(2)"), POLYTILE_IO, "dictionary"},
        {dictionary("'<f4'", "False", "(,)"), POLYTILE_IO, "dictionary"},
        {dictionary("'<f4'", "False", "(2, 3"), POLYTILE_IO, "dictionary"},
        {dictionary("'<f4'", "0", "(2, 3)"), POLYTILE_IO, "dictionary"},
        {dictionary("<f4", "False", "(2, 3)"), POLYTILE_IO, "dictionary"},
        {Head("{'descr': '<f4', 'shape': (2,)}") + Floats({1, 2}), POLYTILE_IO, "dictionary"},
        {Head("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"),
         POLYTILE_IO, "dictionary"},
        {Head(good + " x"), POLYTILE_IO, "dictionary"},
        {Head(good.substr(1)), POLYTILE_IO, "dictionary"},
        {Head(good, 1, 1) + Floats(std::vector<float>(7)), POLYTILE_UNSUPPORTED, "not aligned"},
    };
    for (const auto &row : rows) {
        Write(row.bytes);
        EXPECT_EQ(Open(), row.status) << row.bytes;
        EXPECT_TRUE(Says(row.says)) << row.says << " expected: " << polytile_last_error(ctx);
        EXPECT_EQ(array, nullptr);
    }
}

TEST_F(Npy, MissingFilesAndDirectoriesAreNamed) {
    EXPECT_EQ(Open(), POLYTILE_IO);
    EXPECT_TRUE(Says("No such file")) << polytile_last_error(ctx);
    path = directory;
    EXPECT_EQ(Open(), POLYTILE_IO);
    EXPECT_TRUE(Says("not a regular file")) << polytile_last_error(ctx);
    const polytile_domain domain = Extents({4});
    EXPECT_EQ(Create(POLYTILE_F32, domain), POLYTILE_IO);
    EXPECT_TRUE(Says("not a regular file")) << polytile_last_error(ctx);
    path = directory + "/no/field.npy";
    EXPECT_EQ(Create(POLYTILE_F32, domain), POLYTILE_IO);
    EXPECT_TRUE(Says("No such file")) << polytile_last_error(ctx);
}

TEST_F(Npy, NullArgumentsAreRefused) {
    const polytile_domain domain = Extents({4});
    EXPECT_EQ(polytile_npy_open(nullptr, "a", path.c_str(), false, &array), POLYTILE_INVALID);
    EXPECT_EQ(polytile_npy_open(ctx, "a", nullptr, false, &array), POLYTILE_INVALID);
    EXPECT_EQ(polytile_npy_open(ctx, "a", path.c_str(), false, nullptr), POLYTILE_INVALID);
    Write(Head(Dictionary("'<f4'", "False", "(2,)")) + Floats({1, 2}));
    EXPECT_EQ(polytile_npy_open(ctx, nullptr, path.c_str(), false, &array), POLYTILE_INVALID);
    EXPECT_EQ(polytile_npy_create(ctx, nullptr, path.c_str(), POLYTILE_F32, &domain, &array),
              POLYTILE_INVALID);
    EXPECT_EQ(polytile_npy_create(ctx, "a", path.c_str(), POLYTILE_F32, nullptr, &array),
              POLYTILE_INVALID);
    EXPECT_EQ(polytile_npy_create(ctx, "a", path.c_str(), POLYTILE_BYTES(12), &domain, &array),
              POLYTILE_UNSUPPORTED);
    EXPECT_EQ(polytile_npy_create(ctx, "a", path.c_str(), 99, &domain, &array),
              POLYTILE_UNSUPPORTED);
    EXPECT_EQ(Read().size(), Head(Dictionary("'<f4'", "False", "(2,)")).size() + 8);
}

TEST_F(Npy, WhatIsCreatedCanBeOpened) {
    const struct {
        polytile_type type;
        std::vector<int64_t> extents;
    } rows[] = {{POLYTILE_F32, {5}},
                {POLYTILE_U8, {3, 4}},
                {POLYTILE_F64, {1, 2, 3, 4, 5, 6, 7, 8}},
                {POLYTILE_I16, {1}}};
    for (const auto &row : rows) {
        const int n_dims = static_cast<int>(row.extents.size());
        const polytile_domain domain = polytile_domain_from_extents(n_dims, row.extents.data());
        ASSERT_EQ(Create(row.type, domain), POLYTILE_OK) << polytile_last_error(ctx);
        ASSERT_EQ(reinterpret_cast<uintptr_t>(polytile_array_get_data(array)) % 64, 0u);
        const size_t n_bytes = static_cast<size_t>(array->n_bytes);
        char *data = static_cast<char *>(polytile_array_get_data(array));
        for (size_t b = 0; b < n_bytes; b++) {
            ASSERT_EQ(data[b], 0);
            data[b] = static_cast<char>(b);
        }
        polytile_array_destroy(array);
        ASSERT_EQ(Open(), POLYTILE_OK) << polytile_last_error(ctx);
        EXPECT_EQ(polytile_array_get_type(array), row.type);
        EXPECT_EQ(std::memcmp(polytile_array_get_domain(array), &domain, sizeof domain), 0);
        data = static_cast<char *>(polytile_array_get_data(array));
        for (size_t b = 0; b < n_bytes; b++)
            ASSERT_EQ(data[b], static_cast<char>(b));
        polytile_array_destroy(array);
    }
}

TEST_F(Npy, TheHeaderIsTheOneNumPyWrites) {
    ASSERT_EQ(Create(POLYTILE_F32, Extents({2, 3})), POLYTILE_OK);
    polytile_array_destroy(array);
    EXPECT_EQ(Read(), Head(Dictionary("'<f4'", "False", "(2, 3)")) + std::string(24, '\0'));
    ASSERT_EQ(Create(POLYTILE_U8, Extents({2})), POLYTILE_OK);
    polytile_array_destroy(array);
    EXPECT_EQ(Read(), Head(Dictionary("'|u1'", "False", "(2,)")) + std::string(2, '\0'));
    ASSERT_EQ(Create(POLYTILE_C64, Extents({2})), POLYTILE_OK);
    polytile_array_destroy(array);
    EXPECT_EQ(Read(), Head(Dictionary("'<c8'", "False", "(2,)")) + std::string(16, '\0'));
    ASSERT_EQ(Create(POLYTILE_INDEXED(POLYTILE_F16), Extents({2})), POLYTILE_OK);
    polytile_array_destroy(array);
    EXPECT_EQ(Read(), Head(Dictionary("[('value', '<f2'), ('', '|V6'), ('index', '<i8')]", "False",
                                      "(2,)")) +
                          std::string(32, '\0'));
    ASSERT_EQ(Create(POLYTILE_INDEXED(POLYTILE_U64), Extents({1})), POLYTILE_OK);
    polytile_array_destroy(array);
    EXPECT_EQ(Read(), Head(Dictionary("[('value', '<u8'), ('index', '<i8')]", "False", "(1,)")) +
                          std::string(16, '\0'));
}

TEST_F(Npy, HasNoBrains) {
    for (polytile_type type : {static_cast<polytile_type>(POLYTILE_BF16),
                               static_cast<polytile_type>(POLYTILE_INDEXED(POLYTILE_BF16))}) {
        EXPECT_EQ(Create(type, Extents({2})), POLYTILE_UNSUPPORTED);
        EXPECT_TRUE(Says("not bf16")) << polytile_last_error(ctx);
    }
}

TEST_F(Npy, AWritableMappingChangesTheFile) {
    Write(Head(Dictionary("'<f4'", "False", "(2,)")) + Floats({1, 2}));
    ASSERT_EQ(Open(true), POLYTILE_OK);
    EXPECT_FALSE(array->read_only);
    static_cast<float *>(polytile_array_get_data(array))[1] = 5;
    polytile_array_destroy(array);
    EXPECT_EQ(Read(), Head(Dictionary("'<f4'", "False", "(2,)")) + Floats({1, 5}));
}

TEST_F(Npy, AnInputMayAlsoBeTheOutput) {
    Write(Head(Dictionary("'<f4'", "False", "(2,)")) + Floats({1, 2}));
    polytile_array *input;
    ASSERT_EQ(polytile_npy_open(ctx, "in", path.c_str(), false, &input), POLYTILE_OK);
    ASSERT_EQ(Create(POLYTILE_F32, Extents({2})), POLYTILE_OK);
    const float *in = static_cast<const float *>(polytile_array_get_data(input));
    float *out = static_cast<float *>(polytile_array_get_data(array));
    out[0] = in[1];
    out[1] = in[0];
    polytile_array_destroy(input);
    polytile_array_destroy(array);
    EXPECT_EQ(Read(), Head(Dictionary("'<f4'", "False", "(2,)")) + Floats({2, 1}));
}

TEST_F(Npy, AFullDiskLeavesTheOldFileAndNoOther) {
    Write("old");
    const polytile_domain huge = Extents({INT64_C(1) << 56});
    EXPECT_EQ(Create(POLYTILE_F32, huge), POLYTILE_IO);
    EXPECT_TRUE(Says("cannot reserve 262144")) << polytile_last_error(ctx);
    EXPECT_EQ(Read(), "old");
    EXPECT_EQ(std::system(("test $(ls -A '" + directory + "' | wc -l) = 1").c_str()), 0);
    EXPECT_EQ(Create(POLYTILE_F32, Extents({INT64_MAX / 4})), POLYTILE_OVERFLOW);
    EXPECT_EQ(Read(), "old");
}

TEST_F(Npy, AFileLargerThanMemoryIsOnlyMapped) {
    const int64_t n = INT64_C(1) << 40;
    const std::string head = Head(Dictionary("'<f8'", "False", "(" + std::to_string(n) + ",)"));
    Write(head);
    if (truncate(path.c_str(), static_cast<off_t>(head.size()) + 8 * n) != 0)
        GTEST_SKIP() << "no sparse files of 8 TiB here";
    ASSERT_EQ(Open(), POLYTILE_OK) << polytile_last_error(ctx);
    EXPECT_EQ(static_cast<const double *>(polytile_array_get_data(array))[n - 1], 0);
}

TEST_F(Npy, NumPyAgrees) {
    if (std::system("python3 -c 'import numpy' > /dev/null 2>&1") != 0)
        GTEST_SKIP() << "python3 has no numpy here";
    const std::string python = "cd '" + directory + "' && python3 -c \"import numpy; ";
    ASSERT_EQ(
        std::system(
            (python + "numpy.save('field', numpy.arange(6, dtype='i4').reshape(2, 3))\"").c_str()),
        0);
    ASSERT_EQ(Open(), POLYTILE_OK) << polytile_last_error(ctx);
    EXPECT_EQ(static_cast<const int32_t *>(polytile_array_get_data(array))[5], 5);
    polytile_array_destroy(array);
    ASSERT_EQ(Create(POLYTILE_F64, Extents({3, 4})), POLYTILE_OK);
    static_cast<double *>(polytile_array_get_data(array))[11] = 2.5;
    polytile_array_destroy(array);
    EXPECT_EQ(std::system((python + "a = numpy.load('field.npy'); assert a.shape == (3, 4) and "
                                    "a[2, 3] == 2.5 and a.dtype == 'f8'\"")
                              .c_str()),
              0);
}

TEST(NpyHeader, RandomBytesDoNotCrash) {
    const char *text = std::getenv("POLYTILE_TEST_SEED");
    const uint64_t seed = text ? std::strtoull(text, nullptr, 10) : std::random_device{}();
    SCOPED_TRACE("POLYTILE_TEST_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    const std::string heads[] = {Head(Dictionary("'<f4'", "False", "(2, 3)")),
                                 Head(Dictionary("'|u1'", "True", "(2,)"), 2),
                                 Head(Dictionary("[('a', '<f4')]", "False", "()"), 3)};
    const std::string likely = "{}()[]'\":, \\L0123456789\n<>|";
    for (int64_t round = 0; round < scaled(200000); round++) {
        const std::string &head = heads[random() % std::size(heads)];
        std::vector<unsigned char> bytes(head.begin(), head.end());
        for (uint64_t n = random() % 5; n > 0 && !bytes.empty(); n--) {
            const auto at = static_cast<std::ptrdiff_t>(random() % bytes.size());
            const auto byte = static_cast<unsigned char>(
                random() % 2 ? random() % 256 : likely[random() % likely.size()]);
            switch (random() % 4) {
            case 0:
                bytes.insert(bytes.begin() + at, byte);
                break;
            case 1:
                bytes.erase(bytes.begin() + at);
                break;
            case 2:
                bytes.resize(static_cast<size_t>(at));
                break;
            default:
                bytes[static_cast<size_t>(at)] = byte;
            }
        }
        pti_npy_header header;
        const char *reason = nullptr;
        const polytile_status status =
            pti_npy_header_read(bytes.data(), static_cast<int64_t>(bytes.size()), &header, &reason);
        if (status != POLYTILE_OK) {
            ASSERT_NE(reason, nullptr);
            continue;
        }
        ASSERT_GT(header.data_bytes, 0);
        ASSERT_GE(header.domain.n_dims, 1);
        ASSERT_LE(header.domain.n_dims, POLYTILE_MAX_DIMS);
    }
}

} // namespace
