chmod 600 keys/private.key; chmod 700 keys
