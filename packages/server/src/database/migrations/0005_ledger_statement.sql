-- The place in the statement. It is taken while the customer's row is locked, so it follows the running balance;
-- identifiers are made before the lock, and two of them may come in the other order.
alter table ledger_transaction add column position bigint generated always as identity;
drop index ledger_transaction_account;
create unique index ledger_transaction_account on ledger_transaction (account_id, position);

-- A truncate fires no trigger of update or delete.
create trigger append_only_truncate before truncate on ledger_transaction
  for each statement execute function refuse_change();
create trigger append_only_truncate before truncate on ledger_entry
  for each statement execute function refuse_change();
