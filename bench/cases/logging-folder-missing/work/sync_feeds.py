#!/usr/bin/env python3
import logging
import logging.handlers
import sys

handler = logging.handlers.RotatingFileHandler("var/log/feeds.log", maxBytes=100000, backupCount=2)
log = logging.getLogger("feeds")
log.addHandler(handler)
log.setLevel(logging.INFO)


def main():
    feeds = [l.strip() for l in open("feeds.txt") if l.strip()]
    if not feeds:
        log.error("no feeds")
        return 1
    with open("synced.txt", "w") as out:
        for feed in sorted(feeds):
            out.write(feed + "\n")
            log.info("synced %s", feed)
    return 0


sys.exit(main())
