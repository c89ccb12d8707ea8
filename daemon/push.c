// SPDX-License-Identifier: GPL-2.0-only
#include <curl/curl.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "hwprof.h"
#include "jobs.h"
#include "log.h"
#include "push.h"
#include "push_spool.h"
#include "wire.h"

#define SECOND	1000000000ULL

enum {
	WORK_SECONDS = 60,
	RETRY_MOST = 300,		/* seconds between two tries */
	RETRY_AFTER_MOST = 3600,	/* that a receiver may ask for */
	EVENTS = 16,
	URL_SIZE = 2048,
	ANSWER_SIZE = 128,
	SPOOL_PATH = CONFIG_TEXT + 64,
};

struct target {
	struct push *push;
	enum push_to to;
	struct push_waiting *first, **last;
	CURL *easy;			/* sends the first; NULL: idle */
	struct curl_slist *headers;
	char answer[ANSWER_SIZE];	/* the beginning of it */
	size_t answer_size;
	unsigned int tries;		/* of the first that failed */
	uint64_t not_before_ns;
	bool in_trouble;		/* it was said */
	bool in_clear;			/* that others can read the token was
					 * said */
	struct push_counts counts;
};

/* Windows that become requests. */
struct batch {
	struct parts parts;
	int64_t begin_ns, end_ns;	/* since 1970 */
	int next;			/* receiver * HWPROF_KINDS + kind */
};

struct push {
	const struct config *config;
	const char *symbols;		/* a folder */
	char host[PUSH_HOST];
	char spool[SPOOL_PATH];		/* a file; "": none */
	struct parts pending;		/* of windows since the last batch */
	int64_t begin_ns, end_ns;	/* since 1970 */
	int64_t offset_ns;		/* of these from CLOCK_BOOTTIME */
	uint64_t due_ns;		/* when they become a batch; 0: none */
	struct batch batch;
	struct push_body body;		/* that the worker writes */
	struct worker worker;
	struct target targets[PUSH_TARGETS];
	uint64_t bytes;			/* of all that wait */
	CURLM *multi;			/* NULL: not needed so far */
	int epoll;			/* of curl's sockets */
	uint64_t timer_ns;		/* curl's; 0: none */
};

static const char *url_of(const struct push *push, enum push_to to)
{
	const char *const urls[PUSH_TARGETS] = {
		[PUSH_PYROSCOPE] = push->config->push_pyroscope,
		[PUSH_PARCA] = push->config->push_parca,
		[PUSH_OTLP] = push->config->push_otlp,
	};

	return urls[to];
}

static bool is_wanted(const struct push *push)
{
	int to;

	for (to = 0; to < PUSH_TARGETS; to++)
		if (*url_of(push, to))
			return true;
	return false;
}

static uint64_t most_bytes(const struct push *push)
{
	return push->config->push_spool_mib << 20;
}

/* Returns a number from 500 to 1500: receivers shall not be asked in step. */
static uint64_t jitter(void)
{
	uint32_t word = 0;

	if (getrandom(&word, sizeof(word), GRND_NONBLOCK) != sizeof(word))
		word = wire_now() / 1000;
	return 500 + word % 1001;
}

/* --- what waits ----------------------------------------------------------- */

static void pop(struct target *target)
{
	struct push_waiting *first = target->first;

	target->first = first->next;
	if (!target->first)
		target->last = &target->first;
	target->counts.waiting--;
	target->counts.waiting_bytes -= first->size;
	target->push->bytes -= first->size;
	free(first);
}

/* Returns where the oldest is that is not being sent. */
static struct push_waiting **oldest(struct target *target)
{
	return target->easy && target->first ? &target->first->next :
					       &target->first;
}

/* Drops the oldest that is not being sent. Returns false if there is none. */
static bool drop_one(struct target *target)
{
	struct push_waiting **at = oldest(target);
	struct push_waiting *waiting = *at;

	if (!waiting)
		return false;
	*at = waiting->next;
	if (!waiting->next)
		target->last = at;
	target->counts.waiting--;
	target->counts.waiting_bytes -= waiting->size;
	target->counts.dropped++;
	target->push->bytes -= waiting->size;
	free(waiting);
	return true;
}

/* Returns the receiver that has most of the room, and can give it up. */
static struct target *largest(struct push *push)
{
	struct target *most = NULL;
	int to;

