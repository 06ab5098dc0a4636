open('total.txt', 'w').write('0\n')
