-- Mail that follows from a transaction: written in it, sent after it (queue-mail.ts).
create table outgoing_mail (
  id bigint generated always as identity primary key,
  recipient text not null,
  -- Subject and text as JSON; sealed when a secret is in it.
  content bytea not null,
  sealed boolean not null,
  attempts integer not null default 0,
  next_at timestamptz not null,
  created_at timestamptz not null
);
create index outgoing_mail_due on outgoing_mail (next_at);

create table ticket (
  id text primary key,
  account_id text not null references account,
  service_id text references vps,
  subject text not null,
  -- open: it is the operator's turn; answered: the customer's.
  status text not null default 'open' check (status in ('open', 'answered', 'closed')),
  rating smallint check (rating between 1 and 5),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index ticket_account on ticket (account_id, id desc);
create index ticket_waiting on ticket (updated_at) where status <> 'closed';

create table ticket_message (
  id bigint generated always as identity primary key,
  ticket_id text not null references ticket,
  author text not null check (author in ('customer', 'operator')),
  body text not null,
  created_at timestamptz not null
);
create index ticket_message_ticket on ticket_message (ticket_id, id);

-- Rights of an operator on one service, for another account.
create table delegation (
  id text primary key,
  service_id text not null references vps,
  account_id text not null references account,
  -- Where the invitation was sent to.
  email text not null,
  -- SHA-256 of the token in the invitation; null once it was used.
  token_hash bytea unique,
  -- Until when the invitation can be accepted.
  invited_until timestamptz not null,
  -- Who accepted it.
  delegate_id text references account,
  expires_at timestamptz,
  created_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz
);
create index delegation_account on delegation (account_id, id desc);
create index delegation_delegate on delegation (delegate_id, service_id) where revoked_at is null;
create index delegation_service on delegation (service_id);

-- Who opened it: a console of somebody who may no longer use the machine is closed.
alter table console_link add column account_id text references account;
