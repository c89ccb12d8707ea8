// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "tests/kselftest/event.h"
#include "tests/irqsoff/must.h"
#include "tests/irqsoff/phase.h"
#include "tests/irqsoff/rows.h"
#include "tests/irqsoff/sites.h"

#include "scenario.h"

void module(void)
{
	phase("rmmod");
	if (system("rmmod hwprof"))
		die("rmmod");
	phase("insmod");
	if (system("insmod /rig/hwprof.ko"))
		die("insmod");
	end_phase();
}
