-- The ledger belongs to a role of its own, and nobody else may write it: the service posts through two functions, which
-- refuse what does not balance. The service may take that role (`set role coinrack_ledger`) to change the schema.
grant usage, create on schema public to coinrack_ledger;
grant references on account to coinrack_ledger;

-- Locking a row takes the right to update some column of it: this one cannot be changed.
alter table customer_balance add column for_locks boolean generated always as (true) stored;

alter table customer_balance owner to coinrack_ledger;
alter table ledger_transaction owner to coinrack_ledger;
alter table ledger_entry owner to coinrack_ledger;
set local role coinrack_ledger;

do $$ begin
  execute format('grant select on customer_balance, ledger_transaction, ledger_entry to %I', session_user);
  execute format('grant insert (account_id), update (for_locks) on customer_balance to %I', session_user);
end $$;

-- Both say with a setting of the transaction that what is written now is theirs, and was looked at before.

-- Writes one transaction. Answers the spendable balance after it, or null when the customer's money does not cover it;
-- then nothing is written.
create function ledger_post(
  of_id text, of_kind text, of_account text, of_reference text, of_description text, of_at timestamptz,
  to_accounts text[], amounts bigint[]
) returns bigint language plpgsql security definer
set search_path = public, pg_temp as $$
declare
  total numeric := 0;
  of_available bigint := 0;
  of_held bigint := 0;
  of_owed bigint := 0;
  after bigint;
begin
  for line in 1 .. coalesce(cardinality(to_accounts), 0) loop
    total := total + amounts[line];
    case to_accounts[line]
      when 'customer.available' then of_available := of_available + amounts[line];
      when 'customer.held' then of_held := of_held + amounts[line];
      when 'customer.owed' then of_owed := of_owed + amounts[line];
      else null;
    end case;
  end loop;
  if total is distinct from 0 or cardinality(to_accounts) is distinct from cardinality(amounts) or cardinality(amounts) < 2 then
    raise exception 'Transaction % does not balance', of_id using errcode = 'check_violation';
  end if;

  perform set_config('coinrack.posting', 'on', true);
  update customer_balance
  set available = available + of_available, held = held + of_held, owed = owed + of_owed,
    owed_since = case when owed + of_owed < 0 then coalesce(owed_since, of_at) end
  where account_id = of_account and available + of_available >= 0 and held + of_held >= 0 and owed + of_owed <= 0
  returning available into after;
  if found then
    insert into ledger_transaction
      (id, kind, account_id, reference, description, created_at, available_change, held_change, available_after)
    values (of_id, of_kind, of_account, of_reference, of_description, of_at, of_available, of_held, after);
    insert into ledger_entry (transaction_id, line, ledger_account, amount)
    select of_id, line, account, amount
    from unnest(to_accounts, amounts) with ordinality as entry (account, amount, line);
  end if;
  perform set_config('coinrack.posting', 'off', true);
  return after;
end $$;

-- Writes transactions of different customers, all of the same moment. Answers those that their customers' money covers,
-- and writes no others. The entries of each are named by its identifier.
create function ledger_post_all(
  ids text[], kinds text[], accounts text[], "references" text[], descriptions text[], of_at timestamptz,
  entry_ids text[], lines smallint[], to_accounts text[], amounts bigint[]
) returns setof text language plpgsql security definer
set search_path = public, pg_temp as $$
declare
  unbalanced text;
