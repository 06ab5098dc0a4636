open('box.txt','w').write('0: \n')
