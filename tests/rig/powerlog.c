/*
 * What a disk was told, in order: preloaded, it appends a record to $POWERLOG_OUT for each write, truncation, sync and
 * unlink of a file under $POWERLOG_DIR. From these a test builds the files that a power cut could have left.
 *
 *   gcc -O2 -shared -fPIC -o powerlog.so powerlog.c
 *
 * A record, little-endian: u32 magic, u8 operation (W T S U), 3 bytes of nothing, i64 offset, i64 length of the data,
 * u32 length of the path, u32 of nothing, the path, the data.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAGIC 0x50574c47

struct head {
    uint32_t magic;
    char op;
    char pad[3];
    int64_t offset;
    int64_t length;
    uint32_t path_length;
    uint32_t zero;
};

static int out = -1;
static char dir[PATH_MAX];
static size_t dir_length;
/* A write and its record are one step: else two threads could be written down in the other order. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void start(void)
{
    const char *d = getenv("POWERLOG_DIR");
    const char *o = getenv("POWERLOG_OUT");
    if (!d || !o || !realpath(d, dir))
        return;
    dir_length = strlen(dir);
    out = syscall(SYS_openat, AT_FDCWD, o, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

static int is_inside(const char *path)
{
    return strncmp(path, dir, dir_length) == 0 && (path[dir_length] == '/' || path[dir_length] == 0);
}

/* The path of an open file, when it is one of those that are watched. */
static int watched(int fd, char *path)
{
    char link[40];
    if (out < 0 || fd == out)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    if (n < 0)
        return 0;
    path[n] = 0;
    return is_inside(path);
}

static void record(char op, const char *path, int64_t offset, const void *data, int64_t length)
{
    struct head h = {MAGIC, op, {0}, offset, length, (uint32_t)strlen(path), 0};
    struct iovec parts[3] = {{&h, sizeof h}, {(void *)path, h.path_length}, {(void *)data, data ? length : 0}};
    if (writev(out, parts, 3) < 0)
        abort();
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t offset)
{
    char path[PATH_MAX];
    if (!watched(fd, path))
        return syscall(SYS_pwrite64, fd, data, n, offset);
    pthread_mutex_lock(&mutex);
    ssize_t done = syscall(SYS_pwrite64, fd, data, n, offset);
    if (done > 0)
        record('W', path, offset, data, done);
    pthread_mutex_unlock(&mutex);
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t offset)
{
    return pwrite64(fd, data, n, offset);
}

ssize_t write(int fd, const void *data, size_t n)
{
    char path[PATH_MAX];
    if (!watched(fd, path))
        return syscall(SYS_write, fd, data, n);
    pthread_mutex_lock(&mutex);
    off_t offset = lseek(fd, 0, fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
    ssize_t done = syscall(SYS_write, fd, data, n);
    if (done > 0)
        record('W', path, offset, data, done);
    pthread_mutex_unlock(&mutex);
    return done;
}

static int noted(int result, int fd, char op, int64_t offset)
{
    char path[PATH_MAX];
    if (result == 0 && watched(fd, path)) {
        pthread_mutex_lock(&mutex);
        record(op, path, offset, 0, 0);
        pthread_mutex_unlock(&mutex);
    }
    return result;
}

int ftruncate64(int fd, off64_t length)
{
    return noted(syscall(SYS_ftruncate, fd, length), fd, 'T', length);
}

int ftruncate(int fd, off_t length)
{
    return ftruncate64(fd, length);
}

int fsync(int fd)
{
    return noted(syscall(SYS_fsync, fd), fd, 'S', 0);
}

int fdatasync(int fd)
{
    return noted(syscall(SYS_fdatasync, fd), fd, 'S', 0);
}

int unlink(const char *file)
{
    char path[PATH_MAX];
    int inside = out >= 0 && realpath(file, path) && is_inside(path);
    int result = syscall(SYS_unlink, file);
    if (result == 0 && inside) {
        pthread_mutex_lock(&mutex);
        record('U', path, 0, 0, 0);
        pthread_mutex_unlock(&mutex);
    }
    return result;
}
