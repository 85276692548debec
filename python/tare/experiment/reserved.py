"""Names that some DBMS of ours does not take without quotes, for a table or a column.

Found by trying: every key word that PostgreSQL 15 and 18, MariaDB 10.11, SQLite 3.40 and DuckDB 2.0
list, as a table's and a column's name, in each of them; and the words that MySQL 8 added.
"""

from __future__ import annotations

_WORDS = """
accessible add all alter analyse analyze and anti any array as asc asensitive asof asymmetric at
authorization autoincrement before between bigint binary blob both by call cascade case cast change
char character check collate collation column commit concurrently condition constraint continue
convert create cross cube cume_dist current_catalog current_date current_role current_schema
current_time current_timestamp current_user cursor databases day_hour day_microsecond day_minute
day_second dec decimal declare default deferrable delayed delete delete_domain_id dense_rank desc
describe deterministic distinct distinctrow div do do_domain_ids double drop dual each else elseif
empty enclosed end escape escaped except exists exit explain false fetch first_value float float4
float8 for force foreign freeze from full fulltext function glob grant group grouping groups having
high_priority hour_microsecond hour_minute hour_second if ignore ignore_domain_ids ilike in index
infile initially inner inout insensitive insert int int1 int2 int3 int4 int8 integer intersect
interval into is isnull iterate join json_table key keys kill lag lambda last_value lateral lead
leading leave left like limit linear lines load localtime localtimestamp lock long longblob longtext
loop low_priority master_demote_to_replica master_demote_to_slave master_ssl_verify_server_cert
match maxvalue mediumblob mediumint mediumtext middleint minute_microsecond minute_second mod
modifies natural no_write_to_binlog not nothing notnull nth_value ntile null numeric of offset on
only optimize optimizer_costs optionally or order out outer outfile over overlaps page_checksum
parse_vcol_expr partition percent_rank pivot pivot_longer pivot_wider placing portion positional
precision primary procedure purge qualify raise range rank read read_write reads real recursive
ref_system_id references regexp release rename repeat replace require resignal restrict return
returning revoke right rlike row_number rows schemas second_microsecond select semi sensitive
separator session_user set show signal similar smallint some spatial specific sql sql_big_result
sql_buffer_result sql_cache sql_calc_found_rows sql_no_cache sql_small_result sqlexception sqlstate
sqlwarning ssl starting stats_auto_recalc stats_persistent stats_sample_pages stored straight_join
summarize symmetric system system_user table tablesample terminated then tinyblob tinyint tinytext
to trailing transaction trigger true undo union unique unlock unpack unpivot unsigned update usage
use user using utc_date utc_time utc_timestamp values varbinary varchar varcharacter variadic
varying verbose virtual when where while window with write xor year_month zerofill
"""
_RESERVED = frozenset(_WORDS.split())


def is_reserved(name: str) -> bool:
    """In any case of letters."""
    return name.lower() in _RESERVED
