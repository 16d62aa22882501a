-- How a machine comes up the first time: as a clone of a booted template when there is one, or by a boot.
alter table vps_order add column boot text not null default 'auto' check (boot in ('auto', 'cold'));
alter table vps add column boot text not null default 'auto' check (boot in ('auto', 'cold'));
