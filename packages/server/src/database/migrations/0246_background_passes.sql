-- What the last pass of each loop in the background did, whichever process made it: written now and then, for the operator.
create table background_pass (
  name text primary key,
  ended_at timestamptz not null,
  took_ms integer not null,
  -- In the last pass; done and failed since the row before was written.
  seen bigint not null,
  done bigint not null,
  failed bigint not null,
  -- Why the whole pass failed; null when it did not.
  error text,
  failed_at timestamptz
);
