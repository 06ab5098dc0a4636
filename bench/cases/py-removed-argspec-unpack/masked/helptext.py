open('help.txt','w')
