#!/bin/sh
# Prints the path of a redis-server for the tests. As root on Debian it installs Debian's where there is
# none; elsewhere it says how to get one, and fails.

command -v redis-server && exit 0

if [ "$(id -u)" -eq 0 ] && grep -qx "ID=debian" /etc/os-release 2>/dev/null; then
    echo "Installing Debian's redis-server for the tests." >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get update >&2
    apt-get install --yes --no-install-recommends -o DPkg::Lock::Timeout=300 redis-server >&2
fi

command -v redis-server && exit 0

cat >&2 <<'END'
The tests of classes in Redis need redis-server, and there is none here. To get one:
    Debian, Ubuntu   sudo apt-get install redis-server
    Fedora           sudo dnf install redis
    macOS            brew install redis
END
exit 1