	for (to = 0; to < PUSH_TARGETS; to++) {
		struct target *target = &push->targets[to];

		if (*oldest(target) &&
		    (!most || target->counts.waiting_bytes >
			      most->counts.waiting_bytes))
			most = target;
	}
	return most;
}

static bool make_room(struct push *push, uint64_t size)
{
	while (push->bytes + size > most_bytes(push)) {
		struct target *target = largest(push);

		if (!target)
			return false;
		drop_one(target);
	}
	return true;
}

static void queue(struct target *target, struct push_waiting *waiting)
{
	waiting->next = NULL;
	*target->last = waiting;
	target->last = &waiting->next;
	target->counts.waiting++;
	target->counts.waiting_bytes += waiting->size;
	target->push->bytes += waiting->size;
}

static void add_waiting(struct push *push, struct target *target, int kind,
			int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	struct push_waiting *waiting = NULL;

	if (size > 0 && make_room(push, size))
		waiting = malloc(sizeof(*waiting) + size);
	if (!waiting || pread(fd, waiting->bytes, size, 0) != size) {
		free(waiting);
		target->counts.dropped++;
		return;
	}
	waiting->kind = kind;
	waiting->size = size;
	waiting->begin = push->batch.begin_ns / (int64_t)SECOND;
	waiting->end = push->batch.end_ns / (int64_t)SECOND;
	if (waiting->end <= waiting->begin)
		waiting->end = waiting->begin + 1;
	queue(target, waiting);
}

/* --- making requests ------------------------------------------------------ */

struct kind_search {
	int kind;
	bool found;
};

static int find_kind(void *context, const char *name)
{
	struct kind_search *search = context;

	search->found |= hwprof_kind_of(name) == search->kind;
	return 0;
}

static bool kind_is_wanted(const struct push *push, int kind)
{
	struct kind_search search = { .kind = kind };

	config_each(push->config->push_kinds, find_kind, &search);
	return search.found;
}

/* Moves on to what a request is to be made of. Returns false if all are. */
static bool find_next(struct push *push)
{
	struct batch *batch = &push->batch;

	for (; batch->next < PUSH_TARGETS * HWPROF_KINDS; batch->next++)
		if (*url_of(push, batch->next / HWPROF_KINDS) &&
		    kind_is_wanted(push, batch->next % HWPROF_KINDS))
			return true;
	parts_free(&batch->parts);
	return false;
}

static void start_worker(struct push *push)
{
	struct job job = {
		.query.kind = push->batch.next % HWPROF_KINDS,
		.push = &push->body, .symbols = push->symbols,
	};
	enum push_to to = push->batch.next / HWPROF_KINDS;
	int error;

	push->body = (struct push_body){
		.to = to, .begin_ns = push->batch.begin_ns,
		.length_ns = push->batch.end_ns - push->batch.begin_ns,
		.process_labels = push->config->push_process_labels,
	};
	strcpy(push->body.host, push->host);
	strcpy(push->body.labels, push->config->push_labels);
	error = parts_copy(&job.parts, &push->batch.parts, job.query.kind, "");
	if (!error)
		error = worker_start(&push->worker, job_answer, &job,
				     WORKER_READS_FILES, -1, WORK_SECONDS);
	/* The worker has a copy. */
	parts_free(&job.parts);
	if (!error)
		return;
	push->targets[to].counts.dropped++;
	push->batch.next++;
}

static void finish_worker(struct push *push, enum answer answer)
{
	int next = push->batch.next++;
	struct target *target = &push->targets[next / HWPROF_KINDS];
	char message[WORKER_MESSAGE];

	if (answer == ANSWER_OK) {
		add_waiting(push, target, next % HWPROF_KINDS,
			    push->worker.out);
	} else if (answer != ANSWER_NOTHING) {
		worker_message(&push->worker, message);
		log_warning("a profile for %s cannot be made: %s",
			    push_name(target->to), message);
		target->counts.dropped++;
	}
	close(push->worker.out);
}

/* Makes a batch of what is pending, if it is time. */
static void take_pending(struct push *push)
{
	if (!push->due_ns || wire_now() < push->due_ns ||
	    push->batch.parts.count)
		return;
	push->batch = (struct batch){
		.parts = push->pending, .begin_ns = push->begin_ns,
		.end_ns = push->end_ns,
	};
	push->pending = (struct parts){ .count = 0 };
	push->due_ns = 0;
}

