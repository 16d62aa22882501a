-- The number of a log in its block changes when a reorganisation puts other logs before it; `log_index` is now the one
-- in the block where the deposit was seen last. What stays is the transaction, what the transfer is, and which it is of
-- the equal ones in its transaction, from 0.
alter table deposit add column ordinal integer;

-- Reorganisations can have left several rows of one transfer: one that counts, and orphaned ones, or ones that were
-- seen and that no receipt proves. Those that count get the first numbers, which are those that the chain shows.
update deposit set ordinal = numbered.ordinal
from (
  select id, row_number() over (
    partition by chain_id, tx_hash, token_address, address, amount
    order by status = 'orphaned', status = 'seen', log_index
  ) - 1 as ordinal
  from deposit
) numbered
where numbered.id = deposit.id;

alter table deposit
  alter column ordinal set not null,
  drop constraint deposit_chain_id_tx_hash_log_index_key,
  add constraint deposit_identity unique (chain_id, tx_hash, token_address, address, amount, ordinal);
