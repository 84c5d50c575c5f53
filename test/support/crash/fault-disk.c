// A disk that fails when it is told to: preloaded into a process (LD_PRELOAD), it stands between that process and
// the kernel for the files of one folder. Everything else passes through it.
//
// SVC_FAULT_FOLDER   the folder, absolute and without links
// SVC_FAULT_CONTROL  a file of CONTROL_BYTES, shared with the test: what is to fail (struct control)
// SVC_FAULT_TRACE    where every change of the folder is written down, in its order (struct entry); may be left away
//
// Invariants
// 1  The operations on the folder happen one at a time, and stand in the trace in the order in which they happened.
// 2  A file's name is asked of the kernel at each operation, so nothing has to be kept of open files.
// 3  The library itself writes through system calls, and so never meets itself.
// 4  errno is what the operation left, whatever was done to note it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind { WRITE = 1, SYNC = 2, TRUNCATE = 4, RENAME = 8, UNLINK = 16, CREATE = 32 };
// STOP: the process stops before the operation. AFTER: it stops once the operation is done, before it learns of that.
// TEAR: half of the write reaches the file, then the process stops. SLOW: it is done, later.
enum mode { PASS = 0, FAIL_EIO = 1, FAIL_ENOSPC = 2, STOP = 3, TEAR = 4, SLOW = 5, AFTER = 6 };

#define CONTROL_BYTES 128

// What the test writes; `seen` and `hit` are the library's. Only operations of `kinds` on files whose names end in
// `suffix` are counted, and those numbered from `first` to `last` fail.
struct control {
  volatile int64_t mode, kinds, first, last, seen, hit, delay_us;
  int64_t unused;
  char suffix[64];
};

// Of the trace: this, the name below the folder, a second name (of a rename), the bytes.
struct entry {
  uint8_t kind;
  uint8_t failed;
  uint16_t name_length;
  uint16_t other_length;
  uint16_t unused;
  uint32_t length;
  int32_t thread;
  int64_t offset;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static size_t folder_length;
static struct control *control;
static int trace = -1;

__attribute__((constructor)) static void begin(void) {
  const char *wanted = getenv("SVC_FAULT_FOLDER");
  const char *control_path = getenv("SVC_FAULT_CONTROL");
  const char *trace_path = getenv("SVC_FAULT_TRACE");
  if (wanted == NULL || control_path == NULL || strlen(wanted) >= sizeof folder) return;
  int file = (int)syscall(SYS_openat, AT_FDCWD, control_path, O_RDWR | O_CLOEXEC, 0);
  if (file < 0) return;
  void *shared = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (shared == MAP_FAILED) return;
  if (trace_path != NULL)
    trace = (int)syscall(SYS_openat, AT_FDCWD, trace_path,
                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  control = shared;
  strcpy(folder, wanted);
  folder_length = strlen(folder);
}

#define REAL(name)                                              \
  static __typeof__(&name) real;                                \
  if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

// The name below the folder; NULL when it is not in it. The folder's own name is empty.
static const char *below(const char *path) {
  if (folder_length == 0 || strncmp(path, folder, folder_length) != 0) return NULL;
  if (path[folder_length] == '\0') return path + folder_length;
  return path[folder_length] == '/' ? path + folder_length + 1 : NULL;
}

static const char *name_of(int fd, char *buffer) {
  if (folder_length == 0 || fd < 0) return NULL;
  char link[64];
  int kept = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, buffer, PATH_MAX - 1);
  errno = kept;
  if (length < 0) return NULL;
  buffer[length] = '\0';
  return below(buffer);
}

static const char *name_at(int dir, const char *path, char *buffer) {
  if (folder_length == 0) return NULL;
  if (path[0] == '/') return below(path);
  if (dir == AT_FDCWD) {
    if (syscall(SYS_getcwd, buffer, PATH_MAX) < 0) return NULL;
  } else {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, buffer, PATH_MAX - 1);
    if (length < 0) return NULL;
    buffer[length] = '\0';
  }
  size_t length = strlen(buffer);
  if (length + strlen(path) + 2 > PATH_MAX) return NULL;
  buffer[length] = '/';
  strcpy(buffer + length + 1, path);
  return below(buffer);
}

static void put(const void *bytes, size_t length) {
  const char *at = bytes;
  while (length > 0) {
    ssize_t written = syscall(SYS_write, trace, at, length);
    if (written < 0) {
      if (errno == EINTR) continue;
      abort(); // A trace with a hole would prove nothing.
    }
    at += written;
    length -= (size_t)written;
  }
}

