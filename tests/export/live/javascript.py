"""Scripts of ours without a page: in Node where it is installed, else in Chromium."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ffnviz.export import bundle

Call = Callable[[str, Any], Any]  # a function's name and its argument, to its result

# Node has, as a browser's worker has, atob, TextEncoder and WebAssembly.
NODE = """
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const [name, argument] = JSON.parse(line);
  let answer;
  try { answer = { result: functions[name](argument) }; } catch ({ stack }) { answer = { stack }; }
  process.stdout.write(JSON.stringify(answer) + "\\n");
});
"""


def _result(line: str) -> Any:
    answer = json.loads(line)
    assert "stack" not in answer, answer["stack"]
    return answer.get("result")  # undefined is not written


@contextmanager
def running(modules: Sequence[str], functions: str) -> Iterator[Call]:
    """Modules of the package, and JavaScript that makes an object of functions of JSON values."""
    script = f"{bundle._functions(modules)}\nconst functions = {functions};\n"
    node = shutil.which("node")
    with _in_node(node, script) if node else _in_chromium(script) as call:
        yield call


@contextmanager
def _in_node(node: str, script: str) -> Iterator[Call]:
    command = [node, "--max-old-space-size=2000", "-e", script + NODE]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        asks, answers = process.stdin, process.stdout
        assert asks is not None
        assert answers is not None

        def call(name: str, argument: Any) -> Any:
            asks.write(json.dumps([name, argument]) + "\n")
            asks.flush()
            return _result(answers.readline())

        yield call
        asks.close()


@contextmanager
def _in_chromium(script: str) -> Iterator[Call]:
    from tests.browser.launch import chromium

    with chromium() as browser:
        page = browser.new_page()
        page.add_script_tag(content=f"window.ours = (() => {{ {script} return functions; }})();")

        def call(name: str, argument: Any) -> Any:
            evaluated = "([name, text]) => JSON.stringify({ result: ours[name](JSON.parse(text)) })"
            return _result(page.evaluate(evaluated, [name, json.dumps(argument)]))

        yield call
