open('teasers.txt', 'w')