static void make_requests(struct push *push)
{
	enum answer answer;

	if (worker_ended(&push->worker, &answer))
		finish_worker(push, answer);
	if (push->worker.pid)
		return;
	take_pending(push);
	if (push->batch.parts.count && find_next(push))
		start_worker(push);
}

static void count_dropped(struct push *push)
{
	int to;

	for (to = 0; to < PUSH_TARGETS; to++)
		if (*url_of(push, to))
			push->targets[to].counts.dropped++;
}

static int64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * (int64_t)SECOND + now.tv_nsec;
}

void push_add(struct push *push, uint64_t begin_ns, uint64_t end_ns,
	      const struct parts *parts)
{
	uint64_t wait = push->config->push_seconds * SECOND;

	if (!is_wanted(push))
		return;
	if (parts_bytes(&push->pending) + parts_bytes(parts) >
	    most_bytes(push) ||
	    parts_copy(&push->pending, parts, PARTS_MERGED, "")) {
		count_dropped(push);
		return;
	}
	if (!push->due_ns) {
		/* A batch has one, also if somebody sets the clock. */
		push->offset_ns = wall_ns() - (int64_t)wire_now();
		push->begin_ns = push->end_ns = begin_ns + push->offset_ns;
		/* Machines that started together drift apart. */
		push->due_ns = wire_now() + wait * (jitter() + 1000) / 2000;
	}
	if (push->end_ns < (int64_t)end_ns + push->offset_ns)
		push->end_ns = end_ns + push->offset_ns;
}

/* --- sending -------------------------------------------------------------- */

static size_t take_answer(char *bytes, size_t size, size_t count,
			  void *context)
{
	struct target *target = context;
	size_t room = sizeof(target->answer) - 1 - target->answer_size;
	size_t taken = size * count < room ? size * count : room;

	memcpy(target->answer + target->answer_size, bytes, taken);
	target->answer_size += taken;
	return size * count;
}

/* Says a trouble once, until the receiver takes something. */
static void __attribute__((format(printf, 2, 3)))
say_once(struct target *target, const char *format, ...)
{
	char text[2 * CONFIG_TEXT + ANSWER_SIZE + 128];
	va_list args;

	if (target->in_trouble)
		return;
	target->in_trouble = true;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log_warning("%s", text);
}

/* Others on the way may read it. */
static void warn_in_clear(struct target *target)
{
	const char *url = url_of(target->push, target->to);

	if (!target->in_clear && !strncmp(url, "http://", 7) &&
	    strncmp(url, "http://127.", 11) && strncmp(url, "http://[::1]", 12))
		log_warning("the token for %s is sent in clear: %s is not https",
			    push_name(target->to), url);
	target->in_clear = true;
}

/*
 * Reads the token, which may have been replaced. Returns false if that is not
 * possible now: without it the receiver would refuse the profile for good.
 */
static bool read_token(struct target *target, char *token, size_t size)
{
	const char *path = target->push->config->push_token;
	FILE *file = fopen(path, "re");

	if (!file || !fgets(token, size, file))
		*token = 0;
	if (!file)
		say_once(target, "%s: cannot be read: %s", path,
			 strerror(errno));
	else
		fclose(file);
	token[strcspn(token, "\r\n")] = 0;
	if (file && !*token)
		say_once(target, "%s: has no token in its first line", path);
	return *token;
}

/* Returns false if there is no memory. */
static bool add_header(struct target *target, const char *header)
{
	struct curl_slist *longer = curl_slist_append(target->headers, header);

	if (longer)
		target->headers = longer;
	return longer;
}

static bool add_token(struct target *target)
{
	char token[4096], header[sizeof(token) + 32];

	if (!*target->push->config->push_token)
		return true;
	if (!read_token(target, token, sizeof(token)))
		return false;
	warn_in_clear(target);
	snprintf(header, sizeof(header), "Authorization: Bearer %s", token);
	return add_header(target, header);
}

/* Returns false if one cannot be had. */
static bool set_headers(struct target *target)
{
	const struct config *config = target->push->config;
	char header[CONFIG_TEXT + 64];
	bool added;

	snprintf(header, sizeof(header), "Content-Type: %s",
		 push_content_type(target->to));
	added = add_header(target, header) && add_header(target, "Expect:");
	if (*config->push_tenant) {
		snprintf(header, sizeof(header), "X-Scope-OrgID: %s",
			 config->push_tenant);
		added = added && add_header(target, header);
	}
	added = added && add_token(target);
	curl_easy_setopt(target->easy, CURLOPT_HTTPHEADER, target->headers);
	return added;
}

