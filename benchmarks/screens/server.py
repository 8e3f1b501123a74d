# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""An asyncio server under load. One request in ten is for a report, which hashes for 30 ms without
giving the loop back, and so holds up the nine others."""

import asyncio
import hashlib

from nvspan import annotate


def digest(text: bytes) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", text, b"salt", 60_000)


async def answer(path: bytes) -> bytes:
    with annotate("query"):
        await asyncio.sleep(0.004)
    with annotate("render"):
        body = digest(path) if path == b"/report" else path * 20
    return body.hex().encode()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while path := (await reader.readline()).strip():
        with annotate("request"):
            body = await answer(path)
            with annotate("send"):
                writer.write(body + b"\n")
                await writer.drain()
    writer.close()


async def client(port: int, name: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in range(60):
        writer.write(b"/report\n" if (number + name) % 10 == 0 else b"/item\n")
        await reader.readline()
    writer.write(b"\n")
    await reader.read()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        await asyncio.gather(*(client(port, name) for name in range(8)))
    print("480 requests answered")


if __name__ == "__main__":
    asyncio.run(main())
