// SPDX-License-Identifier: GPL-2.0-only
#include <sys/syscall.h>
#include <unistd.h>

#include "capability.h"

static struct __user_cap_header_struct header = {
	.version = _LINUX_CAPABILITY_VERSION_3,
};

bool capabilities_keep(uint64_t set)
{
	struct __user_cap_data_struct data[2] = {
		{ .effective = set, .permitted = set },
		{ .effective = set >> 32, .permitted = set >> 32 },
	};

	return !syscall(SYS_capset, &header, data);
}

bool capability_drop(unsigned int capability)
{
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return false;
	return capabilities_keep((data[0].permitted |
				  (uint64_t)data[1].permitted << 32) &
				 ~(1ULL << capability));
}
