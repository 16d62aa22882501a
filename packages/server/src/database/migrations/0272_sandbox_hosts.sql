-- The authority that signs the certificates of sandbox hosts: one for the installation, made when it is needed first.
create table host_authority (
  id smallint primary key default 1 check (id = 1),
  certificate text not null,
  sealed_key bytea not null
);

-- The tokens by which machines may join, of which only the hash is kept.
create table host_invitation (
  host_id text primary key,
  secret_hash bytea not null,
  expires_at timestamptz not null,
  -- The hash of the key that joined by it: a token is good for one machine.
  used_for bytea
);

-- The certificates that a sandbox host may use. Those from before the one that it used last are gone, and all of them when it
-- is forgotten.
create table host_certificate (
  serial text primary key,
  host_id text not null references host,
  issued_at timestamptz not null,
  expires_at timestamptz not null
);
create index host_certificate_host on host_certificate (host_id);
