-- Transfers that customers signed (EIP-3009) and the service sends: the wish is written down, signed, before it is sent.
create table x402_payment (
  chain_id integer not null,
  -- Lower-case, as all addresses and hashes here.
  token_address text not null,
  payer text not null,
  -- Of the authorization: the token takes each once.
  nonce text not null,
  account_id text not null references account,
  -- Of the account: where the money goes.
  address text not null references deposit_address (address),
  -- micro-USD, which is also the token's smallest unit
  amount bigint not null check (amount > 0),
  invoice_id text not null references invoice,
  -- Made for this payment, so that it goes when nothing was paid.
  own_invoice boolean not null,
  -- `sent` is all that is known until the chain shows what came of it.
  status text not null default 'sent' check (status in ('sent', 'settled', 'failed')),
  -- The transaction that used the authorization, as far as is known: ours, until another was faster.
  tx_hash text not null,
  -- Ours, signed by this wallet with this number, to be sent again until the chain has it.
  raw_tx text not null,
  wallet text not null,
  wallet_nonce bigint not null,
  created_at timestamptz not null,
  primary key (chain_id, token_address, payer, nonce)
);
create index x402_payment_open on x402_payment (chain_id, created_at) where status = 'sent';
create index x402_payment_wallet on x402_payment (chain_id, wallet, wallet_nonce);
