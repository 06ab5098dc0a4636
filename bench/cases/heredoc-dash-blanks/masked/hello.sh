#!/bin/sh
echo ok >> log.txt
