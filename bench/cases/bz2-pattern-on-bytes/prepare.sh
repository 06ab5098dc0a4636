python3 -c 'import bz2; bz2.open("access.log.bz2", "wt").write("1 \"GET /a\"\n2 \"POST /b\"\n3 \"GET /c\"\n")'
