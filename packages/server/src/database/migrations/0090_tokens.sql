-- Tokens make tokens, with fewer rights, less time and less money.
alter table token
  add column name text,
  add column parent_id text references token,
  -- Itself and all above it, the highest first.
  add column lineage text[],
  -- No credential: what stands over the tokens that were made before the mailbox was proven, until its owner confirms them.
  add column is_umbrella boolean not null default false;
update token set lineage = array[id];
alter table token alter column lineage set not null;
alter table token add check (lineage[cardinality(lineage)] = id and (parent_id is null) = (cardinality(lineage) = 1));

-- The text that a token had before it was refreshed: good for some minutes more.
create table retired_token (
  -- SHA-256, as in token.
  hash bytea primary key,
  token_id text not null references token,
  good_until timestamptz not null
);
create index retired_token_age on retired_token (good_until);

-- Caps of a token and of all below it; null is none. Money in micro-USD.
create table token_budget (
  token_id text primary key references token,
  max_per_charge bigint check (max_per_charge >= 0),
  per_day bigint check (per_day >= 0),
  total bigint check (total >= 0),
  max_live_vps bigint check (max_live_vps >= 0),
  max_live_sandboxes bigint check (max_live_sandboxes >= 0),
  allow_auto_renew boolean not null
);

-- What a token and all below it have spent or hold. Changed while the customer's balance is locked.
create table token_spending (
  token_id text primary key references token,
  -- micro-USD, of the token's life and of one day in UTC
  total bigint not null check (total >= 0),
  day date not null,
  today bigint not null check (today >= 0)
);

-- Whose spending it was counted as: given back when the hold is released.
alter table hold add column counted_for text[] not null default '{}';
-- The token that the order is charged to.
alter table vps_order add column token_id text references token;
