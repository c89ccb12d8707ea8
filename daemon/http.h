/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The HTTP server of hwprofd: one socket for local users, whose peers the
 * kernel names, and one for TCP. Both are served by the caller's thread.
 */
#ifndef HWPROFD_HTTP_H
#define HWPROFD_HTTP_H

#include <stdbool.h>
#include <sys/types.h>

#include "config.h"
#include "query.h"

struct http;
struct http_request;

struct http_counts {
	uint64_t requests, refused;	/* refused: by rights, Host or method */
	uint64_t cut;			/* connections that took too long, or
					 * were too many of a user */
	uint64_t connections;		/* now */
};

/**
 * struct http_ops - Functions of the caller
 * @now: returns the present time for questions.
 * @metrics: returns the text of /metrics, which http.c frees; NULL: no memory.
 * @ready: returns true if all is well; else @message says what is not.
 * @ask: begins to answer @query, and calls http_answer() or
 *	http_answer_file() for @request, at once or later.
 */
struct http_ops {
	int64_t (*now)(void *context);
	char *(*metrics)(void *context);
	bool (*ready)(void *context, char message[QUERY_MESSAGE]);
	void (*ask)(void *context, struct http_request *request,
		    const struct query *query);
};

/*
 * Starts serving. @unix_fd and @tcp_fd are listening sockets, or -1; they
 * belong to the server. @group may ask on the local socket, beside root and the
 * own user; those of them who are in @values_group, for values and data, too.
 * @config and @ops must live as long as the server. *@http is NULL without
 * memory. Returns 0 or a negative errno.
 */
int http_open(struct http **http, int unix_fd, int tcp_fd, gid_t group,
	      gid_t values_group, const struct config *config,
	      const struct http_ops *ops, void *context);
void http_close(struct http *http);

enum { HTTP_FDS = 2 };

/* Returns the descriptors to poll for reading; -1: none. */
void http_fds(const struct http *http, int fds[HTTP_FDS]);
/* Returns ms until http_run() is to be called, at most @most. */
int http_timeout(const struct http *http, int most);
/* Does what is due. Never waits. */
void http_run(struct http *http);

/* Answers with a text, which is copied; or with @fd, which is taken over. */
void http_answer(struct http_request *request, unsigned int status,
		 const char *content_type, const char *text);
void http_answer_file(struct http_request *request, const char *content_type,
		      int fd);
/*
 * Sets the header Content-Security-Policy of the answer that is still to come.
 * The text is copied.
 */
void http_set_policy(struct http_request *request, const char *policy);
/* Answers with an error, whose sentence is at most QUERY_MESSAGE long. */
void http_refuse(struct http_request *request, unsigned int status,
		 const char *sentence);

void http_count(const struct http *http, struct http_counts *counts);

/*
 * Returns true if @host, a header's value or NULL, names this machine: as
 * localhost, a loopback address, or one of the words of @hosts.
 */
bool http_host_is_own(const char *host, const char *hosts);

/*
 * Returns true if @site, the header Sec-Fetch-Site or NULL, says that a page of
 * ours asks, or the user, or no browser.
 */
bool http_site_is_own(const char *site);

/*
 * Make listening sockets. With @all, every user may connect to the local one.
 * Return a descriptor or a negative errno.
 */
int http_listen_unix(const char *path, gid_t group, bool all);
int http_listen_tcp(const char *address);

#endif /* HWPROFD_HTTP_H */
