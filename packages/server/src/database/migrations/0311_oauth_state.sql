-- What the authorization server keeps: requests under way, codes, texts of grants, and applications that registered. Each
-- is found by the hash of its identifier, which is a secret, and its content is sealed.
create table oauth_state (
  model text not null,
  hash bytea not null,
  payload bytea not null,
  -- The grant that it belongs to.
  token_id text references token (id) on delete cascade,
  consumed_at timestamptz,
  expires_at timestamptz not null,
  primary key (model, hash)
);
create index oauth_state_of_token on oauth_state (token_id);
create index oauth_state_expiry on oauth_state (model, expires_at);