begin
  select id into unbalanced
  from unnest(ids) id left join unnest(entry_ids, amounts) as entry (entry_id, amount) on entry_id = id
  group by id having sum(amount) is distinct from 0 or count(amount) < 2 limit 1;
  if found then
    raise exception 'Transaction % does not balance', unbalanced using errcode = 'check_violation';
  end if;

  perform set_config('coinrack.posting', 'on', true);
  return query
  with entry as materialized (
    select * from unnest(entry_ids, lines, to_accounts, amounts) as entry (transaction_id, line, account, amount)
  ), change as (
    select new.*,
      coalesce(sum(amount) filter (where account = 'customer.available'), 0)::bigint as available,
      coalesce(sum(amount) filter (where account = 'customer.held'), 0)::bigint as held,
      coalesce(sum(amount) filter (where account = 'customer.owed'), 0)::bigint as owed
    from unnest(ids, kinds, accounts, "references", descriptions) as new (id, kind, account_id, reference, description)
    join entry on transaction_id = id
    group by new.id, new.kind, new.account_id, new.reference, new.description
  ), customer as (
    update customer_balance balance
    set available = balance.available + change.available, held = balance.held + change.held,
      owed = balance.owed + change.owed,
      owed_since = case when balance.owed + change.owed < 0 then coalesce(balance.owed_since, of_at) end
    from change
    where balance.account_id = change.account_id and balance.available + change.available >= 0
      and balance.held + change.held >= 0 and balance.owed + change.owed <= 0
    returning change.*, balance.available as available_after
  ), recorded as (
    insert into ledger_transaction
      (id, kind, account_id, reference, description, created_at, available_change, held_change, available_after)
    select id, kind, account_id, reference, description, of_at, available, held, available_after from customer
    returning ledger_transaction.id
  ), written as (
    insert into ledger_entry (transaction_id, line, ledger_account, amount)
    select entry.transaction_id, entry.line, entry.account, entry.amount
    from recorded join entry on entry.transaction_id = recorded.id
  )
  select recorded.id from recorded;
  perform set_config('coinrack.posting', 'off', true);
end $$;

revoke execute on function ledger_post, ledger_post_all from public;
do $$ begin
  execute format('grant execute on function ledger_post, ledger_post_all to %I', session_user);
end $$;

-- Whoever writes the ledger by hand, its owner and administrators of the database included, is held to the same at the
-- end of the transaction.
create function demand_posting(of_id text) returns void language plpgsql as $$
begin
  if not exists (
    select from ledger_transaction posted join ledger_entry on transaction_id = id
    where id = of_id
    group by id
    having count(*) > 1 and sum(amount) = 0
      and available_change = coalesce(sum(amount) filter (where ledger_account = 'customer.available'), 0)
      and held_change = coalesce(sum(amount) filter (where ledger_account = 'customer.held'), 0)
  ) then
    raise exception 'Transaction % does not balance', of_id using errcode = 'check_violation';
  end if;
end $$;

create function demand_balance(of_account text) returns void language plpgsql as $$
begin
  if exists (
    select from (
      select coalesce(sum(amount) filter (where ledger_account = 'customer.available'), 0) as available,
        coalesce(sum(amount) filter (where ledger_account = 'customer.held'), 0) as held,
        coalesce(sum(amount) filter (where ledger_account = 'customer.owed'), 0) as owed
      from ledger_transaction join ledger_entry on transaction_id = id
      where account_id = of_account
    ) entries
    left join customer_balance balance on balance.account_id = of_account
    where (coalesce(balance.available, 0), coalesce(balance.held, 0), coalesce(balance.owed, 0))
      <> (entries.available, entries.held, entries.owed)
  ) then
    raise exception 'The balance of % is not the sum of its entries', of_account using errcode = 'check_violation';
  end if;
end $$;

create function check_transaction() returns trigger language plpgsql as $$
begin
  perform demand_posting(new.id), demand_balance(new.account_id);
  return null;
end $$;
create constraint trigger balanced after insert on ledger_transaction deferrable initially deferred
  for each row when (current_setting('coinrack.posting', true) is distinct from 'on')
  execute function check_transaction();

create function check_entry() returns trigger language plpgsql as $$
begin
  perform demand_posting(new.transaction_id), demand_balance(account_id)
  from ledger_transaction where id = new.transaction_id;
  return null;
end $$;
create constraint trigger balanced after insert on ledger_entry deferrable initially deferred
  for each row when (current_setting('coinrack.posting', true) is distinct from 'on')
  execute function check_entry();

create function check_balance() returns trigger language plpgsql as $$
begin
  perform demand_balance(account_id) from (values (old.account_id), (new.account_id)) of (account_id)
  where account_id is not null;
  return null;
end $$;
create constraint trigger balanced after insert or update or delete on customer_balance deferrable initially deferred
  for each row when (current_setting('coinrack.posting', true) is distinct from 'on')
  execute function check_balance();

reset role;
