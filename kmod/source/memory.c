// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory and device registers must be told apart. The flags of a VMA say it,
 * but mmap_lock and the locks of VMAs cannot be taken here: #DB interrupts
 * returns from system calls as well as programs, and lock_vma_under_rcu() is
 * not exported.
 *
 * The page tables say it, too. An entry that remap_pfn_range(),
 * vmf_insert_pfn() or the like has made is special, and
 * get_user_pages_fast_only() refuses it. That function walks the tables without
 * a lock, takes a reference to the page, and looks at the entry again, so that
 * no other CPU can put a device there in between. Perf calls it in NMIs, for
 * PERF_SAMPLE_PHYS_ADDR.
 *
 * The entry of the zero page is special, too. It is recognised by its number.
 */
#include <linux/highmem.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "memory.h"

enum { LATE_PAGES = 16 };

/*
 * Pages whose last reference this CPU holds. Freeing a page on PREEMPT_RT takes
 * locks that sleep, and interrupts are off here. An irq_work does it, in a
 * thread.
 */
struct late {
	struct irq_work work;
	unsigned int count;
	struct page *pages[LATE_PAGES];
};

static void memory_put_late(struct irq_work *work)
{
	struct late *late = container_of(work, struct late, work);
	struct page *pages[LATE_PAGES];
	unsigned long flags;
	unsigned int count, i;

	local_irq_save(flags);
	count = late->count;
	memcpy(pages, late->pages, count * sizeof(*pages));
	late->count = 0;
	local_irq_restore(flags);
	for (i = 0; i < count; i++)
		put_page(pages[i]);
}

static DEFINE_PER_CPU(struct late, late_pages) = {
	.work = IRQ_WORK_INIT(memory_put_late),
};

static bool memory_may_hold_page(void)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) ||
	       this_cpu_read(late_pages.count) < LATE_PAGES;
}

/*
 * Drop a reference. Interrupts are off, and memory_may_hold_page() was true
 * before the reference was taken.
 */
static void memory_let_page_go(struct page *page)
{
	struct late *late = this_cpu_ptr(&late_pages);

	if (!IS_ENABLED(CONFIG_PREEMPT_RT)) {
		put_page(page);
	} else if (is_zone_device_page(page) ||
		   !atomic_add_unless(&page_folio(page)->_refcount, -1, 1)) {
		late->pages[late->count++] = page;
		irq_work_queue(&late->work);
	}
}

void memory_settle(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(late_pages, cpu).work);
}

/*
 * Return true if @address is mapped to the zero page, because it was not
 * written yet. Each entry is read once: another CPU may put a huge page in the
 * place of a table after the check that it is a table.
 */
static bool memory_shows_zeros(u64 address)
{
	pgd_t *pgdp = pgd_offset(current->mm, address);
	pgd_t pgd = READ_ONCE(*pgdp);
	p4d_t *p4dp, p4d;
	pud_t *pudp, pud;
	pmd_t pmd;
	pte_t pte;

	if (pgd_none(pgd) || unlikely(pgd_bad(pgd)))
		return false;
	p4dp = p4d_offset_lockless(pgdp, pgd, address);
	p4d = READ_ONCE(*p4dp);
	if (p4d_none(p4d) || unlikely(p4d_bad(p4d)))
		return false;
	pudp = pud_offset_lockless(p4dp, p4d, address);
	pud = READ_ONCE(*pudp);
	if (pud_none(pud) || pud_bad(pud))
		return false;
	pmd = READ_ONCE(*pmd_offset_lockless(pudp, pud, address));
	if (pmd_none(pmd) || pmd_bad(pmd))
		return false;
	pte = READ_ONCE(*pte_offset_kernel(&pmd, address));
	return pte_present(pte) && is_zero_pfn(pte_pfn(pte));
}

/* Read bytes that are all on one page. Return false if it cannot be read. */
static bool memory_read_page(void *to, size_t size, u64 address)
{
	struct page *page;
	const void *from;

	if (!memory_may_hold_page())
		return false;
	if (get_user_pages_fast_only(address, 1, 0, &page) != 1) {
		memset(to, 0, size);
		return memory_shows_zeros(address);
	}
	from = kmap_local_page(page);
	memcpy(to, from + offset_in_page(address), size);
	kunmap_local(from);
	memory_let_page_go(page);
	return true;
}

bool memory_read(void *to, size_t size, u64 address)
{
	size_t first = min_t(size_t, size, PAGE_SIZE - offset_in_page(address));

	if (!current->mm || !access_ok((void __user *)address, size))
		return false;
	return memory_read_page(to, first, address) &&
	       (first == size ||
		memory_read_page(to + first, size - first, address + first));
}
