// What lets a program that was linked on a newer Debian start on glibc 2.31 (Debian 11, Ubuntu 20.04): the names that
// later releases have made or moved, as they were (self_contained.bzl wraps them). For x86-64.
#define _GNU_SOURCE
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__

// Functions of other versions, or in other libraries, that do the same.
#define FROM(version, name)                                 \
  __asm__(".symver old_" #name ", " #name "@GLIBC_" version \
          "\n"                                              \
          ".globl __wrap_" #name                            \
          "\n"                                              \
          ".hidden __wrap_" #name                           \
          "\n"                                              \
          ".type __wrap_" #name                             \
          ", @function\n"                                   \
          "__wrap_" #name ": jmp *old_" #name "@GOTPCREL(%rip)");
FROM("2.2.5", dladdr)
FROM("2.2.5", dlclose)
FROM("2.2.5", dlerror)
FROM("2.2.5", dlopen)
FROM("2.2.5", dlsym)
FROM("2.2.5", hypot)
FROM("2.2.5", pthread_attr_setstacksize)
FROM("2.2.5", pthread_create)
FROM("2.2.5", pthread_detach)
FROM("2.2.5", pthread_join)
FROM("2.2.5", pthread_key_create)
FROM("2.2.5", pthread_getspecific)
FROM("2.2.5", pthread_setspecific)
FROM("2.2.5", pthread_key_delete)
FROM("2.2.5", pthread_kill)
FROM("2.2.5", pthread_mutex_trylock)
FROM("2.2.5", pthread_mutexattr_init)
FROM("2.2.5", pthread_mutexattr_destroy)
FROM("2.2.5", pthread_mutexattr_settype)
FROM("2.2.5", pthread_once)
FROM("2.2.5", pthread_sigmask)
FROM("2.2.5", pthread_rwlock_init)
FROM("2.2.5", pthread_rwlock_destroy)
FROM("2.2.5", pthread_rwlock_rdlock)
FROM("2.2.5", pthread_rwlock_wrlock)
FROM("2.2.5", pthread_rwlock_unlock)
FROM("2.12", pthread_getname_np)
FROM("2.12", pthread_setname_np)
FROM("2.3.4", pthread_setaffinity_np)
FROM("2.30", pthread_cond_clockwait)

// Calls of the kernel.
int __wrap_stat(const char* path, struct stat* status) { return (int)syscall(SYS_stat, path, status); }
int __wrap_lstat(const char* path, struct stat* status) { return (int)syscall(SYS_lstat, path, status); }
int __wrap_fstat(int file, struct stat* status) { return (int)syscall(SYS_fstat, file, status); }
int __wrap_fstat64(int file, struct stat* status) { return (int)syscall(SYS_fstat, file, status); }
int __wrap_close_range(unsigned first, unsigned last, int flags) {
  return (int)syscall(SYS_close_range, first, last, flags);
}
int __wrap_epoll_pwait2(int epoll, struct epoll_event* events, int most, const struct timespec* timeout,
                        const sigset_t* mask) {
  return (int)syscall(SYS_epoll_pwait2, epoll, events, most, timeout, mask, (size_t)(_NSIG / 8));
}
const char* __wrap_strerrordesc_np(int error) { return strerror(error); }

// From which libstdc++ has random numbers.
__attribute__((visibility("hidden"))) unsigned arc4random(void) {
  unsigned number = 0;
  while (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
  }
  return number;
}

// What libzmq has of libbsd.
__attribute__((visibility("hidden"))) size_t strlcpy(char* to, const char* from, size_t size) {
  const size_t length = strlen(from);
  if (size > 0) {
    const size_t copied = length < size ? length : size - 1;
    memcpy(to, from, copied);
    to[copied] = '\0';
  }
  return length;
}

// Data of glibc. Archives for programs reach it in ways that shared libraries may not, hence copies.
extern FILE* __real_stderr;
__attribute__((visibility("hidden"))) FILE* __wrap_stderr;
__attribute__((visibility("hidden"))) const struct in6_addr __wrap_in6addr_any = IN6ADDR_ANY_INIT;
__attribute__((constructor(101))) static void CopyData(void) { __wrap_stderr = __real_stderr; }

// Says that threads may run, which costs an atomic addition where one without would do.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

// Until glibc 2.34 a program brought what runs its constructors, which later ones run themselves if it brings nothing.
typedef int Main(int, char**, char**);
typedef void Constructor(int, char**, char**);
extern Constructor* __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor* __init_array_end[] __attribute__((visibility("hidden")));
int old___libc_start_main(Main*, int, char**, Constructor*, void (*)(void), void (*)(void), void*);
__asm__(".symver old___libc_start_main, __libc_start_main@GLIBC_2.2.5");

static void Construct(int count, char** arguments, char** environment) {
  for (Constructor** next = __init_array_start; next != __init_array_end; ++next) {
    (*next)(count, arguments, environment);
  }
}

__attribute__((visibility("hidden"))) int __wrap___libc_start_main(Main* main, int count, char** arguments,
                                                                   Constructor* construct, void (*destroy)(void),
                                                                   void (*end)(void), void* stack) {
  (void)construct;
  return old___libc_start_main(main, count, arguments, Construct, destroy, end, stack);
}

#endif  // __x86_64__
