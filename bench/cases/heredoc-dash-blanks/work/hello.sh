#!/bin/sh
set -eu
if [ -r name ]; then
    who=$(cat name)
    cat > hello.txt <<-END
	Hello $who
	bye
    END
fi
echo ok >> log.txt
