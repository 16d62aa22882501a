-- The token by which a VPS renews itself: it, and all above it, have to allow that when it does.
alter table vps add column renewer_id text;
update vps set renewer_id = token_id from vps_order where vps_order.id = order_id;
