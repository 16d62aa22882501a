create table account (
  id text primary key,
  -- Lower-case, domain in its ASCII form: what two spellings of one mailbox have in common.
  email text not null unique,
  first_name text,
  last_name text,
  password_hash text,
  email_verified_at timestamptz,
  suspended_at timestamptz,
  created_at timestamptz not null
);

create table token (
  id text primary key,
  account_id text not null references account,
  -- SHA-256 of the token text; the text itself is stored nowhere.
  hash bytea not null unique,
  scopes text[] not null,
  -- When a password, a code or a registration was last proven for it.
  authenticated_at timestamptz not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index token_account on token (account_id);

create table login_code (
  id bigint generated always as identity primary key,
  email text not null,
  hash bytea not null,
  tries integer not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index login_code_email on login_code (email, created_at);

-- Wrong passwords and wrong codes, counted by what they were tried on.
create table failed_login (
  subject text not null,
  at timestamptz not null
);
create index failed_login_subject on failed_login (subject, at);

-- Token buckets that are exact over all replicas. Losing them in a crash only forgives a caller.
create unlogged table rate_bucket (
  subject text primary key,
  tokens double precision not null,
  updated_at timestamptz not null
);

create table idempotent_answer (
  account_id text not null references account,
  -- SHA-256 of the presented key; the answer is sealed with a key derived from the presented one.
  key_hash bytea not null,
  input_hash bytea not null,
  answer bytea not null,
  created_at timestamptz not null,
  primary key (account_id, key_hash)
);
create index idempotent_answer_age on idempotent_answer (created_at);

create table review (
  id text primary key,
  account_id text not null unique references account,
  author text not null,
  rating smallint not null check (rating between 1 and 5),
  title text,
  body text not null,
  status text not null default 'pending' check (status in ('pending', 'approved', 'rejected')),
  created_at timestamptz not null,
  decided_at timestamptz
);
create index review_status on review (status, created_at);
