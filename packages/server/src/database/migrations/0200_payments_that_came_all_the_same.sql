-- Money by x402 that came although its payment was refused, or although nobody heard the answer.

-- Null: somebody else sent it, and there is no transaction of ours.
alter table x402_payment alter column raw_tx drop not null;
alter table x402_payment alter column wallet drop not null;
alter table x402_payment alter column wallet_nonce drop not null;
-- When its payer was told that it had come: until then another payment of the same top-up is not sent.
alter table x402_payment add column told_at timestamptz;
update x402_payment set told_at = created_at;
-- Of the Idempotency-Key that it came with, if any.
alter table x402_payment add column key_hash bytea;
-- When the authorization ends; null where that was not written down.
alter table x402_payment add column holds_until timestamptz;
create index x402_payment_account on x402_payment (account_id);

-- Payments that were refused while the chain had not taken them. Somebody else may still send one.
create table x402_refusal (
  account_id text not null references account,
  chain_id integer not null,
  token_address text not null,
  payer text not null,
  nonce text not null,
  -- Of the account: where the money would go.
  address text not null,
  -- micro-USD
  amount bigint not null,
  key_hash bytea,
  holds_until timestamptz not null,
  refused_at timestamptz not null,
  primary key (account_id, chain_id, token_address, payer, nonce)
);
