-- Where all who buy without an account pay to: what arrives there belongs to the account of the wallet that it comes from.
alter table deposit_address alter column account_id drop not null;
alter table deposit_address add constraint deposit_address_of_wallets check (account_id is not null or counter = 0);

-- What a payment by signature was presented for: written down with the payment, before that is sent.
create table x402_purchase (
  chain_id integer not null,
  token_address text not null,
  payer text not null,
  nonce text not null,
  account_id text not null references account,
  -- Of the whole request: the same payment is good for no other.
  digest bytea not null,
  -- Of secrets that were sent along and that no chain shows: the quote, and the Idempotency-Key.
  quote_hash bytea,
  key_hash bytea,
  -- What was begun with it.
  order_id text,
  sandbox_id text,
  token_id text references token on delete set null,
  -- The text of the token, sealed with the Idempotency-Key.
  token_text bytea,
  created_at timestamptz not null,
  primary key (chain_id, token_address, payer, nonce),
  foreign key (chain_id, token_address, payer, nonce) references x402_payment
);
create index x402_purchase_digest on x402_purchase (account_id, digest);
