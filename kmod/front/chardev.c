// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/hwprof: an open file is a session, whose rows are fetched.
 *
 * Everybody may open it. The device owns memory, which is limited, and no
 * targets. Perf checks what events may look at when they are opened.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/log2.h>
#include <linux/perf_event.h>
#include <linux/poll.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../mask.h"
#include "../ring.h"
#include "../session.h"
#include "../snapshot.h"
#include "../tuning.h"
#include "../unwind.h"
#include "arch.h"
#include "front.h"

enum {
	CONFIG_FLAGS = 2 * HWPROF_CONFIG_FREQ - 1,
	/* They are enum config_exclude. */
	EXCLUDE_FLAGS = CONFIG_FLAGS & ~HWPROF_CONFIG_FREQ,
};

/* An open file. */
struct handle {
	struct mutex lock;
	struct session *session;	/* NULL: not configured yet */
	struct snapshot snapshot;
	/* NULL: none yet; once made, they stay. */
	struct rings *rings;
	size_t ring_memory;		/* bytes that are charged for them */
	struct unwind *unwind;		/* as rings */
};

/* --- ioctls --------------------------------------------------------------- */

/*
 * Read a struct that begins with its size, as perf_event_open() reads its attr.
 * @least is the size of the first version. Return 0 or an errno.
 */
static int chardev_read_struct(void *to, size_t size, size_t least,
			       void __user *from)
{
	u32 theirs;
	int err;

	if (get_user(theirs, (u32 __user *)from))
		return -EFAULT;
	if (theirs < least)
		return -EINVAL;
	err = theirs > PAGE_SIZE ? -E2BIG :
	      copy_struct_from_user(to, size, from, theirs);
	if (err == -E2BIG && put_user((u32)size, (u32 __user *)from))
		return -EFAULT;
	return err;
}

/* Decode what the device is asked for. Sessions of the device have rows. */
static void chardev_decode_config(struct session_config *decoded,
				  const struct hwprof_config *config)
{
	const struct config_request request = {
		.words = { config->config, config->config1, config->config2 },
		.exclude = config->flags & EXCLUDE_FLAGS,
		.period = config->period,
		.freq = config->flags & HWPROF_CONFIG_FREQ,
	};

	config_of_request(decoded, &request);
	decoded->rows = 1;
}

static int chardev_check_config(const struct hwprof_config *config,
				const struct session_config *decoded)
{
	int err;

	if (config->flags & ~CONFIG_FLAGS || config->session ||
	    config->reserved || decoded->session)
		return -EINVAL;
	err = config_check_session(decoded);
	if (err)
		return err;
	if (decoded->engine_caps & ENGINE_IMMEDIATE)
		return -EOPNOTSUPP;
	if (decoded->request.freq && !decoded->request.period)
		return -EINVAL;
	/* It would be a period of nothing. */
	if (decoded->request.period && !decoded->windows)
		return -EINVAL;
	return 0;
}

static int chardev_make_session(struct handle *handle,
				const struct session_config *config)
{
	struct session *session;
	int err;

	err = snapshot_init(&handle->snapshot);
	if (err)
		return err;
	session = session_new(config);
	if (IS_ERR(session)) {
		snapshot_free(&handle->snapshot);
		return PTR_ERR(session);
	}
	handle->session = session;
	return 0;
}

static long chardev_do_config(struct handle *handle,
			      struct hwprof_config __user *to)
{
	struct session_config decoded;
	struct hwprof_config config;
	int err;

	err = chardev_read_struct(&config, sizeof(config),
				  HWPROF_CONFIG_SIZE_VER0, to);
	if (err)
		return err;
	chardev_decode_config(&decoded, &config);
	err = chardev_check_config(&config, &decoded);
	if (err)
		return err;
	if (handle->session)
		return -EBUSY;
	if (put_user(0, &to->session))
		return -EFAULT;
	err = chardev_make_session(handle, &decoded);
	if (err)
		return err;
	return put_user(handle->session->id, &to->session);
}

