-- Of its own. No other machine ever had it: addresses are counted up.
alter table vps add column ipv6 text unique;
-- The first ones of a network are routers' and hosts'.
create sequence vps_ipv6_number minvalue 256;
