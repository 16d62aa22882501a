-- What the owner hands to cloud-init, sealed: with an order until that is paid, then with the VPS until its machine has it.
alter table vps_order add column user_data bytea;
alter table vps add column user_data bytea;
