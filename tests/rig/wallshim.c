/*
 * A wall clock that a test moves: preloaded, it adds the offset in the file $WALLSHIM_FILE (nanoseconds, 8 bytes,
 * little-endian) to each reading of CLOCK_REALTIME. The file is mapped, so a new offset counts at once, in all processes.
 * Monotonic and boot time pass through.
 *
 *   gcc -O2 -shared -fPIC -o wallshim.so wallshim.c
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static volatile int64_t none;
static volatile int64_t *offset = &none;

__attribute__((constructor)) static void start(void)
{
    const char *file = getenv("WALLSHIM_FILE");
    int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *map = mmap(0, sizeof *offset, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (map != MAP_FAILED)
        offset = map;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    int result = syscall(SYS_clock_gettime, id, t);
    if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        int64_t ns = t->tv_sec * SECOND + t->tv_nsec + *offset;
        t->tv_sec = ns / SECOND;
        t->tv_nsec = ns % SECOND;
    }
    return result;
}

int gettimeofday(struct timeval *tv, void *zone)
{
    struct timespec t;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &t);
    if (tv) {
        tv->tv_sec = t.tv_sec;
        tv->tv_usec = t.tv_nsec / 1000;
    }
    return 0;
}

time_t time(time_t *result)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (result)
        *result = t.tv_sec;
    return t.tv_sec;
}

int timespec_get(struct timespec *t, int base)
{
    if (base != TIME_UTC)
        return 0;
    clock_gettime(CLOCK_REALTIME, t);
    return base;
}
