-- The processes of the service that run, by the clock of this database: whoever was not seen for a while is gone.
create table replica (
  id text primary key,
  -- Where the other replicas reach it, as host:port.
  address text not null,
  version text not null,
  -- It tends the machines of the data folder, and has the sandboxes.
  tends_local boolean not null default false,
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp()
);
