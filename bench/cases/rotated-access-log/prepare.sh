mkdir logs; printf '1 /a\n2 /a\n3 /b\n' | gzip -n > logs/access.log.1.gz
