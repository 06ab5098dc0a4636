insert 2
