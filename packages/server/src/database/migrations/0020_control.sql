-- A VPS can be reinstalled and grown.
alter table vps drop constraint vps_status_check;
alter table vps add constraint vps_status_check check (status in (
  'provisioning', 'active', 'stopped', 'rebooting', 'reinstalling', 'resizing', 'suspended', 'failed', 'deleted'
));

alter table vps
  -- A wish for the inside that the machine was not told yet.
  add column hostname_pending boolean not null default false,
  -- The root password to be, sealed, and its hash. It takes the place of the present one once it holds inside.
  add column next_root_password bytea,
  add column next_root_password_hash text,
  -- The hash that the last boot was handed.
  add column boot_password_hash text,
  -- When something of these was last wished, and why it could not be done yet.
  add column wished_at timestamptz,
  add column wish_failure text,
  -- A reinstall is a wish for one more disk than were made.
  add column wanted_disk integer not null default 0,
  add column done_disk integer not null default 0,
  -- After a change of plan: what was paid for this period in all, what of it was used before, and until when.
  add column period_paid bigint,
  add column period_used bigint not null default 0,
  add column rated_from timestamptz,
  add check ((next_root_password is null) = (next_root_password_hash is null));

-- What was asked of a VPS and goes on after the answer.
create table vps_operation (
  id text primary key,
  account_id text not null references account,
  service_id text not null references vps,
  kind text not null,
  status text not null check (status in ('running', 'succeeded', 'failed')),
  progress text not null,
  error text,
  created_at timestamptz not null,
  ended_at timestamptz,
  check ((status = 'running') = (ended_at is null))
);
-- Asked for a second time before it is done, it is the same.
create unique index vps_operation_running on vps_operation (service_id, kind) where status = 'running';
