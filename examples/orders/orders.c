// SPDX-License-Identifier: GPL-2.0-only
/*
 * orders [ROUNDS]: a program to profile, which docs/recipes.md does. It keeps
 * orders in a list, looks prices up in a table, and has a checksum() that is
 * called often with few bytes, and seldom with many. -DSORTED_PRICES makes its
 * second version.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORDERS = 64, KINDS = 32, LINE = 8, REPORT = 4096 };

struct order {
	struct order *next;
	int kind, amount;
	char line[LINE];
};

static int prices[KINDS];

/* read_order() calls it with a line, write_report() with a whole report. */
static __attribute__((noinline)) unsigned int checksum(const char *bytes,
							size_t length)
{
	unsigned int sum = 0;
	size_t i;

	for (i = 0; i < length; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

#ifdef SORTED_PRICES
/* Prices are sorted by kind: halve the table until one is left. */
static __attribute__((noinline)) int price_of(int kind)
{
	int low = 0, high = KINDS;

	while (high - low > 1) {
		int middle = (low + high) / 2;

		if (kind < middle)
			high = middle;
		else
			low = middle;
	}
	return prices[low];
}
#else
static __attribute__((noinline)) int price_of(int kind)
{
	int i;

	for (i = 0; i < KINDS; i++)
		if (i == kind)
			break;
	return prices[i];
}
#endif

static __attribute__((noinline)) struct order *read_order(struct order *rest,
							   int number)
{
	struct order *order = malloc(sizeof(*order));

	if (!order)
		exit(1);
	order->next = rest;
	order->amount = number % 3 + 1;
	/* Nearly all orders are of one kind. */
	order->kind = number % 16 ? KINDS - 2 : number % KINDS;
	memset(order->line, number, LINE);
	order->amount += checksum(order->line, LINE) & 1;
	return order;
}

static __attribute__((noinline)) long total(const struct order *order)
{
	long sum = 0;

	for (; order; order = order->next)
		sum += order->amount * price_of(order->kind);
	return sum;
}

static __attribute__((noinline)) unsigned int write_report(long sum)
{
	static char report[REPORT];

	memset(report, sum, REPORT);
	return checksum(report, REPORT);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, i;
	struct order *orders = NULL;
	unsigned int check = 0;

	for (i = 0; i < KINDS; i++)
		prices[i] = 10 * i;
	for (i = 0; i < ORDERS; i++)
		orders = read_order(orders, i);
	while (rounds-- > 0)
		check += write_report(total(orders));
	printf("%u\n", check);
	return 0;
}
