// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <microhttpd.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http.h"
#include "page.h"
#include "wire.h"

enum {
	CONNECTION_MEMORY = 16384,	/* bytes of headers, and so on */
	IDLE_SECONDS = 15,
	ARGUMENTS_MAX = 16,
	GROUPS_MAX = 256,
	CHUNK = 65536,
};

struct server {
	struct http *http;
	struct MHD_Daemon *daemon;
	bool local;
};

/* A connection that waits for its headers, or is served. */
struct link {
	struct link *next, **from;
	struct http *http;
	int fd;
	uid_t uid;			/* of the peer, on the local socket */
	uint64_t since_ns;		/* waiting; 0: it is being answered */
};

struct http {
	struct server servers[HTTP_FDS];
	struct link *links;
	gid_t group, values_group;	/* -1: none */
	const struct config *config;
	const struct http_ops *ops;
	void *context;
	struct http_counts counts;
	struct page_front front;
};

struct http_request {
	struct http *http;
	struct MHD_Connection *connection;
	struct MHD_Response *response;
	unsigned int status;
	bool suspended;
	bool own_alone;			/* only what is of @uid */
	bool values;			/* may see values and data */
	uid_t uid;
	bool has_policy;
	char *policy;			/* NULL: no memory for it */
};

/* --- answers -------------------------------------------------------------- */

static void add_headers(struct MHD_Response *response, const char *type,
			bool error)
{
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
				"no-store");
	/* Without this, pprof hides the sentence. */
	if (error)
		MHD_add_response_header(response, "X-Go-Pprof", "1");
}

static void set_answer(struct http_request *request, unsigned int status,
		       struct MHD_Response *response)
{
	/* A page without its policy is not given out. */
	if (response && request->has_policy &&
	    (!request->policy ||
	     MHD_add_response_header(response, "Content-Security-Policy",
				     request->policy) != MHD_YES)) {
		MHD_destroy_response(response);
		response = NULL;
	}
	request->status = status;
	request->response = response;
	if (request->suspended)
		MHD_resume_connection(request->connection);
	request->suspended = false;
}

void http_answer(struct http_request *request, unsigned int status,
		 const char *content_type, const char *text)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(strlen(text), (void *)text,
						MHD_RESPMEM_MUST_COPY);

	if (response)
		add_headers(response, content_type, status >= 400);
	set_answer(request, status, response);
}

void http_answer_file(struct http_request *request, const char *content_type,
		      int fd)
{
	struct MHD_Response *response = NULL;
	struct stat status;

	if (!fstat(fd, &status))
		response = MHD_create_response_from_fd64(status.st_size, fd);
	if (response)
		add_headers(response, content_type, false);
	else
		close(fd);
	set_answer(request, MHD_HTTP_OK, response);
}

void http_refuse(struct http_request *request, unsigned int status,
		 const char *sentence)
{
	char text[QUERY_MESSAGE + 2];

	snprintf(text, sizeof(text), "%s\n", sentence);
	request->http->counts.refused += status == MHD_HTTP_FORBIDDEN ||
					 status == MHD_HTTP_METHOD_NOT_ALLOWED;
	http_answer(request, status, "text/plain; charset=utf-8", text);
}

void http_set_policy(struct http_request *request, const char *policy)
{
	free(request->policy);
	request->policy = strdup(policy);
	request->has_policy = true;
}

/* --- rights --------------------------------------------------------------- */

static int fd_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection,
					MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static bool is_in_group(int fd, gid_t group)
{
	gid_t groups[GROUPS_MAX];
	socklen_t size = sizeof(groups);
	size_t i;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size))
		return false;
	for (i = 0; i < size / sizeof(groups[0]); i++)
		if (groups[i] == group)
			return true;
	return false;
}

static bool has_group(int fd, const struct ucred *peer, gid_t group)
{
	return group != (gid_t)-1 &&
	       (peer->gid == group || is_in_group(fd, group));
}

