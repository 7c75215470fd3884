"""Prints the table of results, and writes it with its plot into docs/benchmarks.md."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS, ENVOY, REFERENCE = "ours", "ours through Envoy", "kube-apiserver"
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def shown(cell):
    if cell is None:
        return "-"
    if "value" in cell:
        return f"{cell['value']:.2f}"
    return f"{cell['cpu_us']:,.0f} µs"


def number(cell):
    return None if cell is None else cell.get("value", cell.get("cpu_us"))


def ratio(ours, reference):
    ours, reference = number(ours), number(reference)
    return f"{reference / ours:.1f}x" if ours and reference else "-"


def rows(results):
    for name, by_server in results.items():
        cells = [by_server.get(server) for server in (REFERENCE, OURS, ENVOY)]
        yield name, shown(cells[0]), shown(cells[1]), ratio(cells[1], cells[0]), shown(cells[2]), ratio(cells[2], cells[0])


HEAD = ("workload", REFERENCE, OURS, "better by", ENVOY, "better by")


def print_table(results):
    table = [HEAD, *rows(results)]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEAD))]
    for row in table:
        print("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width) for column, (cell, width) in enumerate(zip(row, widths))))


def details(results):
    yield "| workload | server | requests/s | p50 | p99 | memory afterwards | peak memory |"
    yield "|---|---|---|---|---|---|---|"
    for name, by_server in results.items():
        for server, cell in by_server.items():
            if "cpu_us" in cell:
                yield (f"| {name} | {server} | {cell['per_second']:,.0f} | {cell['p50_us'] / 1000:.2f} ms | {cell['p99_us'] / 1000:.2f} ms | "
                       f"{cell['memory_mb']:.0f} MB | {cell['peak_mb']:.0f} MB |")


def plot(results):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    names = [name for name, by_server in results.items() if REFERENCE in by_server and OURS in by_server and "cpu_us" in by_server[OURS]]
    if not names:
        return None
    figure, axes = pyplot.subplots(figsize=(8, 0.5 * len(names) + 1))
    for place, (server, color) in enumerate(((REFERENCE, "#b0b0b0"), (OURS, "#2a6fdb"), (ENVOY, "#8fb8ff"))):
        values = [(i, results[name][server]["cpu_us"]) for i, name in enumerate(names) if server in results[name]]
        axes.barh([i + place * 0.27 for i, _ in values], [v for _, v in values], height=0.25, label=server, color=color)
    axes.set_yticks([i + 0.27 for i in range(len(names))], names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("CPU time per request, µs (logarithmic), all server processes without etcd")
    axes.legend()
    figure.tight_layout()
    path = ROOT / "docs/benchmarks.svg"
    figure.savefig(path)
    return path.name


def write_documents(results, arguments):
    path = ROOT / "docs/benchmarks.md"
    text = path.read_text() if path.exists() else f"# Benchmarks\n\n{BEGIN}\n{END}\n"
    if BEGIN not in text:
        text = f"# Benchmarks\n\n{BEGIN}\n{END}\n\n" + text.removeprefix("# Benchmarks\n")
    lines = [f"Measured by `./apimesh bench` on 2 cores with {arguments.pods} pods of about 6 KB; medians of interleaved rounds.",
             "Figures are CPU time per request, summed over all processes of a server (without etcd); for watches, per delivered event.", "",
             "| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD), *("| " + " | ".join(row) + " |" for row in rows(results)), ""]
    try:
        if image := plot(results):
            lines += [f"![CPU time per request]({image})", ""]
    except ImportError:
        lines += ["(No plot: matplotlib is not installed.)", ""]
    lines += ["Rates and delays of the same runs (the load generator shares the two cores with the server):", "", *details(results), ""]
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    path.write_text(before + BEGIN + "\n" + "\n".join(lines) + END + after)
