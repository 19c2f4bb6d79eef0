/* The consumer's side of a shared memory segment, in C11 without a library; the layout is that of docs/shared_memory.md.
 *
 * attach, then for every step: next_step, latest for what you read, publish for what you say, answer.
 */
#ifndef TUSSOCK_SHARED_MEMORY_H
#define TUSSOCK_SHARED_MEMORY_H
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef _Atomic uint64_t counter; /* lock-free on every 64-bit machine */

struct header {
    char magic[8];
    uint32_t version, flags;
    uint64_t bytes;
    uint32_t channels, channel_bytes;
    counter state;
    uint64_t simulator_pid, simulator_start;
    counter simulator_heartbeat;
    uint64_t consumer_pid, consumer_start;
    counter consumer_heartbeat, step, answer;
    char reserved[152];
};
struct channel {
    char name[40];
    uint32_t direction, type, dimensions, reserved0;
    uint64_t shape[3], offset, slot_bytes;
    counter published;
    char reserved1[24];
};
struct slot {
    counter sequence;
    uint64_t number;
    double time;
    uint64_t shape[3];
    char reserved[16];
};
_Static_assert(sizeof(struct header) == 256 && sizeof(struct channel) == 128 && sizeof(struct slot) == 64, "layout");

static int descriptor;
static struct header *head;

static struct channel *find(const char *name) {
    struct channel *table = (struct channel *)((char *)head + sizeof *head);
    for (uint32_t k = 0; k < head->channels; k++)
        if (strncmp(table[k].name, name, sizeof table[k].name) == 0) return &table[k];
    fprintf(stderr, "no channel %s\n", name);
    exit(1);
}

static struct slot *slot_of(struct channel *c, uint64_t number) {
    return (struct slot *)((char *)head + c->offset + (number & 1) * c->slot_bytes);
}

/* The newest array of a channel into `to`; its number of rows. */
static uint64_t latest(struct channel *c, void *to, size_t row_bytes) {
    for (;;) {
        uint64_t n = atomic_load_explicit(&c->published, memory_order_acquire);
        if (n == 0) return 0;
        struct slot *s = slot_of(c, n);
        uint64_t before = atomic_load_explicit(&s->sequence, memory_order_acquire);
        if (before & 1) continue;
        uint64_t rows = s->shape[0];
        if (rows > c->shape[0]) continue;
        memcpy(to, s + 1, rows * row_bytes);
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&s->sequence, memory_order_relaxed) == before) return rows;
    }
}

static void publish(struct channel *c, const void *from, uint64_t rows, size_t row_bytes) {
    uint64_t n = atomic_load_explicit(&c->published, memory_order_relaxed) + 1;
    struct slot *s = slot_of(c, n);
    uint64_t odd = (atomic_load_explicit(&s->sequence, memory_order_relaxed) + 1) | 1;
    atomic_store_explicit(&s->sequence, odd, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    s->number = n;
    s->time = 0;
    s->shape[0] = rows, s->shape[1] = s->shape[2] = 1;
    memcpy(s + 1, from, rows * row_bytes);
    atomic_store_explicit(&s->sequence, odd + 1, memory_order_release);
    atomic_store_explicit(&c->published, n, memory_order_release);
}

/* The simulator holds an exclusive lock for as long as it lives. */
static int simulator_lives(void) {
    if (atomic_load(&head->state) == 2) return 0;
    if (flock(descriptor, LOCK_SH | LOCK_NB) == 0) {
        flock(descriptor, LOCK_UN);
        return 0;
    }
    return 1;
}

static void nap(void) {
    struct timespec t = {0, 50000};
    nanosleep(&t, NULL);
}

/* Attach to a segment as the one program that controls it; up to a minute for the simulator to start. 0: done. */
static int attach(const char *name) {
    char path[300];
    snprintf(path, sizeof path, "/dev/shm/%s", name);
    struct stat about;
    for (int tries = 0;; tries++) {
        descriptor = open(path, O_RDWR | O_CLOEXEC);
        if (descriptor >= 0 && fstat(descriptor, &about) == 0 && about.st_size >= 256) {
            head = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
            if (head != MAP_FAILED && memcmp(head->magic, "TUSSOCK", 8) == 0 && simulator_lives()) break;
            if (head != MAP_FAILED) munmap(head, (size_t)about.st_size);
        }
        if (descriptor >= 0) close(descriptor);
        if (tries == 6000) {
            fprintf(stderr, "no live segment %s\n", name);
            return 1;
        }
        struct timespec t = {0, 10000000};
        nanosleep(&t, NULL);
    }
    if (head->version != 1) {
        fprintf(stderr, "another layout version\n");
        return 1;
    }
    struct flock one = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 64, .l_len = 1};
    if (fcntl(descriptor, F_SETLK, &one) != 0) {
        fprintf(stderr, "controlled by process %llu already\n", (unsigned long long)head->consumer_pid);
        return 1;
    }
    head->consumer_pid = (uint64_t)getpid();
    return 0;
}

/* Wait for the next step of the simulator; its number, or 0 if the simulator has gone. */
static uint64_t next_step(void) {
    for (int naps = 0; atomic_load(&head->step) <= atomic_load(&head->answer); naps++) {
        if (naps % 1000 == 999 && !simulator_lives()) return 0;
        nap();
    }
    return atomic_load_explicit(&head->step, memory_order_acquire);
}

static void answer(uint64_t step) { atomic_store_explicit(&head->answer, step, memory_order_release); }

#endif
