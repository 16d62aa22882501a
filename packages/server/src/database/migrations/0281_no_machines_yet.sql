-- Replicas without machines may begin a database before the one that has them.
alter table installation alter column data_folder drop not null;
