-- A console ends with the token that opened it. Links live for ten minutes, so none is lost that anybody waits for.
delete from console_link;
alter table console_link add column token_id text not null references token;
