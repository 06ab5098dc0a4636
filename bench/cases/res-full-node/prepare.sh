mkdir vol; ln -s /dev/full vol/dump.json
