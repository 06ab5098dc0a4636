chmod 755 bin/volctl
