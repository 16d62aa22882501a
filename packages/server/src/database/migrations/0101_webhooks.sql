create table webhook (
  id text primary key,
  account_id text not null references account,
  url text not null,
  -- Null: all.
  types text[],
  -- Of the signatures; sealed, and shown once.
  secret bytea not null,
  created_at timestamptz not null,
  -- The receiver said that it is gone (410): nothing is sent any more.
  disabled_at timestamptz,
  deleted_at timestamptz
);
create index webhook_account on webhook (account_id) where deleted_at is null;

-- One event for one webhook, made with the event's number (events/number-events.ts).
create table webhook_delivery (
  id text primary key,
  webhook_id text not null references webhook,
  event_id text not null references event (id) on delete cascade,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'dead')),
  attempts integer not null default 0,
  -- When it is tried next; while it is tried, when whoever tries it is given up.
  next_at timestamptz not null,
  leased boolean not null default false,
  last_error text,
  last_status integer,
  created_at timestamptz not null,
  delivered_at timestamptz,
  unique (webhook_id, event_id)
);
create index webhook_delivery_due on webhook_delivery (next_at) where status = 'pending';
create index webhook_delivery_list on webhook_delivery (webhook_id, id desc);
create index webhook_delivery_event on webhook_delivery (event_id);
