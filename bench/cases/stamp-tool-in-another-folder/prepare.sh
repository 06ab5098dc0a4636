chmod 755 tools/print/stamp
