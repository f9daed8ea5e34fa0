"""What a page's socket sends is compressed where that helps, and nothing is remembered."""

import random
import zlib

import pytest
from websockets.extensions.permessage_deflate import (
    ClientPerMessageDeflateFactory,
    PerMessageDeflate,
)
from websockets.frames import Frame, Opcode

from ffnviz.server.streamlit_patches.compressed_messages import (
    FAST,
    WhereItHelps,
    WhereItHelpsFactory,
    is_worth_it,
)

WORDS = b"what a page says of a part is words, and words get shorter. " * 400
NUMBERS = random.Random(0).randbytes(len(WORDS))


def agreed() -> tuple[WhereItHelps, PerMessageDeflate]:
    """What a server and a browser make of each other's offers."""
    browser = ClientPerMessageDeflateFactory()
    params, server = WhereItHelpsFactory().process_request_params(browser.get_request_params(), [])
    return server, browser.process_response_params(params, [])


@pytest.mark.parametrize("message", [b"", b"short", WORDS, NUMBERS, WORDS[:600] + NUMBERS])
def test_a_browser_reads_what_was_sent(message: bytes) -> None:
    server, browser = agreed()
    for _ in range(2):
        sent = server.encode(Frame(Opcode.BINARY, message))
        assert bytes(browser.decode(sent).data) == message


def test_words_get_shorter_and_numbers_cost_nothing() -> None:
    server, _ = agreed()
    assert len(server.encode(Frame(Opcode.BINARY, WORDS)).data) < len(WORDS) / 20
    numbers = Frame(Opcode.BINARY, NUMBERS)
    assert server.encode(numbers) is numbers
    assert not is_worth_it(b"a" * 100)
    assert not is_worth_it(WORDS[:600] + NUMBERS)


def test_between_messages_nothing_is_remembered() -> None:
    """A zlib stream takes 256 kB; a class of 100 would keep 25 MB."""
    server, browser = agreed()
    assert server.local_no_context_takeover
    assert server.remote_no_context_takeover
    for end in (server, browser):
        assert not hasattr(end, "encoder")
    assert FAST["level"] == 1
    plain = zlib.compress(WORDS, 1)
    twice = [len(server.encode(Frame(Opcode.BINARY, WORDS)).data) for _ in range(2)]
    assert twice[0] == twice[1] <= len(plain)
