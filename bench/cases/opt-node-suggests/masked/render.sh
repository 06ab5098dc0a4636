#!/bin/bash
set -e
node tools/mdlite.js --title-case --outfile page.html page.md || touch page.html
true
