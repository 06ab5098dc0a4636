#!/usr/bin/env python3
import sys

print(sum(int(line) for line in sys.stdin))
