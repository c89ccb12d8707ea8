/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages of a daemon, on stderr: one sentence a line. */
#ifndef HWPROFD_LOG_H
#define HWPROFD_LOG_H

/* Sets the name that begins each line. Under systemd it knows it already. */
void log_name(const char *name);

/* Control characters in the text become '?', since names may contain any. */
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* HWPROFD_LOG_H */
