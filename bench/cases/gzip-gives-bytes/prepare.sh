mkdir -p logs; printf 'GET /a 200\nGET /b 404\n' | gzip -n > logs/a.gz; printf 'GET /c 200\n' | gzip -n > logs/b.gz
