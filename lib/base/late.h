/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Libraries that are loaded when they are first needed. Loading them with the
 * program would relocate their tables, hundreds of pages, in each run.
 */
#ifndef HWPROF_LATE_H
#define HWPROF_LATE_H

#include <dlfcn.h>
#include <stddef.h>

/*
 * Finds the function of a name in an opened library, and sets @function to it.
 * False if it is not there.
 */
#define LATE_FIND(library, function, name)				\
	(*(void **)&(function) = dlsym(library, name), (function) != NULL)

#define LATE_QUOTED(number)	#number
#define LATE_TEXT(number)	LATE_QUOTED(number)
/* Returns the name of a library, by the version that its header has. */
#define LATE_NAME(stem, version)	stem ".so." LATE_TEXT(version)

#endif /* HWPROF_LATE_H */
