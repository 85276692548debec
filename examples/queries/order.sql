-- One order by its key: an index, a handful of pages.
SELECT count(*), sum(price) FROM lineitem WHERE orderkey = 77777
