-- Calls that act on a machine, in no transaction, while they run: the same call is not begun again, on no replica.
create unlogged table idempotent_run (
  account_id text not null,
  key_hash bytea not null,
  began_at timestamptz not null,
  primary key (account_id, key_hash)
);
