#!/bin/bash

. ./lib/common.sh || true
say "rotating"
cp current.txt previous.txt
: > current.txt
