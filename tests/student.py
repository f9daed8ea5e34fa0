"""Somebody in a class who follows its lecturer: a session, and a stream of events."""

import asyncio
import json
import random
import time
from contextlib import suppress
from urllib.parse import urlsplit

from ffnviz.lecture.classroom.store import ClassStore
from ffnviz.server.classroom_routes import TICKET
from tests.person import Person
from tests.served import Server


class Student:
    """One who follows."""

    def __init__(self, server: Server, code: str, number: int, store: ClassStore) -> None:
        self.person = Person(server.socket, random.Random(number), "", f"class={code}")
        self.host, self.port = urlsplit(server.url).hostname, urlsplit(server.url).port
        self.path = f"/class/{code}/events?who={number:032}"
        self.ticket = store.ticket(code, f"{number:032}")  # as the page's session is given one
        self.moved = -1
        self.over = False  # whether the class is
        self.heard = asyncio.Event()

    async def come(self) -> None:
        """Open the page, and wait for events."""
        await self.person.open()
        self.listening = asyncio.create_task(self.listen())

    async def listen(self) -> None:
        """Read events, and come again where the server has gone, as a page does."""
        while not self.over:
            with suppress(OSError):
                await self.read()
            await asyncio.sleep(0.1)

    async def read(self) -> None:
        """Events, one a line, as long as the answer goes on."""
        reader, self.writer = await asyncio.open_connection(self.host, self.port)
        asked = (f"GET {self.path} HTTP/1.1", f"Host: {self.host}:{self.port}",
                 f"{TICKET}: {self.ticket}")  # fmt: skip
        self.writer.write("".join(f"{line}\r\n" for line in (*asked, "")).encode())
        try:
            async for line in reader:
                if line.startswith(b"data: {") and b"moved" in line:
                    moved = json.loads(line[6:])["moved"]
                    if moved != self.moved:
                        self.moved = moved
                        self.heard.set()
                self.over |= line.startswith(b"event: over")
        finally:
            self.writer.close()
            with suppress(OSError):
                await self.writer.wait_closed()

    async def follow(self, page: str, query: str) -> float:
        """When the page that the lecturer turned to is there."""
        await self.heard.wait()
        self.heard.clear()
        await self.person.go(page, query)
        return time.perf_counter()

    async def leave(self) -> None:
        """Close the tab."""
        self.listening.cancel()
        await self.person.close()
