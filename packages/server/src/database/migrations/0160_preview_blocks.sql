-- Ports of sandboxes that the operator took off: nobody reaches them, and they cannot be exposed again.
create table preview_block (
  sandbox_id text not null references sandbox,
  port integer not null check (port between 1 and 65535),
  reason text not null,
  blocked_at timestamptz not null,
  primary key (sandbox_id, port)
);
