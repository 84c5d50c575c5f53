// A machine of its own for a process, as far as its clocks and its addresses go: preloaded (LD_PRELOAD), the library is between the
// process and the C library.
//
// SVC_MACHINE_CONTROL  a file of CONTROL_BYTES, shared with the test: how far the clocks are set (struct control)
// SVC_MACHINE_PEERS    an IPv4 address: connections to it are made to SVC_MACHINE_ROUTE instead, at the same port
// SVC_MACHINE_ROUTE    another IPv4 address. Both may be left away
//
// Invariants
// 1  Every clock of the same kind is set equally far, the coarse ones too, so that no two of them contradict each other.
// 2  An absolute time that the process gives is one of its own clocks. It is changed back before the kernel, whose clocks are not set,
//    waits for it.
// 3  errno is that of the C library.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define CONTROL_BYTES 16
#define NS_PER_SECOND 1000000000LL
// An absolute time beyond this is one of the wall clock: a machine has run for less than 31 years.
#define WALL_SECONDS_MIN 1000000000LL

// What the test writes, in nanoseconds: they are added to what the kernel's clocks show.
struct control {
  volatile int64_t wall_ns, monotonic_ns;
};

static struct control unset;
static struct control *control = &unset;
static struct in_addr peers, route;
static int is_routed;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("SVC_MACHINE_CONTROL");
  const char *peers_text = getenv("SVC_MACHINE_PEERS");
  const char *route_text = getenv("SVC_MACHINE_ROUTE");
  is_routed = peers_text != NULL && route_text != NULL && inet_aton(peers_text, &peers) &&
              inet_aton(route_text, &route);
  if (path == NULL) return;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void *shared = mmap(NULL, CONTROL_BYTES, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (shared != MAP_FAILED) control = shared;
}

static void *real_function(const char *name, const char *version) {
  // The oldest version of the functions for conditions is another one.
  void *found = version == NULL ? NULL : dlvsym(RTLD_NEXT, name, version);
  return found == NULL ? dlsym(RTLD_NEXT, name) : found;
}

#define REAL(name, version)       \
  static __typeof__(&name) real;  \
  if (real == NULL) real = (__typeof__(&name))real_function(#name, version)

static struct timespec moved(struct timespec time, int64_t by_ns) {
  int64_t ns = time.tv_nsec + by_ns % NS_PER_SECOND;
  time.tv_sec += by_ns / NS_PER_SECOND;
  if (ns < 0) {
    ns += NS_PER_SECOND;
    time.tv_sec--;
  } else if (ns >= NS_PER_SECOND) {
    ns -= NS_PER_SECOND;
    time.tv_sec++;
  }
  time.tv_nsec = ns;
  return time;
}

static struct timespec for_kernel(const struct timespec *time) {
  return moved(*time, time->tv_sec >= WALL_SECONDS_MIN ? -control->wall_ns : -control->monotonic_ns);
}

static int64_t set_ns(clockid_t clock) {
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) return control->wall_ns;
  // CLOCK_BOOTTIME goes on while a machine is suspended.
  if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_MONOTONIC_RAW)
    return control->monotonic_ns;
  return 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  REAL(clock_gettime, NULL);
  int result = real(clock, time);
  if (result == 0) *time = moved(*time, set_ns(clock));
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  REAL(gettimeofday, NULL);
  int result = real(time, zone);
  if (result != 0) return result;
  struct timespec shown = {time->tv_sec, (long)time->tv_usec * 1000};
  shown = moved(shown, control->wall_ns);
  time->tv_sec = shown.tv_sec;
  time->tv_usec = shown.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *kept) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (kept != NULL) *kept = now.tv_sec;
  return now.tv_sec;
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
  REAL(pthread_cond_timedwait, "GLIBC_2.3.2");
  struct timespec kernel = for_kernel(until);
  return real(condition, mutex, &kernel);
}

int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           clockid_t clock, const struct timespec *restrict until) {
  REAL(pthread_cond_clockwait, NULL);
  struct timespec kernel = for_kernel(until);
  return real(condition, mutex, clock, &kernel);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
  REAL(sem_timedwait, NULL);
  struct timespec kernel = for_kernel(until);
  return real(semaphore, &kernel);
}

int connect(int socket, const struct sockaddr *address, socklen_t length) {
  REAL(connect, NULL);
  struct sockaddr_in other;
  if (is_routed && address != NULL && address->sa_family == AF_INET && length >= sizeof other) {
    memcpy(&other, address, sizeof other);
    if (other.sin_addr.s_addr == peers.s_addr) {
      other.sin_addr = route;
      return real(socket, (struct sockaddr *)&other, sizeof other);
    }
  }
  return real(socket, address, length);
}
