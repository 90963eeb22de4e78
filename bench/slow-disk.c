/*
 * Preloaded into a process (LD_PRELOAD), it makes each sync of a file take SLOW_DISK_MS longer, as on a network volume.
 * Only the calling thread waits.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

typedef int (*sync_call)(int);

static int delayed(const char *name, int file) {
  const char *milliseconds = getenv("SLOW_DISK_MS");
  const long wait = milliseconds == NULL ? 0 : atol(milliseconds);
  const struct timespec time = {wait / 1000, wait % 1000 * 1000000};
  nanosleep(&time, NULL);
  return ((sync_call)dlsym(RTLD_NEXT, name))(file);
}

int fsync(int file) { return delayed("fsync", file); }
int fdatasync(int file) { return delayed("fdatasync", file); }