static void note(enum kind kind, int failed, const char *name, const char *other, int64_t offset,
                 const struct iovec *parts, size_t length) {
  if (trace < 0) return;
  int kept = errno;
  struct entry entry = {.kind = kind,
                        .failed = (uint8_t)failed,
                        .name_length = (uint16_t)strlen(name),
                        .other_length = (uint16_t)strlen(other),
                        .length = parts == NULL ? 0 : (uint32_t)length,
                        .thread = (int32_t)syscall(SYS_gettid),
                        .offset = offset};
  put(&entry, sizeof entry);
  put(name, entry.name_length);
  put(other, entry.other_length);
  for (size_t left = entry.length; left > 0; parts++) {
    size_t some = parts->iov_len < left ? parts->iov_len : left;
    put(parts->iov_base, some);
    left -= some;
  }
  errno = kept;
}

static int ends_in(const char *name, const char *suffix) {
  size_t length = strlen(name), end = strnlen(suffix, sizeof control->suffix);
  return length >= end && memcmp(name + length - end, suffix, end) == 0;
}

static void stop(void) {
  syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
  for (;;) pause();
}

static int stops_after;

// The end of an operation. Whoever stops holds the lock: nothing of the folder changes any more.
static void leave(void) {
  if (stops_after) stop();
  pthread_mutex_unlock(&lock);
}

// What this operation is to do, if it is to be done.
static enum mode fate(enum kind kind, const char *name) {
  enum mode mode = (enum mode)control->mode;
  // The test's own notes in the order of the trace.
  if (mode == PASS || strcmp(name, "marks") == 0) return PASS;
  if ((control->kinds & kind) == 0 || !ends_in(name, control->suffix)) return PASS;
  int64_t number = ++control->seen;
  if (number < control->first || number > control->last) return PASS;
  control->hit++;
  if (mode == STOP) stop();
  if (mode == AFTER) {
    stops_after = 1;
    return PASS;
  }
  if (mode == SLOW) {
    struct timespec time = {.tv_sec = 0, .tv_nsec = (long)control->delay_us * 1000};
    nanosleep(&time, NULL);
    return PASS;
  }
  return mode;
}

static int errno_of(enum mode mode) { return mode == FAIL_ENOSPC ? ENOSPC : EIO; }

// A write of whatever shape. `offset` < 0: where the file stands.
static ssize_t write_parts(int fd, const char *name, const struct iovec *parts, int count,
                           int64_t offset) {
  size_t length = 0;
  for (int at = 0; at < count; at++) length += parts[at].iov_len;
  pthread_mutex_lock(&lock);
  enum mode mode = fate(WRITE, name);
  int64_t at = offset;
  if (at < 0) {
    int flags = fcntl(fd, F_GETFL);
    at = syscall(SYS_lseek, fd, 0, (flags & O_APPEND) != 0 ? SEEK_END : SEEK_CUR);
  }
  ssize_t written;
  if (mode == PASS || mode == TEAR || (mode == FAIL_ENOSPC && length >= 1024)) {
    // A disk that is nearly full, and a process that is stopped, leave half of what was to be written.
    struct iovec half = {.iov_base = parts[0].iov_base, .iov_len = length / 2};
    const struct iovec *used = parts;
    if (mode != PASS && count == 1) {
      used = &half;
      length /= 2;
    }
    written = offset < 0 ? syscall(SYS_writev, fd, used, count)
                         : syscall(SYS_pwritev, fd, used, count, (long)offset, 0L);
    if (mode == TEAR) {
      if (written >= 0) note(WRITE, 0, name, "", at, used, (size_t)written);
      stop();
    }
    if (written >= 0) note(WRITE, 0, name, "", at, used, (size_t)written);
  } else {
    errno = errno_of(mode);
    written = -1;
    note(WRITE, 1, name, "", at, NULL, 0);
  }
  leave();
  return written;
}

ssize_t write(int fd, const void *bytes, size_t length) {
  char buffer[PATH_MAX];
  const char *name = name_of(fd, buffer);
  if (name == NULL) return syscall(SYS_write, fd, bytes, length);
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = length};
  return write_parts(fd, name, &part, 1, -1);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  char buffer[PATH_MAX];
  const char *name = name_of(fd, buffer);
  if (name == NULL) return syscall(SYS_writev, fd, parts, count);
  return write_parts(fd, name, parts, count, -1);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  char buffer[PATH_MAX];
  const char *name = name_of(fd, buffer);
  if (name == NULL) return syscall(SYS_pwrite64, fd, bytes, length, offset);
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = length};
  return write_parts(fd, name, &part, 1, offset);
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  return pwrite64(fd, bytes, length, offset);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  char buffer[PATH_MAX];
  const char *name = name_of(fd, buffer);
  if (name == NULL) return syscall(SYS_pwritev, fd, parts, count, (long)offset, 0L);
  return write_parts(fd, name, parts, count, offset);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  return pwritev64(fd, parts, count, offset);
}

