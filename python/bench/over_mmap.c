/* What over_mmap.py measures against: z = x + y over .npy files, by OpenMP over mmap. The file of z
 * is created with the header of x. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char *map(const char *path, int flags, size_t *bytes) {
    int file = open(path, flags, 0666);
    struct stat is;
    if (file < 0 || (*bytes != 0 && ftruncate(file, (off_t)*bytes) != 0) || fstat(file, &is) != 0)
        return NULL;
    *bytes = (size_t)is.st_size;
    int protection = (flags & O_ACCMODE) == O_RDONLY ? PROT_READ : PROT_READ | PROT_WRITE;
    void *memory = mmap(NULL, *bytes, protection, MAP_SHARED, file, 0);
    close(file);
    return memory == MAP_FAILED ? NULL : memory;
}

int main(int argc, char **argv) {
    size_t bytes = 0, y_bytes = 0;
    const char *x = argc == 4 ? map(argv[1], O_RDONLY, &bytes) : NULL;
    const char *y = x != NULL ? map(argv[2], O_RDONLY, &y_bytes) : NULL;
    char *z = y != NULL ? map(argv[3], O_RDWR | O_CREAT | O_TRUNC, &bytes) : NULL;
    uint16_t header;
    if (z == NULL)
        return perror("over_mmap X.npy Y.npy Z.npy"), 1;
    memcpy(&header, x + 8, sizeof header);
    size_t first = 10 + (size_t)header;
    memcpy(z, x, first);
    const float *a = (const float *)(x + first), *b = (const float *)(y + first);
    float *c = (float *)(z + first);
    int64_t n = (int64_t)((bytes - first) / sizeof(float));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        c[i] = a[i] + b[i];
    return 0;
}
