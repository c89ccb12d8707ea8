/* SPDX-License-Identifier: GPL-2.0-only */
/* The configuration of hwprofd and hwprofd-collect: a file of KEY = VALUE. */
#ifndef HWPROFD_CONFIG_H
#define HWPROFD_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CONFIG_FILE	"/etc/hwprof/hwprofd.conf"

enum {
	CONFIG_TEXT = 256,	/* of a value, with its end */
};

/*
 * CONFIG_KEYS(TEXT, COUNT, FLAG): all keys, each with its default.
 *
 *	TEXT(key, default)
 *	COUNT(key, default, least, most)
 *	FLAG(key, default)
 *
 * hwprofd.conf(5) says what they mean.
 */
#define CONFIG_KEYS(TEXT, COUNT, FLAG)					\
	TEXT(store, "/var/lib/hwprofd")					\
	COUNT(store_mib, 256, 1, 1 << 20)				\
	COUNT(memory_mib, 16, 1, 4096)					\
	COUNT(symbols_mib, 128, 0, 1 << 20)				\
	COUNT(keep_minutes, 86400, 60, 1 << 30)				\
	COUNT(keep_ten_minutes, 1209600, 600, 1 << 30)			\
	TEXT(socket, "/run/hwprofd/http")				\
	TEXT(group, "hwprof")						\
	TEXT(listen, "127.0.0.1:4771")					\
	FLAG(own_profiles, false)					\
	FLAG(tcp_profiles, false)					\
	TEXT(hosts, "")							\
	COUNT(connections, 64, 1, 4096)					\
	COUNT(request_seconds, 30, 1, 3600)				\
	TEXT(collector, "/run/hwprofd/collect")				\
	TEXT(events, "loops,calls,paths,edges")				\
	TEXT(stacks, "cct,sample")					\
	TEXT(values, "none")						\
	TEXT(ranges, "none")						\
	COUNT(turn, 6, 2, 3600)						\
	TEXT(values_group, "")						\
	COUNT(window, 10, 1, 60)					\
	COUNT(budget_permille, 10, 2, 1000)				\
	FLAG(budget_daemon, true)					\
	TEXT(push_pyroscope, "")					\
	TEXT(push_parca, "")						\
	TEXT(push_otlp, "")						\
	TEXT(push_kinds, "cct,loops")					\
	TEXT(push_labels, "")						\
	FLAG(push_process_labels, false)				\
	TEXT(push_tenant, "")						\
	TEXT(push_token, "")						\
	COUNT(push_seconds, 60, 1, 3600)				\
	COUNT(push_spool_mib, 8, 1, 1024)

struct config {
#define CONFIG_TEXT_FIELD(key, value)			char key[CONFIG_TEXT];
#define CONFIG_COUNT_FIELD(key, value, least, most)	uint64_t key;
#define CONFIG_FLAG_FIELD(key, value)			bool key;
	CONFIG_KEYS(CONFIG_TEXT_FIELD, CONFIG_COUNT_FIELD, CONFIG_FLAG_FIELD)
};

/* Sets all defaults. */
void config_default(struct config *config);

/*
 * Reads @in over what @config has; @name is what messages call it. Returns 0,
 * or -EINVAL if a line is wrong: the sentence in @message, of @size bytes,
 * names it. @config is then undefined.
 */
int config_read(struct config *config, FILE *in, const char *name,
		char *message, size_t size);

/*
 * Sets defaults, then reads the file @path; NULL is CONFIG_FILE, which need not
 * exist. Returns 0, what open() failed with, or as config_read().
 */
int config_load(struct config *config, const char *path, char *message,
		size_t size);

/*
 * Does so for a daemon that starts. @rest is the first argument without an
 * option, which is not allowed; NULL: none. Returns false after logging what is
 * wrong.
 */
bool config_start(struct config *config, const char *path, const char *rest);

/*
 * Calls @fn for each part of @list between commas. A result other than 0 ends
 * it, and is returned.
 */
int config_each(const char *list, int (*fn)(void *context, const char *part),
		void *context);

/* Splits "HOST:PORT" or "[HOST]:PORT". Returns false for anything else. */
bool config_split_address(const char *text, char host[CONFIG_TEXT],
			  uint16_t *port);

#endif /* HWPROFD_CONFIG_H */
