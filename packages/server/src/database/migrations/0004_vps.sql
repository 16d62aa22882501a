create table vps_order (
  id text primary key,
  account_id text not null references account,
  status text not null check (status in ('awaiting_payment', 'provisioning', 'active', 'failed', 'cancelled', 'expired')),
  product text not null,
  os_id integer not null,
  hostname text not null,
  ssh_key text,
  -- Known from the start, so that the default host name is; the service exists once the order is paid.
  service_id text not null unique,
  price bigint not null check (price > 0),
  price_hourly bigint not null check (price_hourly > 0),
  invoice_id text,
  hold_id text references hold,
  failure_reason text,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index vps_order_account on vps_order (account_id, id desc);
create index vps_order_awaiting on vps_order (account_id) where status = 'awaiting_payment';

create table vps (
  id text primary key,
  account_id text not null references account,
  order_id text not null unique references vps_order,
  product text not null,
  os_id integer not null,
  os_name text not null,
  image text not null,
  region text not null,
  hostname text not null,
  vcpus integer not null,
  memory_mb integer not null,
  disk_gb integer not null,
  ssh_key text,
  ssh_host text not null,
  ssh_port integer not null,
  ssh_host_public_key text not null,
  -- Sealed with the server key: the private host key; and the root password until it was shown.
  ssh_host_private_key bytea not null,
  root_password bytea,
  root_password_hash text not null,

  -- What is wanted. A reboot is a wish for one more boot than were done.
  wanted text not null check (wanted in ('running', 'stopped', 'deleted')),
  wanted_boot integer not null default 0,
  -- How the machine gets there: asked first, or at once.
  forced boolean not null default false,

  -- What was observed.
  status text not null check (status in ('provisioning', 'active', 'stopped', 'rebooting', 'suspended', 'failed', 'deleted')),
  done_boot integer not null default 0,
  ssh_ready boolean not null default false,
  failure_reason text,
  -- Of provisioning, that failed and may be tried again.
  attempts integer not null default 0,
  observation jsonb,
  provisioning_since timestamptz not null,

  price bigint not null,
  price_hourly bigint not null,
  period_from timestamptz,
  paid_until timestamptz,
  cancel_at_period_end boolean not null default false,
  created_at timestamptz not null,
  -- Until then a machine may exist: it holds its port and its share of the capacity.
  machine_gone_at timestamptz
);
create index vps_account on vps (account_id, id desc);
create index vps_machine on vps (id) where machine_gone_at is null;
create unique index vps_ssh_port on vps (ssh_port) where machine_gone_at is null;
