-- Where machines run: which there are stands in the settings, and what each says of itself is written down here.
create table host (
  id text primary key,
  kind text not null,
  region text not null,
  -- Of the operator: a draining one gets no new machine.
  state text not null default 'open' check (state in ('open', 'draining')),
  -- What it said last; null until it has said anything.
  vcpus integer,
  memory_mb integer,
  disk_gb integer,
  features text[] not null default '{}',
  images jsonb not null default '[]',
  used_ports integer[] not null default '{}',
  seen_at timestamptz,
  -- Why nothing is placed on it now: it did not answer.
  trouble text
);
insert into host (id, kind, region)
  select 'local', 'qemu', coalesce((select region from vps order by id desc limit 1), '')
  where exists (select from vps) or exists (select from sandbox);

alter table vps add column host_id text not null default 'local' references host;
alter table vps alter column host_id drop default;
alter table sandbox add column host_id text not null default 'local' references host;
alter table sandbox alter column host_id drop default;
-- An order that named a region waits for its payment with it.
alter table vps_order add column region text;

-- The same port of two hosts leads to two machines.
drop index vps_ssh_port;
create unique index vps_ssh_port on vps (host_id, ssh_port) where machine_gone_at is null and ipv4 is null;
alter table vps_port add column host_id text references host;
update vps_port set host_id = vps.host_id from vps where vps.id = vps_port.vps_id;
alter table vps_port alter column host_id set not null;
alter table vps_port drop constraint vps_port_public_port_key;
alter table vps_port add unique (host_id, public_port);

-- What machines have taken of each host is counted for every order.
create index vps_host on vps (host_id) include (memory_mb, disk_gb) where machine_gone_at is null;
-- Hosts on which it could not be made: it is not tried there again.
alter table vps add column refused_by text[] not null default '{}';

-- Machines that a host has and that belong to no VPS there: destroyed when they have been so for long.
create table orphan (
  host_id text not null references host,
  machine_id text not null,
  found_at timestamptz not null,
  primary key (host_id, machine_id)
);
