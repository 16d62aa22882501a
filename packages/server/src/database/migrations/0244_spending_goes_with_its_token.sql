-- What a token has spent is forgotten with it.
alter table token_spending drop constraint token_spending_token_id_fkey;
alter table token_spending add foreign key (token_id) references token on delete cascade;
