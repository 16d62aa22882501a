alter table vps_operation
  drop constraint vps_operation_status_check,
  add check (status in ('running', 'succeeded', 'failed', 'superseded'));
update vps_operation set status = 'superseded'
where status = 'failed' and error = 'Something else was asked of the VPS before it was done';
