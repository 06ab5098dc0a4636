#!/bin/bash
set -e
node tools/mdlite.js --title-case --out-file page.html page.md
grep -c . page.html
