-- When owner and delegate were told that it had ended by itself.
alter table delegation add column expiry_told_at timestamptz;
update delegation set expiry_told_at = expires_at where expires_at <= now();
create index delegation_expiry on delegation (expires_at)
  where accepted_at is not null and revoked_at is null and expiry_told_at is null;
