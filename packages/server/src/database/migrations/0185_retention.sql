-- An answer that is too large to be kept: its key stays taken.
alter table idempotent_answer alter column answer drop not null;

-- An address outlives its invoice: it is watched for ever, and what arrives there late is credited.
alter table deposit_address drop constraint deposit_address_invoice_id_fkey;

-- What ended is found by when it ended.
create index invoice_ended on invoice (expires_at) where status in ('expired', 'cancelled');
create index vps_order_ended on vps_order (expires_at) where status in ('expired', 'cancelled');
create index webhook_deleted on webhook (deleted_at) where deleted_at is not null;
create index token_ended on token (least(expires_at, revoked_at));

-- Everything that refers to a row is looked through when the row goes.
create index token_parent on token (parent_id);
create index retired_token_token on retired_token (token_id);
create index console_link_token on console_link (token_id);
create index vps_order_token on vps_order (token_id);
create index vps_renewer on vps (renewer_id);
create index vps_order_invoice on vps_order (invoice_id);
create index x402_payment_invoice on x402_payment (invoice_id);
