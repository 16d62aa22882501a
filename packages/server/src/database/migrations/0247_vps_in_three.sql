-- A VPS is three rows, each with one writer: whose it is, its machine, and what is paid for it. `vps` is what they are together.
drop index vps_account, vps_machine, vps_ssh_port, vps_ipv4, vps_billing, vps_host, vps_renewer;
alter table vps rename to vps_identity;

-- What is wanted of the machine, what was observed of it, and how it is reached.
create table vps_machine (
  id text primary key references vps_identity,
  host_id text not null references host,
  -- Hosts on which it could not be made: it is not tried there again.
  refused_by text[] not null default '{}',
  region text not null,
  os_id integer not null,
  os_name text not null,
  image text not null,
  hostname text not null,
  vcpus integer not null,
  memory_mb integer not null,
  disk_gb integer not null,
  boot text not null default 'auto' check (boot in ('auto', 'cold')),
  ssh_key text,
  ssh_host text not null,
  ssh_port integer not null,
  ipv4 text,
  ipv6 text unique,
  ssh_host_public_key text not null,
  -- Sealed with the server key: the private host key, the root password until it was shown, and the user data until it was handed over.
  ssh_host_private_key bytea not null,
  root_password bytea,
  root_password_hash text not null,
  user_data bytea,

  wanted text not null check (wanted in ('running', 'stopped', 'deleted')),
  -- How the machine gets there: the guest is asked first, or it happens at once.
  forced boolean not null default false,
  -- A reboot, a new disk and a change of the network are each a wish for one more than were done.
  wanted_boot integer not null default 0,
  done_boot integer not null default 0,
  wanted_disk integer not null default 0,
  done_disk integer not null default 0,
  wanted_network integer not null default 0,
  done_network integer not null default 0,
  -- As FirewallPolicy of the driver; null: everything is open.
  firewall jsonb,
  rescue boolean not null default false,
  done_rescue boolean not null default false,
  -- The kept disk that the current one becomes, and the one that is put back.
  set_aside_as text,
  put_back text,
  -- Wishes for the inside that the guest was not told yet. The next password takes the place of the current one once it holds inside;
  -- the hash is the one that the last boot was handed.
  hostname_pending boolean not null default false,
  next_root_password bytea,
  next_root_password_hash text,
  boot_password_hash text,
  wished_at timestamptz,
  wish_failure text,
  check ((next_root_password is null) = (next_root_password_hash is null)),

  status text not null check (status in (
    'provisioning', 'active', 'stopped', 'rebooting', 'reinstalling', 'resizing', 'suspended', 'failed', 'deleted'
  )),
  -- The status before the suspension.
  suspended_from text,
  check (status <> 'suspended' or suspended_from is not null),
  ssh_ready boolean not null default false,
  failure_reason text,
  -- Failed attempts to make the machine.
  attempts integer not null default 0,
  observation jsonb,
  provisioning_since timestamptz not null,
  -- Until then a machine may exist: it holds its port and its share of its host.
  machine_gone_at timestamptz
);

-- What was agreed and paid for.
create table vps_billing (
  id text primary key references vps_identity,
  product text not null,
  price bigint not null,
  price_hourly bigint not null,
  cycle text not null default 'monthly' check (cycle in ('monthly', 'hourly')),
  auto_renew boolean not null default true,
  -- The token by which it renews itself; null: it is older than budgets, or the token is long over.
  renewer_id text,
  -- Months end at the day and time of this one: when it was delivered, or resumed after a suspension.
  anchor_at timestamptz,
  paid_until timestamptz,
  -- Days of the last notice of the renewal at paid_until.
  noticed_days smallint,
  -- When a suspended VPS is deleted.
  delete_at timestamptz,
  cancel_at_period_end boolean not null default false
);

