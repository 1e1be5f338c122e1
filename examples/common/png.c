#include "common/png.h"

#include <stdio.h>

/* A file under way: each byte of a chunk goes through its checksum, each byte of the picture also
 * through the one of the stream. */
typedef struct writer {
    FILE *file;
    uint32_t crc;
    uint32_t adler_low, adler_high;
} writer;

static void put_raw(writer *out, uint32_t value, int n_bytes) {
    for (int i = n_bytes - 1; i >= 0; i--)
        putc((int)(value >> (8 * i) & 0xff), out->file);
}

static void put_byte(writer *out, uint8_t byte) {
    putc(byte, out->file);
    out->crc ^= byte;
    for (int bit = 0; bit < 8; bit++)
        out->crc = out->crc >> 1 ^ (out->crc & 1 ? 0xedb88320u : 0);
}

static void put_number(writer *out, uint32_t value, int n_bytes) {
    for (int i = n_bytes - 1; i >= 0; i--)
        put_byte(out, (uint8_t)(value >> (8 * i)));
}

static void put_picture_byte(writer *out, uint8_t byte) {
    put_byte(out, byte);
    out->adler_low = (out->adler_low + byte) % 65521;
    out->adler_high = (out->adler_high + out->adler_low) % 65521;
}

static void begin_chunk(writer *out, const char *type, uint32_t n_bytes) {
    put_raw(out, n_bytes, 4);
    out->crc = 0xffffffffu;
    for (int i = 0; i < 4; i++)
        put_byte(out, (uint8_t)type[i]);
}

static void end_chunk(writer *out) {
    put_raw(out, ~out->crc, 4);
}

static void put_header(writer *out, uint32_t width, uint32_t height) {
    static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const uint8_t depth_8_palette[] = {8, 3, 0, 0, 0};
    fwrite(signature, 1, sizeof signature, out->file);
    begin_chunk(out, "IHDR", 13);
    put_number(out, width, 4);
    put_number(out, height, 4);
    for (int i = 0; i < 5; i++)
        put_byte(out, depth_8_palette[i]);
    end_chunk(out);
}

static void put_palette(writer *out, const png_palette *palette) {
    begin_chunk(out, "PLTE", sizeof palette->colour);
    for (int i = 0; i < 256; i++)
        for (int c = 0; c < 3; c++)
            put_byte(out, palette->colour[i][c]);
    end_chunk(out);
}

/* The head of a stored block of a deflate stream: lengths come with the low byte first. */
static void put_block_head(writer *out, uint32_t n_bytes, bool last) {
    put_byte(out, last);
    put_byte(out, (uint8_t)(n_bytes & 0xff));
    put_byte(out, (uint8_t)(n_bytes >> 8));
    put_byte(out, (uint8_t)(~n_bytes & 0xff));
    put_byte(out, (uint8_t)(~n_bytes >> 8 & 0xff));
}

/* One stored block a row, each row behind a byte that says it is not filtered. */
static void put_rows(writer *out, uint32_t width, uint32_t height, const uint8_t *pixels) {
    begin_chunk(out, "IDAT", 2 + height * (5 + 1 + width) + 4);
    put_number(out, 0x7801, 2);
    for (uint32_t row = 0; row < height; row++) {
        put_block_head(out, 1 + width, row + 1 == height);
        put_picture_byte(out, 0);
        for (uint32_t column = 0; column < width; column++)
            put_picture_byte(out, pixels[(uint64_t)row * width + column]);
    }
    put_number(out, out->adler_high << 16 | out->adler_low, 4);
    end_chunk(out);
}

bool png_write(const char *path, int width, int height, const uint8_t *pixels,
               const png_palette *palette) {
    writer out = {.file = fopen(path, "wb"), .adler_low = 1};
    if (out.file == NULL)
        return false;
    put_header(&out, (uint32_t)width, (uint32_t)height);
    put_palette(&out, palette);
    put_rows(&out, (uint32_t)width, (uint32_t)height, pixels);
    begin_chunk(&out, "IEND", 0);
    end_chunk(&out);
    const bool written = ferror(out.file) == 0;
    return fclose(out.file) == 0 && written;
}
