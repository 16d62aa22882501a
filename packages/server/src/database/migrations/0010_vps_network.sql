alter table vps
  -- What its owner wants of its firewall, as FirewallPolicy of the driver; null: everything is open.
  add column firewall jsonb,
  -- A change of firewall or ports is a wish for one more application than were done.
  add column wanted_network integer not null default 0,
  add column done_network integer not null default 0;

create table vps_port (
  vps_id text not null references vps,
  protocol text not null check (protocol in ('tcp', 'udp')),
  port integer not null check (port between 1 and 65535),
  -- Of the same range as SSH ports, and of no other machine until this one is gone.
  public_port integer not null unique,
  primary key (vps_id, protocol, port)
);
