-- Whether two endpoints showed a deposit that was credited, or all there are. What was credited before is left as it is.
alter table deposit add column witnessed boolean not null default false;
update deposit set witnessed = status = 'credited';

-- The logs of all final blocks up to this one were read from two endpoints.
alter table chain_cursor add column witnessed_number bigint;
update chain_cursor set witnessed_number = least(finalized_number, scanned_number);
alter table chain_cursor alter column witnessed_number set not null;
