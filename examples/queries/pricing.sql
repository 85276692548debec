-- One pass over lineitem with arithmetic on every row: CPU.
SELECT returnflag, linestatus, count(*), sum(quantity), sum(price * (1 - discount) * (1 + tax))
FROM lineitem
WHERE shipdate <= DATE '1998-09-01'
GROUP BY returnflag, linestatus
ORDER BY returnflag, linestatus
