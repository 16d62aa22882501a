-- One row for each customer, the sum of that customer's entries: one lock orders all that moves the
-- customer's money, and no statement can take a balance below zero.
create table customer_balance (
  account_id text primary key references account,
  available bigint not null default 0 check (available >= 0),
  held bigint not null default 0 check (held >= 0),
  -- Below zero is what the customer owes.
  owed bigint not null default 0 check (owed <= 0)
);

create table ledger_transaction (
  id text primary key,
  kind text not null,
  account_id text not null references account,
  -- What it was for. Given once, so that one cause has one effect.
  reference text unique,
  description text not null,
  available_change bigint not null,
  held_change bigint not null,
  available_after bigint not null,
  created_at timestamptz not null
);
create index ledger_transaction_account on ledger_transaction (account_id, id desc);

create table ledger_entry (
  transaction_id text not null references ledger_transaction,
  line smallint not null,
  ledger_account text not null,
  -- micro-USD
  amount bigint not null check (amount <> 0),
  primary key (transaction_id, line)
);

create table hold (
  id text primary key,
  account_id text not null references account,
  amount bigint not null check (amount > 0),
  state text not null default 'pending' check (state in ('pending', 'posted', 'voided')),
  purpose text not null unique,
  reason text,
  created_at timestamptz not null,
  ended_at timestamptz
);
create index hold_pending on hold (account_id) where state = 'pending';

-- Append only: a correction is a new posting.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append only', tg_table_name;
end $$;
create trigger append_only before update or delete on ledger_transaction
  for each statement execute function refuse_change();
create trigger append_only before update or delete on ledger_entry
  for each statement execute function refuse_change();
