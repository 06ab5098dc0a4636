#!/bin/bash
set -e
cd "$(dirname "$0")"
bin/store --clean data
