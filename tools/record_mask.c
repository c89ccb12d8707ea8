// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers.h"
#include "command.h"
#include "mask.h"
#include "record.h"
#include "record_mask.h"
#include "sessions.h"

struct masking {
	const struct record_request *request;
	int device;
	unsigned int before, found;
};

static int note(void *context, unsigned int session)
{
	*(unsigned int *)context = session;
	return -1;
}

unsigned int record_newest_session(void)
{
	unsigned int newest = 0;

	sessions_each(getpid(), note, &newest);
	return newest;
}

static int mask_one(void *context, unsigned int session)
{
	struct masking *masking = context;
	const struct record_request *request = masking->request;
	/* Programs of --when may see more than the event. */
	bool known = request->event_count == 1 && !request->productions.count;

	if (session <= masking->before)
		return -1;
	masking->found++;
	return mask_session(masking->device, session, &request->mask,
			    known ? request->parsed : NULL);
}

int record_mask(const struct record_request *request, unsigned int before)
{
	struct masking masking = { .request = request, .before = before };
	int status;

	if (!request->masked)
		return -1;
	status = sessions_open_device(&masking.device);
	if (status >= 0)
		return status;
	status = sessions_each(getpid(), mask_one, &masking);
	close(masking.device);
	if (status < 0 && !masking.found)
		return failed("--mask: sysfs does not show the sessions of this recording");
	return status;
}

int record_mask_text(const struct record_request *request,
		     struct numbers *masks)
{
	char text[HWPROF_MASK_TEXT];
	bool is_new;

	hwprof_mask_print(&request->mask, text, sizeof(text));
	if (!request->masked || !strcmp(text, "all"))
		return 0;
	return numbers_text(masks, text, &is_new) ? 0 : -ENOMEM;
}
