// SPDX-License-Identifier: GPL-2.0-only
/* hwprof: initialise in order, exit in reverse. */
#include <linux/module.h>

#include "filter.h"
#include "flush.h"
#include "front/front.h"
#include "lane_sample.h"
#include "recall.h"
#include "session.h"
#include "source/busy.h"
#include "source/cores.h"
#include "source/counter.h"
#include "source/interruption.h"
#include "source/source.h"

static int __init hwprof_init(void)
{
	int err;

	err = sessions_init();
	if (err)
		return err;
	sessions_show_in(&class_folders);
	lane_sample_init();
	recall_init();
	busy_init();
	err = cores_init();
	if (err)
		goto no_cores;
	counters_init();
	interruptions_init();
	filters_init();
	step_init();
	lbr_init();
	sample_init();
	err = flush_init();
	if (err)
		goto no_flush;
	err = chardev_init();
	if (err)
		goto no_chardev;
	/* There may be events from now on. Nothing after this may fail. */
	err = pmu_init();
	if (err)
		goto no_pmu;
	chardev_publish();
	return 0;

no_pmu:
	chardev_exit();
no_chardev:
	flush_exit();
no_flush:
	interruptions_exit();
	cores_exit();
no_cores:
	sessions_exit();
	return err;
}

static void __exit hwprof_exit(void)
{
	pmu_exit();
	flush_exit();
	sessions_wait();
	chardev_exit();
	step_exit();
	interruptions_exit();
	cores_exit();
	filters_exit();
	sessions_exit();
}

module_init(hwprof_init);
module_exit(hwprof_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Loops, paths, calls, contexts, values and ranges, summarised in the kernel");
MODULE_VERSION("0.1");
