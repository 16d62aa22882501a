alter table invoice
  -- The VPS that it renews, and for how many months.
  add column service_id text,
  add column months integer check (months > 0),
  drop constraint invoice_kind_check,
  drop constraint invoice_check,
  add check (kind in ('topup', 'order', 'renewal')),
  add check ((kind = 'order') = (order_id is not null)),
  add check ((kind = 'renewal') = (service_id is not null and months is not null));
create unique index invoice_unpaid_renewal on invoice (service_id) where status = 'unpaid';
