-- A join of both tables, grouped.
SELECT o.priority, count(*), sum(l.price)
FROM orders o JOIN lineitem l ON l.orderkey = o.orderkey
WHERE o.orderdate >= DATE '1995-01-01' AND o.orderdate < DATE '1996-01-01'
GROUP BY o.priority
ORDER BY o.priority
