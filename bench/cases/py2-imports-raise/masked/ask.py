open('ask.out','w')
