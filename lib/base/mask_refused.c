// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/mask_rules.h"
#include "event_config.h"
#include "mask_refused.h"

/*
 * Returns the sentence of the rule that the mask breaks, or NULL. Programs may
 * see more than the event, so that the module can have another reason.
 */
static const char *rule_against(const struct hwprof_event *event,
				const struct hwprof_mask *mask, int error)
{
	struct config_refusal refusal;
	struct session_config config;

	if (!event)
		return NULL;
	config = event_config(event, ALL_SOURCES);
	refusal = mask_check(&config, mask);
	return refusal.error == -error ? refusal.sentence : NULL;
}

static const char *sentence_of(int error)
{
	switch (error) {
	case ENOTTY:
		return "the module that is loaded knows no masks: it is older than this program";
	case EPERM:
		return "only the process that made the session sets its mask and sees it, or one that may attach to all programs (CAP_PERFMON and CAP_SYS_PTRACE); 'all' takes the right to change the session's parameters";
	case EOPNOTSUPP:
		return "the mask tests what the session does not see: loads and stores, or kinds of samples";
	case EINVAL:
		return "the mask leaves out branches, and the session's profile must see each; or the module does not know it";
	case EAGAIN:
		return "the mask is unchanged: rows from before could not be written; read rows and try again";
	}
	return NULL;
}

void mask_refused(char *message, size_t size, int error,
		  const struct hwprof_event *event,
		  const struct hwprof_mask *mask)
{
	const char *rule = rule_against(event, mask, error);
	const char *sentence = sentence_of(error);

	if (rule)
		snprintf(message, size, "the mask %s", rule);
	else if (sentence)
		snprintf(message, size, "%s", sentence);
	else
		snprintf(message, size, "the module refuses the mask: %s",
			 strerror(error));
}
