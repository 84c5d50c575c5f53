/* The copy command of a module image: copy SOURCE TARGET. It overwrites TARGET with the bytes of SOURCE, as `cp` does, and exits
 * with 0; otherwise it reports the step that failed on standard error and exits with 1. It is one static program without a C
 * library, so that an image of a module needs no other file. `build.sh` compiles it, and README.md says how the programs stay
 * reproducible. */

#define AT_FDCWD (-100L)
#define O_RDONLY 0L
#define O_WRONLY 01L
#define O_CREAT 0100L
#define O_TRUNC 01000L
#define O_CLOEXEC 02000000L
#define EINTR (-4L)
#define STANDARD_ERROR 2L
#define BUFFER_BYTES 65536L

#if defined(__x86_64__)
#define SYS_READ 0L
#define SYS_WRITE 1L
#define SYS_CLOSE 3L
#define SYS_OPENAT 257L
#define SYS_EXIT_GROUP 231L

static long system_call(long number, long a, long b, long c, long d) {
  long result;
  register long fourth __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                   : "rcx", "r11", "memory");
  return result;
}

/* The kernel starts a program with its number of arguments on top of the stack, and the arguments after it. */
__asm__(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call run\n");

#elif defined(__aarch64__)
#define SYS_READ 63L
#define SYS_WRITE 64L
#define SYS_CLOSE 57L
#define SYS_OPENAT 56L
#define SYS_EXIT_GROUP 94L

static long system_call(long number, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}

__asm__(".globl _start\n_start:\n  mov x29, #0\n  mov x0, sp\n  bl run\n");

#else
#error "the copy command is for x86-64 and arm64"
#endif

static char buffer[BUFFER_BYTES];

__attribute__((noreturn)) static void end(long code) {
  for (;;) system_call(SYS_EXIT_GROUP, code, 0, 0, 0);
}

__attribute__((noreturn)) static void fail(const char *message, long length) {
  system_call(SYS_WRITE, STANDARD_ERROR, (long)message, length, 0);
  end(1);
}
#define FAIL(message) fail(message, sizeof(message) - 1)

static long again(long number, long a, long b, long c, long d) {
  long result;
  do result = system_call(number, a, b, c, d);
  while (result == EINTR);
  return result;
}

__attribute__((noreturn, used)) void run(long *stack) {
  if (stack[0] != 3) FAIL("copy: usage: copy SOURCE TARGET\n");
  long source = again(SYS_OPENAT, AT_FDCWD, stack[2], O_RDONLY | O_CLOEXEC, 0);
  if (source < 0) FAIL("copy: the source cannot be opened\n");
  long target =
      again(SYS_OPENAT, AT_FDCWD, stack[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (target < 0) FAIL("copy: the target cannot be opened\n");
  for (;;) {
    long length = again(SYS_READ, source, (long)buffer, BUFFER_BYTES, 0);
    if (length < 0) FAIL("copy: the source cannot be read\n");
    if (length == 0) break;
    for (long done = 0; done < length;) {
      long written = again(SYS_WRITE, target, (long)buffer + done, length - done, 0);
      if (written <= 0) FAIL("copy: the target cannot be written\n");
      done += written;
    }
  }
  if (system_call(SYS_CLOSE, target, 0, 0, 0) < 0) FAIL("copy: the target cannot be written\n");
  end(0);
}
