/* Ground of a graft: the memory it shares with Tare, the check of the server's build, and detours of functions.
 *
 * layout.h is generated from the server's symbols and DWARF (see build.py): BUILD_SIZE, the address of each symbol
 * that the graft names, the first bytes of its functions, and the places of members in the server's structures. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "layout.h"

typedef unsigned long ulint;
#define AT(type, base, offset) (*(type *)((char *)(base) + (offset)))

/* The file that the variable TARE_GRAFT names. Tare writes policy and parameter; the graft writes the rest. */
struct shared {
    char magic[8];
    volatile uint64_t policy, parameter;
    uint64_t pid; /* of the server, once the graft is in place */
    uint64_t unused[4];
    volatile uint64_t counts[56];
    char refusal[512];
};
static struct shared *shared;

#define COUNT(name, by) (shared->counts[name] += (by))
#define COUNT_ATOMIC(name, by) __atomic_fetch_add(&shared->counts[name], (by), __ATOMIC_RELAXED)

static inline uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#define REFUSE(...) (snprintf(shared->refusal, sizeof shared->refusal, __VA_ARGS__), _exit(1))

/* Whether this process is the server of a graft; its shared memory is then mapped. Ends a server of another build. */
static int graft_begin(const char *magic, const struct code *codes, int number)
{
    char exe[4096];
    struct stat file;
    const char *path = getenv("TARE_GRAFT");
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (!path || length < 7 || memcmp(exe + length - 7, "/mysqld", 7)) return 0;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &file) || file.st_size < (off_t)sizeof *shared) _exit(1);
    shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (shared == MAP_FAILED || memcmp(shared->magic, magic, sizeof shared->magic)) _exit(1);
    if (stat("/proc/self/exe", &file) || file.st_size != BUILD_SIZE)
        REFUSE("the server's program has %ld bytes; the graft needs the one with %ld", (long)file.st_size, (long)BUILD_SIZE);
    for (int i = 0; i < number; i++)
        if (memcmp((void *)codes[i].address, codes[i].bytes, sizeof codes[i].bytes))
            REFUSE("%s at %#lx begins with other code than in the build that the graft needs", codes[i].name, codes[i].address);
    return 1;
}

/* Makes calls of the function at `address` arrive at `hook`, and returns an entry to the original. Its first `length`
 * bytes, 5 or more, are whole instructions; of addresses they may have that of a lea at `lea`, which moves with them.
 * The server is not position-independent and no thread runs yet. */
static void *graft_detour(uint64_t address, int length, int lea, void *hook)
{
    enum { TO_HOOK = 0, ORIGINAL = 16, SIZE = 64 };
    static const unsigned char jump[6] = {0xff, 0x25}; /* jmp *0(%rip) */
    unsigned char *code = (unsigned char *)address;
    unsigned char *stub = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (stub == MAP_FAILED) REFUSE("no memory below 2 GiB for a detour of %#lx", address);
    uint64_t back = address + (uint64_t)length;
    memset(stub, 0xcc, SIZE);
    memcpy(stub + TO_HOOK, jump, 6), memcpy(stub + TO_HOOK + 6, &hook, 8);
    memcpy(stub + ORIGINAL, code, (size_t)length);
    if (lea >= 0) AT(int32_t, stub, ORIGINAL + lea + 3) += (int32_t)(code - (stub + ORIGINAL));
    memcpy(stub + ORIGINAL + length, jump, 6), memcpy(stub + ORIGINAL + length + 6, &back, 8);
    char *page = (char *)(address & ~4095ul);
    int32_t distance = (int32_t)(stub - (code + 5));
    if (mprotect(stub, 4096, PROT_READ | PROT_EXEC) || mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC))
        REFUSE("the code at %#lx cannot be changed here", address);
    code[0] = 0xe9;
    memcpy(code + 1, &distance, 4);
    mprotect(page, 8192, PROT_READ | PROT_EXEC);
    return stub + ORIGINAL;
}
