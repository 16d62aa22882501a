"""The Python in which code runs. It is forked off the agent, so that it is there at once."""
import ast
import base64
import builtins
import io
import json
import linecache
import os
import signal
import site
import sys
import threading
import traceback
import types

import python_charts

ENVIRONMENT = {"MPLBACKEND": "Agg"}
FORMS = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_svg_": "image/svg+xml",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_latex_": "text/latex",
    "_repr_json_": "application/json",
}


DATA, CHART = "application/vnd.coinrack.data+json", "application/vnd.coinrack.chart+json"
DATA_CELLS = 100_000


def forms_of(value, with_data=False):
    """@param with_data: also the cells of a table, by column, as JSON"""
    data = {"text/plain": repr(value)}
    if with_data:
        data.update(cells_of(value))
    for method, form in FORMS.items():
        try:
            made = getattr(value, method)() if hasattr(type(value), method) else None
        except Exception:  # A display that fails is left out.
            continue
        made = made[0] if isinstance(made, tuple) else made
        if isinstance(made, bytes):
            data[form] = base64.b64encode(made).decode()
        elif made is not None:
            data[form] = made if isinstance(made, str) else json.dumps(made)
    return data


def cells_of(value):
    pandas = sys.modules.get("pandas")
    if not pandas or not isinstance(value, pandas.DataFrame) or value.size > DATA_CELLS:
        return {}
    try:
        columns = {str(name): column for name, column in value.to_dict(orient="list").items()}
        return {DATA: json.dumps(python_charts.plain(columns))}
    except Exception:  # Cells that are no data.
        return {}


def figures(with_data=False):
    """What was drawn with matplotlib, which is then closed."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if not pyplot:
        return
    for number in pyplot.get_fignums():
        figure, image = pyplot.figure(number), io.BytesIO()
        pyplot.close(number)
        figure.savefig(image, format="png", bbox_inches="tight")
        data = {"text/plain": repr(figure), "image/png": base64.b64encode(image.getvalue()).decode()}
        chart = python_charts.chart_of(figure) if with_data else None
        if chart:
            data[CHART] = json.dumps(chart)
        yield {"data": data, "isMain": False}


class Runner:
    """@param tell_result: takes each result as it is made"""

    def __init__(self, tell_result=lambda result: None):
        self.count = 0
        self.tell_result = tell_result
        self.with_data = self.is_quiet = False
        self.module = types.ModuleType("__main__")
        self.module.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self.module
        builtins.display = self.display

    def display(self, *values):
        for value in values:
            self.tell_result({"data": forms_of(value, self.with_data), "isMain": False})

    def show_figures(self, *_, **__):
        for result in figures(self.with_data):
            self.tell_result(result)

    def run(self, code, with_data=False, is_quiet=False):
        """@param is_quiet: what it throws is in the report alone"""
        self.count += 1
        self.with_data, self.is_quiet = with_data, is_quiet
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot:
            # Without a screen, what is shown is a result.
            pyplot.show = self.show_figures
        report = self.attempt(code)
        try:
            self.show_figures()
        except Exception as error:  # A figure that cannot be drawn.
            return {"exitCode": 1, "error": self.tell(error)}
        return report

    def attempt(self, code):
        name = f"<code {self.count}>"
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        try:
            tree = ast.parse(code, name)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            self.evaluate(compile(tree, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT))
            if last:
                whole = ast.Expression(last.value)
                value = self.evaluate(compile(whole, name, "eval", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT))
                if value is not None:
                    self.module.__dict__["_"] = value
                    self.tell_result({"data": forms_of(value, self.with_data), "isMain": True})
            return {"exitCode": 0}
        except SystemExit as end:
            if end.code is not None and not isinstance(end.code, int):
                print(end.code, file=sys.stderr)
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
            return {"exitCode": code & 255}
        except BaseException as error:
            return {"exitCode": 1, "error": self.tell(error)}

    def evaluate(self, compiled):
        value = eval(compiled, self.module.__dict__)
        if compiled.co_flags & 0x80:  # CO_COROUTINE: it awaits at the top.
            import asyncio

            value = asyncio.run(value)
        return value

    def tell(self, error):
        shown = error.__traceback__
        while shown and shown.tb_frame.f_code.co_filename == __file__:
            shown = shown.tb_next
        text = "".join(traceback.format_exception(type(error), error, shown))
        if not self.is_quiet:
            sys.stderr.write(text)
        try:
            value = str(error)
        except Exception:
            value = ""
        return {"name": type(error).__name__, "value": value, "traceback": text}


def find_libraries():
    """What is installed can be imported, for everybody or for this user; the agent, isolated, does without both."""
    sys.argv = [""]
    site.ENABLE_USER_SITE = True
    site.main()


def serve(fd):
    """Runs what comes over the descriptor until that ends."""
    extra = os.environ.get("PYTHONPATH", "").split(":")
    sys.path = ["", *filter(None, extra), *(path for path in sys.path if path != "/usr/lib/coinrack")]
    sys.stdin = open(0, encoding="utf-8")
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", buffering=8192, closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    sys.stdout.reconfigure(line_buffering=True)
    os.set_inheritable(fd, False)
    channel = open(fd, "rb", buffering=0)
    lock, own = threading.Lock(), os.getpid()

    def say(message):
        flush()
        with lock:
            os_write_all(fd, json.dumps(message, default=str).encode() + b"\n")

    # A process that the code forks has no voice here.
    runner = Runner(lambda result: say({"result": result}) if os.getpid() == own else None)
    buffered = io.BufferedReader(channel, 65536)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os_write_all(fd, b"{}\n")
    for line in buffered:
        message = json.loads(line)
        if "renew" in message:
            os.environ.update(message["env"])
            renew()
            continue
        os.environ.update(message["env"])
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            report = runner.run(message["code"], message["data"], message["quiet"])
        except KeyboardInterrupt as error:
            report = {"exitCode": 1, "error": runner.tell(error)}
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        say(report)


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass


def os_write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def renew():
    """Random state that was drawn before this machine was cloned is drawn anew."""
    if "random" in sys.modules:
        sys.modules["random"].seed()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