static long chardev_do_snapshot(struct handle *handle,
				struct hwprof_snapshot __user *to)
{
	struct hwprof_snapshot request;
	ssize_t filled;
	bool done;
	int err;

	err = chardev_read_struct(&request, sizeof(request),
				  HWPROF_SNAPSHOT_SIZE_VER0, to);
	if (err)
		return err;
	if (request.flags || request.reserved)
		return -EINVAL;
	if (request.buffer_size < HWPROF_SNAPSHOT_MIN)
		return -EMSGSIZE;
	if (!handle->session)
		return -ENODATA;
	/* Rows whose number cannot be reported would be lost. */
	if (put_user(0, &to->filled) || put_user(0, &to->more))
		return -EFAULT;
	filled = snapshot_read(&handle->snapshot, handle->session,
			       u64_to_user_ptr(request.buffer),
			       min_t(u64, request.buffer_size, SSIZE_MAX),
			       &done);
	if (filled < 0)
		return filled;
	if (put_user(filled, &to->filled) || put_user(!done, &to->more))
		return -EFAULT;
	return 0;
}

static long chardev_reset(struct handle *handle, unsigned long argument)
{
	if (argument)
		return -EINVAL;
	if (!handle->session)
		return -ENODATA;
	snapshot_drop(&handle->snapshot);
	return session_reset(handle->session);
}

static int chardev_make_rings(struct handle *handle,
			      const struct hwprof_ring *request)
{
	size_t memory = rings_bytes(request->data_size);
	struct session *session = handle->session;
	struct rings *rings;
	int err;

	err = holding_charge(&session->holding, memory);
	if (err)
		return err;
	rings = rings_make(request->data_size, request->watermark);
	if (!rings) {
		holding_uncharge(&session->holding, memory);
		return -ENOMEM;
	}
	handle->ring_memory = memory;
	/* Others may map the rings or wait for them meanwhile. */
	smp_store_release(&handle->rings, rings);
	session_set_rings(session, rings);
	return 0;
}

static long chardev_do_ring(struct handle *handle,
			    struct hwprof_ring __user *to)
{
	struct hwprof_ring request;
	int err;

	err = chardev_read_struct(&request, sizeof(request),
				  HWPROF_RING_SIZE_VER0, to);
	if (err)
		return err;
	if (request.flags || request.rings ||
	    !is_power_of_2(request.data_size) ||
	    request.data_size < PAGE_SIZE || request.data_size > SZ_1G ||
	    request.watermark > request.data_size)
		return -EINVAL;
	if (!handle->session)
		return -ENODATA;
	if (handle->rings)
		return -EBUSY;
	/* Nothing may fail once they exist. */
	if (put_user(nr_cpu_ids, &to->rings))
		return -EFAULT;
	err = chardev_make_rings(handle, &request);
	if (err)
		put_user(0, &to->rings);
	return err;
}

/*
 * Return the file's tables, which the first call makes. Tables disclose words
 * of stacks, so a process that was only passed the file must not give any.
 */
static struct unwind *chardev_get_unwind(struct handle *handle)
{
	int err = handle->session ?
		  opener_check(&handle->session->key.opener) : 0;
	struct unwind *unwind;

	if (err)
		return ERR_PTR(err);
	if (!handle->unwind) {
		unwind = unwind_new();
		if (!IS_ERR(unwind))
			handle->unwind = unwind;
		return unwind;
	}
	err = opener_check(unwind_opener(handle->unwind));
	return err ? ERR_PTR(err) : handle->unwind;
}

static long chardev_do_unwind_table(struct handle *handle,
				    struct hwprof_unwind_table __user *to)
{
	struct hwprof_unwind_table request;
	struct unwind *unwind;
	int number, err;

	if (!arch_has_unwinding())
		return -EOPNOTSUPP;
	err = chardev_read_struct(&request, sizeof(request),
				  HWPROF_UNWIND_TABLE_SIZE_VER0, to);
	if (err)
		return err;
	if (request.flags || request.table || !request.count)
		return -EINVAL;
	if (request.count > HWPROF_UNWIND_ROWS_MAX)
		return -E2BIG;
	if (put_user(0, &to->table))
		return -EFAULT;
	unwind = chardev_get_unwind(handle);
	if (IS_ERR(unwind))
		return PTR_ERR(unwind);
	number = unwind_add_table(unwind, u64_to_user_ptr(request.rows),
				  request.count);
	return number < 0 ? number : put_user(number, &to->table);
}

