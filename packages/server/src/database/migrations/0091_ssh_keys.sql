-- Public keys that orders name by their identifier.
create table ssh_key (
  id text primary key,
  account_id text not null references account,
  name text not null,
  -- A line of authorized_keys without options.
  line text not null,
  -- As ssh-keygen -l writes it.
  fingerprint text not null,
  created_at timestamptz not null,
  unique (account_id, fingerprint)
);
create index ssh_key_account on ssh_key (account_id, id desc);
