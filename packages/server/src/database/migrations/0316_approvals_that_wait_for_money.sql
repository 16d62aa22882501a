-- The invoice of an order or a renewal that was approved and refused for want of money: the money that pays it may use the
-- approval.
alter table approval add column invoice_id text;
create index approval_invoice on approval (invoice_id) where invoice_id is not null;
