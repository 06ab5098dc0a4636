mkdir -p stations/south
