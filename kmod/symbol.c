// SPDX-License-Identifier: GPL-2.0-only
#include <linux/printk.h>
#include <linux/sysfs.h>

#include "symbol.h"

static struct {
	struct kprobe probe;
	const char *without;
	bool missing;
} symbols[] = {
#define X(name, without)						       \
	[SYMBOL_##name] = { { .symbol_name = #name }, without },
	HWPROF_SYMBOLS(X)
#undef X
};

static void symbol_register(enum symbol symbol)
{
	struct kprobe *probe = &symbols[symbol].probe;
	int err = register_kprobe(probe);

	symbols[symbol].missing = err;
	if (err)
		pr_warn("hwprof: no %s() (error %d): %s\n", probe->symbol_name,
			err, symbols[symbol].without);
}

void symbol_probe(enum symbol symbol, kprobe_pre_handler_t handler)
{
	symbols[symbol].probe.pre_handler = handler;
	symbol_register(symbol);
}

void symbol_unprobe(enum symbol symbol)
{
	if (!symbols[symbol].missing)
		unregister_kprobe(&symbols[symbol].probe);
}

void *symbol_find(enum symbol symbol)
{
	/* A probe that is never armed needs no memory to be unregistered. */
	symbols[symbol].probe.flags = KPROBE_FLAG_DISABLED;
	symbol_register(symbol);
	symbol_unprobe(symbol);
	return symbols[symbol].missing ? NULL : symbols[symbol].probe.addr;
}

ssize_t symbols_show(char *page)
{
	ssize_t length = 0;
	int i;

	for (i = 0; i < SYMBOLS; i++)
		if (symbols[i].missing)
			length += sysfs_emit_at(page, length,
						"no %s(): %s\n",
						symbols[i].probe.symbol_name,
						symbols[i].without);
	return length ?: sysfs_emit(page, "yes\n");
}
