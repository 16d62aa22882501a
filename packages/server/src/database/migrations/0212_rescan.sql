-- The operator wants a chain to be looked through again from this block on.
alter table chain_cursor add column rescan_from bigint check (rescan_from > 0);
