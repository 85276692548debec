-- Two tables in the manner of TPC-H (orders, lineitem), with the same rows every time.
CREATE TABLE orders AS
SELECT k AS orderkey,
       DATE '1992-01-01' + (k * 7919 % 2406)::int AS orderdate,
       (ARRAY['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'])[1 + k * 31 % 5] AS priority
FROM generate_series(1, 150000) AS k;

CREATE TABLE lineitem AS
SELECT o.orderkey,
       n AS linenumber,
       (1 + (o.orderkey * 17 + n * 13) % 50)::numeric(15, 2) AS quantity,
       (900 + (o.orderkey * 7907 + n * 104729) % 104000)::numeric(15, 2) AS price,
       ((o.orderkey + n) % 11)::numeric(15, 2) / 100 AS discount,
       ((o.orderkey + n) % 9)::numeric(15, 2) / 100 AS tax,
       (ARRAY['A', 'N', 'R'])[1 + (o.orderkey + n) % 3] AS returnflag,
       (ARRAY['F', 'O'])[1 + (o.orderkey / 3 + n) % 2] AS linestatus,
       o.orderdate + (1 + (o.orderkey * n) % 121)::int AS shipdate
FROM orders o, generate_series(1, 4) AS n;

ALTER TABLE orders ADD PRIMARY KEY (orderkey);
ALTER TABLE lineitem ADD PRIMARY KEY (orderkey, linenumber);
VACUUM ANALYZE orders;
VACUUM ANALYZE lineitem;
