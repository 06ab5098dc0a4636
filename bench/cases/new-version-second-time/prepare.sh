ln -s versions/1/config active.conf
