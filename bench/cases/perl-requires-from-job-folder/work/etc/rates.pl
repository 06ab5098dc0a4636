our $rate = 3;
1;
