open('packed.txt','w').write('')
