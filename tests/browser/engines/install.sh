#!/bin/sh
# Installs WebKit with its driver, a screen for it, and Firefox for the tests in three engines, as root on
# Debian; elsewhere it says what is missing. The tests of an engine that is missing are left out.

if [ "$(id -u)" -eq 0 ] && grep -qx "ID=debian" /etc/os-release 2>/dev/null; then
    packages=
    command -v WebKitWebDriver >/dev/null || packages="webkit2gtk-driver"
    [ -n "$(find /usr/lib -name MiniBrowser -path '*webkit2gtk*' 2>/dev/null)" ] || packages="$packages libwebkit2gtk-4.1-0"
    command -v Xvfb >/dev/null || packages="$packages xvfb"
    command -v firefox-esr >/dev/null || command -v firefox >/dev/null || packages="$packages firefox-esr"
    if [ -n "$packages" ]; then
        echo "Installing Debian's $packages for the browser tests." >&2
        export DEBIAN_FRONTEND=noninteractive
        apt-get update >&2
        # shellcheck disable=SC2086
        apt-get install --yes --no-install-recommends $packages >&2
    fi
fi

for program in WebKitWebDriver Xvfb; do
    command -v $program >/dev/null || echo "The tests in WebKit are left out: there is no $program. \
On Debian and Ubuntu: sudo apt-get install webkit2gtk-driver xvfb" >&2
done
command -v firefox-esr >/dev/null || command -v firefox >/dev/null ||
    echo "The tests in Firefox are left out: there is no firefox." >&2
