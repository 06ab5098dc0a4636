echo 'cut off' | gzip -c > app.log.1.gz
