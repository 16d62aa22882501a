-- Charges above these amounts need a person's approval, for a token and all below it. micro-USD; null is no limit.
alter table token_budget
  add column approve_per_call bigint check (approve_per_call >= 0),
  add column approve_per_day bigint check (approve_per_day >= 0);

-- What a token and all below it were charged, or hold, on one day in UTC without a person's approval.
alter table token_spending
  add column unapproved bigint not null default 0,
  add column unapproved_day date;

-- The approval that allowed a hold. What was held without one is given back to the day when the hold is released.
alter table hold add column approval_id text;
-- What is left of the amount that a person approved for the running of a sandbox, in micro-USD.
alter table sandbox add column approved bigint not null default 0 check (approved >= 0);

-- A charge that a person is asked to approve: for one call of one token, up to a price, once.
create table approval (
  id text primary key,
  account_id text not null references account,
  token_id text not null references token on delete cascade,
  operation text not null,
  -- SHA-256 of the operation and its input.
  digest bytea not null,
  -- micro-USD
  price bigint not null check (price > 0),
  -- What the charge is for, for people.
  subject text not null,
  -- What is charged again and again afterwards, in micro-USD; null: nothing.
  afterwards_price bigint check (afterwards_price > 0),
  afterwards_per text check (afterwards_per in ('month', 'hour')),
  -- The limit that the charge is above, whose it is, and what was used of it.
  holder_id text not null,
  limit_kind text not null check (limit_kind in ('per_call', 'per_day')),
  limit_amount bigint not null,
  limit_used bigint not null,
  status text not null default 'pending' check (status in ('pending', 'approved', 'denied', 'spent', 'replaced')),
  -- When the person who decided had proven to be the owner, for this approval.
  proven_at timestamptz,
  created_at timestamptz not null,
  -- Until when it can be decided; once it is approved, until when it can be spent.
  expires_at timestamptz not null,
  decided_at timestamptz,
  spent_at timestamptz,
  mailed boolean not null default false,
  check ((afterwards_price is null) = (afterwards_per is null)),
  check ((proven_at is null) = (decided_at is null))
);
create index approval_account on approval (account_id, id desc);
create index approval_token on approval (token_id, operation, digest) where status in ('pending', 'approved', 'denied');
create index approval_age on approval (created_at);