static long chardev_do_unwind_maps(struct handle *handle, void __user *from)
{
	struct hwprof_unwind_maps request;
	struct unwind *unwind;
	int err;

	if (!arch_has_unwinding())
		return -EOPNOTSUPP;
	err = chardev_read_struct(&request, sizeof(request),
				  HWPROF_UNWIND_MAPS_SIZE_VER0, from);
	if (err)
		return err;
	if (request.flags)
		return -EINVAL;
	if (request.count > HWPROF_UNWIND_MAPS_MAX)
		return -E2BIG;
	unwind = chardev_get_unwind(handle);
	if (IS_ERR(unwind))
		return PTR_ERR(unwind);
	err = unwind_set_maps(unwind, request.pid,
			      u64_to_user_ptr(request.maps), request.count);
	if (!err)
		sessions_unwind(unwind, unwind_opener(unwind), handle->session);
	return err;
}

static long chardev_do_program(struct handle *handle, void __user *from)
{
	struct hwprof_program request;
	int err;

	err = chardev_read_struct(&request, sizeof(request),
				  HWPROF_PROGRAM_SIZE_VER0, from);
	if (err)
		return err;
	return handle->session ? programs_set(handle->session, &request) :
				 -ENODATA;
}

static long chardev_do_program_account(struct handle *handle, void __user *to)
{
	struct hwprof_program_account account;
	size_t known;
	int err;

	err = chardev_read_struct(&account, sizeof(account),
				  HWPROF_PROGRAM_ACCOUNT_SIZE_VER0, to);
	if (err)
		return err;
	if (account.flags || account.kind >= HWPROF_PROGRAM_KINDS)
		return -EINVAL;
	if (!handle->session)
		return -ENODATA;
	known = min_t(size_t, account.size, sizeof(account));
	account = (struct hwprof_program_account) {
		.size = account.size, .kind = account.kind,
	};
	programs_account(handle->session, &account);
	return copy_to_user(to, &account, known) ? -EFAULT : 0;
}

/* Return the session of that number, held. 0: the file's own. */
static struct session *chardev_get_session(const struct handle *handle,
					   u32 number)
{
	struct session *session;

	if (number) {
		session = session_by_number(number);
		return session ?: ERR_PTR(-ENOENT);
	}
	session = handle->session;
	return session && session_tryget(session) ? session :
						    ERR_PTR(-ENODATA);
}

/*
 * Copy a struct that begins with the caller's size, as much as the caller
 * knows. @size is ours.
 */
static long chardev_answer(void __user *to, const void *from, size_t size)
{
	size_t known = min_t(size_t, *(const u32 *)from, size);

	return copy_to_user(to, from, known) ? -EFAULT : 0;
}

static long chardev_do_tune(struct handle *handle, void __user *to)
{
	struct hwprof_tuning request;
	struct session *session;
	int err;

	err = chardev_read_struct(&request, sizeof(request),
				  HWPROF_TUNING_SIZE_VER0, to);
	if (err)
		return err;
	session = chardev_get_session(handle, request.session);
	if (IS_ERR(session))
		return PTR_ERR(session);
	err = tuning_request(session, &request);
	session_put(session);
	return err ?: chardev_answer(to, &request, sizeof(request));
}

static long chardev_do_mask(struct handle *handle, void __user *to)
{
	struct hwprof_mask request;
	struct session *session;
	int err;

	err = chardev_read_struct(&request, sizeof(request),
				  HWPROF_MASK_SIZE_VER0, to);
	if (err)
		return err;
	session = chardev_get_session(handle, request.session);
	if (IS_ERR(session))
		return PTR_ERR(session);
	err = mask_request(session, &request);
	session_put(session);
	return err ?: chardev_answer(to, &request, sizeof(request));
}

