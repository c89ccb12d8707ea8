-- SPDX-License-Identifier: GPL-2.0-only
create table item(id integer primary key, name text, price real, kind integer);
create table sale(item integer, day integer, amount integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)
insert into item select i, 'item ' || (i * 7919 % 4001), i * 0.37, i % 13 from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
insert into sale select i * 31 % 4000 + 1, i % 365, i % 9 + 1 from n;
create index sale_day on sale(day, item);
select kind, count(*), sum(price), max(name) from item group by kind order by 3;
select day, sum(amount * price) from sale join item on item.id = sale.item
	where day between 100 and 200 group by day order by 2 desc limit 9;
select count(distinct name), group_concat(kind) from item where name like '%9_1%';
update item set price = price * 1.1 where id in
	(select item from sale where amount > 7);
delete from sale where day % 5 = 0;
select count(*), avg(amount), total(item) from sale;
select name, length(name), substr(name, 3, 4), upper(name) from item
	order by name collate nocase limit 20;
