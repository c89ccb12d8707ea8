-- A table with an index, counted, sorted and joined with itself.
create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 400)
insert into t select x, hex(x * x * 7919 % 1000003) from c;
create index i on t(b);
select count(*), sum(length(b)) from t;
select b, a from t order by b limit 5;
select a.b from t a join t b on a.a = b.a * 2 where b.b > '3' order by 1 limit 10;
