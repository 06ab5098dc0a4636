echo > roles.out
