alter table login_code
  -- The address that asked for it, as limits count it. Tries from there are counted apart from those of strangers.
  add column client text,
  add column own_tries integer not null default 0,
  -- Of twelve characters instead of six digits: it cannot be guessed, and is not burned by tries of strangers.
  add column is_long boolean not null default false;

-- Addresses from which somebody has logged in to an account before.
create table known_client (
  account_id text not null references account,
  -- HMAC-SHA256 of the address, as limits count it.
  client bytea not null,
  at timestamptz not null,
  primary key (account_id, client)
);
create index known_client_age on known_client (at);
