python3 -c "open('mails.csv','w').write('from,body\nanna,hello\nbert,\"' + 'x' * 150000 + '\"\n')"