/* Notes what the peer, as it was when it connected, may ask for. */
static bool peer_may(const struct http *http, int fd,
		     struct http_request *request)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return false;
	request->uid = peer.uid;
	request->values = !peer.uid || peer.uid == geteuid() ||
			  has_group(fd, &peer, http->values_group);
	if (!peer.uid || peer.uid == geteuid() ||
	    has_group(fd, &peer, http->group))
		return true;
	request->own_alone = true;
	return http->config->own_profiles;
}

static bool is_public(const char *path)
{
	return !strcmp(path, "/metrics") || !strcmp(path, "/healthz") ||
	       !strcmp(path, "/readyz");
}

bool http_site_is_own(const char *site)
{
	return !site || !strcmp(site, "same-origin") || !strcmp(site, "none");
}

/*
 * Returns true if a page elsewhere makes a browser ask. It could not read the
 * answer, but have all questions asked that are answered at a time.
 */
static bool is_from_elsewhere(struct MHD_Connection *connection,
			      const char *path)
{
	const char *site = MHD_lookup_connection_value(connection,
						       MHD_HEADER_KIND,
						       "Sec-Fetch-Site");

	return !http_site_is_own(site) && !is_public(path) && strcmp(path, "/");
}

/* Returns a sentence if the request is not allowed, or NULL. */
static const char *refusal(const struct server *server,
			   struct http_request *request, const char *path)
{
	struct MHD_Connection *connection = request->connection;
	const struct http *http = server->http;
	const char *host = MHD_lookup_connection_value(connection,
						       MHD_HEADER_KIND,
						       MHD_HTTP_HEADER_HOST);

	if (server->local && !peer_may(http, fd_of(connection), request))
		return "only root and the group of the configuration may ask here";
	/*
	 * A browser says which name it was given, also behind a tunnel or a
	 * proxy to the local socket. Without a name it is no browser.
	 */
	if (!http_host_is_own(host, http->config->hosts) &&
	    (host || !server->local))
		return "the header Host names another machine: see hosts in hwprofd.conf(5)";
	if (!server->local && !is_public(path) && !http->config->tcp_profiles)
		return "profiles are given out on the local socket alone: see tcp_profiles in hwprofd.conf(5)";
	if (is_from_elsewhere(connection, path))
		return "a page of another site may not ask here: open /, or type the address";
	return NULL;
}

/* --- requests ------------------------------------------------------------- */

struct arguments {
	struct query_argument all[ARGUMENTS_MAX];
	size_t count;
	bool too_many;
};

static enum MHD_Result take_argument(void *context, enum MHD_ValueKind kind,
				     const char *name, const char *value)
{
	struct arguments *arguments = context;

	(void)kind;
	if (arguments->count == ARGUMENTS_MAX) {
		arguments->too_many = true;
		return MHD_NO;
	}
	arguments->all[arguments->count++] = (struct query_argument){
		name, value ? value : "",
	};
	return MHD_YES;
}

/* Chooses what is of the peer's user. Returns false if it wants another's. */
static bool choose_own(const struct http_request *request,
		       struct label_filter *filter)
{
	if (!request->own_alone)
		return true;
	if (filter->by_uid && filter->uid != request->uid)
		return false;
	filter->by_uid = filter->only_seen = true;
	filter->uid = request->uid;
	return true;
}

static void ask(struct http_request *request, const char *path)
{
	struct arguments arguments = { .count = 0 };
	struct http *http = request->http;
	char message[QUERY_MESSAGE];
	struct query query;
	int error;

	MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND,
				  take_argument, &arguments);
	if (arguments.too_many) {
		http_refuse(request, MHD_HTTP_BAD_REQUEST,
		       "there are too many parameters");
		return;
	}
	error = query_parse(&query, path, arguments.all, arguments.count,
			    http->ops->now(http->context), message);
	if (error)
		http_refuse(request, error == -ENOENT ? MHD_HTTP_NOT_FOUND :
			MHD_HTTP_BAD_REQUEST, message);
	else if (query.values && (!request->values || request->own_alone))
		http_refuse(request, MHD_HTTP_FORBIDDEN,
			    "values and addresses of data are for root and values_group, on the local socket: see hwprofd.conf(5)");
	else if (!choose_own(request, &query.filter))
		http_refuse(request, MHD_HTTP_FORBIDDEN,
			    "only root and the group of the configuration may ask for other users");
	else
		http->ops->ask(http->context, request, &query);
}

