/* The versions of libm's functions before 2.29, which changed how errors are reported, under their
 * plain names. Compiled with -fno-builtin; linked into portable binaries alone (relink.py). */
#if defined(__aarch64__)
#define FIRST "GLIBC_2.17"
#else
#define FIRST "GLIBC_2.2.5"
#endif
#define OLD(name, parameters, arguments)                                                           \
  double old_##name parameters;                                                                    \
  __asm__(".symver old_" #name "," #name "@" FIRST);                                               \
  __attribute__((visibility("hidden"))) double new_##name parameters __asm__(#name);               \
  double new_##name parameters { return old_##name arguments; }

OLD(exp, (double x), (x))
OLD(exp2, (double x), (x))
OLD(log, (double x), (x))
OLD(log2, (double x), (x))
OLD(pow, (double x, double y), (x, y))
