-- What all services of this database have in common, in one row: whoever has other secrets or another data folder would
-- make other deposit addresses, read nothing that is sealed, and make every machine once more.
create table installation (
  is_only boolean primary key default true check (is_only),
  profile text not null,
  data_folder text not null,
  -- Hashes
  server_secret bytea not null,
  deposit_secret bytea not null
);