static long chardev_ioctl(struct file *file, unsigned int command,
			  unsigned long argument)
{
	struct handle *handle = file->private_data;
	void __user *to = (void __user *)argument;
	long result = -ENOTTY;

	if (mutex_lock_killable(&handle->lock))
		return -EINTR;
	switch (command) {
	case HWPROF_IOC_CONFIG:
		result = chardev_do_config(handle, to);
		break;
	case HWPROF_IOC_SNAPSHOT:
		result = chardev_do_snapshot(handle, to);
		break;
	case HWPROF_IOC_RESET:
		result = chardev_reset(handle, argument);
		break;
	case HWPROF_IOC_RING:
		result = chardev_do_ring(handle, to);
		break;
	case HWPROF_IOC_UNWIND_TABLE:
		result = chardev_do_unwind_table(handle, to);
		break;
	case HWPROF_IOC_UNWIND_MAPS:
		result = chardev_do_unwind_maps(handle, to);
		break;
	case HWPROF_IOC_PROGRAM:
		result = chardev_do_program(handle, to);
		break;
	case HWPROF_IOC_PROGRAM_ACCOUNT:
		result = chardev_do_program_account(handle, to);
		break;
	case HWPROF_IOC_TUNE:
		result = chardev_do_tune(handle, to);
		break;
	case HWPROF_IOC_MASK:
		result = chardev_do_mask(handle, to);
		break;
	}
	mutex_unlock(&handle->lock);
	return result;
}

/* --- files ---------------------------------------------------------------- */

static bool published;

static int chardev_open(struct inode *inode, struct file *file)
{
	struct handle *handle;

	if (!smp_load_acquire(&published))
		return -ENODEV;
	handle = kzalloc(sizeof(*handle), GFP_KERNEL_ACCOUNT);
	if (!handle)
		return -ENOMEM;
	mutex_init(&handle->lock);
	file->private_data = handle;
	return stream_open(inode, file);
}

static int chardev_release(struct inode *inode, struct file *file)
{
	struct handle *handle = file->private_data;

	if (handle->rings) {
		session_set_rings(handle->session, NULL);
		rings_free(handle->rings);
		holding_uncharge(&handle->session->holding,
				 handle->ring_memory);
	}
	if (handle->session) {
		WRITE_ONCE(handle->session->reader, false);
		session_put(handle->session);
		snapshot_free(&handle->snapshot);
	}
	unwind_put(handle->unwind);
	kfree(handle);
	return 0;
}

/*
 * A mapping keeps the file open. The handle's lock is not taken, because
 * mmap_lock is held.
 */
static int chardev_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct handle *handle = file->private_data;
	struct rings *rings = smp_load_acquire(&handle->rings);

	return rings ? rings_map(rings, vma) : -ENODATA;
}

static __poll_t chardev_poll(struct file *file, poll_table *wait)
{
	struct handle *handle = file->private_data;
	struct rings *rings = smp_load_acquire(&handle->rings);

	if (!rings)
		return EPOLLERR;
	poll_wait(file, &rings->readers, wait);
	return rings_are_ready(rings) ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct file_operations chardev_fops = {
	.owner		= THIS_MODULE,
	.open		= chardev_open,
	.release	= chardev_release,
	.unlocked_ioctl	= chardev_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.mmap		= chardev_mmap,
	.poll		= chardev_poll,
};

static struct miscdevice chardev = {
	.minor		= MISC_DYNAMIC_MINOR,
	.name		= "hwprof",
	.fops		= &chardev_fops,
	.mode		= 0666,
	.groups		= hwprof_class_groups,
};

int chardev_init(void)
{
	int err = misc_register(&chardev);

	if (err)
		return err;
	err = class_init(chardev.this_device);
	if (err)
		misc_deregister(&chardev);
	return err;
}

/*
 * Let files be opened, which hold the module. Loading it could have failed
 * until now.
 */
void chardev_publish(void)
{
	smp_store_release(&published, true);
}

void chardev_exit(void)
{
	class_exit();
	misc_deregister(&chardev);
}
