say() { echo "rotate: $*"; }
