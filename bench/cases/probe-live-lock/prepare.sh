echo 1 > compact.lock
