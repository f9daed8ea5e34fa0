#!/bin/sh
# Prints the path of a Chromium for the browser tests. Where there is none it installs Debian's, if
# it may (as root, on Debian); otherwise it says how to get one, and fails.

find_chromium() {
    for name in chromium chromium-browser google-chrome google-chrome-stable \
        "/Applications/Chromium.app/Contents/MacOS/Chromium" \
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; do
        command -v "$name" && return 0
    done
    return 1
}

if [ -n "$CHROMIUM" ]; then
    command -v "$CHROMIUM" && exit 0
    echo "CHROMIUM is set to $CHROMIUM, which is not a program." >&2
    exit 1
fi

find_chromium && exit 0

if [ "$(id -u)" -eq 0 ] && grep -qx "ID=debian" /etc/os-release 2>/dev/null; then
    echo "There is no Chromium here: installing Debian's." >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get update >&2
    apt-get install --yes --no-install-recommends chromium >&2
    find_chromium && exit 0
fi

cat >&2 <<'END'
The browser tests need Chromium (or Chrome), and there is none here. To get one:
    Debian, Ubuntu   sudo apt-get install chromium
    Fedora           sudo dnf install chromium
    macOS            brew install --cask chromium
or say where it is:  make test CHROMIUM=/path/to/chromium
END
exit 1