static int synced(long number, int fd) {
  char buffer[PATH_MAX];
  const char *name = name_of(fd, buffer);
  if (name == NULL) return (int)syscall(number, fd);
  pthread_mutex_lock(&lock);
  enum mode mode = fate(SYNC, name);
  int result = -1;
  if (mode == PASS) result = (int)syscall(number, fd);
  else errno = errno_of(mode);
  note(SYNC, result != 0, name, "", 0, NULL, 0);
  leave();
  return result;
}
int fsync(int fd) { return synced(SYS_fsync, fd); }
int fdatasync(int fd) { return synced(SYS_fdatasync, fd); }

int ftruncate64(int fd, off64_t length) {
  char buffer[PATH_MAX];
  const char *name = name_of(fd, buffer);
  if (name == NULL) return (int)syscall(SYS_ftruncate, fd, length);
  pthread_mutex_lock(&lock);
  enum mode mode = fate(TRUNCATE, name);
  int result = -1;
  if (mode == PASS) result = (int)syscall(SYS_ftruncate, fd, length);
  else errno = errno_of(mode);
  note(TRUNCATE, result != 0, name, "", length, NULL, 0);
  leave();
  return result;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

int rename(const char *from, const char *to) {
  char from_buffer[PATH_MAX], to_buffer[PATH_MAX];
  const char *name = name_at(AT_FDCWD, from, from_buffer);
  const char *other = name_at(AT_FDCWD, to, to_buffer);
  if (name == NULL || other == NULL) return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
  pthread_mutex_lock(&lock);
  enum mode mode = fate(RENAME, other);
  int result = -1;
  if (mode == PASS) result = (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
  else errno = errno_of(mode);
  note(RENAME, result != 0, name, other, 0, NULL, 0);
  leave();
  return result;
}

int unlinkat(int dir, const char *path, int flags) {
  char buffer[PATH_MAX];
  const char *name = name_at(dir, path, buffer);
  if (name == NULL) return (int)syscall(SYS_unlinkat, dir, path, flags);
  pthread_mutex_lock(&lock);
  enum mode mode = fate(UNLINK, name);
  int result = -1;
  if (mode == PASS) result = (int)syscall(SYS_unlinkat, dir, path, flags);
  else errno = errno_of(mode);
  note(UNLINK, result != 0, name, "", 0, NULL, 0);
  leave();
  return result;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int remove(const char *path) {
  char buffer[PATH_MAX];
  if (name_at(AT_FDCWD, path, buffer) == NULL) {
    REAL(remove);
    return real(path);
  }
  int result = unlinkat(AT_FDCWD, path, 0);
  return result != 0 && errno == EISDIR ? unlinkat(AT_FDCWD, path, AT_REMOVEDIR) : result;
}

static int exists(int dir, const char *path) {
  int kept = errno;
  struct stat found;
  int result = fstatat(dir, path, &found, AT_SYMLINK_NOFOLLOW);
  errno = kept;
  return result == 0;
}

// Never fails by itself, but the process may stop at it: what a file of the folder is made with, or emptied.
static int opened(int dir, const char *path, int flags, mode_t mode) {
  char buffer[PATH_MAX];
  if ((flags & (O_CREAT | O_TRUNC)) == 0 || name_at(dir, path, buffer) == NULL)
    return (int)syscall(SYS_openat, dir, path, flags, mode);
  pthread_mutex_lock(&lock);
  if ((flags & O_TRUNC) != 0 || !exists(dir, path)) fate(CREATE, name_at(dir, path, buffer));
  int fd = (int)syscall(SYS_openat, dir, path, flags, mode);
  const char *name = name_of(fd, buffer);
  if (name != NULL) {
    note(CREATE, 0, name, "", 0, NULL, 0);
    if ((flags & O_TRUNC) != 0) note(TRUNCATE, 0, name, "", 0, NULL, 0);
  }
  leave();
  return fd;
}

#define MODE_OF(flags)                          \
  mode_t mode = 0;                              \
  if ((flags & (O_CREAT | O_TMPFILE)) != 0) {   \
    va_list rest;                               \
    va_start(rest, flags);                      \
    mode = va_arg(rest, mode_t);                \
    va_end(rest);                               \
  }

int open(const char *path, int flags, ...) {
  MODE_OF(flags)
  return opened(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  MODE_OF(flags)
  return opened(AT_FDCWD, path, flags, mode);
}
int openat(int dir, const char *path, int flags, ...) {
  MODE_OF(flags)
  return opened(dir, path, flags, mode);
}
int openat64(int dir, const char *path, int flags, ...) {
  MODE_OF(flags)
  return opened(dir, path, flags, mode);
}

// As a file is made. A trace has none: a copy of the folder has the folders of its files.
int mkdir(const char *path, mode_t mode) {
  char buffer[PATH_MAX];
  const char *name = name_at(AT_FDCWD, path, buffer);
  if (name == NULL) return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  pthread_mutex_lock(&lock);
  if (!exists(AT_FDCWD, path)) fate(CREATE, name);
  int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  leave();
  return result;
}