static void answer_metrics(struct http_request *request)
{
	struct http *http = request->http;
	char *text = http->ops->metrics(http->context);

	if (text)
		http_answer(request, MHD_HTTP_OK,
			    "text/plain; version=0.0.4; charset=utf-8", text);
	else
		http_refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR,
		       "out of memory");
	free(text);
}

static void answer_front(struct http_request *request)
{
	const struct page_front *front = &request->http->front;

	http_set_policy(request, front->policy);
	http_answer(request, MHD_HTTP_OK, "text/html; charset=utf-8",
		    front->text);
}

static void answer_ready(struct http_request *request)
{
	char message[QUERY_MESSAGE] = "";
	struct http *http = request->http;

	if (http->ops->ready(http->context, message))
		http_answer(request, MHD_HTTP_OK, "text/plain", "ready\n");
	else
		http_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, message);
}

static void route(const struct server *server, struct http_request *request,
		  const char *path, const char *method)
{
	const char *sentence = refusal(server, request, path);

	server->http->counts.requests++;
	if (strcmp(method, MHD_HTTP_METHOD_GET) &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD))
		http_refuse(request, MHD_HTTP_METHOD_NOT_ALLOWED,
		       "only GET and HEAD are allowed");
	else if (sentence)
		http_refuse(request, MHD_HTTP_FORBIDDEN, sentence);
	else if (!strcmp(path, "/metrics"))
		answer_metrics(request);
	else if (!strcmp(path, "/healthz"))
		http_answer(request, MHD_HTTP_OK, "text/plain", "ok\n");
	else if (!strcmp(path, "/readyz"))
		answer_ready(request);
	else if (!strcmp(path, "/"))
		answer_front(request);
	else
		ask(request, path);
}

static struct link *link_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection,
					MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* Is called when there are headers, and again when there is an answer. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection,
			      const char *path, const char *method,
			      const char *version, const char *upload,
			      size_t *upload_size, void **own)
{
	const struct server *server = context;
	struct http_request *request = *own;
	struct link *link = link_of(connection);
	enum MHD_Result result;

	(void)version;
	(void)upload;
	if (!request) {
		request = calloc(1, sizeof(*request));
		if (!request)
			return MHD_NO;
		*request = (struct http_request){
			.http = server->http, .connection = connection,
		};
		*own = request;
		if (link)
			link->since_ns = 0;
		route(server, request, path, method);
	} else if (*upload_size) {
		*upload_size = 0;	/* nobody wants it */
		return MHD_YES;
	}
	if (!request->status) {
		request->suspended = true;
		MHD_suspend_connection(connection);
		return MHD_YES;
	}
	if (!request->response)
		return MHD_NO;
	/* The peer has as long to read the answer. */
	if (link)
		link->since_ns = wire_now();
	result = MHD_queue_response(connection, request->status,
				    request->response);
	MHD_destroy_response(request->response);
	request->response = NULL;
	return result;
}

static void complete(void *context, struct MHD_Connection *connection,
		     void **own, enum MHD_RequestTerminationCode code)
{
	struct http_request *request = *own;
	struct link *link = link_of(connection);

	(void)context;
	(void)code;
	if (link)
		link->since_ns = wire_now();
	if (request && request->response)
		MHD_destroy_response(request->response);
	if (request)
		free(request->policy);
	free(request);
	*own = NULL;
}

/* --- connections ---------------------------------------------------------- */

/* Returns root for connections that are not local. */
static uid_t uid_of(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
	    peer.uid == (uid_t)-1)
		return 0;
	return peer.uid;
}

/*
 * A user may have three quarters of the connections; one, if every user may
 * have some.
 */
static bool is_greedy(const struct http *http, uid_t uid)
{
	uint64_t quarters = http->config->own_profiles ? 1 : 3, count = 0;
	const struct link *link;

	if (!uid || uid == geteuid())
		return false;
	for (link = http->links; link; link = link->next)
		count += link->uid == uid;
	return count >= http->config->connections * quarters / 4 + 1;
}

