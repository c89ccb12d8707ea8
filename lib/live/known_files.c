// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/tree.h"
#include "known_files.h"

struct known_file {
	struct mapped_file file;	/* the key */
	unsigned int round;		/* when it was looked at last */
	struct build_id id;		/* of size 0: none is known */
};

void known_files_free(struct known_files *files)
{
	tdestroy(files->tree, free);
	files->tree = NULL;
	files->count = 0;
}

static void read_id(const struct known_files *files, struct known_file *known,
		    uint32_t pid, const char *name)
{
	int fd = mapped_file_open(&known->file, files->reader, pid, name);
	struct code_facts facts;

	known->id.size = 0;
	if (fd < 0)
		return;
	if (code_read(files->reader, fd, name, CODE_ID, &facts) == -EAGAIN)
		mapped_file_forget(&known->file);
	known->id = facts.id;
	code_facts_free(&facts);
	close(fd);
}

const struct build_id *known_files_id(struct known_files *files,
				      const struct mapped_file *file,
				      uint32_t pid, const char *name)
{
	const struct known_file key = { .file = *file };
	struct known_file *known;
	bool is_new;

	known = tree_get(&files->tree, &key, sizeof(key), mapped_file_compare,
			 &is_new);
	if (!known)
		return NULL;
	files->count += is_new;
	if (is_new || (known->round != files->round &&
		       mapped_file_changed(&known->file, files->reader, pid,
					   name)))
		read_id(files, known, pid, name);
	known->round = files->round;
	return &known->id;
}
