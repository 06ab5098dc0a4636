open('seats.out','w')
