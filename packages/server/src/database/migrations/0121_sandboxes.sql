create table sandbox (
  id text primary key,
  account_id text not null references account,
  -- Who made it, and all above that: whose budgets it is counted for.
  counted_for text[] not null,
  tariff text not null,
  template text not null,
  mode text not null check (mode in ('ephemeral', 'persistent')),
  vcpus double precision not null,
  memory_mb integer not null,
  disk_gb integer not null,
  -- Sealed.
  env bytea not null,
  metadata jsonb not null,
  network jsonb not null,
  wanted_network integer not null default 0,
  done_network integer not null default 0,
  parent_id text references sandbox,
  timeout_s integer not null,
  -- 0: never.
  idle_s integer not null,
  wanted text not null default 'running' check (wanted in ('running', 'paused', 'ended')),
  state text not null default 'starting' check (state in ('starting', 'running', 'paused', 'ended', 'failed')),
  -- Why it is to be paused or ended, or was.
  reason text,
  -- What its owner is told that could not be done.
  failure text,
  attempts integer not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  idle_at timestamptz,
  ended_at timestamptz,
  -- Nothing of it is left on the host.
  gone_at timestamptz,
  -- The meter. It is changed, and so is the state, while the balance of the account is locked.
  -- micro-USD
  price_hourly bigint not null check (price_hourly > 0),
  -- Seen of the runtime, and when.
  ran_ms bigint not null default 0,
  seen_at timestamptz not null,
  charged bigint not null default 0,
  -- What ran while no money was there, as when the service was down: nobody is charged for it later.
  waived bigint not null default 0,
  held bigint not null default 0 check (held >= 0),
  -- When the money ends, or a budget, or what is owed ends it; null: not within what is held.
  ends_at timestamptz,
  ends_for text check (ends_for in ('balance', 'budget', 'owed'))
  -- Settled twice a minute: no index has what that changes, so that the new row stays on its page.
) with (fillfactor = 60);
create index sandbox_account on sandbox (account_id, id desc);
create index sandbox_metered on sandbox (account_id) where state in ('starting', 'running') or wanted = 'running';
create index sandbox_in_work on sandbox (id)
  where gone_at is null and (wanted <> state or state = 'ended' or done_network < wanted_network);
create index sandbox_due on sandbox (least(expires_at, idle_at)) where state in ('running', 'paused') and wanted = state;
create index sandbox_ends on sandbox (ends_at) where ends_at is not null;
create index customer_owing on customer_balance (account_id) where owed < 0;

create table sandbox_snapshot (
  id text primary key,
  account_id text not null references account,
  sandbox_id text not null references sandbox,
  name text not null,
  tariff text not null,
  status text not null default 'creating' check (status in ('creating', 'ready', 'failed', 'deleting', 'deleted')),
  attempts integer not null default 0,
  bytes bigint,
  created_at timestamptz not null
);
create index sandbox_snapshot_account on sandbox_snapshot (account_id, id desc) where status <> 'deleted';
create index sandbox_snapshot_in_work on sandbox_snapshot (id) where status in ('creating', 'deleting');

create table sandbox_port (
  sandbox_id text not null references sandbox,
  port integer not null check (port between 1 and 65535),
  access text not null check (access in ('public', 'token')),
  -- Its token is derived from this.
  nonce bytea not null,
  created_at timestamptz not null,
  primary key (sandbox_id, port)
);
