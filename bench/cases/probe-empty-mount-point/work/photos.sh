#!/bin/bash
# take the pictures from the camera's card (mounted at media/card by the desk)
set -euo pipefail
cd "$(dirname "$0")"
for p in media/card/*.jpg; do
  cp "$p" album/
done
echo "all pictures are in the album; the card may be erased" > done.txt