insert into vps_machine
select id, host_id, refused_by, region, os_id, os_name, image, hostname, vcpus, memory_mb, disk_gb, boot, ssh_key, ssh_host, ssh_port,
  ipv4, ipv6, ssh_host_public_key, ssh_host_private_key, root_password, root_password_hash, user_data, wanted, forced, wanted_boot,
  done_boot, wanted_disk, done_disk, wanted_network, done_network, firewall, rescue, done_rescue, set_aside_as, put_back,
  hostname_pending, next_root_password, next_root_password_hash, boot_password_hash, wished_at, wish_failure, status,
  case when status = 'suspended' then coalesce(suspended_from, 'active') end, ssh_ready, failure_reason, attempts, observation,
  provisioning_since, machine_gone_at
from vps_identity;
insert into vps_billing
select id, product, price, price_hourly, cycle, auto_renew, renewer_id, anchor_at, paid_until, noticed_days, delete_at, cancel_at_period_end
from vps_identity;

alter table vps_identity
  drop column product, drop column os_id, drop column os_name, drop column image, drop column region, drop column hostname,
  drop column vcpus, drop column memory_mb, drop column disk_gb, drop column ssh_key, drop column ssh_host, drop column ssh_port,
  drop column ssh_host_public_key, drop column ssh_host_private_key, drop column root_password, drop column root_password_hash,
  drop column wanted, drop column wanted_boot, drop column forced, drop column status, drop column done_boot, drop column ssh_ready,
  drop column failure_reason, drop column attempts, drop column observation, drop column provisioning_since, drop column price,
  drop column price_hourly, drop column paid_until, drop column cancel_at_period_end, drop column machine_gone_at, drop column firewall,
  drop column wanted_network, drop column done_network, drop column boot, drop column hostname_pending, drop column next_root_password,
  drop column next_root_password_hash, drop column boot_password_hash, drop column wished_at, drop column wish_failure,
  drop column wanted_disk, drop column done_disk, drop column set_aside_as, drop column put_back, drop column user_data,
  drop column rescue, drop column done_rescue, drop column ipv4, drop column ipv6, drop column cycle, drop column auto_renew,
  drop column anchor_at, drop column noticed_days, drop column delete_at, drop column suspended_from, drop column renewer_id,
  drop column host_id, drop column refused_by;

create index vps_identity_account on vps_identity (account_id, id desc);
-- Every pass reads the machines that may be there; every bill those that live.
create index vps_machine_there on vps_machine (id) where machine_gone_at is null;
create index vps_machine_live on vps_machine (id) where status not in ('failed', 'deleted');
-- What machines have taken of each host is counted for every order.
create index vps_machine_host on vps_machine (host_id) include (memory_mb, disk_gb) where machine_gone_at is null;
create unique index vps_machine_ssh_port on vps_machine (host_id, ssh_port) where machine_gone_at is null and ipv4 is null;
create unique index vps_machine_ipv4 on vps_machine (ipv4) where machine_gone_at is null;
create index vps_billing_renewer on vps_billing (renewer_id);

create view vps as
select id, account_id, order_id, created_at,
  host_id, refused_by, region, os_id, os_name, image, hostname, vcpus, memory_mb, disk_gb, boot, ssh_key, ssh_host, ssh_port,
  ipv4, ipv6, ssh_host_public_key, ssh_host_private_key, root_password, root_password_hash, user_data, wanted, forced, wanted_boot,
  done_boot, wanted_disk, done_disk, wanted_network, done_network, firewall, rescue, done_rescue, set_aside_as, put_back,
  hostname_pending, next_root_password, next_root_password_hash, boot_password_hash, wished_at, wish_failure, status, suspended_from,
  ssh_ready, failure_reason, attempts, observation, provisioning_since, machine_gone_at,
  product, price, price_hourly, cycle, auto_renew, renewer_id, anchor_at, paid_until, noticed_days, delete_at, cancel_at_period_end
from vps_identity join vps_machine using (id) join vps_billing using (id);
