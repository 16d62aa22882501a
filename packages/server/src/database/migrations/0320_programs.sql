-- A sandbox that runs a program of run_program belongs to that program, whose token this is. It is destroyed with the run.
alter table sandbox add column program_token_id text;
create index sandbox_of_program on sandbox (id) where program_token_id is not null and gone_at is null;
