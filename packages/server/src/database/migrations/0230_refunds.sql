-- When a code from the mailbox, or the account's wallet, opened the session of this token; null for other ways in.
alter table token add column proven_at timestamptz;

create table refund (
  id text primary key,
  account_id text not null references account,
  chain_id integer not null,
  token text not null,
  token_address text not null,
  -- Where it goes. Lower-case.
  address text not null,
  -- micro-USD
  amount bigint not null check (amount > 0),
  status text not null default 'requested'
    check (status in ('requested', 'approved', 'sent', 'cancelled', 'rejected')),
  -- Of the address, over all of the above: good for one refund.
  signature text not null unique,
  hold_id text not null references hold,
  cancel_until timestamptz not null,
  -- Why it was rejected.
  reason text,
  -- The transfer that paid it, and which it is, from 0, of the equal ones in its transaction.
  tx_hash text,
  ordinal integer,
  created_at timestamptz not null,
  closed_at timestamptz,
  check ((status = 'sent') = (tx_hash is not null))
);
create index refund_account on refund (account_id, id desc);
create unique index refund_open on refund (account_id) where status in ('requested', 'approved');
-- A transfer pays one refund.
create unique index refund_transfer on refund (chain_id, tx_hash, token_address, address, amount, ordinal);
