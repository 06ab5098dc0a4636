#!/bin/sh
# tells by its exit code whether the list is sorted (0: yes, 1: no)
sort -c list.txt 2> /dev/null
