-- Whether visitors reach every port of a sandbox, beside those that are exposed one by one, and what its token is made from.
alter table sandbox
  add column open_ports text check (open_ports in ('public', 'token')),
  add column open_ports_nonce bytea check (num_nulls(open_ports_nonce) <= num_nulls(open_ports));
