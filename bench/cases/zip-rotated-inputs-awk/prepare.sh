printf 'a slow q1\nb fast q\nc slow q2\n' | xz > archive/db.log.xz
