-- The numbers by which orders name images that the operator added: each is given once, for ever. Those below are of
-- the images that are built here.
create sequence os_image_number as integer start 1000;
