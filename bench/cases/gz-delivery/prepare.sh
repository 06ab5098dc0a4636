printf '1 /a 200\n2 /a 200\n3 /b 200\n4 /c 404\n' | gzip -n > delivery/visits.log.gz