static void *link_new(struct http *http, int fd)
{
	struct link *link = malloc(sizeof(*link));
	uid_t uid = uid_of(fd);

	if (!link)
		return NULL;
	if (is_greedy(http, uid)) {
		shutdown(fd, SHUT_RDWR);
		http->counts.cut++;
	}
	*link = (struct link){
		.next = http->links, .from = &http->links, .http = http,
		.fd = fd, .uid = uid, .since_ns = wire_now(),
	};
	if (link->next)
		link->next->from = &link->next;
	http->links = link;
	http->counts.connections++;
	return link;
}

static void link_free(struct link *link)
{
	if (!link)
		return;
	*link->from = link->next;
	if (link->next)
		link->next->from = link->from;
	link->http->counts.connections--;
	free(link);
}

static void note_connection(void *context, struct MHD_Connection *connection,
			    void **own,
			    enum MHD_ConnectionNotificationCode code)
{
	struct http *http = context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*own = link_new(http, fd_of(connection));
	} else {
		link_free(*own);
		*own = NULL;
	}
}

/*
 * Cuts connections that do not send their headers, or read the answer, in time.
 * The server's own limit is of idle connections alone: it lets a byte now and
 * then pass.
 */
static void cut_slow(struct http *http)
{
	uint64_t most = http->config->request_seconds * 1000000000ULL;
	uint64_t now = wire_now();
	struct link *link;

	for (link = http->links; link; link = link->next) {
		if (!link->since_ns || now - link->since_ns < most)
			continue;
		shutdown(link->fd, SHUT_RDWR);
		link->since_ns = 0;
		http->counts.cut++;
	}
}

/* --- the server ----------------------------------------------------------- */

static int start(struct http *http, struct server *server, int fd, bool local)
{
	*server = (struct server){ .http = http, .local = local };
	if (fd < 0)
		return 0;
	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle,
		server, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)http->config->connections,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_NOTIFY_COMPLETED, complete, NULL,
		MHD_OPTION_NOTIFY_CONNECTION, note_connection, http,
		MHD_OPTION_END);
	if (server->daemon)
		return 0;
	close(fd);
	return -EIO;
}

int http_open(struct http **result, int unix_fd, int tcp_fd, gid_t group,
	      gid_t values_group, const struct config *config,
	      const struct http_ops *ops, void *context)
{
	struct http *http = calloc(1, sizeof(*http));
	int error;

	*result = http;
	if (!http)
		return -ENOMEM;
	http->group = group;
	http->values_group = values_group;
	http->config = config;
	http->ops = ops;
	http->context = context;
	error = page_front_new(&http->front);
	if (!error)
		error = start(http, &http->servers[0], unix_fd, true);
	return error ? error : start(http, &http->servers[1], tcp_fd, false);
}

void http_close(struct http *http)
{
	int i;

	if (!http)
		return;
	for (i = 0; i < HTTP_FDS; i++)
		if (http->servers[i].daemon)
			MHD_stop_daemon(http->servers[i].daemon);
	page_front_free(&http->front);
	free(http);
}

void http_fds(const struct http *http, int fds[HTTP_FDS])
{
	int i;

	for (i = 0; i < HTTP_FDS; i++) {
		const union MHD_DaemonInfo *info = http->servers[i].daemon ?
			MHD_get_daemon_info(http->servers[i].daemon,
					    MHD_DAEMON_INFO_EPOLL_FD) : NULL;

		fds[i] = info ? info->epoll_fd : -1;
	}
}

int http_timeout(const struct http *http, int most)
{
	int i;

	for (i = 0; i < HTTP_FDS; i++) {
		MHD_UNSIGNED_LONG_LONG ms;

		if (http->servers[i].daemon &&
		    MHD_get_timeout(http->servers[i].daemon, &ms) == MHD_YES &&
		    ms < (unsigned int)most)
			most = ms;
	}
	return most;
}

void http_run(struct http *http)
{
	int i;

	cut_slow(http);
	for (i = 0; i < HTTP_FDS; i++)
		if (http->servers[i].daemon)
			MHD_run(http->servers[i].daemon);
}

void http_count(const struct http *http, struct http_counts *counts)
{
	*counts = http->counts;
}
