-- Accounts of wallets, which have no e-mail address until one is proven by a code.
alter table account alter column email drop not null;

create table wallet (
  account_id text primary key references account,
  -- Lower-case.
  address text not null,
  -- Null: of a key, which is the same on every chain. A contract is another one's on another chain.
  chain_id integer,
  created_at timestamptz not null
);
create unique index wallet_key on wallet (address, chain_id) nulls not distinct;

-- Messages that a wallet has logged in with, each good once, until they would have ended.
create table used_wallet_message (
  nonce_hash bytea primary key,
  expires_at timestamptz not null
);
create index used_wallet_message_end on used_wallet_message (expires_at);
