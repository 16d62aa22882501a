-- The longest that a sandbox can have run at seen_at, by the clock of the service. A host can report less, never more.
alter table sandbox add column run_limit_ms bigint not null default 0;
