alter table vps
  -- Whether it is to run its rescue system, and whether it was last started with that.
  add column rescue boolean not null default false,
  add column done_rescue boolean not null default false;
