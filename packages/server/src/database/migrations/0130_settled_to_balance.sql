alter table invoice
  drop constraint invoice_status_check,
  add check (status in ('unpaid', 'paid', 'settled_to_balance', 'expired', 'cancelled')),
  -- Why what it is for could not be begun.
  add column closed_reason text,
  add check ((status = 'settled_to_balance') = (closed_reason is not null));

-- Invoices that were covered and could not be begun waited for that: their money is on the balance.
update invoice
set status = 'settled_to_balance', closed_reason = 'It could not be begun when it was paid'
where status = 'unpaid' and kind <> 'topup'
  and amount <= (select sum(amount) from deposit where invoice_id = invoice.id and status = 'credited');

update vps_order
set status = 'failed', failure_reason = invoice.closed_reason, user_data = null
from invoice
where invoice.order_id = vps_order.id and invoice.status = 'settled_to_balance'
  and vps_order.status = 'awaiting_payment';
