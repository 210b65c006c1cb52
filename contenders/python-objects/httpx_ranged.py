"""httpx: an AsyncClient that requests ranges. Tasks take the next range when they have read one; all run in one thread."""

import asyncio
from contextlib import aclosing

import httpx
import httpx_client
import url_rules
from ranges import first_of, following

NO_SUCH_RANGE = 416


class HttpxRanged:
    def __init__(self, request):
        self.request = request
        self.loop = asyncio.new_event_loop()
        self.client = httpx.AsyncClient(**httpx_client.settings(request))

    def read(self, tally):
        self.loop.run_until_complete(Reading(self.request, self.client, tally).run())

    def close(self):
        self.loop.run_until_complete(self.client.aclose())
        self.loop.close()


class Reading:
    def __init__(self, request, client, tally):
        self.request = request
        self.client = client
        self.tally = tally
        self.requests = 0
        self.clock = httpx_client.TlsClock()

    async def run(self):
        """The first range's answer has the size; the others are requested while its body is read."""
        part_bytes = self.request.params["part_bytes"]
        first = first_of(part_bytes)
        response = await self.send(Range=first.header())
        async with aclosing(response):
            if is_nothing(response):
                await self.read_nothing()
            else:
                length, size = self.check(first, response)
                parts = following(part_bytes, size)
                others = min(self.request.params["concurrency"], -(-size // part_bytes)) - 1
                await together(self.visit(response, length, parts), *(self.visit_each(parts) for _ in range(others)))
        self.tally.facts = {**self.clock.facts(), "requests": self.requests, "retries": 0}

    async def send(self, **more):
        self.requests += 1
        request = self.client.build_request("GET", self.request.target.text, headers=url_rules.headers(**more),
                                            extensions={"trace": self.clock.hear_async})
        response = await self.client.send(request, stream=True)
        httpx_client.check_http(self.request, response)
        return response

    async def read_nothing(self):
        """Nothing has no range: the whole is empty."""
        async with aclosing(await self.send()) as response:
            length = url_rules.check(response.status_code, response.reason_phrase, response.headers)
            await self.visit_body(response, length)

    async def visit(self, response, length, parts):
        await self.visit_body(response, length)
        await self.visit_each(parts)

    async def visit_each(self, parts):
        for part in parts:
            async with aclosing(await self.send(Range=part.header())) as response:
                length, _ = self.check(part, response)
                await self.visit_body(response, length)

    async def visit_body(self, response, length):
        taken = 0
        async for chunk in response.aiter_raw():
            self.tally.take(chunk)
            taken += len(chunk)
        url_rules.check_end(length, taken)

    def check(self, part, response):
        return url_rules.check_part(part, response.status_code, response.reason_phrase, response.headers)


def is_nothing(response):
    """What a server answers to a range of nothing: that there is none, or all of it."""
    is_empty = response.status_code == 200 and response.headers.get("Content-Length") == "0"
    return response.status_code == NO_SUCH_RANGE or is_empty


async def together(*parts):
    """Runs all at once; after the first failure, ends the others before it raises it."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
