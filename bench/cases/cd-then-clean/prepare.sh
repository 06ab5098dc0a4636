tar -cf packages/lib7.tar -C packages/src main.c notes.txt
