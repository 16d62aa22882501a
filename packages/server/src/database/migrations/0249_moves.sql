-- Machines can move between the hosts of one cluster. The machines of an evacuating host move to others; a dead one has no power for
-- good, by the operator's word.
alter table host drop constraint host_state_check;
alter table host add constraint host_state_check check (state in ('open', 'draining', 'evacuating', 'dead'));
alter table host add column cluster text;
-- Of an evacuating host: how long before owners are told of a stop, where a machine cannot move while it runs. Null: none is stopped.
alter table host add column notice_hours integer;
-- It is shown no more, unless it answers again.
alter table host add column forgotten_at timestamptz;

-- Machines that are wanted on another host of their cluster.
create table vps_move (
  id text primary key references vps_identity,
  -- Null: any that has room.
  wanted_host text references host,
  -- Where its place is taken; null until one is chosen.
  to_host text references host,
  -- How long before its owner is told that it is stopped, where it cannot move while it runs. Null: it is not stopped.
  notice_hours integer,
  -- From when on it is stopped for it, as its owner was told; null while that is not so.
  stop_from timestamptz,
  -- When it is tried next.
  due_at timestamptz not null,
  -- Why it has not moved yet.
  trouble text,
  wished_at timestamptz not null
);
create index vps_move_to on vps_move (to_host);
