create table invoice (
  id text primary key,
  account_id text not null references account,
  kind text not null check (kind in ('topup', 'order')),
  -- The order that it pays for.
  order_id text,
  -- micro-USD
  amount bigint not null check (amount > 0),
  -- `confirming` is not stored: it is unpaid, with a payment seen.
  status text not null default 'unpaid' check (status in ('unpaid', 'paid', 'expired', 'cancelled')),
  -- In the address of its checkout page; it shows this invoice only.
  secret text not null unique,
  -- Offers only this network or token; null offers all.
  network text,
  token text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  paid_at timestamptz,
  check ((kind = 'order') = (order_id is not null))
);
create index invoice_account on invoice (account_id, id desc);
create index invoice_unpaid on invoice (expires_at) where status = 'unpaid';
-- One unpaid top-up at a time, also when twenty are asked for at once.
create unique index invoice_unpaid_topup on invoice (account_id) where kind = 'topup' and status = 'unpaid';
create unique index invoice_unpaid_order on invoice (order_id) where status = 'unpaid';

-- The deposit secret and the counters are enough to find all addresses again.
create sequence deposit_counter;
create table deposit_address (
  counter bigint primary key,
  -- Lower-case.
  address text not null unique,
  account_id text not null references account,
  -- Null: the account's own, for top-ups.
  invoice_id text unique references invoice,
  created_at timestamptz not null
);
create unique index deposit_address_account on deposit_address (account_id) where invoice_id is null;
create index deposit_address_age on deposit_address (created_at);

create table deposit (
  id text primary key,
  chain_id integer not null,
  tx_hash text not null,
  -- Of the log in its block: two transfers in one transaction are two deposits.
  log_index integer not null,
  block_number bigint not null,
  block_hash text not null,
  token text not null,
  token_address text not null,
  address text not null references deposit_address (address),
  account_id text not null references account,
  -- The invoice of the address; for the account's own address the newest top-up when it was seen.
  invoice_id text references invoice,
  -- micro-USD, which is also the token's smallest unit
  amount bigint not null check (amount > 0),
  status text not null default 'seen' check (status in ('seen', 'credited', 'orphaned')),
  -- How often it was credited: more than once after a reorganisation took it away and brought it back.
  credits integer not null default 0,
  -- In a block that the chain no longer changes.
  final boolean not null default false,
  seen_at timestamptz not null,
  credited_at timestamptz,
  unique (chain_id, tx_hash, log_index)
);
create index deposit_account on deposit (account_id);
create index deposit_invoice on deposit (invoice_id);
create index deposit_open on deposit (chain_id, block_number) where not final and status <> 'orphaned';

create table chain_cursor (
  chain_id integer primary key,
  genesis_hash text not null,
  -- All blocks up to this one were looked through.
  scanned_number bigint not null,
  scanned_hash text not null,
  -- The newest blocks when the chain was last looked at.
  head_number bigint not null,
  safe_number bigint not null,
  finalized_number bigint not null
);
