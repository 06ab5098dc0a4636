touch -d '2030-01-01 UTC' files/a; touch -d '2030-01-10 UTC' files/b
