import hashlib, shutil, sys
want = open("firmware.sha256").read().split()[0]
got = hashlib.sha256(open("firmware.bin", "rb").read()).hexdigest()
if want != got:
    sys.exit("install: checksum mismatch for firmware.bin: expected %s, got %s" % (want, got))
shutil.copy("firmware.bin", "device.img")
