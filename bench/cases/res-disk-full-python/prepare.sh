mkdir volume; ln -s /dev/full volume/export.csv
