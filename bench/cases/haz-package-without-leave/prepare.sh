set -eu
python3 -m venv --without-pip .venv
