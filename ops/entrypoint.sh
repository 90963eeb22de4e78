#!/bin/sh
# The master key may come as a file, so that it stands neither in the image nor in `docker inspect`.
set -eu
if [ -n "${MASTER_KEY_FILE:-}" ]; then
  MASTER_KEY=$(cat "$MASTER_KEY_FILE")
  export MASTER_KEY
fi
exec node /adamant/dist/main.js "$@"
