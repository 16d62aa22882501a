-- Milliseconds that a sandbox had run before it came to the host that it is on; a host counts from its own start.
alter table sandbox add column ran_before_ms bigint not null default 0;
create index sandbox_host on sandbox (host_id) where gone_at is null;

-- Where a snapshot was taken; null in rows of the version before: where its sandbox is.
alter table sandbox_snapshot add column host_id text references host;
update sandbox_snapshot set host_id = sandbox.host_id from sandbox where sandbox.id = sandbox_snapshot.sandbox_id;
-- Its files with their sizes and sums, as its host said when it was taken: every copy has to be the same.
alter table sandbox_snapshot add column artifact jsonb;

-- The other hosts that have a snapshot, or are being given it.
create table sandbox_snapshot_copy (
  snapshot_id text not null references sandbox_snapshot,
  host_id text not null references host,
  is_whole boolean not null default false,
  primary key (snapshot_id, host_id)
);

-- A copy of a paused sandbox on another host than its own, as a snapshot that no customer sees.
create table sandbox_copy (
  sandbox_id text primary key references sandbox,
  snapshot_id text not null unique,
  host_id text not null references host,
  artifact jsonb,
  is_whole boolean not null default false
);
