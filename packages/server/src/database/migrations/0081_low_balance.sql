-- Accounts that were told that their balance runs out soon.
create table low_balance (
  account_id text primary key references account,
  -- The shortest of the configured times that it was told for; of it and longer ones it is told again only after money
  -- came, or a day.
  told_hours integer not null,
  told_at timestamptz not null,
  -- In the statement of the account: what came since stands behind it.
  told_position bigint not null,
  -- The first charge that the balance does not cover; null while that is far away again.
  runs_out_at timestamptz
);
