// Delays work that is handed to queues and tasks, and calls of the file system, now and then: what depends
// on being prompt fails. Loaded before the libraries whose functions it replaces.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

typedef void *queue;
typedef void (^block)(void);
extern void *_Block_copy(const void *);
extern void _Block_release(const void *);
extern queue dispatch_get_global_queue(long, unsigned long);

static int chance(int percent) {
  static __thread unsigned seed;
  if (!seed) seed = (unsigned)(size_t)&seed ^ (unsigned)getpid();
  return rand_r(&seed) % 100 < percent;
}

static void delay(int percent, int microseconds) {
  if (chance(percent)) usleep(rand() % microseconds);
}

static void enqueue(queue queue, block work) {
  static void (*original)(void *, block);
  if (!original) original = dlsym(RTLD_NEXT, "dispatch_async");
  original(queue, work);
}

void dispatch_async(queue queue, block work) {
  block copy = (block)_Block_copy((const void *)work);
  enqueue(queue, ^{
    delay(15, 10000);
    copy();
    _Block_release((const void *)copy);
  });
}

#define DELAYED(result, name, parameters, arguments) \
  result name parameters {                           \
    static result(*original) parameters;             \
    if (!original) original = dlsym(RTLD_NEXT, #name); \
    delay(3, 4000);                                  \
    result outcome = original arguments;             \
    delay(2, 4000);                                  \
    return outcome;                                  \
  }

DELAYED(ssize_t, pwrite, (int file, const void *from, size_t count, off_t at), (file, from, count, at))
DELAYED(ssize_t, pread, (int file, void *to, size_t count, off_t at), (file, to, count, at))
DELAYED(int, fsync, (int file), (file))
DELAYED(int, fdatasync, (int file), (file))
DELAYED(int, ftruncate, (int file, off_t count), (file, count))
DELAYED(int, rename, (const char *old, const char *new), (old, new))
DELAYED(int, unlink, (const char *path), (path))

// The runtime's hook for jobs of Swift tasks.
typedef __attribute__((swiftcall)) void (*enqueueing)(void *);

static __attribute__((swiftcall)) void enqueueLater(void *job, enqueueing original) {
  if (!chance(30)) return original(job);
  enqueue(dispatch_get_global_queue(0, 0), ^{
    usleep(rand() % 5000);
    original(job);
  });
}

__attribute__((constructor)) static void hook(void) {
  void **place = dlsym(RTLD_DEFAULT, "swift_task_enqueueGlobal_hook");
  if (place) *place = (void *)enqueueLater;
}
