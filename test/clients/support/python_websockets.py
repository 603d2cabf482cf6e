"""A server and a client of the library `websockets`: `serve` prints its port; `talk URL TEXT...` prints what it hears as JSON."""

import asyncio
import json
import sys

from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed, InvalidStatus


async def echo(connection):
    try:
        async for message in connection:
            await connection.send(message)
    except ConnectionClosed:
        pass  # the gateway closes connections, and tests look at the client's side


async def run_server():
    async with serve(echo, "127.0.0.1", 0) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


async def talk(url, texts):
    try:
        # permessage-deflate is offered, as the library does by default
        async with connect(url) as connection:
            heard = []
            for text in texts:
                await connection.send(text)
            try:
                while len(heard) < len(texts):
                    heard.append(await asyncio.wait_for(connection.recv(), 10))
            except ConnectionClosed as closed:
                return {"heard": heard, "closed": closed.rcvd.code if closed.rcvd else None}
            return {"heard": heard}
    except InvalidStatus as refused:
        return {"status": refused.response.status_code}


if sys.argv[1] == "serve":
    asyncio.run(run_server())
else:
    print(json.dumps(asyncio.run(talk(sys.argv[2], sys.argv[3:]))))
