-- Tokens of applications that were let in by OAuth, and those of programs for one run, may do less than others. A grant
-- stands directly under its account.
alter table token add column kind text not null default 'plain' check (kind in ('plain', 'grant', 'program'));
