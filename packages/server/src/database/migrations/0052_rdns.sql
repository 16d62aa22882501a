-- What the DNS is to call an address that a machine has, or had.
create table vps_rdns (
  address text primary key,
  vps_id text not null references vps,
  -- Null: nothing. Then the row goes, once that is published.
  hostname text,
  -- How often something was wanted, and how many of those the DNS has.
  wanted integer not null default 1,
  done integer not null default 0,
  attempts integer not null default 0,
  due_at timestamptz not null,
  failure text
);
create index vps_rdns_vps on vps_rdns (vps_id);
create index vps_rdns_due on vps_rdns (due_at) where done < wanted;
