-- Of its own, and of no other machine until this one is gone; null: it shares the host's, by its port.
alter table vps add column ipv4 text;
create unique index vps_ipv4 on vps (ipv4) where machine_gone_at is null;

drop index vps_ssh_port;
create unique index vps_ssh_port on vps (ssh_port) where machine_gone_at is null and ipv4 is null;
