-- While something is owed: since when. Kept by the statement that posts.
alter table customer_balance add column owed_since timestamptz;
update customer_balance set owed_since = now() where owed < 0;
create index customer_balance_owing on customer_balance (owed_since) where owed_since is not null;
