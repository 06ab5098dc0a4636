#!/bin/bash
set -e
node tools/mdlite.js --title-case --outfile page.html page.md
grep -c . page.html
