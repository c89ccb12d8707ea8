-- SPDX-License-Identifier: GPL-2.0-only
create table word(w text, n integer);
create table edge(a integer, b integer, cost integer, primary key(a, b));
with recursive n(i) as (select 1 union all select i + 1 from n where i < 9000)
insert into word select hex(i * 2654435761 % 65536), i % 100 from n;
with recursive n(i) as (select 0 union all select i + 1 from n where i < 9000)
insert or ignore into edge select i % 97, i * i % 89, i % 17 from n;
select w, sum(n) s from word group by w having s > 50 order by s, w limit 10;
with recursive reach(node, depth) as (select 0, 0 union
	select b, depth + 1 from edge join reach on a = node where depth < 4)
select depth, count(*) from reach group by depth;
select n, row_number() over (partition by n % 7 order by w),
	sum(n) over (order by rowid rows 5 preceding) from word limit 3000, 5;
select count(*) from word x, word y where x.n = y.n and x.rowid < 300
	and y.w > x.w;
select json_group_array(w) from (select w from word order by random() * 0, w
	limit 3);
begin; update word set w = w || n where n % 3 = 1; rollback;
select max(length(w)), min(w), count(*) from word where w glob '*A?';
