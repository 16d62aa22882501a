-- Before a reinstall or an immediate cancellation the disk is kept for a while, as a snapshot with a reason.
alter table vps_snapshot
  add column reason text check (reason in ('reinstall', 'cancel')),
  -- What the service knew of the system on that disk; see vps/snapshot/kept-system.ts.
  add column system jsonb,
  add check ((reason is null) = (system is null)),
  -- Every automatic one has a reason.
  drop column automatic;

-- One at a time inside each machine's disk; kept disks lie beside it.
drop index vps_snapshot_one;
create unique index vps_snapshot_one on vps_snapshot (vps_id)
  where status in ('creating', 'restoring', 'deleting') and reason is null;

alter table vps
  -- The snapshot that its disk is to be kept as before it loses it.
  add column set_aside_as text references vps_snapshot,
  -- The snapshot whose disk it is to have again.
  add column put_back text references vps_snapshot;
