-- What sandboxes are charged twice a minute has a kind of its own: a statement shows days of sandboxes instead.
alter table ledger_transaction disable trigger append_only;
update ledger_transaction set kind = 'usage'
where kind in ('charge', 'hold') and reference is null
  and (description ~ '^Sandbox sbx[0-9a-z]+$' or description ~ '^[0-9]+ sandboxes$'
    or description like 'Held for the next minute of sandbox %');
alter table ledger_transaction enable trigger append_only;
create index ledger_transaction_lines on ledger_transaction (account_id, position, id) where kind <> 'usage';

-- A day (UTC) on which a sandbox ran: a line of the statement. What it cost is the difference to the next, or to now.
create table sandbox_day (
  -- As that of a transaction of the ledger.
  id text primary key,
  account_id text not null references account,
  sandbox_id text not null references sandbox,
  day date not null,
  -- Of the transaction in the ledger that it stands behind in the statement.
  position bigint not null,
  begun_at timestamptz not null,
  -- Of the sandbox, when the day began: micro-USD and milliseconds.
  charged_before bigint not null,
  ran_before bigint not null,
  unique (sandbox_id, day)
);
create index sandbox_day_lines on sandbox_day (account_id, position, id);

-- Sandboxes of before have one line each.
insert into sandbox_day (id, account_id, sandbox_id, day, position, begun_at, charged_before, ran_before)
select 'txn_0' || left(md5(sandbox.id), 25), account_id, sandbox.id, (created_at at time zone 'UTC')::date,
  coalesce((select max(position) from ledger_transaction
    where ledger_transaction.account_id = sandbox.account_id
      and ledger_transaction.created_at <= sandbox.created_at), 0),
  created_at, 0, 0
from sandbox;
