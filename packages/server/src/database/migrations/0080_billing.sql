alter table vps_order
  add column billing_cycle text not null default 'monthly' check (billing_cycle in ('monthly', 'hourly')),
  -- Paid in advance with the order.
  add column months integer not null default 1 check (months > 0),
  add column auto_renew boolean not null default true;

alter table vps
  add column cycle text not null default 'monthly' check (cycle in ('monthly', 'hourly')),
  add column auto_renew boolean not null default true,
  -- Months end at the day and time of this one: when it was delivered, or resumed after a suspension.
  add column anchor_at timestamptz,
  -- Days of the last notice of the renewal at paid_until.
  add column noticed_days smallint,
  -- Of a suspended one: when it is deleted, and what it was before.
  add column delete_at timestamptz,
  add column suspended_from text,
  add check (status <> 'suspended' or delete_at is not null);
-- Nobody agreed to a renewal before there were any.
update vps set anchor_at = period_from, auto_renew = false;

-- What was paid, period by period; paid_until of the VPS is the end of the last one.
create table vps_period (
  vps_id text not null references vps,
  starts_at timestamptz not null,
  ends_at timestamptz not null check (ends_at > starts_at),
  -- micro-USD, in all; after a change of plan: what of it was used before, and since when it is used at the new price.
  paid bigint not null check (paid > 0),
  used bigint not null default 0,
  rated_from timestamptz not null,
  primary key (vps_id, starts_at)
);
insert into vps_period
select id, period_from, paid_until, coalesce(period_paid, price), period_used, coalesce(rated_from, period_from)
from vps where period_from is not null;
alter table vps drop column period_from, drop column period_paid, drop column period_used, drop column rated_from;

create index vps_billing on vps (paid_until) where status not in ('provisioning', 'failed', 'deleted');