/* Labels have fewer characters than the configuration, which has blanks. */
enum { NAME_SIZE = 2 * CONFIG_TEXT + PUSH_HOST + 64 };

static int add_label(void *context, const char *label)
{
	char *name = context;

	strcat(name, ",");
	strcat(name, label);
	return 0;
}

/* Pyroscope has the labels in its name, and the time beside it. */
static void pyroscope_url(const struct target *target, char url[URL_SIZE])
{
	const struct push *push = target->push;
	char name[NAME_SIZE], *escaped;

	snprintf(name, sizeof(name) - CONFIG_TEXT, "hwprof{host=%s,kind=%s",
		 push->host, hwprof_kind_name(target->first->kind));
	config_each(push->config->push_labels, add_label, name);
	strcat(name, "}");
	escaped = curl_easy_escape(target->easy, name, 0);
	snprintf(url, URL_SIZE, "%s/ingest?name=%s&from=%lld&until=%lld&format=pprof&spyName=hwprof",
		 url_of(push, target->to), escaped ? escaped : "hwprof",
		 (long long)target->first->begin,
		 (long long)target->first->end);
	curl_free(escaped);
}

static void set_url(struct target *target)
{
	const char *base = url_of(target->push, target->to);
	char url[URL_SIZE];

	if (target->to == PUSH_PYROSCOPE)
		pyroscope_url(target, url);
	else
		snprintf(url, sizeof(url), "%s%s", base,
			 target->to == PUSH_PARCA ?
			 "/api/profiles/writeraw" : "/v1development/profiles");
	curl_easy_setopt(target->easy, CURLOPT_URL, url);
}

static void set_options(struct target *target)
{
	const struct config *config = target->push->config;
	CURL *easy = target->easy;

	curl_easy_setopt(easy, CURLOPT_PRIVATE, target);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	/* A name that nobody resolves is not waited for when time is up. */
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)config->request_seconds);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "hwprofd/" HWPROF_VERSION);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, target);
	curl_easy_setopt(easy, CURLOPT_POST, 1L);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS,
			 (const char *)target->first->bytes);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
			 (curl_off_t)target->first->size);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context,
		     void *own)
{
	struct push *push = context;
	struct epoll_event event = {
		.events = (what & CURL_POLL_IN ? EPOLLIN : 0) |
			  (what & CURL_POLL_OUT ? EPOLLOUT : 0),
		.data.fd = fd,
	};

	(void)easy;
	(void)own;
	if (what == CURL_POLL_REMOVE)
		epoll_ctl(push->epoll, EPOLL_CTL_DEL, fd, NULL);
	else if (epoll_ctl(push->epoll, EPOLL_CTL_MOD, fd, &event))
		epoll_ctl(push->epoll, EPOLL_CTL_ADD, fd, &event);
	return 0;
}

static int on_timer(CURLM *multi, long ms, void *context)
{
	struct push *push = context;

	(void)multi;
	push->timer_ns = ms < 0 ? 0 : wire_now() + ms * 1000000ULL + 1;
	return 0;
}

