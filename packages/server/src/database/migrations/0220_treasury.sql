-- Backups that were begun. One that was restored proves that its file is whole and that its private key is at hand.
create table backup (
  -- Of a secret that stands in the file only.
  proof_hash bytea primary key,
  made_at timestamptz not null,
  -- Public key of age.
  recipient text not null,
  restored_at timestamptz
);

-- Transfers from deposit addresses to the treasury, in final blocks.
create table treasury_flush (
  chain_id integer not null,
  tx_hash text not null,
  token_address text not null,
  address text not null references deposit_address (address),
  -- micro-USD
  amount bigint not null check (amount > 0),
  -- Which it is, from 0, of the equal transfers of its transaction.
  ordinal integer not null,
  block_number bigint not null,
  primary key (chain_id, tx_hash, token_address, address, amount, ordinal)
);
create index treasury_flush_address on treasury_flush (address);

-- The blocks whose transfers to the treasury were read, both included.
create table treasury_cursor (
  chain_id integer primary key,
  from_number bigint not null,
  to_number bigint not null
);
