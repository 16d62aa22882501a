-- What happened, for whom it happened: written in the transaction of what happened, never changed but for its number.
create table event (
  -- The order in which they were written, which is not the order in which they were committed.
  seq bigint generated always as identity primary key,
  id text not null unique,
  account_id text not null references account,
  -- 1, 2, 3, ... within the account, given after the commit (events/number-events.ts); null until then.
  position bigint,
  type text not null,
  data jsonb not null,
  created_at timestamptz not null
);
create unique index event_position on event (account_id, position);
create index event_unnumbered on event (seq) where position is null;
create index event_age on event (created_at);

-- The last number that was given, which outlives the events.
create table event_counter (
  account_id text primary key references account,
  last bigint not null
);
