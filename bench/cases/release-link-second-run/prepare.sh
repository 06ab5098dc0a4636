mkdir -p releases/1.4.1; ln -s releases/1.4.1 current
