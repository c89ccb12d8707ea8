// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kprobes.h>
#include <linux/printk.h>
#include <linux/sysfs.h>

#include "symbol.h"

static struct {
	const char *name;
	const char *without;
	bool missing;
} symbols[] = {
#define X(name, without)	[SYMBOL_##name] = { #name, without },
	HWPROF_SYMBOLS(X)
#undef X
};

void symbol_note(enum symbol symbol, bool found)
{
	symbols[symbol].missing = !found;
	if (!found)
		pr_warn("hwprof: no %s(): %s\n", symbols[symbol].name,
			symbols[symbol].without);
}

void *symbol_find(enum symbol symbol)
{
	struct kprobe probe = { .symbol_name = symbols[symbol].name };
	bool found = !register_kprobe(&probe);

	if (found)
		unregister_kprobe(&probe);
	symbol_note(symbol, found);
	return found ? probe.addr : NULL;
}

ssize_t symbols_show(char *page)
{
	ssize_t length = 0;
	int i;

	for (i = 0; i < SYMBOLS; i++)
		if (symbols[i].missing)
			length += sysfs_emit_at(page, length,
						"no %s(): %s\n",
						symbols[i].name,
						symbols[i].without);
	return length ?: sysfs_emit(page, "yes\n");
}
