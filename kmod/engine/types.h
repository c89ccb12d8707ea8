/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that an engine knows of the world around it. The same engine files are
 * compiled into the module, the library, tests, fuzzers and benchmarks.
 */
#ifndef HWPROF_ENGINE_TYPES_H
#define HWPROF_ENGINE_TYPES_H

#ifdef __KERNEL__

#include <linux/types.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/container_of.h>

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int32_t s32;
typedef int64_t s64;

#define S16_MAX	INT16_MAX
#define U16_MAX	UINT16_MAX
#define U32_MAX	UINT32_MAX

#ifndef likely
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#endif
#ifndef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#endif
#ifndef noinline
#define noinline	__attribute__((noinline))
#endif
#ifndef min
#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#endif
#ifndef container_of
#define container_of(member_pointer, type, member) \
	((type *)((char *)(member_pointer) - offsetof(type, member)))
#endif

#endif /* __KERNEL__ */

#define swap_values(a, b)						       \
	do {								       \
		typeof(a) swapped_ = (a);				       \
		(a) = (b);						       \
		(b) = swapped_;						       \
	} while (0)

#endif /* HWPROF_ENGINE_TYPES_H */
