#!/bin/bash
cd "$(dirname "$0")"
./svcctl is-active printer
