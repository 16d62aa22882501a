"""The data behind figures of matplotlib, as values of JSON: one chart for each axes."""
import math
import sys

POINTS = 20_000
"""A figure with more than that is a picture only."""


def plain(value):
    """As JSON has it: numbers of libraries as numbers, times as ISO 8601, what is not a number as null."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(each) for each in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "isoformat"):
        text = value.isoformat()
        return None if text == "NaT" else text
    for way in ("item", "tolist"):
        if hasattr(value, way):
            found = getattr(value, way)()
            return str(value) if found is value else plain(found)
    return str(value)


def chart_of(figure):
    """The chart of a figure, or one of several; None where there is nothing to be told."""
    try:
        charts = [chart for chart in map(chart_of_axes, figure.get_axes()) if chart]
        if len(charts) < 2:
            return plain(charts[0]) if charts else None
        title = figure._suptitle.get_text() if figure._suptitle else None
        return plain({"type": "superchart", "title": title, "elements": charts})
    except Exception:  # Artists of a kind that is not known here.
        return None


def chart_of_axes(axes):
    title = axes.get_title() or None
    for kind, find in (("pie", slices), ("box_and_whisker", boxes), ("bar", bars), ("scatter", dots), ("line", lines)):
        elements = find(axes)
        if not elements:
            continue
        if sum(len(element.get("points", ())) for element in elements) > POINTS:
            return None
        chart = {"type": kind, "title": title, "elements": elements}
        if kind == "pie":
            return chart
        chart.update(labels(axes))
        if kind in ("line", "scatter"):
            chart.update(scale(axes, "x"))
            chart.update(scale(axes, "y"))
        return chart
    return None


def labels(axes):
    found = {}
    for name in ("x", "y"):
        text = getattr(axes, f"get_{name}label")() or None
        found[f"{name}_label"] = text
        unit = text.rstrip()[text.rindex("(") + 1 : -1] if text and "(" in text and text.rstrip().endswith(")") else None
        found[f"{name}_unit"] = unit
    return found


def scale(axes, name):
    axis = getattr(axes, f"{name}axis")
    converter = type(axis.converter).__name__ if getattr(axis, "converter", None) else ""
    is_time = "Date" in converter or "Time" in converter
    kind = "datetime" if is_time else "categorical" if "Category" in converter else axis.get_scale()
    ticks = list(axis.get_majorticklocs())
    if is_time:
        dates = sys.modules["matplotlib.dates"]
        ticks = [dates.num2date(tick) for tick in ticks]
    shown = [label.get_text() for label in axis.get_majorticklabels()]
    return {f"{name}_ticks": ticks, f"{name}_tick_labels": shown, f"{name}_scale": kind}


def label_of(artist, index):
    text = artist.get_label()
    return text if isinstance(text, str) and text and not text.startswith("_") else f"Series {index}"


def lines(axes):
    return [
        {"label": label_of(line, index), "points": list(zip(line.get_xdata(), line.get_ydata()))}
        for index, line in enumerate(axes.get_lines())
    ]


def dots(axes):
    found = [each for each in axes.collections if type(each).__name__ == "PathCollection"]
    return [
        {"label": label_of(each, index), "points": [tuple(point) for point in each.get_offsets().tolist()]}
        for index, each in enumerate(found)
    ]


def bars(axes):
    containers = [each for each in axes.containers if type(each).__name__ == "BarContainer"]
    elements = []
    for index, container in enumerate(containers):
        is_flat = getattr(container, "orientation", "vertical") == "horizontal"
        names = names_at(axes.yaxis if is_flat else axes.xaxis)
        for bar in container:
            middle = bar.get_y() + bar.get_height() / 2 if is_flat else bar.get_x() + bar.get_width() / 2
            value = bar.get_width() if is_flat else bar.get_height()
            name = names.get(round(float(middle), 6), f"{float(middle):g}")
            elements.append({"label": name, "group": label_of(container, index), "value": value})
    return elements


def names_at(axis):
    """The labels of an axis by their places."""
    places = axis.get_majorticklocs()
    texts = axis.get_major_formatter().format_ticks(places)
    return {round(float(place), 6): text for place, text in zip(places, texts) if text}


def slices(axes):
    wedges = [patch for patch in axes.patches if type(patch).__name__ == "Wedge"]
    if not wedges or len(wedges) != len(axes.patches):
        return []
    return [
        {"label": label_of(wedge, index), "angle": abs(wedge.theta2 - wedge.theta1), "radius": wedge.r}
        for index, wedge in enumerate(wedges)
    ]


def boxes(axes):
    """Boxes as `boxplot` draws them, upright: a closed line, and the lines about it."""
    drawn = [(list(map(float, line.get_xdata())), list(map(float, line.get_ydata()))) for line in axes.get_lines() if is_numeric(line)]
    closed = [(xs, ys) for xs, ys in drawn if len(xs) == 5 and (xs[0], ys[0]) == (xs[4], ys[4]) and len(set(xs)) == 2]
    if not closed or len(drawn) < 4 * len(closed):
        return []
    names = names_at(axes.xaxis)
    elements = []
    for xs, ys in closed:
        middle, low, high = (min(xs) + max(xs)) / 2, min(ys), max(ys)
        near = [(x, y) for x, y in drawn if x and all(min(xs) - 1e-9 <= each <= max(xs) + 1e-9 for each in x) and (x, y) != (xs, ys)]
        upright = [y for x, y in near if len(x) == 2 and x[0] == x[1] == middle]
        inside = [y[0] for x, y in near if len(x) == 2 and x[0] != x[1] and y[0] == y[1] and low <= y[0] <= high]
        ends = [each for y in upright for each in y]
        widest = [y for x, y in near if len(x) == 2 and {x[0], x[1]} == set(xs) and y[0] == y[1]]
        median = widest[0][0] if widest else inside[0] if inside else None
        single = [y for x, y in near if set(x) == {middle} and y not in upright]
        elements.append(
            {
                "label": names.get(round(middle, 6), f"{middle:g}"),
                "min": min(ends, default=low),
                "first_quartile": low,
                "median": median,
                "third_quartile": high,
                "max": max(ends, default=high),
                "outliers": [each for y in single for each in y],
            }
        )
    return elements


def is_numeric(line):
    try:
        return all(isinstance(float(each), float) for each in [*line.get_xdata(), *line.get_ydata()])
    except (TypeError, ValueError):
        return False
