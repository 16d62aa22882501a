-- What a snapshot is there for: a customer's own are listed; those that templates and layers of builds are made of are not.
alter table sandbox_snapshot add column purpose text not null default 'customer'
  check (purpose in ('customer', 'template', 'layer'));

-- What a sandbox was made from, as its owner named it, where that is not what its host is told.
alter table sandbox add column template_name text;

-- A state, made by a customer, that sandboxes of the account begin in.
create table sandbox_template (
  id text primary key,
  account_id text not null references account,
  name text not null,
  source text not null check (source in ('dockerfile', 'snapshot', 'image')),
  tariff text not null,
  -- What it is built from: the text, the values of its arguments, and the command that says when its program is ready.
  dockerfile text,
  args jsonb not null default '{}',
  ready text,
  network jsonb,
  timeout_s integer not null,
  -- What sandboxes are made from; null until the first build has succeeded.
  snapshot_id text references sandbox_snapshot,
  -- The variables of every program in its sandboxes; sealed.
  env bytea,
  default_user text,
  workdir text,
  built_at timestamptz,
  created_at timestamptz not null,
  deleted_at timestamptz
);
create unique index sandbox_template_name on sandbox_template (account_id, name) where deleted_at is null;
create index sandbox_template_account on sandbox_template (account_id, id desc) where deleted_at is null;
create index sandbox_template_snapshot on sandbox_template (snapshot_id) where deleted_at is null;

-- The files that a Dockerfile may copy: archives as they were sent, each unpacked in a folder of its own.
create table sandbox_template_upload (
  template_id text not null references sandbox_template,
  folder text not null,
  upload text not null unique,
  bytes bigint not null,
  primary key (template_id, folder)
);

-- Their bytes. Those of an upload that was cut short, or replaced, belong to none of the above, and are deleted later.
create table sandbox_template_piece (
  upload text not null,
  number integer not null,
  content bytea not null,
  created_at timestamptz not null,
  primary key (upload, number)
);

create table sandbox_build (
  id text primary key,
  template_id text not null references sandbox_template,
  account_id text not null references account,
  -- Where it is built; the customer's own, and paid as any.
  sandbox_id text not null references sandbox,
  status text not null default 'running' check (status in ('running', 'succeeded', 'failed')),
  -- How many instructions are done, and how many of them were in the cache.
  done integer not null default 0,
  -- How much of the output of the present one is in the log.
  read_stdout bigint not null default 0,
  read_stderr bigint not null default 0,
  -- Counts beginnings of an instruction that cannot be gone on with.
  tries integer not null default 0,
  -- Without the cache.
  fresh boolean not null default false,
  -- The snapshot that becomes the template's.
  snapshot_id text references sandbox_snapshot,
  error text,
  log_bytes bigint not null default 0,
  created_at timestamptz not null,
  ended_at timestamptz
);
create unique index sandbox_build_running on sandbox_build (template_id) where status = 'running';
create index sandbox_build_of_template on sandbox_build (template_id, id desc);
create index sandbox_build_in_work on sandbox_build (id) where status = 'running';

create table sandbox_build_log (
  build_id text not null references sandbox_build,
  number integer not null,
  at timestamptz not null,
  stream text not null check (stream in ('step', 'stdout', 'stderr')),
  text text not null,
  primary key (build_id, number)
);

-- The state of a sandbox after an instruction, by the digest of all that it is the result of.
create table sandbox_layer (
  account_id text not null references account,
  digest text not null,
  snapshot_id text not null unique references sandbox_snapshot,
  used_at timestamptz not null,
  primary key (account_id, digest)
);
