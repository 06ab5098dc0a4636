-- c
insert 1
