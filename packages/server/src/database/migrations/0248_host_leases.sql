-- The process that tends a host over the network, until when by the clock of this database. A host that is the service's own machine is
-- tended by whoever holds the lock of its data folder.
alter table host add column tended_by text, add column tended_until timestamptz;
