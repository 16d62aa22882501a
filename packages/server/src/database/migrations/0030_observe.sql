-- What machines used, step by step, at resolutions that fall with age (vps/meter/levels.ts). A part holds half of what a
-- resolution keeps and is emptied as a whole; so rows are never deleted one by one.
create table vps_metric (
  part smallint not null,
  vps_id text not null,
  -- Unix seconds at which the step begins.
  at bigint not null,
  -- How many observations it was made from.
  samples integer not null,
  memory_mb integer not null,
  -- Over so many milliseconds the machine used what follows; null where there was nothing to compare with.
  covered_ms bigint,
  cpu_ms bigint,
  disk_read_bytes bigint,
  disk_write_bytes bigint,
  rx_bytes bigint,
  tx_bytes bigint,
  -- Of the finest resolution: the counters themselves, so that the next process goes on from them.
  counters jsonb,
  primary key (part, vps_id, at)
) partition by list (part);
create index vps_metric_at on vps_metric using brin (at) with (pages_per_range = 32);
do $$
begin
  for part in 0..15 loop
    execute format('create table vps_metric_%s partition of vps_metric for values in (%s)', part, part);
  end loop;
end $$;

create table console_link (
  secret_hash bytea primary key,
  vps_id text not null references vps,
  type text not null check (type in ('serial', 'vnc')),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index console_link_expiry on console_link (expires_at);

create table vps_snapshot (
  id text primary key,
  vps_id text not null references vps,
  name text not null,
  -- Taken by the service before something that cannot be taken back: it does not count against the plan.
  automatic boolean not null,
  include_memory boolean not null,
  -- What is in work, or what came of it; see vps/snapshot/snapshot-state.ts.
  status text not null check (status in ('creating', 'ready', 'restoring', 'damaged', 'failed', 'deleting', 'deleted')),
  consistency text check (consistency in ('memory', 'guest', 'crash', 'off')),
  failure_reason text,
  attempts integer not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz
);
create index vps_snapshot_vps on vps_snapshot (vps_id, id desc) where status <> 'deleted';
-- One at a time for each machine.
create unique index vps_snapshot_one on vps_snapshot (vps_id) where status in ('creating', 'restoring', 'deleting');
create index vps_snapshot_expiry on vps_snapshot (expires_at) where status in ('ready', 'damaged', 'failed');
