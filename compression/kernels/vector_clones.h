// BANYAN_VECTOR_CLONES before a function lets the compiler make it once per vector width and choose at program start.
#ifndef BANYAN_COMPRESSION_KERNELS_VECTOR_CLONES_H_
#define BANYAN_COMPRESSION_KERNELS_VECTOR_CLONES_H_

// The choice runs before a sanitizer's own start, hence sanitized builds have the portable path alone.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define BANYAN_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define BANYAN_VECTOR_CLONES
#endif

#endif  // BANYAN_COMPRESSION_KERNELS_VECTOR_CLONES_H_
