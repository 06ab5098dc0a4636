ln -s logs/mon.log today.log
