#!/bin/sh
# Prints the path of a Chromium for the browser tests: the one without a window if it is there, which
# needs a third less of the processor. As root on Debian it installs Debian's where it is not there; where
# there is none at all and none can be had, it says how to get one, and fails.

find_chromium() {
    for name in chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable \
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

command -v chromium-headless-shell && exit 0

if [ "$(id -u)" -eq 0 ] && grep -qx "ID=debian" /etc/os-release 2>/dev/null; then
    echo "Installing Debian's Chromium for the browser tests." >&2
    export DEBIAN_FRONTEND=noninteractive
    install="apt-get install --yes --no-install-recommends"
    apt-get update >&2
    $install chromium-headless-shell >&2 || find_chromium >/dev/null || $install chromium >&2
fi

find_chromium && exit 0

cat >&2 <<'END'
The browser tests need Chromium (or Chrome), and there is none here. To get one:
    Debian, Ubuntu   sudo apt-get install chromium
    Fedora           sudo dnf install chromium
    macOS            brew install --cask chromium
or say where it is:  make test CHROMIUM=/path/to/chromium
END
exit 1
