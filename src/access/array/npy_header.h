#ifndef POLYTILE_ACCESS_ARRAY_NPY_HEADER_H
#define POLYTILE_ACCESS_ARRAY_NPY_HEADER_H

#include "base/context.h"
#include <polytile/array.h>

/*
 * The head of a NumPy file: magic, version, length, and a Python dictionary that describes the
 * data, for instance {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
 */
typedef struct pti_npy_header {
    polytile_type type;
    polytile_domain domain; /* indices from 0 */
    int64_t data_offset;    /* bytes from the file's start */
    int64_t data_bytes;
    char refusal[256]; /* where a reason that names what was found is written */
} pti_npy_header;

/**
 * Read the head of a file from its first n_bytes bytes, or all.
 *
 * Errors  IO (no NumPy file, or its head is cut off), UNSUPPORTED (no array can hold it), OVERFLOW;
 *         *reason continues "FILE: ", and is static or the header's.
 */
polytile_status pti_npy_header_read(const unsigned char *bytes, int64_t n_bytes,
                                    pti_npy_header *header, const char **reason);

/** Compare what a file's head says with the file's size. Errors  IO (it is truncated) */
polytile_status pti_npy_header_check(polytile_context *ctx, const char *path,
                                     const pti_npy_header *header, int64_t file_bytes);

/** The most bytes that a head needs: 8 extents of 19 digits, padded. */
enum { PTI_NPY_HEADER_CAPACITY = 320 };

/** Write a head of version 1.0 for header's type and domain, padded so that the data is aligned to
 * 64 bytes; sets data_offset. */
void pti_npy_header_write(pti_npy_header *header, char bytes[PTI_NPY_HEADER_CAPACITY]);

#endif