/* Returns false if curl cannot be had. */
static bool want_curl(struct push *push)
{
	if (push->multi)
		return true;
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return false;
	push->multi = curl_multi_init();
	if (!push->multi)
		return false;
	curl_multi_setopt(push->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(push->multi, CURLMOPT_SOCKETDATA, push);
	curl_multi_setopt(push->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(push->multi, CURLMOPT_TIMERDATA, push);
	return true;
}

static void end_transfer(struct target *target)
{
	curl_multi_remove_handle(target->push->multi, target->easy);
	curl_easy_cleanup(target->easy);
	curl_slist_free_all(target->headers);
	target->easy = NULL;
	target->headers = NULL;
}

/* Waits longer after each failure, and as long as the receiver asks for. */
static void back_off(struct target *target, curl_off_t asked)
{
	uint64_t seconds = RETRY_MOST;

	target->counts.failed++;
	if (target->tries < 9)
		seconds = 1ULL << target->tries++;
	if (seconds > RETRY_MOST)
		seconds = RETRY_MOST;
	if (asked > RETRY_AFTER_MOST)
		asked = RETRY_AFTER_MOST;
	target->not_before_ns = wire_now() + seconds * jitter() * SECOND / 1000;
	if (asked > 0 && target->not_before_ns < wire_now() + asked * SECOND)
		target->not_before_ns = wire_now() + asked * SECOND;
}

/* Returns false if the transfer cannot begin. */
static bool begin_transfer(struct target *target)
{
	struct push *push = target->push;

	if (!want_curl(push))
		return false;
	target->easy = curl_easy_init();
	if (!target->easy)
		return false;
	target->answer_size = 0;
	set_options(target);
	set_url(target);
	if (set_headers(target) &&
	    !curl_multi_add_handle(push->multi, target->easy))
		return true;
	end_transfer(target);
	return false;
}

static void send_first(struct target *target)
{
	if (begin_transfer(target))
		return;
	say_once(target, "nothing can be sent to %s: out of memory",
		 push_name(target->to));
	back_off(target, 0);
}

static bool may_help_later(CURLcode result, long status)
{
	return result != CURLE_OK || status >= 500 || status == 429 ||
	       status == 408 || status == 425;
}

/* Makes a line for the log of what a receiver said. */
static void clean_answer(struct target *target)
{
	char *at = target->answer;

	at[target->answer_size] = 0;
	at[strcspn(at, "\r\n")] = 0;
	for (; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

static void complain(struct target *target, CURLcode result, long status)
{
	const char *url = url_of(target->push, target->to);
	const char *name = push_name(target->to);

	clean_answer(target);
	if (result != CURLE_OK)
		say_once(target, "%s cannot be reached at %s: %s", name, url,
			 curl_easy_strerror(result));
	else
		say_once(target,
			 "%s at %s does not take profiles (status %ld): %s",
			 name, url, status, target->answer);
}

static void finish_transfer(struct target *target, CURLcode result)
{
	curl_off_t asked = 0;
	long status = 0;

	curl_easy_getinfo(target->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(target->easy, CURLINFO_RETRY_AFTER, &asked);
	end_transfer(target);
	if (result == CURLE_OK && status >= 200 && status < 300) {
		target->counts.sent++;
		target->tries = 0;
		target->in_trouble = false;
		pop(target);
		return;
	}
	complain(target, result, status);
	if (may_help_later(result, status)) {
		back_off(target, asked);
		return;
	}
	target->counts.rejected++;
	pop(target);
}

/* Returns epoll's bits in curl's terms. */
static int select_bits(uint32_t events)
{
	int bits = events & EPOLLIN ? CURL_CSELECT_IN : 0;

	if (events & EPOLLOUT)
		bits |= CURL_CSELECT_OUT;
	if (events & (EPOLLERR | EPOLLHUP))
		bits |= CURL_CSELECT_ERR;
	return bits;
}

static void take_events(struct push *push)
{
	struct epoll_event events[EVENTS];
	int count = epoll_wait(push->epoll, events, EVENTS, 0), running, i;

	for (i = 0; i < count; i++)
		curl_multi_socket_action(push->multi, events[i].data.fd,
					 select_bits(events[i].events),
					 &running);
	if (push->timer_ns && wire_now() >= push->timer_ns) {
		push->timer_ns = 0;
		curl_multi_socket_action(push->multi, CURL_SOCKET_TIMEOUT, 0,
					 &running);
	}
}

static void take_results(struct push *push)
{
	struct CURLMsg *message;
	struct target *target;
	int left;

	while ((message = curl_multi_info_read(push->multi, &left))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
				  &target);
		finish_transfer(target, message->data.result);
	}
}

static bool is_due(const struct target *target)
{
	return target->first && !target->easy &&
	       wire_now() >= target->not_before_ns;
}

static void send_requests(struct push *push)
{
	int to;

	if (push->multi) {
		take_events(push);
		take_results(push);
	}
	for (to = 0; to < PUSH_TARGETS; to++) {
		struct target *target = &push->targets[to];

		/* The configuration does not name it any more. */
		while (!*url_of(push, to) && drop_one(target))
			;
		if (is_due(target))
			send_first(target);
	}
}

/* --- from begin to end ---------------------------------------------------- */

/* Labels have fewer characters than names of machines. */
static void read_host(char host[PUSH_HOST])
{
	size_t i;

	if (gethostname(host, PUSH_HOST - 1) || !*host)
		strcpy(host, "unknown");
	host[PUSH_HOST - 1] = 0;
	for (i = 0; host[i]; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-", host[i]))
			host[i] = '_';
}

/* Takes what waited when hwprofd ended. */
static void take_spooled(void *context, enum push_to to,
			 struct push_waiting *waiting)
{
	struct push *push = context;
	struct target *target = &push->targets[to];

	if (*url_of(push, to) && make_room(push, waiting->size)) {
		queue(target, waiting);
		return;
	}
	target->counts.dropped++;
	free(waiting);
}

static void read_spool(struct push *push)
{
	int error = push_spool_read(push->spool, 2 * most_bytes(push),
				    take_spooled, push);

	if (error)
		log_warning("%s: profiles that waited to be pushed cannot be read: %s",
			    push->spool, strerror(-error));
}

struct push *push_new(const struct config *config, const char *symbols,
		      const char *folder)
{
	struct push *push = calloc(1, sizeof(*push));
	int to;

	if (!push)
		return NULL;
	push->config = config;
	push->symbols = symbols;
	push->epoll = epoll_create1(EPOLL_CLOEXEC);
	read_host(push->host);
	for (to = 0; to < PUSH_TARGETS; to++) {
		struct target *target = &push->targets[to];

		target->push = push;
		target->to = to;
		target->last = &target->first;
	}
	if (push->epoll < 0) {
		free(push);
		return NULL;
	}
	if (folder) {
		snprintf(push->spool, sizeof(push->spool), "%s/push.spool",
			 folder);
		read_spool(push);
	}
	return push;
}

/* Makes requests of all windows, whether or not it is time. */
static void finish_batches(struct push *push)
{
	do {
		if (push->due_ns)
			push->due_ns = 1;
		make_requests(push);
		if (push->worker.pid)
			finish_worker(push, worker_wait(&push->worker));
	} while (push->batch.parts.count || push->due_ns);
}

static void drop_all(struct push *push)
{
	int to;

	for (to = 0; to < PUSH_TARGETS; to++)
		while (drop_one(&push->targets[to]))
			;
}

void push_finish(struct push *push)
{
	struct push_waiting *first[PUSH_TARGETS];
	uint64_t count = 0;
	int to, error;

	finish_batches(push);
	for (to = 0; to < PUSH_TARGETS; to++) {
		if (push->targets[to].easy)
			end_transfer(&push->targets[to]);
		first[to] = push->targets[to].first;
		count += push->targets[to].counts.waiting;
	}
	if (!count)
		return;
	error = *push->spool ? push_spool_write(push->spool, first) : -ENOENT;
	if (error)
		log_warning("%llu profiles that wait to be pushed are dropped: %s",
			    (unsigned long long)count, strerror(-error));
	else
		log_info("%llu profiles wait in %s to be pushed at the next start",
			 (unsigned long long)count, push->spool);
	drop_all(push);
}

static void stop_worker(struct push *push)
{
	if (!push->worker.pid)
		return;
	worker_stop(&push->worker);
	close(push->worker.out);
}

void push_free(struct push *push)
{
	int to;

	if (!push)
		return;
	stop_worker(push);
	for (to = 0; to < PUSH_TARGETS; to++)
		if (push->targets[to].easy)
			end_transfer(&push->targets[to]);
	drop_all(push);
	parts_free(&push->pending);
	parts_free(&push->batch.parts);
	if (push->multi) {
		curl_multi_cleanup(push->multi);
		curl_global_cleanup();
	}
	close(push->epoll);
	free(push);
}

bool push_run(struct push *push)
{
	make_requests(push);
	send_requests(push);
	return push->worker.pid;
}

int push_fd(const struct push *push)
{
	return push->epoll;
}

static int earlier(int most, uint64_t at_ns)
{
	uint64_t now = wire_now();
	uint64_t ms = at_ns > now ? (at_ns - now) / 1000000 + 1 : 0;

	return !at_ns || ms > (uint64_t)most ? most : (int)ms;
}

int push_timeout(const struct push *push, int most)
{
	int to;

	most = earlier(most, push->timer_ns);
	if (!push->batch.parts.count)
		most = earlier(most, push->due_ns);
	for (to = 0; to < PUSH_TARGETS; to++)
		if (push->targets[to].first && !push->targets[to].easy)
			most = earlier(most, push->targets[to].not_before_ns);
	return most;
}

void push_count(const struct push *push,
		struct push_counts counts[PUSH_TARGETS])
{
	int to;

	for (to = 0; to < PUSH_TARGETS; to++)
		counts[to] = push->targets[to].counts;
}
