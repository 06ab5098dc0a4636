#!/bin/sh
set -e
cd "$(dirname "$0")"
# two people have to sign before the payment goes out
grep -c '^signed: ' payment.txt > signatures
grep '^signed: controller' payment.txt
cp payment.txt outgoing.txt
